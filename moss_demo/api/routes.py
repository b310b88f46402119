"""The routes, in the order in which they are tried."""

import logging
import secrets
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from typing import Any

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from moss_demo.api.answers import MEDIA_TYPES, answer
from moss_demo.api.errors import ApiError, as_api_error
from moss_demo.api.form import received
from moss_demo.api.runs import INTERNAL, EventStream, finished, start, stepped, streamed
from moss_demo.errors import MossDemoError, NotOfferedError
from moss_demo.serving.context import AppContext
from moss_demo.serving.readiness import State

LOG = logging.getLogger(__name__)

OFF_ON_ZERO_GPU = (
    "This API is off on ZeroGPU, which lends a GPU to visitors of the page and to nobody else. Use "
    "the endpoint /transcribe through gradio_client."
)
WRONG_KEY = "The API key is missing or wrong; ask the host for one."
SPARE_THREADS = 8

TRANSCRIPTIONS = "/v1/audio/transcriptions"
MODELS = "/v1/models"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

_CLIENT_CLOSED = 499
"""Status for a program that did not wait for its answer; nobody reads it."""

Handler = Callable[[Request], Awaitable[Response]]


def api_routes(context: AppContext) -> list[Route]:
    """Return the routes, for the application that serves the page."""
    routes = Routes(context, CapacityLimiter(context.settings.max_queue + SPARE_THREADS))
    return [
        Route("/health", routes.health),
        Route("/metrics", routes.guarded(routes.metrics)),
        Route(TRANSCRIPTIONS, routes.guarded(routes.transcribe), methods=["POST"]),
        Route(MODELS, routes.guarded(routes.models)),
        Route(f"{MODELS}/{{name:path}}", routes.guarded(routes.model)),
        Route("/v1/{rest:path}", routes.guarded(routes.nothing), methods=METHODS),
    ]


@dataclass(frozen=True, slots=True)
class Routes:
    """What each route answers.

    Attributes:
        context: the server's values.
        threads: what runs are stepped on; one for each that may wait.
    """

    context: AppContext
    threads: CapacityLimiter

    def guarded(self, handler: Handler) -> Handler:
        """Ask for the key, and answer errors in OpenAI's shape."""

        async def handle(request: Request) -> Response:
            try:
                self._check(request)
                return await handler(request)
            except ApiError as error:
                return error.response()
            except MossDemoError as error:
                return as_api_error(error).response()
            except Exception:
                LOG.exception("%s failed", request.url.path)
                return INTERNAL.response()

        return handle

    async def transcribe(self, request: Request) -> Response:
        """Transcribe the file of a form, at once or as a stream."""
        settings = self.context.settings
        async with AsyncExitStack() as held:
            ask = await held.enter_async_context(
                received(request, settings.temp_folder, settings.max_file_bytes)
            )
            run = await to_thread.run_sync(start, ask, self.context)
            events = stepped(run, self.threads)
            await held.enter_async_context(aclosing(events))
            if ask.streams:
                first = await anext(events)
                return EventStream(streamed(first, events, ask), held.pop_all())
            done = await finished(events, request)
            if done is None:
                return Response(status_code=_CLIENT_CLOSED)
            media_type = MEDIA_TYPES.get(ask.answer, "application/json")
            return Response(answer(done, ask), media_type=media_type)

    async def models(self, request: Request) -> Response:  # noqa: ARG002  # every handler gets it
        """List what visitors may choose."""
        names = self.context.checkpoint_choices()
        return JSONResponse({"object": "list", "data": [_model(name) for name in names]})

    async def model(self, request: Request) -> Response:
        """Describe one of them."""
        name, offered = request.path_params["name"], self.context.checkpoint_choices()
        if name not in offered:
            raise NotOfferedError("checkpoint", offered)
        return JSONResponse(_model(name))

    async def health(self, request: Request) -> Response:  # noqa: ARG002  # every handler gets it
        """Say whether the server lives and can serve; nobody needs a key for that."""
        health = self.context.readiness.health
        ready = health.state is State.READY
        body = {
            "live": True,
            "ready": ready,
            "state": health.state,
            "reason": health.reason,
            "in_line": self.context.pool.in_line,
        }
        return JSONResponse(body, 200 if ready else 503)

    async def metrics(self, request: Request) -> Response:  # noqa: ARG002  # every handler gets it
        """Return the server's figures."""
        return Response(self.context.metrics.text(), media_type="text/plain; version=0.0.4")

    async def nothing(self, request: Request) -> Response:
        """Refuse what OpenAI has and this server has not."""
        path, method = request.url.path, request.method
        if path in (TRANSCRIPTIONS, MODELS) or path.startswith(f"{MODELS}/"):
            allowed = "POST" if path == TRANSCRIPTIONS else "GET"
            raise ApiError(
                405,
                f"{path} takes no {method}; send {allowed}.",
                code="method_not_allowed",
                headers={"Allow": allowed},
            )
        raise ApiError(404, f"There is no {path} here.", code="unknown_url")

    def _check(self, request: Request) -> None:
        """Refuse who may not use the API.

        Raises:
            ApiError: the API is off, or the key is missing or wrong.
        """
        settings = self.context.settings
        if settings.zero_gpu and request.url.path.startswith("/v1"):
            raise ApiError(501, OFF_ON_ZERO_GPU, code="api_off")
        if settings.api_key is None and not settings.logins:
            return
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        given = (key.strip() if scheme.lower() == "bearer" else "").encode()
        if not secrets.compare_digest(given, (settings.api_key or "").encode()) or not given:
            raise ApiError(401, WRONG_KEY, code="invalid_api_key")


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "moss_demo"}
