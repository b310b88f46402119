"""What visitors can reach of the server and of each other, without a browser."""

import errno
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import httpx
import numpy as np
import pytest
import soundfile
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

from moss_demo.serving.context import ASSETS, AppContext, build_context
from moss_demo.serving.temp_files import GRACE_S, sweep
from moss_demo.settings import Settings
from moss_demo.ui.app import build_app

from .served import serving

ROOT = Path(__file__).parents[2]
LIMIT_BYTES = 8 << 20


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> AppContext:
    """A host with little room."""
    folder = tmp_path_factory.mktemp("root") / "files"
    settings = Settings(temp_folder=folder, max_temp_bytes=LIMIT_BYTES, max_file_bytes=2 << 20)
    return build_context(settings, "cpu")


@pytest.fixture(scope="module")
def address(context: AppContext) -> Iterator[str]:
    """The served page."""
    with serving(context) as served:
        yield served


@pytest.fixture
def web(address: str) -> Iterator[httpx.Client]:
    """A browser without a page."""
    with httpx.Client(base_url=address, timeout=120) as client:
        yield client


@pytest.fixture
def silence(tmp_path: Path) -> Path:
    """A recording that takes no model work."""
    path = tmp_path / "silence.wav"
    soundfile.write(path, np.zeros(16_000, dtype=np.float32), 16_000)
    return path


def _upload(web: httpx.Client, name: str, content: bytes) -> str:
    answer = web.post("gradio_api/upload", files={"files": (name, content)}).raise_for_status()
    path: str = answer.json()[0]
    return path


def _told_of(web: httpx.Client, path: str) -> str:
    """Ask for the transcript of a file that was not uploaded, and return all that comes back."""
    file = {"path": path, "meta": {"_type": "gradio.FileData"}}
    body = {"data": [file, "tiny", "auto", "default", "", ""]}
    event = web.post("gradio_api/call/transcribe", json=body).raise_for_status().json()["event_id"]
    return web.get(f"gradio_api/call/transcribe/{event}").text


def _until(true: Callable[[], bool]) -> None:
    for _ in range(300):
        if true():
            return
        time.sleep(0.1)
    raise AssertionError("it did not come true within half a minute")


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../../../../etc/passwd",
        str(ROOT / "moss_demo" / "settings.py"),
        str(ASSETS / "samples" / ".." / ".." / "app.py"),
        "app.py",
        "~/.bashrc",
        "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "\\\\host\\share",
        "file:///etc/passwd",
        "http://127.0.0.1:7860/config",
    ],
)
def test_no_file_of_the_server_is_served(web: httpx.Client, path: str) -> None:
    """Nothing but samples and what visitors made has an address."""
    answer = web.get(f"gradio_api/file={quote(path, safe='/%:')}")
    assert answer.status_code in (403, 404)
    assert "root:" not in answer.text


def test_no_file_of_the_server_is_transcribed(address: str, web: httpx.Client) -> None:
    """A path in place of an upload is refused, whoever writes the request."""
    for path in ("/etc/passwd", str(ROOT / "tests" / "__init__.py")):
        told = _told_of(web, path)
        assert "event: error" in told
        assert "root:" not in told
    client = Client(address, verbose=False)
    with pytest.raises(AppError, match="does not offer"):
        client.predict(
            handle_file(str(ASSETS / "samples" / "two-speakers.flac")),
            str(ASSETS / "moss-td-tiny"),
            api_name="/transcribe",
        )
    client.close()


def test_nothing_is_fetched_for_a_visitor(web: httpx.Client) -> None:
    """Gradio would read the whole of any public address into memory; here it never asks."""
    for url in ("https://huggingface.co/large.wav", "http://127.0.0.1/x.wav"):
        assert "fetches nothing from addresses; send the file itself" in _told_of(web, url)


def test_a_host_without_downloads_has_no_event_for_one(context: AppContext) -> None:
    """A button that is only hidden could be pressed by whoever writes the request."""
    closed = replace(context, settings=replace(context.settings, allow_download=False))
    for host, expected in ((context, True), (closed, False)):
        functions = [event.fn for event in build_app(host).fns.values() if event.fn is not None]
        found = [f for f in functions if f.__module__ == "moss_demo.ui.offer"]
        assert bool(found) == expected


