"""Start the web app: arguments to configuration, configuration to page, page to server."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

from moss_demo.engine.weights.packages import hide_torchao
from moss_demo.errors import MossDemoError
from moss_demo.settings import Settings, from_environment, keep_kernels


def parse_arguments(words: Sequence[str] | None = None) -> tuple[Settings, argparse.Namespace]:
    """Read the host's settings; arguments win over environment variables."""
    settings = from_environment()
    parser = argparse.ArgumentParser(description="Transcribe and diarize in the browser.")
    parser.add_argument("--model", default=settings.model, help="default checkpoint or its folder")
    parser.add_argument("--adapter", default=settings.adapter, help="LoRA adapter saved by peft")
    parser.add_argument("--device", help="cpu, cuda or cuda:N (default: a GPU when there is one)")
    parser.add_argument("--host", help="address to listen on (default: GRADIO_SERVER_NAME)")
    parser.add_argument("--port", type=int, help="port to listen on (default: GRADIO_SERVER_PORT)")
    arguments = parser.parse_args(words)
    return replace(settings, model=arguments.model, adapter=arguments.adapter), arguments


def main(words: Sequence[str] | None = None) -> None:
    """Build the page and serve it until interrupted."""
    hide_torchao()
    try:
        settings, arguments = parse_arguments(words)
        keep_kernels()
        from moss_demo.ui.app import build_app, launch  # imports model libraries: after --help
        from moss_demo.ui.context import build_context

        context = build_context(settings, arguments.device)
        launch(build_app(context), context, host=arguments.host, port=arguments.port)
    except MossDemoError as error:
        print(f"app.py: {error}", file=sys.stderr)
        sys.exit(2)
    except (OSError, ValueError, OverflowError) as error:
        print(
            f"app.py: the page cannot be served there ({error}); check --host and --port, or "
            "GRADIO_SERVER_NAME and GRADIO_SERVER_PORT.",
            file=sys.stderr,
        )
        sys.exit(2)


if __name__ == "__main__":
    main()
