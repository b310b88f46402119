"""An engine on another machine, behind OpenAI's `/audio/transcriptions`: vLLM, SGLang, this app.

Recordings travel as FLAC at 16 kHz, the samples that an engine here would get. A server that does
not know the richest form of answer is asked for the next one. Knows no tables and no pages.
"""

import asyncio
import io
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

import httpx2
import soundfile  # type: ignore[import-untyped]  # the package ships no type information

from moss_demo.domain.audio import AudioClip
from moss_demo.domain.events import Finished, Run, StopReason
from moss_demo.domain.prompts import with_hotwords
from moss_demo.domain.references.json_forms import read_json
from moss_demo.domain.request import Request
from moss_demo.engine.worker import IsStopped, StoppedError
from moss_demo.errors import MossDemoError, RemoteError, TranscriptError, without_folders
from moss_demo.settings import RemoteServer

FORMATS = ("diarized_json", "verbose_json", "json")
"""Forms of answer, the one that says most first."""

AT_ONCE = 8
"""Requests under way: enough for a server to batch, few enough to be welcome."""

ATTEMPTS = 5
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
"""Pauses between attempts double from the first one on; the server's own wish counts up to this."""

PATIENCE_S = 120.0
"""A request may take this long and once the length of its recording."""

CONNECT_S = 10.0
POLL_S = 0.1

_TRY_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
_OTHER_FORMAT = frozenset({400, 415, 422})
_KEY_REFUSED = frozenset({401, 403})
_SHOWN_CHARACTERS = 200


