"""An answer with words and members that this version does not know, for each type of answer.

The examples of docs/openapi.json are altered one place at a time: each text is replaced by another
word, and each object gets a member. No call may raise, and the word or member must be kept. A type
of answer that the description adds is tested without a line here.
"""

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from support import CLIENTS, Harness, InstantClock, home, site

from domesday_client import ApiError, BatchError

NEW = "brand_new"
DESCRIPTION = json.loads((CLIENTS.parent / "docs/openapi.json").read_text(encoding="utf-8"))
Place = tuple[str | int, ...]


def places(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yields each object and each text with its place. Of a list, the first item stands for all."""
    if isinstance(value, dict):
        yield place, value
        for name, member in value.items():
            yield from places(member, (*place, name))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*place, 0))
    elif isinstance(value, str):
        yield place, value


def altered(answer: Any, place: Place, old: Any) -> Any:
    """Returns a copy with another word at a place, or with a further member."""
    changed: Any = {"answer": copy.deepcopy(answer)}
    parent = changed
    last: str | int = "answer"
    for step in place:
        parent, last = parent[last], step
    parent[last] = {**old, NEW: {"deep": [1]}} if isinstance(old, dict) else NEW
    return changed["answer"]


def examples() -> Iterator[tuple[str, int, str, Any]]:
    """Yields route, status, name and answer of each example."""
    for path, methods in DESCRIPTION["paths"].items():
        for method, operation in methods.items():
            for status, response in operation["responses"].items():
                for content in response.get("content", {}).values():
                    for name, example in content.get("examples", {}).items():
                        shared = example.get("$ref", "").rpartition("/")[2]
                        found = DESCRIPTION["components"]["examples"][shared] if shared else example
                        yield f"{method} {path}", int(status), name, found["value"]


SUCCESSES = [
    pytest.param(route, status, answer, id=f"{route} {status} {name}")
    for route, status, name, answer in examples()
    if status < 300
]
# Routes share errors, so each is tried with one of them.
REFUSALS = {
    f"{status} {name}": (route, status, answer)
    for route, status, name, answer in examples()
    if status >= 400
}


def batch(harness: Harness, client: Any, body: Any, mode: str) -> Any:
    """Values rows in one request."""
    return [row.document for row in harness.items(client.iter_values(body, mode=mode))]


CALLS: dict[str, Callable[[Harness, Any, int], Any]] = {
    "get /v1/markets/areas": lambda h, c, n: h.get(c.markets.areas()),
    "get /v1/markets/coverage": lambda h, c, n: h.get(c.markets.coverage("d")),
    "get /v1/markets/datasets": lambda h, c, n: h.get(c.markets.datasets()),
    "get /v1/markets/releases/current": lambda h, c, n: h.get(c.markets.current_release()),
    "get /v1/markets/series": lambda h, c, n: list(h.items(c.markets.pages("d"))),
    "get /v1/rates/coverage": lambda h, c, n: h.get(c.rates.coverage("d")),
    "get /v1/rates/datasets": lambda h, c, n: h.get(c.rates.datasets()),
    "get /v1/rates/releases/current": lambda h, c, n: h.get(c.rates.current_release()),
    "get /v1/rates/series": lambda h, c, n: list(h.items(c.rates.pages("d"))),
    "get /v3/coverage": lambda h, c, n: h.get(c.coverage("QA1 1AF")),
    "get /v3/releases/current": lambda h, c, n: h.get(c.release()),
    "get /v3/valuation-jobs/{job_id}": lambda h, c, n: h.get(c.jobs.get("j")),
    "get /v3/valuation-jobs/{job_id}/results": lambda h, c, n: list(h.items(c.jobs.results("j"))),
    "post /v3/batch-value": lambda h, c, n: batch(h, c, [home()] * n, "standard"),
    "post /v3/development-batch-value": lambda h, c, n: batch(h, c, [site()] * n, "development"),
    "post /v3/development-value": lambda h, c, n: h.get(c.value(site(), mode="development")),
    "post /v3/simple-batch-value": lambda h, c, n: batch(h, c, [home()] * n, "simple"),
    "post /v3/simple-value": lambda h, c, n: h.get(c.value(home(), mode="simple")),
    "post /v3/valuation-jobs": lambda h, c, n: h.get(
        c.jobs.submit({"requests": [home()]}, label="run")
    ),
    "post /v3/value": lambda h, c, n: h.get(c.value(home())),
}


def outcome(harness: Harness, route: str, answers: list[tuple[int, Any]], rows: int = 1) -> Any:
    """Returns the outcome of a route's call on these answers, of which the last one repeats."""
    sent: list[httpx2.Request] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        status, answer = answers[min(len(sent), len(answers)) - 1]
        return httpx2.Response(status, json=answer)

    transport = httpx2.MockTransport(handle)
    client = harness.client("http://service.invalid", clock=InstantClock(), transport=transport)
    return CALLS[route](harness, client, rows)


def is_handed_on(route: str, status: int, place: Place) -> bool:
    """Returns true if a call's outcome has this part of the answer. Rows and results come alone."""
    if "batch" in route:
        return place[:1] == ("results",) and len(place) > 1
    if (route, status) == ("get /v3/valuation-jobs/{job_id}/results", 202):
        return False
    if route.endswith("/results"):
        return place[:2] == ("result", "results") and len(place) > 2
    return True


@pytest.mark.parametrize(("route", "status", "answer"), SUCCESSES)
def test_no_word_or_member_of_an_answer_raises_or_is_lost(
    harness: Harness, route: str, status: int, answer: Any
) -> None:
    rows = len(answer["results"]) if "batch" in route else 0
    last = {"status": "completed", "result": {"results": []}, "series": []}
    altered_count = 0
    for place, old in places(answer):
        answers = [(status, altered(answer, place, old)), (200, last)]
        shown = repr(outcome(harness, route, answers, rows))
        assert NEW in shown or not is_handed_on(route, status, place), place
        altered_count += 1
    assert altered_count >= 3


@pytest.mark.parametrize(("route", "status", "answer"), REFUSALS.values(), ids=REFUSALS)
def test_no_word_or_member_of_an_error_changes_its_kind(
    harness: Harness, route: str, status: int, answer: Any
) -> None:
    for place, old in places(answer):
        with pytest.raises((ApiError, BatchError)) as caught:
            outcome(harness, route, [(status, altered(answer, place, old))])
        error: BaseException | None = caught.value
        error = error.__cause__ if isinstance(error, BatchError) else error
        assert isinstance(error, ApiError) and error.status == status
        if place == ("error", "code"):
            assert error.code == NEW


def test_each_route_of_the_description_has_a_call() -> None:
    assert {route for route, *_ in examples()} == set(CALLS)
