"""Packages that only weight formats need, imported when a run asks for one."""

import importlib
import logging
import sys
from functools import cache
from typing import Any

from moss_demo.errors import RequestError


def hide_torchao() -> None:
    """Keep transformers, when it is first imported, from importing torchao on its own account.

    That takes seconds and prints which extensions torchao lacks here, in every command. To the
    import system a module that is None is one that cannot be found.
    """
    sys.modules.setdefault("torchao", None)  # type: ignore[arg-type]


@cache
def torchao() -> Any:
    """Return `torchao.quantization`, quietly.

    Raises:
        RequestError: it is not installed.
    """
    if sys.modules.get("torchao", importlib) is None:
        del sys.modules["torchao"]
    quiet = [logging.getLogger(name) for name in ("torchao", "torch.utils._pytree")]
    levels = [logger.level for logger in quiet]
    for logger in quiet:
        logger.setLevel(logging.ERROR)
    try:
        return importlib.import_module("torchao.quantization")
    except ImportError as error:
        raise RequestError(
            "int8 needs the package torchao; install requirements.txt or choose bf16."
        ) from error
    finally:
        for logger, level in zip(quiet, levels, strict=True):
            logger.setLevel(level)


@cache
def gguf() -> Any:
    """Return the package `gguf`.

    Raises:
        RequestError: it is not installed.
    """
    try:
        return importlib.import_module("gguf")
    except ImportError as error:
        raise RequestError(
            "GGUF files and formats need the package gguf; install requirements.txt."
        ) from error
