"""Errors in OpenAI's shape, whose clients know what to do with each status."""

from typing import Any

from starlette.responses import JSONResponse

from moss_demo.errors import (
    AudioError,
    BusyError,
    DeviceError,
    DeviceLostError,
    MossDemoError,
    NotOfferedError,
    RequestError,
)


class ApiError(Exception):
    """What a program gets instead of a transcript."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str,
        param: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        """Name the fault.

        Args:
            status: HTTP status.
            message: one sentence with the cause and the remedy.
            code: what programs tell faults apart by.
            param: field of the form that is at fault, if one is.
            headers: more headers of the response.
        """
        super().__init__(message)
        self.status, self.code, self.param, self.headers = status, code, param, headers

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        kind = "server_error" if self.status >= 500 else "invalid_request_error"
        if self.status == 429:
            kind = "rate_limit_error"
        error = {"message": str(self), "type": kind, "param": self.param, "code": self.code}
        return {"error": error}

    def response(self) -> JSONResponse:
        """Return the whole response."""
        return JSONResponse(self.body(), self.status, self.headers)


def as_api_error(error: MossDemoError) -> ApiError:
    """Find status and code of an error that any part of the project raises."""
    text = str(error)
    match error:
        case NotOfferedError():
            return ApiError(404, text, code="model_not_found", param="model")
        case BusyError():
            wait = {"Retry-After": str(error.retry_after_s)}
            return ApiError(429, text, code="queue_full", headers=wait)
        case AudioError():
            return ApiError(400, text, code="invalid_audio", param="file")
        case RequestError():
            return ApiError(400, text, code="invalid_request")
        case DeviceLostError():
            return ApiError(503, text, code="device_lost", headers={"Retry-After": "60"})
        case DeviceError():
            return ApiError(503, text, code="device_error")
    return ApiError(500, text, code="internal_error")
