"""The API through OpenAI's own client: what a program relies on."""

import errno
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import jiwer
import openai
import pytest
import soundfile
from openai import OpenAI

from tests.api.conftest import LONG_SAMPLE, SAMPLE, WORDS, Served, left_over


def _is_the_sample(text: str) -> bool:
    return jiwer.wer(" ".join(segment.text for segment in WORDS), text) <= 0.1


@pytest.fixture(scope="module")
def text(client: OpenAI, recording: Path) -> str:
    """The words of the sample as JSON gives them."""
    with recording.open("rb") as file:
        return client.audio.transcriptions.create(model="tiny", file=file).text


def test_a_recording_becomes_its_words(text: str) -> None:
    """The plainest call gives the words of the sample."""
    assert _is_the_sample(text)


def test_tokens_are_counted(client: OpenAI, recording: Path) -> None:
    """The usage adds up."""
    with recording.open("rb") as file:
        usage = client.audio.transcriptions.create(
            model="tiny", file=file, extra_body={"max_new_tokens": 7}
        ).usage
    assert usage is not None
    assert usage.type == "tokens"
    assert usage.output_tokens == 7
    assert usage.total_tokens == usage.input_tokens + 7


def test_speakers_and_times_come_as_diarized_json(
    client: OpenAI, text: str, recording: Path
) -> None:
    """OpenAI's form for diarized transcripts, read by its own types."""
    with recording.open("rb") as file:
        answer = client.audio.transcriptions.create(
            model="tiny", file=file, response_format="diarized_json"
        )
    assert answer.text == text
    assert [segment.speaker for segment in answer.segments] == [s.speaker for s in WORDS]
    assert all(segment.start < segment.end <= answer.duration for segment in answer.segments)


def test_verbose_json_says_what_was_said_to_be_spoken(client: OpenAI, recording: Path) -> None:
    """Segments with times, and the language of the request."""
    with recording.open("rb") as file:
        answer = client.audio.transcriptions.create(
            model="tiny", file=file, response_format="verbose_json", language="en"
        )
    assert answer.language == "en"
    assert _is_the_sample(answer.text)
    assert answer.segments is not None
    assert answer.segments[0].text.startswith("[S01]")


@pytest.mark.parametrize(("form", "beginning"), [("srt", "1\n00:00:"), ("vtt", "WEBVTT\n")])
def test_subtitles_come_as_text(client: OpenAI, form: str, beginning: str, recording: Path) -> None:
    """Both kinds of subtitles, speakers included."""
    with recording.open("rb") as file:
        answer = client.audio.transcriptions.create(
            model="tiny",
            file=file,
            response_format=form,  # type: ignore[call-overload]
        )
    assert answer.startswith(beginning)
    assert "S02" in answer


def test_text_is_the_same_words(client: OpenAI, text: str, recording: Path) -> None:
    """Plain text is what JSON holds."""
    with recording.open("rb") as file:
        answer = client.audio.transcriptions.create(model="tiny", file=file, response_format="text")
    assert answer == f"{text}\n"


def test_streamed_pieces_are_the_text(client: OpenAI, text: str, recording: Path) -> None:
    """The deltas concatenate to the last event's text, which is the text without a stream."""
    with recording.open("rb") as file:
        events = list(client.audio.transcriptions.create(model="tiny", file=file, stream=True))
    deltas = [event.delta for event in events if event.type == "transcript.text.delta"]
    assert events[-1].type == "transcript.text.done"
    assert "".join(deltas) == events[-1].text == text
    assert len(deltas) > 10


def test_a_diarized_stream_has_segments(client: OpenAI, text: str, recording: Path) -> None:
    """Each segment comes when it is done, between the pieces of the text."""
    with recording.open("rb") as file:
        events = list(
            client.audio.transcriptions.create(
                model="tiny", file=file, stream=True, response_format="diarized_json"
            )
        )
    segments = [event for event in events if event.type == "transcript.text.segment"]
    assert " ".join(segment.text for segment in segments) == text
    assert [segment.id for segment in segments] == [f"seg_{n}" for n in range(len(segments))]
    assert events.index(segments[0]) < len(events) // 2


def test_words_arrive_while_the_model_writes(plain: httpx.Client, recording: Path) -> None:
    """The first piece is there long before the last; nothing between holds the stream back."""
    form = {"model": "tiny", "stream": "true"}
    with (
        recording.open("rb") as file,
        plain.stream("POST", "v1/audio/transcriptions", data=form, files={"file": file}) as answer,
    ):
        assert answer.headers["content-type"].startswith("text/event-stream")
        pieces = [piece for piece in answer.iter_text() if piece]
    assert len(pieces) > 10


def test_prompt_hotwords_and_sampling_reach_the_model(client: OpenAI, recording: Path) -> None:
    """Everything a program may set is taken; greedy answers repeat themselves."""
    with recording.open("rb") as file:
        answer = client.audio.transcriptions.create(
            model="tiny",
            file=file,
            prompt="Transcribe the audio.",
            temperature=0.01,
            extra_body={"hotwords": ["remote control", "Ben"], "max_new_tokens": "40"},
        )
    assert answer.usage is not None
    assert answer.usage.type == "tokens"
    assert answer.usage.output_tokens == 40


