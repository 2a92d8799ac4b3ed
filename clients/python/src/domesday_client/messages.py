"""Requests and responses in the terms of the HTTP library."""

import httpx2

from .operation import LostConnection, NoConnection, Request

# Errors of the library before a connection exists.
_BEFORE_CONNECTION = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


def build(http: httpx2.Client | httpx2.AsyncClient, request: Request) -> httpx2.Request:
    """Returns a request of the service for the library to send."""
    return http.build_request(
        request.method,
        request.path,
        params=list(request.query) or None,
        content=request.body,
        headers=dict(request.headers),
    )


def headers_of(response: httpx2.Response) -> dict[str, str]:
    """Returns the headers of a response, with their names in lower case."""
    return {name.lower(): value for name, value in response.headers.items()}


def loss_of(error: Exception) -> LostConnection:
    """Returns the loss that an error of a send means. Any doubt means that a request was sent."""
    return NoConnection() if isinstance(error, _BEFORE_CONNECTION) else LostConnection()
