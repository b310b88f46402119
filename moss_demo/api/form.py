"""Reads the form of a transcription request. Knows nothing of runs or answers."""

import errno
import re
import secrets
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from anyio import to_thread
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from moss_demo.api.errors import ApiError
from moss_demo.domain.encodable import encodable
from moss_demo.domain.prompts import PromptPreset, resolve_prompt, split_hotwords
from moss_demo.domain.request import DecodeOptions
from moss_demo.serving.temp_files import PROGRAMS

MAX_FIELDS = 50
FORM_BYTES = 1 << 20
"""What a form may hold beside its file."""


class AnswerFormat(StrEnum):
    """What the transcript comes back as."""

    JSON = "json"
    TEXT = "text"
    SRT = "srt"
    VTT = "vtt"
    VERBOSE_JSON = "verbose_json"
    DIARIZED_JSON = "diarized_json"


@dataclass(frozen=True, slots=True)
class Ask:
    """A transcription as a program asks for it, checked as far as no model is needed.

    Attributes:
        recording: the file.
        name: what the program calls it.
        model: name of a checkpoint, or None for the host's.
        prompt: instruction, or None for the checkpoint's own.
        hotwords: names and terms that are likely.
        options: how to decode.
        answer: form of the answer.
        streams: send the text as it is written.
        language: what the program says is spoken, empty when it does not.
    """

    recording: Path
    name: str
    model: str | None
    prompt: str | None
    hotwords: tuple[str, ...]
    options: DecodeOptions
    answer: AnswerFormat
    streams: bool
    language: str = ""


@asynccontextmanager
async def received(request: Request, root: Path, max_bytes: int) -> AsyncGenerator[Ask, None]:
    """Receive the form; its file lies on disk until the block ends.

    Args:
        request: the request, its body unread.
        root: folder for temporary files.
        max_bytes: largest file.

    Raises:
        ApiError: the form is broken or too large, the disk is full, or a field is impossible.
        RequestError: a value lies outside its range.
    """
    folder = root / PROGRAMS / secrets.token_hex(20)
    try:
        yield await _receive(request, folder, max_bytes)
    finally:
        await to_thread.run_sync(shutil.rmtree, folder, True)


async def _receive(request: Request, folder: Path, max_bytes: int) -> Ask:
    _check_headers(request, max_bytes)
    body = _limited(request.stream(), max_bytes)
    parser = MultiPartParser(request.headers, body, max_files=1, max_fields=MAX_FIELDS)
    try:
        form = await parser.parse()
        try:
            file = form.get("file")
            if not isinstance(file, UploadFile):
                raise ApiError(400, "The field file is missing.", code="missing_file", param="file")
            recording = await to_thread.run_sync(_keep, file, folder)
        finally:
            await form.close()
    except MultiPartException as error:
        reason = f"The form cannot be read ({error.message.rstrip('.')}); correct it."
        raise ApiError(400, reason, code="bad_form") from error
    except ClientDisconnect as error:  # nobody reads this
        raise ApiError(400, "The form did not arrive whole.", code="bad_form") from error
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise ApiError(507, "The server's disk is full; try later.", code="disk_full") from error
    hotwords = [str(text) for key in ("hotwords", "hotwords[]") for text in form.getlist(key)]
    fields = {key: encodable(value) for key, value in form.items() if isinstance(value, str)}
    return read_fields(
        fields | {"hotwords": ",".join(hotwords)}, recording, file.filename or "recording"
    )


def _check_headers(request: Request, max_bytes: int) -> None:
    stated = request.headers.get("content-length", "")
    if stated.isdigit() and int(stated) > max_bytes + FORM_BYTES:
        raise _too_large(max_bytes)
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise ApiError(415, "Send the file as multipart/form-data.", code="invalid_content_type")


async def _limited(body: AsyncIterator[bytes], max_bytes: int) -> AsyncGenerator[bytes, None]:
    """Pass a body on until it has grown too large, whatever its headers say."""
    seen = 0
    async for piece in body:
        seen += len(piece)
        if seen > max_bytes + FORM_BYTES:
            raise _too_large(max_bytes)
        yield piece


def read_fields(fields: Mapping[str, str], recording: Path, name: str) -> Ask:
    """Check the fields of a form; those that are not known are passed over, as OpenAI adds some.

    Raises:
        ApiError: a field holds something of another kind.
        RequestError: a value lies outside its range.
    """
    answer = fields.get("response_format") or AnswerFormat.JSON
    if answer not in set(AnswerFormat):
        raise _wrong("response_format", f"one of {', '.join(AnswerFormat)}", answer)
    if fields.get("timestamp_granularities[]", "segment") != "segment":
        raise _wrong("timestamp_granularities[]", "segment: the model times no words", "word")
    streams = fields.get("stream", "false").lower()
    if streams not in ("true", "false", "1", "0"):
        raise _wrong("stream", "true or false", streams)
    return Ask(
        recording=recording,
        name=name,
        model=fields.get("model") or None,
        prompt=_prompt(fields.get("prompt", ""), fields.get("language", "")),
        hotwords=split_hotwords(fields.get("hotwords")),
        options=DecodeOptions(_budget(fields), temperature=_temperature(fields)),
        answer=AnswerFormat(answer),
        streams=streams in ("true", "1"),
        language=fields.get("language", "").strip().lower(),
    )


def _keep(file: UploadFile, folder: Path) -> Path:
    """Give the upload a name of its own on the disk; the program's is never a path."""
    folder.mkdir(parents=True)
    suffix = re.sub(r"[^A-Za-z0-9.]", "", Path(file.filename or "").suffix)
    recording = folder / f"recording{suffix[:8]}"
    with recording.open("wb") as kept:
        shutil.copyfileobj(file.file, kept, FORM_BYTES)
    return recording


def _prompt(prompt: str, language: str) -> str | None:
    """Return the prompt of a request; a language that was published with one chooses it."""
    if prompt.strip():
        return resolve_prompt(prompt)
    wanted = language.strip().lower().partition("-")[0]
    published = wanted in (PromptPreset.CHINESE, PromptPreset.ENGLISH)
    return resolve_prompt(wanted) if published else None


def _budget(fields: Mapping[str, str]) -> int | None:
    text = fields.get("max_new_tokens", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise _wrong("max_new_tokens", "a whole number of nine digits at most", text)
    return int(text)


def _temperature(fields: Mapping[str, str]) -> float:
    text = fields.get("temperature") or "0"
    try:
        return float(text)
    except ValueError:
        raise _wrong("temperature", "a number", text) from None


def _wrong(param: str, wanted: str, given: str) -> ApiError:
    return ApiError(
        400, f"{param} must be {wanted}, not {given[:80]!r}.", code="invalid_value", param=param
    )


def _too_large(max_bytes: int) -> ApiError:
    megabytes = max_bytes / (1 << 20)
    return ApiError(
        413,
        f"The file is larger than the limit of {megabytes:g} MB; compress it or cut it.",
        code="file_too_large",
        param="file",
    )
