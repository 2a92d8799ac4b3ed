"""The command `conformance`: each check fails for the behaviour that it is there to find."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from service import Answer, Service, answer_json, refusal
from support import InstantClock, demo_server, home

from domesday_client import Client, RetryLimits
from domesday_client.cli import DEMO_HOME, main
from domesday_client.conformance import Report, run
from domesday_client.conformance.checks import NotTested, Probe
from domesday_client.conformance.reading import CHECKS

Change = Callable[[httpx2.Request, httpx2.Response, dict[str, Any]], httpx2.Response]


class Altered(httpx2.BaseTransport):
    """A service of which one answer is altered."""

    def __init__(self, change: Change) -> None:
        self._inner = httpx2.HTTPTransport()
        self._change = change
        self._memory: dict[str, Any] = {}

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends a request and alters its response."""
        response = self._inner.handle_request(request)
        response.read()
        headers = {"content-length", "content-encoding", "transfer-encoding"}
        kept = [pair for pair in response.headers.items() if pair[0].lower() not in headers]
        plain = httpx2.Response(response.status_code, headers=kept, content=response.content)
        return self._change(request, plain, self._memory)

    def close(self) -> None:
        """Closes the connections."""
        self._inner.close()


def report_of(change: Change, spend: int = 5) -> Report:
    """Returns the report on the demo with this alteration."""
    server = demo_server()
    assert server is not None
    url, key = server
    limits = RetryLimits(max_attempts=1)
    # A job's key belongs to its body for 30 days, also in the data of an earlier run.
    name = f"test-{time.time_ns()}"
    with (
        Client(url, key, retries=limits, transport=Altered(change)) as client,
        Client(url, "unknown", retries=limits, transport=Altered(change)) as stranger,
    ):
        return run(Probe(client, stranger, home(), True, name), spend)


def failed(report: Report) -> dict[str, str]:
    """Returns the failed checks with their reasons."""
    return {line.name: line.detail for line in report.lines if line.outcome == "failed"}


def status(path: str, code: int, query: str = "", method: str = "GET") -> Change:
    """Alters the status of a route, if its query has a text."""

    def change(
        request: httpx2.Request, response: httpx2.Response, _: dict[str, Any]
    ) -> httpx2.Response:
        url = request.url
        matches = url.path.endswith(path) and query in str(url.query) and request.method == method
        return httpx2.Response(code, content=response.content) if matches else response

    return change


def member(path: str, name: str, value: object) -> Change:
    """Alters a member of a route's successes. None takes it away."""

    def change(
        request: httpx2.Request, response: httpx2.Response, _: dict[str, Any]
    ) -> httpx2.Response:
        if not request.url.path.endswith(path) or response.status_code not in (200, 202):
            return response
        body = json.loads(response.content)
        target = body
        *parents, last = name.split(".")
        for parent in parents:
            target = target[int(parent)] if isinstance(target, list) else target[parent]
        if value is None:
            target.pop(last, None)
        else:
            target[last] = value
        return httpx2.Response(
            response.status_code, headers={"etag": response.headers.get("etag", "")}, json=body
        )

    return change


def header(name: str, value: str | None) -> Change:
    """Alters a header of every response."""

    def change(_: httpx2.Request, response: httpx2.Response, __: dict[str, Any]) -> httpx2.Response:
        if name in response.headers:
            del response.headers[name]
        if value is not None:
            response.headers[name] = value
        return response

    return change


def second_job(
    request: httpx2.Request, response: httpx2.Response, memory: dict[str, Any]
) -> httpx2.Response:
    """Gives each submission another job."""
    if request.method != "POST" or not request.url.path.endswith("jobs"):
        return response
    memory["count"] = memory.get("count", 0) + 1
    body = json.loads(response.content)
    if response.status_code != 202:
        return response
    number = f"00000000-0000-4000-8000-{memory['count']:012}"
    return httpx2.Response(202, json={**body, "job_id": number})


SERIES = "/v1/rates/series"
OBSERVATION = {"period": "2026-09-30", "status": "recorded_revisable", "value": 1.0}
CHANGES: dict[str, tuple[Change, str]] = {
    "authentication": (status("/releases/current", 200), "not 401"),
    "error_shape": (header("x-service-request-id", None), "no X-Service-Request-Id"),
    "metadata": (member("/v3/releases/current", "limits", None), "contradicts"),
    "endpoints": (member("/v3/releases/current", "endpoints", []), "do not list"),
    "coverage": (member("/v3/coverage", "postcode", None), "contradicts"),
    "unknown_job": (status("8000-000000000000", 200), "not 4xx"),
    "rates_series": (member(SERIES, "series.0.basis", 7), "contradicts"),
    "markets_series": (member("/v1/markets/series", "release_id", "other"), "not synthetic"),
    "entity_tag": (status(SERIES, 200), "no ETag"),
    "pinned_release": (status(SERIES, 200, "no-such-release"), "not 4xx"),
    "pages": (member(SERIES, "series.0.observations", [OBSERVATION] * 3), "at most 2"),
    "parameter_errors": (status(SERIES, 200, "no_such_parameter"), "not 400"),
    "rate_limit": (header("ratelimit", "nonsense"), "cannot be read"),
    "value": (member("/v3/simple-value", "valuation.range.upper_value_gbp", 1), "outside"),
    "unknown_field": (status("/v3/simple-value", 200, method="POST"), "not 422"),
    "idempotent_replay": (second_job, "second job"),
    "batch": (member("/v3/simple-batch-value", "results.0.request_reference", "x"), "order"),
}