class RemoteEngine:
    """Sends requests to one server, a bounded number at a time."""

    def __init__(
        self, server: RemoteServer, model: str | None = None, *, at_once: int = AT_ONCE
    ) -> None:
        """Name the server; nothing is sent.

        Args:
            server: address and key.
            model: name of the model there, None for the first that the server lists.
            at_once: most requests under way.
        """
        self._server = server
        self._model = model
        self._at_once = at_once
        self._format = FORMATS[0]

    def transcribe(
        self, requests: Sequence[Request], is_stopped: IsStopped
    ) -> list[Run | MossDemoError]:
        """Return the run of each request, or why there is none.

        Raises:
            StoppedError: the work was given up; requests under way are broken off.
        """
        work = self._until_stopped(requests, is_stopped)
        with ThreadPoolExecutor(1) as own:  # the caller's thread may run an event loop of its own
            return own.submit(asyncio.run, work).result()

    async def _until_stopped(
        self, requests: Sequence[Request], is_stopped: IsStopped
    ) -> list[Run | MossDemoError]:
        task = asyncio.create_task(self._answers(requests))
        while not task.done():
            await asyncio.wait([task], timeout=POLL_S)
            if is_stopped():
                task.cancel()
                await asyncio.wait([task])
                raise StoppedError
        return task.result()

    async def _answers(self, requests: Sequence[Request]) -> list[Run | MossDemoError]:
        headers = {"Authorization": f"Bearer {self._server.key}"} if self._server.key else {}
        limits = httpx2.Limits(max_connections=self._at_once)
        timeout = httpx2.Timeout(None, connect=CONNECT_S)
        room = asyncio.Semaphore(self._at_once)

        async def answer(request: Request) -> Run | MossDemoError:
            async with room:
                try:
                    return await self._answer(client, request, model)
                except MossDemoError as error:
                    return error

        async with httpx2.AsyncClient(headers=headers, limits=limits, timeout=timeout) as client:
            try:
                model = self._model or await self._first_model(client)
            except MossDemoError as error:
                return [error for _ in requests]
            return list(await asyncio.gather(*map(answer, requests)))

    async def _answer(self, client: httpx2.AsyncClient, request: Request, model: str) -> Run:
        sound = await asyncio.to_thread(_flac, request.clip)
        started_at = perf_counter()
        text = await self._ask(client, request, sound, model)
        try:
            return _run(request.clip, text, perf_counter() - started_at)
        except TranscriptError as error:
            raise RemoteError(f"{self._server.name} answers no transcript: {error}") from error

    async def _first_model(self, client: httpx2.AsyncClient) -> str:
        answer = await self._send(client, "GET", "models", PATIENCE_S)
        if not answer.is_success:
            raise self._refusal(answer)
        try:
            self._model = str(answer.json()["data"][0]["id"])
        except (ValueError, LookupError, TypeError) as error:
            raise RemoteError(f"{self._server.name} lists no model; name one.") from error
        return self._model

    async def _ask(
        self, client: httpx2.AsyncClient, request: Request, sound: bytes, model: str
    ) -> str:
        """Ask for the richest form of answer that the server knows."""
        limit_s = PATIENCE_S + request.clip.duration_s
        answer: httpx2.Response | None = None
        for form in FORMATS[FORMATS.index(self._format) :]:
            answer = await self._send(
                client,
                "POST",
                "audio/transcriptions",
                limit_s,
                data=_fields(request, model, form),
                files={"file": ("clip.flac", sound, "audio/flac")},
            )
            if answer.is_success:
                self._format = form
                return answer.text
            if answer.status_code not in _OTHER_FORMAT:
                break
        assert answer is not None
        raise self._refusal(answer)

    async def _send(
        self, client: httpx2.AsyncClient, method: str, path: str, limit_s: float, **content: Any
    ) -> httpx2.Response:
        """Send until the server answers for good; every pause is twice the one before.

        Raises:
            RemoteError: it cannot be reached, or is busy at every attempt.
        """
        trouble = ""
        for attempt in range(ATTEMPTS):
            pause_s = FIRST_PAUSE_S * 2**attempt
            try:
                async with asyncio.timeout(limit_s):
                    url = f"{self._server.base_url}/{path}"
                    answer = await client.request(method, url, **content)
                if answer.status_code not in _TRY_AGAIN:
                    return answer
                trouble = f"status {answer.status_code}: {self._said(answer)}"
                pause_s = max(pause_s, _wish_s(answer))
            except TimeoutError:
                trouble = f"no answer within {limit_s:.0f} s"
            except httpx2.HTTPError as error:
                trouble = self._without_address(str(error)) or type(error).__name__
            if attempt + 1 < ATTEMPTS:
                await asyncio.sleep(min(pause_s, LONGEST_PAUSE_S))
        raise RemoteError(
            f"{self._server.name} failed {ATTEMPTS} times ({trouble}); see whether it runs and try "
            "again."
        )

    def _refusal(self, answer: httpx2.Response) -> RemoteError:
        if answer.status_code in _KEY_REFUSED:
            return RemoteError(f"{self._server.name} refuses the key; correct it in its address.")
        return RemoteError(
            f"{self._server.name} refuses with status {answer.status_code}: {self._said(answer)}"
        )

    def _said(self, answer: httpx2.Response) -> str:
        said = self._without_address(" ".join(answer.text.split()))
        return said[:_SHOWN_CHARACTERS] or answer.reason_phrase

    def _without_address(self, text: str) -> str:
        """Keep from visitors where the server is, and what opens it."""
        parts = urlsplit(self._server.base_url)
        for private in (self._server.key, self._server.base_url, parts.netloc, parts.hostname):
            text = text.replace(private, self._server.name) if private else text
        return without_folders(text)


def _fields(request: Request, model: str, form: str) -> dict[str, str]:
    """Return the form of a request; what was not asked for is left to the server."""
    options = request.options
    fields = {"model": model, "response_format": form, "temperature": f"{options.temperature:g}"}
    prompt = with_hotwords(request.prompt or "", request.hotwords).strip()
    if prompt:
        fields["prompt"] = prompt
    if options.max_new_tokens is not None:
        fields["max_new_tokens"] = str(options.max_new_tokens)
    return fields


def _flac(clip: AudioClip) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, clip.samples, clip.sample_rate, format="FLAC", subtype="PCM_16")
    return file.getvalue()


def _run(clip: AudioClip, text: str, seconds: float) -> Run:
    """Read an answer of any form as a finished run.

    Raises:
        TranscriptError: it is none of the known forms.
    """
    transcript = read_json(text)
    raw = transcript.raw or "".join(segment.marked() for segment in transcript.segments)
    ended = Finished(seconds, raw, (), StopReason.END_OF_TEXT, transcript.complete)
    return Run(
        clip.name, clip.digest, clip.duration_s, transcript.segments, raw=raw, finished=ended
    )


def _wish_s(answer: httpx2.Response) -> float:
    """Return how long the server wants to be left alone, 0 where it does not say in seconds."""
    wish = answer.headers.get("retry-after", "")
    return float(wish) if wish.isdecimal() else 0.0
