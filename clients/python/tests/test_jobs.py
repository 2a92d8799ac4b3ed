"""Jobs: polling, and results that arrive in parts."""

import json
import tracemalloc
from typing import Any

import pytest
from service import LOST, Answer, Service, answer_json, head, refusal, response
from support import Harness, InstantClock

from domesday_client import (
    ConnectionError,
    JobFailedError,
    JobTimeoutError,
    ResponseError,
    ServiceError,
    UnknownResult,
)
from domesday_client.operation import Response

JOB = {"job_id": "j", "status": "queued"}


def job(word: str, **members: object) -> Answer:
    """Returns the job in this status."""
    return answer_json(200, {**JOB, "status": word, **members})


def pieces(document: str, size: int, lost_after: int | None = None) -> Answer:
    """Returns results that arrive in parts of as many bytes, and are cut after some bytes."""
    content = document.encode()
    start = head(200, len(content))
    shown = content[:lost_after]
    parts = [shown[at : at + size] for at in range(0, len(shown), size)]
    return Answer((start, *parts))


def completed(references: list[str]) -> str:
    """Returns completed results with these references."""
    results = [
        {
            "status": "valued",
            "request_reference": reference,
            "number": 0.5,
            "input_resolution": {"stored_data_used": [{"field": "é", "status": "x", "error": 1}]},
        }
        for reference in references
    ]
    result = {"release_id": "r", "status": "completed", "summary": {}, "results": results}
    document = {"api_version": "v3", **JOB, "status": "completed", "result": result}
    return json.dumps(document, ensure_ascii=False)


def references(harness: Harness, client: Any) -> list[str | None]:
    """Returns the references of a job's results."""
    return [result.request_reference for result in harness.items(client.jobs.results("j"))]


def test_wait_asks_less_and_less_often_and_passes_an_unknown_status(harness: Harness) -> None:
    words = ["queued", "paused", "running", "running", "running", "running", "running"]
    clock = InstantClock(0)
    with Service([*map(job, words), job("completed")]) as service:
        client = harness.client(service.url, clock=clock)
        assert harness.get(client.jobs.wait("j")).status == "completed"
        assert {request.path for request in service.requests} == {"/v3/valuation-jobs/j"}
    assert clock.waits == [5, 7.5, 11.25, 16.875, 25.3125, 37.96875, 56.953125]


def test_a_wait_between_two_requests_is_at_most_a_minute(harness: Harness) -> None:
    clock = InstantClock(0)
    with Service([*[job("running")] * 9, job("completed")]) as service:
        harness.get(harness.client(service.url, clock=clock).jobs.wait("j"))
    assert clock.waits[-2:] == [60, 60]


def test_a_failed_job_is_an_error_with_its_code(harness: Harness) -> None:
    error = {"code": "release_unavailable", "message": "m", "retryable": True}
    with Service([job("failed", error=error), job("failed")]) as service:
        client = harness.client(service.url, clock=InstantClock())
        with pytest.raises(JobFailedError) as caught:
            harness.get(client.jobs.wait("j"))
        facts = (caught.value.job_id, caught.value.code, caught.value.retryable)
        assert facts == ("j", "release_unavailable", True)
        with pytest.raises(JobFailedError):
            harness.get(client.jobs.wait("j"))


def test_a_job_that_does_not_end_in_time_is_an_error_with_its_status(harness: Harness) -> None:
    with Service([job("running")] * 9) as service:
        client = harness.client(service.url, clock=InstantClock())
        with pytest.raises(JobTimeoutError) as caught:
            harness.get(client.jobs.wait("j", timeout_seconds=20))
        assert (caught.value.job_id, caught.value.status) == ("j", "running")
        assert len(service.requests) == 3


def test_an_id_is_one_part_of_the_path(harness: Harness) -> None:
    with Service([job("completed")]) as service:
        harness.get(harness.client(service.url).jobs.get("../releases/current?x=1"))
        assert service.requests[0].path == "/v3/valuation-jobs/../releases/current?x=1"
        assert "/v3/releases" not in service.requests[0].path


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_results_wait_for_the_job_and_arrive_one_by_one(harness: Harness, size: int) -> None:
    incomplete = answer_json(202, {**JOB, "status": "running"}, {"Retry-After": "9"})
    document = completed(["a", "b", "c"])
    clock = InstantClock()
    with Service([incomplete, pieces(document, size)]) as service:
        client = harness.client(service.url, clock=clock)
        results = list(harness.items(client.jobs.results("j")))
    assert all(isinstance(result, UnknownResult) for result in results)
    plain = [result.model_dump(exclude={"release_id", "valuation_id"}) for result in results]
    assert plain == json.loads(document)["result"]["results"]
    # The service asked for more than the first wait of five seconds.
    assert clock.waits == [9 * 1.05]


