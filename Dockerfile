# A GPU server:
#   docker build -t moss-demo .
#   docker run --gpus all -p 7860:7860 -v moss-demo:/data moss-demo
FROM python:3.12-slim

# Triton and torch.compile build small programs while the app runs.
RUN apt-get update \
 && apt-get install -y --no-install-recommends g++ \
 && rm -rf /var/lib/apt/lists/*

WORKDIR /app
COPY requirements.txt .
RUN pip install --no-cache-dir -r requirements.txt
COPY app.py LICENSE NOTICE ./
COPY assets assets
COPY moss_demo moss_demo

# Weights, compiled kernels and visitors' files; any user may be given with --user.
RUN mkdir /data && chmod 1777 /data
ENV HOME=/data \
    HF_HOME=/data/huggingface \
    MOSS_DEMO_CACHE=/data/cache \
    GRADIO_TEMP_DIR=/data/files \
    GRADIO_SERVER_NAME=0.0.0.0 \
    GRADIO_SERVER_PORT=7860
VOLUME /data
USER 1000
EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=5s --start-period=10m \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen('http://127.0.0.1:' + os.environ['GRADIO_SERVER_PORT'] + '/health')"]
CMD ["python", "app.py"]
