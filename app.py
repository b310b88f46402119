"""Start the web app: arguments to configuration, configuration to page, page to server."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from moss_demo.engine.weights.packages import hide_torchao
from moss_demo.errors import MossDemoError
from moss_demo.serving import supervisor
from moss_demo.settings import Settings, from_environment, keep_kernels, keep_weights


def parse_arguments(words: Sequence[str]) -> tuple[Settings, argparse.Namespace]:
    """Read the host's settings; arguments win over environment variables."""
    settings = from_environment()
    parser = argparse.ArgumentParser(description="Transcribe and diarize in the browser.")
    parser.add_argument("--model", default=settings.model, help="default checkpoint or its folder")
    parser.add_argument("--adapter", default=settings.adapter, help="LoRA adapter saved by peft")
    parser.add_argument("--device", help="cpu, cuda or cuda:N (default: a GPU when there is one)")
    parser.add_argument("--host", help="address to listen on (default: GRADIO_SERVER_NAME)")
    parser.add_argument("--port", type=int, help="port to listen on (default: GRADIO_SERVER_PORT)")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)  # given by the supervisor
    arguments = parser.parse_args(words)
    return replace(settings, model=arguments.model, adapter=arguments.adapter), arguments


def serve(settings: Settings, arguments: argparse.Namespace) -> None:
    """Build the page and serve it until interrupted."""
    hide_torchao()
    keep_kernels()
    keep_weights()
    from moss_demo.serving.context import build_context
    from moss_demo.ui.app import build_app, keep_serving, launch  # imports model libraries

    folder: Path | None = arguments.worker
    if folder is None:
        context = build_context(settings, arguments.device)
    else:
        supervisor.follow_supervisor()
        settings = replace(settings, temp_folder=folder / supervisor.FILES)
        context = build_context(settings, arguments.device, supervisor.ask_for_restart)
    page = build_app(context)
    address = launch(page, context, host=arguments.host, port=arguments.port)
    if folder is not None:
        supervisor.remember_port(folder, address)
    keep_serving(page, context, address)


def main(words: Sequence[str]) -> int:
    """Serve in a child process that is started again when it is lost; return the exit status."""
    try:
        settings, arguments = parse_arguments(words)
        if arguments.worker is None and not settings.zero_gpu:
            return supervisor.supervise([sys.executable, __file__, *words], settings.temp_folder)
        serve(settings, arguments)
    except MossDemoError as error:
        print(f"app.py: {error.in_full}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except (OSError, ValueError, OverflowError) as error:
        print(
            f"app.py: the page cannot be served there ({error}); check --host and --port, or "
            "GRADIO_SERVER_NAME and GRADIO_SERVER_PORT.",
            file=sys.stderr,
        )
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