def test_a_callers_own_interval_is_kept(harness: Harness) -> None:
    incomplete = answer_json(202, {**JOB, "status": "running"}, {"Retry-After": "9"})
    clock = InstantClock(0)
    with Service([incomplete, pieces(completed([]), 99)]) as service:
        client = harness.client(service.url, clock=clock)
        assert list(harness.items(client.jobs.results("j", poll_seconds=0.1))) == []
    assert clock.waits == [0.1]


def test_results_of_a_job_that_does_not_end_are_an_error(harness: Harness) -> None:
    incomplete = answer_json(202, {**JOB, "status": "running"}, {"Retry-After": "5"})
    with Service([incomplete] * 9) as service:
        client = harness.client(service.url, clock=InstantClock())
        with pytest.raises(JobTimeoutError):
            list(harness.items(client.jobs.results("j", timeout_seconds=20)))


def test_the_first_result_is_there_before_the_last_one_arrives(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A reference keeps the garbage collector from closing the body in the client's place.
    kept: list[Response] = []

    def keep(*arguments: Any, **named: Any) -> Response:
        kept.append(Response(*arguments, **named))
        return kept[-1]

    for driver in ("sync_driver", "async_driver"):
        monkeypatch.setattr(f"domesday_client.{driver}.Response", keep)
    document = completed(["a", "b", "c"]).encode()
    at = document.index(b'"b"')
    slow = Answer((head(200, len(document)) + document[:at], *[b" "] * 100), wait=0.05)
    with Service([slow]) as service:
        client = harness.client(service.url)
        results = client.jobs.results("j")
        iterator = harness.items(results)
        assert next(iterator).request_reference == "a"
        assert not service.left_early.is_set()
        harness.stop(results)
        # A caller that stops early releases the connection.
        assert service.left_early.wait(5)


def test_results_are_not_held_together_in_memory(harness: Harness) -> None:
    document = completed([f"{index} {'x' * 400}" for index in range(5_000)])
    content = document.encode()
    with Service([Answer((head(200, len(content)) + content,))]) as service:
        client = harness.client(service.url)
        tracemalloc.start()
        try:
            count = sum(1 for _ in harness.items(client.jobs.results("j")))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert count == 5_000
    assert peak < len(content) / 2, f"{peak} bytes of {len(content)}"


def test_results_go_on_where_they_were_after_a_lost_connection(harness: Harness) -> None:
    document = completed(["a", "b", "c", "d"])
    second, fourth = document.index('"b"'), document.index('"d"')
    answers = [
        pieces(document, 16, second),
        LOST,
        pieces(document, 16, fourth),
        pieces(document, 16),
    ]
    with Service([*answers]) as service:
        client = harness.client(service.url, clock=InstantClock())
        assert references(harness, client) == ["a", "b", "c", "d"]
        assert len(service.requests) == 4


def test_results_that_are_lost_without_an_end_are_an_error_that_costs_nothing(
    harness: Harness,
) -> None:
    document = completed(["a", "b"])
    with Service([pieces(document, 16, document.index('"b"'))] * 9) as service:
        client = harness.client(service.url, clock=InstantClock())
        with pytest.raises(ConnectionError) as caught:
            references(harness, client)
        assert caught.value.may_be_charged is False
        # The first attempt yields a result, so that the count begins anew after it.
        assert len(service.requests) == 5


def test_attempts_are_counted_anew_after_each_result(harness: Harness) -> None:
    names = [f"row {index}" for index in range(9)]
    document = completed(names)
    # Each attempt is cut one result later than the last one, and five in a row would be too many.
    answers = [pieces(document, 16, document.index(name) + 1) for name in names]
    with Service([*answers, pieces(document, 16)]) as service:
        client = harness.client(service.url, clock=InstantClock())
        assert references(harness, client) == names
        assert len(service.requests) == 10


def test_results_that_end_too_early_are_asked_for_again(harness: Harness) -> None:
    document = completed(["a", "b"])
    with Service([response(200, document[:-5]), pieces(document, 16)]) as service:
        client = harness.client(service.url, clock=InstantClock())
        assert references(harness, client) == ["a", "b"]


def test_results_of_a_failed_job_are_an_error_with_its_code(harness: Harness) -> None:
    error = {"code": "processing_failed", "message": "m", "retryable": False}
    document = json.dumps({"api_version": "v3", "job_id": "j", "error": error, "status": "failed"})
    with Service([pieces(document, 10)]) as service:
        with pytest.raises(JobFailedError) as caught:
            references(harness, harness.client(service.url))
        assert (caught.value.code, caught.value.retryable) == ("processing_failed", False)


def test_results_that_are_not_json_are_an_error_at_once(harness: Harness) -> None:
    with Service([pieces("<html>", 3)]) as service:
        with pytest.raises(ResponseError):
            references(harness, harness.client(service.url))
        assert len(service.requests) == 1


def test_a_refusal_of_results_is_retried_and_then_raised(harness: Harness) -> None:
    answers = [refusal(503, "overloaded", True), refusal(500, "internal", False)]
    with Service([*answers]) as service, pytest.raises(ServiceError):
        references(harness, harness.client(service.url, clock=InstantClock()))