def test_models_are_those_that_the_host_offers(client: OpenAI, recording: Path) -> None:
    """The list, one of them, and a 404 for what is not offered: never a download."""
    assert [model.id for model in client.models.list()] == ["tiny"]
    assert client.models.retrieve("tiny").object == "model"
    with pytest.raises(openai.NotFoundError, match="does not offer"):
        client.models.retrieve("OpenMOSS-Team/MOSS-Transcribe-Diarize")
    for name in ("OpenMOSS-Team/MOSS-Transcribe-Diarize", "whisper-1", "/etc", "synthetic-0.9b"):
        with recording.open("rb") as file, pytest.raises(openai.NotFoundError) as refused:
            client.audio.transcriptions.create(model=name, file=file)
        assert refused.value.code == "model_not_found"


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"response_format": "xml"}, "response_format"),
        ({"temperature": "warm"}, "temperature"),
        ({"temperature": "7"}, None),
        ({"temperature": "1e-38"}, None),
        ({"max_new_tokens": "-1"}, "max_new_tokens"),
        ({"max_new_tokens": "0"}, None),
        ({"stream": "maybe"}, "stream"),
        ({"timestamp_granularities[]": "word"}, "timestamp_granularities[]"),
        ({"prompt": "x" * 5_000}, None),
        ({"hotwords": ",".join(f"w{n}" for n in range(300))}, None),
    ],
)
def test_impossible_wishes_are_refused(
    plain: httpx.Client, fields: dict[str, str], param: str | None, recording: Path
) -> None:
    """Status 400 in OpenAI's shape, with the field where one is at fault."""
    with recording.open("rb") as file:
        answer = plain.post("v1/audio/transcriptions", data=fields, files={"file": file})
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["type"] == "invalid_request_error"
    assert error["param"] == param
    assert error["message"].endswith(".")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.wav", b"", "is empty"),
        ("noise.wav", b"\x13\x37" * 4_000, "not a readable audio file"),
        ("../../page.html", b"<html><script>alert(1)</script></html>", "is a web page"),
        ("cut.flac", SAMPLE.read_bytes()[:40], "damaged"),
    ],
)
def test_broken_files_get_one_sentence(
    client: OpenAI, name: str, content: bytes, message: str
) -> None:
    """Whatever the program calls it, the cause is named."""
    with pytest.raises(openai.BadRequestError, match=message) as refused:
        client.audio.transcriptions.create(model="tiny", file=(name, content))
    assert refused.value.code == "invalid_audio"


def test_a_file_beyond_the_limit_is_refused(client: OpenAI, plain: httpx.Client) -> None:
    """By its stated size before it is read, and by what arrives when no size is stated."""
    large = bytes(6 << 20)
    with pytest.raises(openai.APIStatusError, match="limit of 4 MB") as refused:
        client.audio.transcriptions.create(model="tiny", file=("large.wav", large))
    assert refused.value.status_code == 413

    def unstated() -> Iterator[bytes]:
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'
        yield large

    answer = plain.post(
        "v1/audio/transcriptions",
        content=unstated(),
        headers={"content-type": "multipart/form-data; boundary=x"},
    )
    assert answer.status_code == 413


FORM = "multipart/form-data; boundary=x"


def _field(name: str, value: bytes) -> bytes:
    head = f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
    return head.encode() + value + b"\r\n"


@pytest.mark.parametrize(
    ("content", "kind", "status", "sentence"),
    [
        (b"{}", "application/json", 415, "as multipart/form-data"),
        (b"no form at all", FORM, 400, "cannot be read"),
        (b"", "multipart/form-data", 400, "Missing boundary"),
        (_field("model", b"tiny") + b"--x--\r\n", FORM, 400, "The field file is missing"),
        (_field("x", b"y") * 51 + b"--x--\r\n", FORM, 400, "number of fields is 50"),
        (_field("prompt", bytes(2 << 20)) + b"--x--\r\n", FORM, 400, "maximum size of 1024KB"),
    ],
)
def test_broken_forms_are_refused(
    plain: httpx.Client, content: bytes, kind: str, status: int, sentence: str
) -> None:
    """A body that is no form, has no file or too much else is the sender's fault and says so."""
    answer = plain.post("v1/audio/transcriptions", content=content, headers={"content-type": kind})
    assert answer.status_code == status
    assert sentence in answer.json()["error"]["message"]


def test_what_openai_has_and_this_server_has_not_is_named(plain: httpx.Client) -> None:
    """Another route of OpenAI's is a 404 in its shape, another method of a route of ours a 405."""
    for answer in (plain.post("v1/chat/completions", json={}), plain.get("v1/models-of-others")):
        assert answer.status_code == 404
        assert answer.json()["error"]["code"] == "unknown_url"
    for method, path, allowed in (
        ("GET", "v1/audio/transcriptions", "POST"),
        ("DELETE", "v1/models/tiny", "GET"),
        ("POST", "v1/models", "GET"),
    ):
        refused = plain.request(method, path)
        assert (refused.status_code, refused.headers["allow"]) == (405, allowed)
        assert f"send {allowed}" in refused.json()["error"]["message"]


