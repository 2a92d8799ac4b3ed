"""Error bodies of all forms, and answers with words that the client does not know."""

import json
import logging
import pickle
from typing import Any

import pytest
from service import Service, answer_json, response
from support import Harness, InstantClock, home

from domesday_client import (
    ApiError,
    AuthenticationError,
    BatchError,
    CellError,
    CellFault,
    ConnectionError,
    InvalidRequestError,
    JobFailedError,
    ResponseError,
    UnknownResult,
)

KEY = "secret-key-4711"


def refused(harness: Harness, status: int, content: str) -> ApiError:
    """Returns the error of a value that is refused with this body."""
    headers = {"X-Service-Request-Id": "id-1"}
    with Service([response(status, content, headers)]) as service:
        client = harness.client(service.url, KEY, clock=InstantClock())
        with pytest.raises(ApiError) as caught:
            harness.get(client.value(home()))
    assert (caught.value.status, caught.value.request_id) == (status, "id-1")
    return caught.value


def test_an_error_has_the_code_the_pointer_and_every_error_of_the_request(
    harness: Harness,
) -> None:
    first = {"code": "missing_field", "message": "m", "retryable": False, "field": "/size"}
    body = {"error": first, "errors": [first, {**first, "field": "/property"}]}
    error = refused(harness, 422, json.dumps(body))
    assert type(error) is InvalidRequestError
    assert (error.code, error.message, error.pointer) == ("missing_field", "m", "/size")
    assert error.retryable is False
    assert [item.pointer for item in error.errors] == ["/size", "/property"]
    assert str(error) == "HTTP 422 missing_field at /size: m (request id-1)"


def test_a_detail_of_either_form_is_read(harness: Harness) -> None:
    assert refused(harness, 403, '{"detail": "access_disabled"}').code == "access_disabled"
    error = refused(harness, 401, '{"detail": {"code": "new_code", "retryable": false}}')
    assert (type(error), error.code) == (AuthenticationError, "new_code")


def test_a_list_alone_gives_its_first_error(harness: Harness) -> None:
    assert refused(harness, 422, '{"errors": ["odd", {"code": "a"}]}').code == "odd"


@pytest.mark.parametrize(
    "content",
    ["", "<html>", "null", "[]", "7", '{"error": 7}', '{"error": {"code": 7}}', "[" * 100_000],
)
def test_a_body_of_no_known_form_gives_an_error_without_a_code(
    harness: Harness, content: str
) -> None:
    error = refused(harness, 418, content)
    assert (type(error), error.code, error.pointer) == (ApiError, "", None)


def test_an_answer_with_unknown_words_and_fields_is_passed_on(harness: Harness) -> None:
    answer = {"status": "deferred", "api_version": "v9", "extra": {"deep": [1]}}
    with Service([answer_json(200, answer)]) as service:
        result = harness.get(harness.client(service.url).value(home()))
    assert isinstance(result, UnknownResult)
    assert {"status": "deferred", "extra": {"deep": [1]}}.items() <= result.model_dump().items()


@pytest.mark.parametrize("content", ["", "<html>ok</html>", '{"status": "val', "null"])
def test_a_success_that_is_not_json_is_an_error_with_its_request_id(
    harness: Harness, content: str
) -> None:
    answer = response(200, content, {"X-Service-Request-Id": "id-2"})
    with Service([answer]) as service:
        with pytest.raises(ResponseError) as caught:
            harness.get(harness.client(service.url).value(home()))
        assert (caught.value.status, caught.value.request_id) == (200, "id-2")
        assert len(service.requests) == 1


def texts_of(error: BaseException | None) -> str:
    """Returns all that an error and its causes show."""
    shown = ""
    while error is not None:
        shown += f"{error!r} {error} {vars(error)!r} "
        error = error.__cause__ or error.__context__
    return shown


def test_the_key_goes_into_the_header_and_into_nothing_else(
    harness: Harness, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with Service([answer_json(401, {"error": {"code": "invalid_credential"}})]) as service:
        client = harness.client(service.url, KEY, clock=InstantClock())
        with pytest.raises(ApiError) as refusal:
            harness.get(client.value(home()))
        assert service.requests[0].headers["authorization"] == f"Bearer {KEY}"
    with pytest.raises(ConnectionError) as loss:
        harness.get(client.value(home()))
    texts = [repr(client), str(client), repr(vars(client)), caplog.text]
    texts += [texts_of(refusal.value), texts_of(loss.value)]
    assert not any(KEY in text for text in texts)


@pytest.mark.parametrize("key", ["", "with space", "line\nbreak-4711", "é-4711"])
def test_an_unsound_key_is_refused_without_showing_it(harness: Harness, key: str) -> None:
    with pytest.raises(ValueError, match="api_key") as caught:
        harness.client("http://service.invalid", key)
    assert not key or key not in str(caught.value)


@pytest.mark.parametrize(
    "address", ["service.invalid", "ftp://service.invalid", "http://", "http://a:b-4711@x.invalid"]
)
def test_an_unsound_address_is_refused(harness: Harness, address: str) -> None:
    with pytest.raises(ValueError, match="base_url") as caught:
        harness.client(address)
    assert "b-4711" not in str(caught.value)


def test_an_error_survives_another_process(harness: Harness) -> None:
    errors: list[Any] = [
        refused(harness, 422, '{"error": {"code": "a", "field": "/b"}}'),
        ConnectionError(True, 2),
        ResponseError(200, "id"),
        BatchError(3, 2, ConnectionError(True, 1)),
        CellError([CellFault(3, "bedrooms", "3.5", "is not a whole number")], 2),
        JobFailedError("j", "c", "m", True),
    ]
    for error in errors:
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))
