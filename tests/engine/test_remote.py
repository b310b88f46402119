"""An engine elsewhere: what is sent, which answers are read, and what a faulty server costs."""

import io
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import soundfile

from moss_demo.domain.audio import AudioClip
from moss_demo.domain.events import Run
from moss_demo.domain.exports import ExportFormat, export
from moss_demo.domain.parser import parse
from moss_demo.domain.request import DecodeOptions, Request
from moss_demo.engine import remote
from moss_demo.engine.remote import FORMATS, RemoteEngine
from moss_demo.engine.worker import StoppedError
from moss_demo.errors import RemoteError
from moss_demo.settings import read_remote
from tests.engine.loopback import Answer, loopback

RAW = "[0.48][S01]welcome everyone[1.66][1.70][S02]thank you[2.90]"
SPOKEN = parse(RAW)
CLIP = AudioClip("clip", np.linspace(-0.5, 0.5, 48_000, dtype=np.float32))


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again at once."""
    monkeypatch.setattr(remote, "FIRST_PAUSE_S", 0.0)


def _answer(form: dict[str, Any]) -> Answer:
    """Answer in the form that was asked for, as this project writes it."""
    if form["response_format"] == "json":
        return 200, {"text": RAW}
    kind = {
        "diarized_json": ExportFormat.DIARIZED_JSON,
        "verbose_json": ExportFormat.VERBOSE_JSON,
    }[form["response_format"]]
    return 200, export(SPOKEN, kind, name="clip", duration_s=3.0).encode()


def _ask(
    answer: Callable[[dict[str, Any]], Answer], requests: list[Request]
) -> tuple[list[Any], list[dict[str, Any]]]:
    with loopback(answer) as served:
        outcomes = RemoteEngine(served.server).transcribe(requests, lambda: False)
    return outcomes, served.asked


@pytest.mark.parametrize("form", FORMATS)
def test_every_form_of_answer_is_read(form: str) -> None:
    """A server that knows only the poorer forms is asked down to the one it knows."""

    def answer(asked: dict[str, Any]) -> Answer:
        known = asked["response_format"] == form
        return _answer(asked) if known else (400, {"error": "response_format"})

    (run, again), asked = _ask(answer, [Request(CLIP), Request(CLIP)])
    assert isinstance(run, Run)
    assert isinstance(again, Run)
    assert run.transcript.segments == SPOKEN.segments
    assert run.finished is not None
    assert run.raw == RAW
    assert [a["response_format"] for a in asked][-1] == form


def test_what_is_asked_reaches_the_server() -> None:
    """Samples, prompt, hotwords, budget, key and the server's own first model."""
    request = Request(CLIP, "Transcribe.", ("Ann",), DecodeOptions(max_new_tokens=9))
    _, (form,) = _ask(_answer, [request])
    sound, rate = soundfile.read(io.BytesIO(form["file"]), dtype="float32")
    assert rate == 16_000
    assert np.abs(sound - CLIP.samples).max() < 1e-4
    assert form["model"] == "first-model"
    assert form["prompt"] == "Transcribe. Hotwords: Ann"
    assert (form["max_new_tokens"], form["temperature"]) == ("9", "0")
    assert form["authorization"] == "Bearer secret"


def test_a_busy_server_is_asked_again() -> None:
    """Busy twice, then the transcript."""
    statuses = iter((503, 429, 200))

    def answer(form: dict[str, Any]) -> Answer:
        status = next(statuses)
        return _answer(form) if status == 200 else (status, {"error": "busy"})

    (run,), asked = _ask(answer, [Request(CLIP)])
    assert isinstance(run, Run)
    assert len(asked) == 3


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ((500, {"error": "out of memory"}), "out of memory"),
        ((401, {}), "refuses the key"),
        ((404, {"error": "no such model"}), "404.*no such model"),
        ((400, {"error": "secret of 127.0.0.1 in /srv/models/x"}), "loopback of loopback in x"),
        ((200, b"<html>a proxy</html>"), "answers no transcript"),
        ((200, {"answer": 42}), "answers no transcript"),
    ],
)
def test_a_server_that_fails_is_named_with_the_cause(reply: Answer, message: str) -> None:
    """The row gets one sentence, without the key, and the others go on."""

    def answer(form: dict[str, Any]) -> Answer:
        return _answer(form) if "max_new_tokens" in form else reply

    fine = Request(CLIP, options=DecodeOptions(5))
    (failed, run), _ = _ask(answer, [Request(CLIP), fine])
    assert isinstance(run, Run)
    assert isinstance(failed, RemoteError)
    assert "loopback" in str(failed)
    assert not any(private in str(failed) for private in ("secret", "127.0.0.1", "/srv"))
    with pytest.raises(RemoteError, match=message):
        raise failed


def test_a_server_that_is_not_there_is_named() -> None:
    """Nothing listens: every request says so."""
    engine = RemoteEngine(read_remote("http://127.0.0.1:9/v1"))
    (failed,) = engine.transcribe([Request(CLIP)], lambda: False)
    with pytest.raises(RemoteError, match=r"127\.0\.0\.1:9 failed 5 times"):
        raise failed


def test_a_silent_server_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request without an answer ends at its time limit."""
    monkeypatch.setattr(remote, "PATIENCE_S", -2.9)
    monkeypatch.setattr(remote, "ATTEMPTS", 2)
    ended = threading.Event()

    def answer(form: dict[str, Any]) -> Answer:
        ended.wait()
        return _answer(form)

    with loopback(answer) as served:
        (failed,) = RemoteEngine(served.server, "m").transcribe([Request(CLIP)], lambda: False)
        ended.set()
    with pytest.raises(RemoteError, match="no answer within"):
        raise failed


def test_no_more_requests_are_under_way_than_agreed() -> None:
    """Twelve recordings, three at a time; all outcomes in order."""
    with loopback(_answer) as served:
        engine = RemoteEngine(served.server, "m", at_once=3)
        clips = [AudioClip(f"{n}", CLIP.samples) for n in range(12)]
        runs = engine.transcribe([Request(clip) for clip in clips], lambda: False)
    assert [run.clip_name for run in runs if isinstance(run, Run)] == [c.name for c in clips]
    assert 1 <= served.most_at_once <= 3


def test_stopping_breaks_off_what_is_under_way() -> None:
    """Giving up does not wait for a slow server."""
    begun, ended = threading.Event(), threading.Event()

    def answer(form: dict[str, Any]) -> Answer:
        begun.set()
        ended.wait()
        return _answer(form)

    with loopback(answer) as served:
        with pytest.raises(StoppedError):
            RemoteEngine(served.server, "m").transcribe([Request(CLIP)], begun.is_set)
        ended.set()