@pytest.mark.parametrize(
    "value",
    [{"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}, [[-(2**70)]]],
    ids=["file", "list"],
)
def test_events_of_the_page_take_no_other_kinds(web: httpx.Client, value: object) -> None:
    """Each one ends, refused or with nothing in it, and the server goes on."""
    events = [
        e for e in web.get("config").json()["dependencies"] if e["backend_fn"] and e["inputs"]
    ]
    assert len(events) > 20
    for event in events:
        session = secrets.token_hex(8)
        body = {
            "data": [value] * len(event["inputs"]),
            "fn_index": event["id"],
            "session_hash": session,
        }
        assert web.post("gradio_api/queue/join", json=body).status_code == 200
        told = web.get("gradio_api/queue/data", params={"session_hash": session}).text
        assert "process_completed" in told
        assert "root:" not in told
    assert web.get("health").json()["live"]


@pytest.mark.parametrize(
    "route",
    [
        "gradio_api/deep_link?session_hash=x",
        "gradio_api/dev/reload",
        "gradio_api/proxy=https://x.hf.space/",
        "gradio_api/vibe-code/",
        "monitoring",
        "monitoring/summary",
        "gradio_api/runs",
        "docs",
        "openapi.json",
    ],
)
def test_routes_without_a_use_are_closed(web: httpx.Client, route: str) -> None:
    """What Gradio opens on every page and this one does not need is not there."""
    assert web.get(route).status_code == 404
    assert web.post("gradio_api/process_recording", content=b"x").status_code == 404


def test_uploads_are_bounded_one_by_one_and_together(web: httpx.Client) -> None:
    """A large file, a full folder and a length left out are refused, and the disk stays free."""
    assert web.post(
        "gradio_api/upload", files={"files": ("large.wav", bytes(3 << 20))}
    ).status_code == 413  # fmt: skip
    assert web.post(
        "gradio_api/upload", files=[("files", (f"{n}.wav", bytes(2_000_000))) for n in range(6)]
    ).status_code == 507  # fmt: skip

    def unstated() -> Iterator[bytes]:
        yield b"x"

    kind = {"content-type": "multipart/form-data; boundary=x"}
    assert web.post("gradio_api/upload", content=unstated(), headers=kind).status_code == 411
    sent = {"file": ("a.wav", bytes(2 << 20))}
    for number in range(4):  # what nobody holds stays for its hour
        _upload(web, f"{number}.wav", number.to_bytes(1, "big") * 1_700_000)
    full = web.post("v1/audio/transcriptions", files=sent, data={"model": "tiny"})
    assert (full.status_code, full.json()["error"]["code"]) == (507, "disk_full")
    event = b'{"data": ["' + bytes(17 << 20) + b'"]}'
    assert web.post("gradio_api/queue/join", content=event).status_code == 413


def test_an_upload_onto_a_full_disk_is_told_so(
    web: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page shows the sentence, and the next upload works."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr("gradio.route_utils.NamedTemporaryFile", fail)
        told = web.post("gradio_api/upload", files={"files": ("a.wav", b"sound")})
    assert (told.status_code, told.text[:30]) == (507, "The server's folder for upload")
    assert _upload(web, "a.wav", b"sound")


def test_pages_of_visitors_are_never_shown_as_pages(web: httpx.Client) -> None:
    """An uploaded web page or picture with scripts is a download to whoever opens its address."""
    for name in ("page.html", "picture.svg", "style.xml"):
        path = _upload(web, name, b"<html><script>alert(1)</script></html>")
        answer = web.get(f"gradio_api/file={path}")
        assert answer.status_code == 200
        assert answer.headers["content-disposition"].startswith("attachment")


def test_a_name_writes_no_header(web: httpx.Client) -> None:
    """Line breaks in the name of a file stay out of headers, and its path inside its folder."""
    body = (
        b'--x\r\nContent-Disposition: form-data; name="files"; '
        b'filename="../../a%0d%0aSet-Cookie: stolen=1\\\r\n.wav"\r\n\r\nsound\r\n--x--\r\n'
    )
    kind = {"content-type": "multipart/form-data; boundary=x"}
    answer = web.post("gradio_api/upload", content=body, headers=kind)
    assert answer.status_code < 500
    if answer.status_code == 200:
        served = web.get(f"gradio_api/file={quote(answer.json()[0])}")
        assert "set-cookie" not in served.headers
    path = _upload(web, "../../../../tmp/a\u2028b;c.wav", b"sound")
    assert "set-cookie" not in web.get(f"gradio_api/file={quote(path)}").headers


def test_what_a_visitor_sent_goes_when_they_have_left(
    context: AppContext, address: str, silence: Path
) -> None:
    """The upload is held while the client is there, and deleted once it has gone."""
    client = Client(address, verbose=False)
    client.predict(handle_file(str(silence)), api_name="/transcribe")
    root = context.settings.temp_folder
    assert [path for path in root.rglob("silence.wav") if path.stat().st_nlink == 2]
    client.close()
    _until(lambda: any(root.glob("visits/*/left")))
    sweep(root, LIMIT_BYTES, time.time() + GRACE_S + 1)
    assert not list(root.rglob("silence.wav"))


def test_a_stranger_cannot_stop_a_run(context: AppContext, address: str, web: httpx.Client) -> None:
    """Cancelling needs the names that a browser keeps to itself; guesses change nothing."""
    client = Client(address, verbose=False)
    sample = ASSETS / "samples" / "two-speakers.flac"
    job = client.submit(handle_file(str(sample)), max_new_tokens="40", api_name="/transcribe")
    _until(lambda: context.pool.is_busy)
    for guess in ("", "x", "0" * 11):
        for number in range(30):
            body = {"session_hash": guess, "fn_index": number, "event_id": guess}
            assert web.post("gradio_api/cancel", json=body).status_code < 500
    assert job.result(timeout=120).startswith("[0.48][S01]hello")
    client.close()