@pytest.mark.live
@pytest.mark.parametrize("name", CHANGES)
def test_a_check_fails_for_the_behaviour_that_it_is_there_to_find(name: str) -> None:
    change, reason = CHANGES[name]
    found = failed(report_of(change))
    assert reason in found.get(name, ""), found


def test_every_check_has_its_alteration() -> None:
    assert {check.name for check in CHECKS} <= set(CHANGES)


@pytest.mark.live
def test_unknown_members_are_named_and_no_failure() -> None:
    report = report_of(member("/v3/releases/current", "limits.new_rows", 7))
    assert failed(report) == {}
    assert report.lines[-1].detail == "kept: Limits.new_rows"


@pytest.mark.live
def test_a_plan_without_a_family_is_not_a_failure() -> None:
    def change(
        request: httpx2.Request, response: httpx2.Response, _: dict[str, Any]
    ) -> httpx2.Response:
        refused = {"error": {"code": "access_disabled", "message": "no"}, "request_id": "x"}
        denied = "/v1/" in request.url.path
        return httpx2.Response(403, json=refused) if denied else response

    report = report_of(change)
    assert failed(report) == {}
    skipped = {line.name for line in report.lines if line.outcome == "not tested"}
    series = {"rates_series", "markets_series", "entity_tag", "pinned_release", "pages"}
    assert skipped == {*series, "parameter_errors"}


@pytest.mark.live
def test_an_allowance_that_is_used_up_is_not_a_failure() -> None:
    def change(
        request: httpx2.Request, response: httpx2.Response, _: dict[str, Any]
    ) -> httpx2.Response:
        if request.method != "POST" or response.status_code == 422:
            return response
        code = "monthly_valuation_quota_exceeded"
        return httpx2.Response(429, json={"error": {"code": code, "retryable": False}})

    report = report_of(change)
    assert failed(report) == {}
    skipped = {line.name for line in report.lines if line.outcome == "not tested"}
    assert skipped == {"value", "idempotent_replay", "batch"}


def limited(seconds: int) -> Answer:
    """Returns a refusal by a limit that asks for this wait."""
    return refusal(429, "rate_limited", True, {"Retry-After": str(seconds)})


def probe_of(url: str, clock: InstantClock) -> Probe:
    """Returns a probe of a scripted service."""
    client, stranger = (Client(url, key, clock=clock) for key in ("key", "unknown"))
    return Probe(client, stranger, home(), True, "test")


def test_a_limit_is_no_failure_and_nothing_is_sent_before_its_wait_ends() -> None:
    clock = InstantClock()
    with Service([limited(60), limited(60)]) as service:
        report = run(probe_of(service.url, clock), 0)
        assert (len(service.requests), clock.waits) == (1, [])
        clock.sleep(61)
        run(probe_of(service.url, clock), 0)
        assert len(service.requests) == 2
    assert failed(report) == {}
    assert report.lines[0].outcome == "not tested"
    assert report.lines[0].detail == "HTTP 429 rate_limited, and Retry-After is 60 seconds"


def test_a_short_wait_is_kept_and_a_limit_that_stays_is_not_tested() -> None:
    clock = InstantClock()
    answers = [limited(20), answer_json(200, {}), *[limited(2)] * 3, refusal(429, "busy", True)]
    with Service([*answers, refusal(429, "no_more", False)]) as service:
        probe = probe_of(service.url, clock)
        assert (probe.get("/a").status, clock.waits) == (200, [20])
        with pytest.raises(NotTested, match="Retry-After is 2 seconds"):
            probe.get("/b")
        assert (clock.waits, len(service.requests)) == ([20, 2, 2], 5)
        with pytest.raises(NotTested, match="HTTP 429 no_more without Retry-After"):
            probe.get("/c")
        assert len(service.requests) == 7


@pytest.mark.live
def test_the_command_prints_a_line_for_each_check(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    url, key = demo_server() or ("", "")
    assert main(["conformance", "--url", url, "--key", key]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert last == "14 passed, 0 failed, 4 not tested"
    assert [line.split()[0] for line in lines].count("passed") == 14
    file = tmp_path / "home.json"
    file.write_text(json.dumps(home()))
    command = ["conformance", "--url", url, "--key", key, "--spend", "1", "--home", str(file)]
    assert main([*command, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["passed"], report["failed"], report["not_tested"]) == (15, 0, 3)
    assert main(["conformance", "--url", url, "--key", "unknown"]) == 1
    assert "unknown key" in capsys.readouterr().out


def test_a_service_that_does_not_answer_fails(capsys: pytest.CaptureFixture[str]) -> None:
    with Service([]) as service:
        url = service.url
    assert main(["conformance", "--url", url, "--key", "secret-4711", "--json"]) == 1
    text = capsys.readouterr().out
    assert json.loads(text)["passed"] == 0 and "secret-4711" not in text


@pytest.mark.parametrize(
    "arguments",
    [
        ["--url", "", "--key", "k"],
        ["--url", "http://service.invalid", "--key", "with space"],
        ["--url", "http://service.invalid", "--key", "k", "--spend", "-1"],
        ["--url", "http://service.invalid", "--key", "k", "--home", "/no/such/file"],
    ],
)
def test_unsound_arguments_are_named(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DOMESDAY_URL", raising=False)
    assert main(["conformance", *arguments]) == 2
    assert capsys.readouterr().err.startswith("domesday-client: ")


def test_the_home_of_the_demo_is_that_of_the_tests() -> None:
    assert home() == DEMO_HOME
