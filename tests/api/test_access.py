"""Who may use what: keys, logins, and a kind of host that lends no API."""

from collections.abc import Callable, Iterator

import httpx
import openai
import pytest

from moss_demo.settings import Settings
from tests.api.conftest import SAMPLE, Served, serve

Host = Callable[..., Served]


@pytest.fixture
def host() -> Iterator[Host]:
    """Serve an app with the settings of a test."""
    running = []

    def start(**settings: object) -> Served:
        app = serve(Settings(**settings))  # type: ignore[arg-type]
        running.append(app)
        return next(app)

    yield start
    for app in running:
        app.close()


def _status(served: Served, path: str, key: str | None = None) -> int:
    headers = {} if key is None else {"authorization": f"Bearer {key}"}
    return httpx.get(f"{served.address}{path}", headers=headers, timeout=60).status_code


def test_a_key_is_asked_for_where_the_host_has_one(host: Host) -> None:
    """Models, transcriptions and figures need it; whether the server lives does not."""
    served = host(api_key="s3cret")
    with pytest.raises(openai.AuthenticationError, match="missing or wrong"):
        served.client("wrong").models.list()
    assert [model.id for model in served.client("s3cret").models.list()] == ["tiny"]
    for path in ("metrics", "v1/models", "v1/anything"):
        assert _status(served, path) == 401
    assert _status(served, "metrics", "s3cret") == 200
    assert _status(served, "health") == 503
    assert _status(served, "") == 200


def test_a_login_closes_the_page_and_the_api_with_it(host: Host) -> None:
    """Without a key of its own the API is closed too: there is no way around the login."""
    served = host(logins=(("ann", "pass:word"),))
    assert _status(served, "gradio_api/info") == 401
    for key in (None, "none", "ann"):
        assert _status(served, "v1/models", key) == 401
    with httpx.Client(base_url=served.address, timeout=60) as browser:
        wrong = browser.post("login", data={"username": "ann", "password": "x"})
        assert wrong.status_code == 400
        browser.post("login", data={"username": "ann", "password": "pass:word"}).raise_for_status()
        assert browser.get("gradio_api/info").status_code == 200


def test_on_zero_gpu_the_api_is_off_and_says_why(host: Host) -> None:
    """Programs are pointed to the endpoint that works there."""
    served = host(zero_gpu=True)
    with pytest.raises(openai.APIStatusError, match=r"off on ZeroGPU.*gradio_client") as refused:
        served.client().models.list()
    assert refused.value.status_code == 501
    assert _status(served, "metrics") == 200


def test_a_full_line_says_when_to_come_back(host: Host) -> None:
    """One on the device, one behind it; the third gets 429 and a time, and costs nothing."""
    served = host(max_queue=1)
    config = served.context.engine_config("tiny", "auto")
    tickets = [served.context.pool.line_up(config) for _ in range(2)]
    with pytest.raises(openai.RateLimitError, match="1 run waiting") as refused:
        served.client().audio.transcriptions.create(model="tiny", file=SAMPLE)
    assert refused.value.code == "queue_full"
    assert int(refused.value.response.headers["retry-after"]) > 0
    for ticket in tickets:
        ticket.give_up()
