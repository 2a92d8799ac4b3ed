"""The table of retry cases that all clients share, over real connections.

Each case says what the service answers in turn before it answers with success. It says what the
client must do: how often it sends the request, how long it waits at least between two of them, how
the call ends, and if units may have been charged.
"""

import json
from typing import Any

import pytest
from service import LOST, Answer, Service, answer_json, response
from support import Harness, InstantClock, home, shared_file

from domesday_client import ApiError, BatchError, ConnectionError

# The longest jitter of any wait, in seconds. A client may not wait much longer than it must.
MAX_JITTER_SECONDS = 8
VALUED = {"status": "valued"}
SUCCESS: dict[str, Answer] = {
    "release": answer_json(200, {"release_id": "r"}),
    "job": answer_json(200, {"job_id": "j", "status": "running"}),
    "results": answer_json(200, {"status": "completed", "result": {"results": [VALUED]}}),
    "series": answer_json(200, {"series": [], "next_cursor": None}),
    "submit": answer_json(202, {"job_id": "j", "status": "queued"}),
    "value": answer_json(200, VALUED),
    "batch": answer_json(200, {"status": "completed", "results": [VALUED]}),
}
CASES: list[dict[str, Any]] = shared_file("retry-cases.json")


def call(harness: Harness, client: Any, case: dict[str, Any]) -> None:
    """Makes the call of a case, to its end."""
    name = case["call"]
    repeat = case.get("repeat_after_loss", False)
    if name == "results":
        list(harness.items(client.jobs.results("j")))
    elif name == "batch":
        harness.get(client.value_many([home()], repeat_after_loss=repeat))
    elif name == "value":
        harness.get(client.value(home(), repeat_after_loss=repeat))
    elif name == "submit":
        harness.get(client.jobs.submit({"requests": [home()]}, label="run"))
    elif name == "series":
        harness.get(client.rates.series("bank_rate"))
    elif name == "job":
        harness.get(client.jobs.get("j"))
    else:
        harness.get(client.release())


class Gatekeeper(InstantClock):
    """A clock that closes the service during each wait before a connection to refuse."""

    def __init__(self, service: Service, refused: list[bool]) -> None:
        super().__init__()
        self._service = service
        self._refused = refused
        self._admit()

    def sleep(self, seconds: float) -> None:
        """Notes a wait, and opens or closes the service for the attempt after it."""
        super().sleep(seconds)
        self._admit()

    def _admit(self) -> None:
        attempt = len(self.waits)
        self._service.listen(attempt >= len(self._refused) or not self._refused[attempt])


def scripted(answer: dict[str, Any]) -> Answer:
    """Returns an answer of the table. A text is sent unchanged, anything else as JSON."""
    if answer.get("lost"):
        return LOST
    body = answer.get("body")
    content = body if isinstance(body, str) else json.dumps(body)
    return response(answer["status"], content, answer.get("headers"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_case_of_the_table(harness: Harness, case: dict[str, Any]) -> None:
    refused = [answer.get("refused", False) for answer in case["answers"]]
    answers = [scripted(answer) for answer in case["answers"] if not answer.get("refused")]
    error: BaseException | None = None
    with Service([*answers, SUCCESS[case["call"]]]) as service:
        clock = Gatekeeper(service, refused)
        try:
            call(harness, harness.client(service.url, clock=clock), case)
        except Exception as raised:
            # A batch wraps the error of its request, to name the rows.
            error = raised.__cause__ if isinstance(raised, BatchError) else raised
        requests = service.requests
    assert (type(error).__name__ if error else "success") == case["outcome"], error
    assert len(requests) == case["attempts"] - sum(refused)
    assert all(request.content == requests[0].content for request in requests)
    assert len(clock.waits) == len(case["waits_at_least"])
    for wait, seconds in zip(clock.waits, case["waits_at_least"], strict=True):
        assert seconds < wait <= seconds + MAX_JITTER_SECONDS
    if isinstance(error, ApiError):
        assert error.code == case["code"]
    if isinstance(error, ApiError | ConnectionError):
        assert (error.may_be_charged, error.attempts) == (case["may_be_charged"], case["attempts"])


def test_the_table_has_at_least_40_cases_and_each_another_name() -> None:
    assert len(CASES) >= 40
    assert len({case["name"] for case in CASES}) == len(CASES)


def test_the_table_has_each_call_with_each_status_that_is_retried() -> None:
    seen = {
        (case["call"], answer.get("status"))
        for case in CASES
        for answer in case["answers"]
        if case["outcome"] == "success"
    }
    for name in ("release", "submit", "value"):
        assert {(name, 429), (name, 500), (name, 503)} <= seen
    assert {case["call"] for case in CASES} == set(SUCCESS)
