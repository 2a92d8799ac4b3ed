"""The waits of retries, which the shared table of cases states only as lower bounds."""

import time
from typing import Any

import pytest
from service import LOST, Answer, Service, answer_json, refusal, response
from support import Harness, InstantClock, home

from domesday_client import (
    AllowanceError,
    ApiError,
    ConnectionError,
    LimitError,
    RetryLimits,
    ServiceError,
)
from domesday_client.retry_after import retry_after

RELEASE = answer_json(200, {"release_id": "r"})
DATE = "Thu, 15 Oct 2026 12:00:00 GMT"
NOON = InstantClock().now()


def waits(harness: Harness, answers: list[Any], calls: int = 1, chance: float = 0) -> list[float]:
    """Returns the waits of queries of the release."""
    clock = InstantClock(chance)
    with Service(answers) as service:
        client = harness.client(service.url, clock=clock)
        for _ in range(calls):
            harness.get(client.release())
    return clock.waits


@pytest.mark.parametrize(
    "text",
    [
        "10",
        "Thu, 15 Oct 2026 12:00:10 GMT",
        "Thursday, 15-Oct-26 12:00:10 GMT",
        "Thu Oct 15 12:00:10 2026",
    ],
)
def test_retry_after_in_seconds_and_as_a_date_of_each_form(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A date is in UTC, though its third form does not say so and this machine may be elsewhere.
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert retry_after({"date": DATE, "retry-after": text}, NOON) == 10
        assert retry_after({"retry-after": text}, NOON) == 10
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_date_counts_from_the_responses_own_and_without_one_from_the_clock() -> None:
    text = "Thu, 15 Oct 2026 12:00:10 GMT"
    slow = {"date": "Thu, 15 Oct 2026 12:00:04 GMT", "retry-after": text}
    assert retry_after(slow, NOON) == 6
    assert retry_after({"retry-after": text}, NOON) == 10
    assert retry_after({"retry-after": "Thu, 15 Oct 2026 11:00:00 GMT"}, NOON) == 0
    assert retry_after({}, NOON) is None
    # Two digits over 50 years ahead are those of the last century.
    ahead = retry_after({"retry-after": "Thursday, 15-Oct-76 12:00:10 GMT"}, NOON)
    assert ahead is not None and ahead > 1e9
    assert retry_after({"retry-after": "Saturday, 15-Oct-77 12:00:10 GMT"}, NOON) == 0


@pytest.mark.parametrize(
    "text",
    [
        "soon",
        "-5",
        "1.5",
        "",
        "Thu, 45 Oct 2026 12:00:10 GMT",
        "2026-10-15",
        "\u0661\u0660",
        "1" * 11,
    ],
)
def test_a_header_that_is_neither_seconds_nor_a_date_is_no_wait(text: str) -> None:
    assert retry_after({"retry-after": text}, NOON) is None


@pytest.mark.parametrize(("chance", "wait"), [(0, 2.25), (0.999, 2.49975)])
def test_jitter_lengthens_a_wait_and_never_shortens_retry_after(
    harness: Harness, chance: float, wait: float
) -> None:
    answer = refusal(503, "overloaded", True, {"Retry-After": "2"})
    assert waits(harness, [answer, RELEASE], chance=chance) == [pytest.approx(wait)]


def test_waits_double_up_to_the_bound_and_attempts_are_bounded(harness: Harness) -> None:
    clock = InstantClock(0)
    with Service([refusal(503, "overloaded", True)] * 9) as service:
        client = harness.client(service.url, clock=clock, retries=RetryLimits(max_attempts=8))
        with pytest.raises(ServiceError):
            harness.get(client.release())
        assert len(service.requests) == 8
    assert clock.waits == [0.25, 0.5, 1, 2, 4, 4, 4]


def test_a_wait_that_the_time_for_waits_does_not_allow_ends_the_call(harness: Harness) -> None:
    clock = InstantClock()
    answers = [
        refusal(429, "rate_limited", True, {"Retry-After": "40"}),
        refusal(429, "rate_limited", True, {"Retry-After": "30"}),
    ]
    with Service([*answers]) as service, pytest.raises(LimitError) as caught:
        harness.get(harness.client(service.url, clock=clock).release())
    assert (caught.value.attempts, caught.value.retry_after) == (2, 30)
    assert len(clock.waits) == 1


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"code": "monthly_valuation_quota_exceeded", "message": "no"}},
        {"detail": "monthly_valuation_quota_exceeded"},
        {"detail": {"code": "monthly_valuation_quota_exceeded", "retryable": True}},
    ],
)
def test_an_exhausted_allowance_is_not_retried(harness: Harness, body: object) -> None:
    with Service([answer_json(429, body, {"Retry-After": "1"}), RELEASE]) as service:
        with pytest.raises(AllowanceError):
            harness.get(harness.client(service.url, clock=InstantClock()).value(home()))
        assert len(service.requests) == 1


def limited(text: str) -> Answer:
    """Returns the release with a header RateLimit."""
    return answer_json(200, {}, {"RateLimit": text})


def test_a_request_waits_while_ratelimit_says_that_none_is_left(harness: Harness) -> None:
    answers = [limited('"requests";r=0;t=7'), RELEASE, RELEASE]
    assert waits(harness, answers, calls=3) == [7]


@pytest.mark.parametrize(
    "text", ['"requests";r=3;t=7', "r=0, t=7", '"requests";t=7', '"a b";r=1;pk=:x:;t=9']
)
def test_other_limits_are_no_reason_to_wait(harness: Harness, text: str) -> None:
    assert waits(harness, [limited(text), RELEASE], calls=2) == []


def test_a_limit_counts_if_any_of_the_list_is_used_up(harness: Harness) -> None:
    text = '"day";r=5;t=60, "requests";pk=:aGk=:;r=0;t=2'
    assert waits(harness, [limited(text), RELEASE], calls=2) == [2]


def test_a_limit_beyond_the_time_for_waits_is_left_to_the_service(harness: Harness) -> None:
    assert waits(harness, [limited('"requests";r=0;t=61'), RELEASE], calls=2) == []


def test_a_redirect_is_an_error_because_a_second_service_might_charge_too(
    harness: Harness,
) -> None:
    with Service([RELEASE]) as other:
        redirect = response(307, "", {"Location": f"{other.url}/v3/value"})
        with Service([redirect]) as service, pytest.raises(ApiError) as caught:
            harness.get(harness.client(service.url, clock=InstantClock()).value(home()))
        assert caught.value.status == 307
        assert other.requests == []


def test_a_value_whose_connection_was_lost_is_repeated_only_if_the_caller_says_so(
    harness: Harness,
) -> None:
    answers = [LOST, answer_json(200, {"status": "valued"})]
    with Service([*answers]) as service:
        client = harness.client(service.url, clock=InstantClock())
        with pytest.raises(ConnectionError) as caught:
            harness.get(client.value(home()))
        assert (caught.value.may_be_charged, len(service.requests)) == (True, 1)
    with Service([*answers]) as service:
        client = harness.client(service.url, clock=InstantClock())
        assert harness.get(client.value(home(), repeat_after_loss=True)).status == "valued"
        assert len(service.requests) == 2