def test_a_long_recording_is_refused_before_it_costs_anything(
    client: OpenAI, tmp_path: Path
) -> None:
    """Hours of silence in a small file end at the limit, not in memory."""
    path = tmp_path / "hours.flac"
    with soundfile.SoundFile(path, "w", 8_000, 1, format="FLAC") as file:
        for _ in range(120):
            file.write([0.0] * 480_000)
    assert path.stat().st_size < 2 << 20
    with path.open("rb") as upload, pytest.raises(openai.BadRequestError, match="10 minutes"):
        client.audio.transcriptions.create(model="tiny", file=upload)


def test_a_program_that_leaves_frees_the_device(
    served: Served, plain: httpx.Client, recording: Path
) -> None:
    """A closed connection ends the run, and the next one gets its turn."""
    form = {"model": "tiny", "stream": "true"}
    with (
        LONG_SAMPLE.open("rb") as file,
        plain.stream("POST", "v1/audio/transcriptions", data=form, files={"file": file}) as answer,
    ):
        assert any("delta" in piece for piece in answer.iter_text())
        assert served.context.pool.in_line == 1
    with recording.open("rb") as file:
        after = plain.post(
            "v1/audio/transcriptions", data={"max_new_tokens": "5"}, files={"file": file}
        )
    assert after.status_code == 200
    assert served.context.pool.in_line == 0


def test_a_full_disk_is_said_and_the_next_request_works(
    client: OpenAI, recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The upload that did not fit gets its reason; nothing of it stays."""

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", fail)
    with recording.open("rb") as file, pytest.raises(openai.APIStatusError, match="disk is full"):
        client.audio.transcriptions.create(model="tiny", file=file)
    monkeypatch.undo()
    with recording.open("rb") as file:
        body = {"max_new_tokens": 25}
        assert client.audio.transcriptions.create(model="tiny", file=file, extra_body=body).text


def test_nothing_is_left_on_the_disk(served: Served, text: str) -> None:
    """Recordings are deleted when their answer is sent, broken ones too."""
    assert text
    assert left_over(served.context.settings.temp_folder / "api") == []


def test_health_follows_the_self_test(served: Served, plain: httpx.Client) -> None:
    """Live from the first moment, ready once a sample was understood."""
    before = plain.get("health")
    assert (before.status_code, before.json()["live"], before.json()["ready"]) == (503, True, False)
    assert served.context.self_test().state == "ready"
    after = plain.get("health")
    assert (after.status_code, after.json()["ready"]) == (200, True)
    assert "passed" in after.json()["reason"]


def test_figures_are_in_the_form_of_prometheus(plain: httpx.Client, text: str) -> None:
    """Requests, line, latency, speed, tokens and memory are there, and they count."""
    assert text
    figures = plain.get("metrics").text
    for name in (
        'moss_demo_requests_total{door="api",outcome="done"}',
        'moss_demo_requests_total{door="api",outcome="refused"}',
        "moss_demo_in_line 0.0",
        "moss_demo_latency_seconds_bucket",
        "moss_demo_rtf_count",
        "moss_demo_tokens_total",
        "moss_demo_audio_seconds_total",
        "moss_demo_device_memory_bytes",
        "process_resident_memory_bytes",
    ):
        assert name in figures


def test_answers_are_json_where_they_say_so(plain: httpx.Client, recording: Path) -> None:
    """The media type of every answer is that of its form."""
    kinds = {"json": "application/json", "vtt": "text/vtt", "text": "text/plain"}
    for form, kind in kinds.items():
        with recording.open("rb") as file:
            answer = plain.post(
                "v1/audio/transcriptions",
                data={"response_format": form, "max_new_tokens": "9"},
                files={"file": file},
            )
        assert answer.headers["content-type"].startswith(kind)
        if form == "json":
            json.loads(answer.text)


def test_odd_names_and_lone_surrogates_are_answered_like_any_other(
    plain: httpx.Client, recording: Path
) -> None:
    """Neither is anything that a file system, a tokenizer or JSON can hold."""
    boundary = "x"
    parts = [
        (b'name="file"; filename="a.\0wav"', recording.read_bytes()),
        (b'name="language"', b"+2AA-"),
        (b'name="prompt"', b"+2AA-"),
        (b'name="max_new_tokens"', b"3"),
        (b'name="response_format"', b"verbose_json"),
    ]
    body = b"".join(
        b"--x\r\nContent-Disposition: form-data; " + head + b"\r\n\r\n" + value + b"\r\n"
        for head, value in parts
    )
    kind = f"Multipart/Form-Data; boundary={boundary}; charset=utf-7"
    answer = plain.post(
        "v1/audio/transcriptions", content=body + b"--x--\r\n", headers={"Content-Type": kind}
    )
    assert answer.status_code == 200, answer.text
