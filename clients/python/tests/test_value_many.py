"""Many rows: how they are split, and what remains if a part fails."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from service import Answer, Service, answer_json, refusal
from support import Harness, InstantClock, home, site

from domesday_client import AsyncClient, BatchError, DomesdayError, LimitError


def numbered(count: int) -> list[dict[str, Any]]:
    """Returns rows with their numbers as references."""
    return [home(request_reference=str(index)) for index in range(count)]


def results(first: int, count: int) -> Answer:
    """Returns an answer of as many references."""
    rows = [
        {"status": "valued", "request_reference": str(index)}
        for index in range(first, first + count)
    ]
    return answer_json(200, {"status": "completed", "results": rows})


def sizes(service: Service) -> list[int]:
    """Returns the number of rows of each request."""
    return [len(request.body["requests"]) for request in service.requests]


def references(harness: Harness, rows: Any) -> list[str]:
    """Returns the references of results, in their order."""
    return [row.document["request_reference"] for row in harness.items(rows)]


def test_rows_are_sent_2500_at_a_time_and_come_back_in_order(harness: Harness) -> None:
    rows = numbered(5_001)
    with Service([results(0, 2_500), results(2_500, 2_500), results(5_000, 1)]) as service:
        client = harness.client(service.url)
        valued = list(harness.items(client.iter_values(rows)))
        assert len(valued) == 5_001
        for position, row in enumerate(valued):
            assert (row.index, row.document["request_reference"]) == (position, str(position))
            assert row.row is rows[position]
        assert sizes(service) == [2_500, 2_500, 1]


def test_a_request_has_at_most_9500000_bytes_its_envelope_included(harness: Harness) -> None:
    # Each row has more than 4 MB in two-byte characters, so that a third does not fit.
    rows = [home(request_reference="é" * 2_200_000)] * 3
    options = {"include_comparables": True}
    with Service([results(0, 2), results(2, 1)]) as service:
        client = harness.client(service.url)
        assert len(references(harness, client.iter_values(rows, options=options))) == 3
        assert sizes(service) == [2, 1]
        for request in service.requests:
            assert len(request.content) <= 9_500_000
            assert request.body["options"] == options


@pytest.mark.parametrize(("over", "expected"), [(0, [2]), (1, [1, 1])])
@pytest.mark.parametrize("options", [None, {"include_comparables": True}])
def test_a_request_may_fill_the_limit_to_the_byte(
    harness: Harness, over: int, expected: list[int], options: object
) -> None:
    body = {"requests": [home(request_reference=""), home()]}
    if options is not None:
        body["options"] = options  # type: ignore[assignment]
    empty = len(json.dumps(body, separators=(",", ":")))
    rows = [home(request_reference="x" * (9_500_000 - empty + over)), home()]
    answers = [results(0, 2)] if expected == [2] else [results(0, 1), results(1, 1)]
    with Service([*answers]) as service:
        client = harness.client(service.url)
        references(harness, client.iter_values(rows, options=options))
        assert sizes(service) == expected
        if expected == [2]:
            assert len(service.requests[0].content) == 9_500_000


def test_a_request_that_is_too_large_is_halved_and_the_next_are_as_small(
    harness: Harness,
) -> None:
    too_large = refusal(413, "response_too_large", False)
    parts = [(0, 3), (3, 3), (6, 3), (9, 1), (10, 2)]
    answers = [too_large, too_large, *(results(first, count) for first, count in parts)]
    with Service([*answers]) as service:
        rows = harness.client(service.url).iter_values(numbered(12), rows_per_request=10)
        assert references(harness, rows) == [str(index) for index in range(12)]
        assert sizes(service) == [10, 5, 3, 3, 3, 1, 2]


def test_a_row_that_is_too_large_alone_is_an_error_with_its_index(harness: Harness) -> None:
    with Service([results(0, 1), refusal(413, "body_too_large", False)]) as service:
        rows = harness.client(service.url).iter_values(numbered(2), rows_per_request=1)
        seen = []
        with pytest.raises(BatchError) as caught:
            for row in harness.items(rows):
                seen.append(row.index)
        assert (seen, caught.value.first_row, caught.value.row_count) == ([0], 1, 1)
        assert len(service.requests) == 2


def test_a_part_that_fails_names_its_rows_and_keeps_the_results_before_it(
    harness: Harness,
) -> None:
    answers = [results(0, 2), *[refusal(429, "rate_limited", True)] * 5]
    with Service([*answers]) as service:
        client = harness.client(service.url, clock=InstantClock())
        with pytest.raises(BatchError) as caught:
            harness.get(client.value_many(numbered(4), rows_per_request=2))
        error = caught.value
        assert isinstance(error.__cause__, LimitError)
        assert (error.first_row, error.row_count) == (2, 2)
        assert [row["request_reference"] for row in error.completed] == ["0", "1"]
        assert [row["result_status"] for row in error.completed] == ["valued", "valued"]


@pytest.mark.parametrize("body", [{"results": [{"status": "valued"}]}, {}, [], {"results": 7}])
def test_an_answer_with_another_number_of_results_is_an_error(
    harness: Harness, body: object
) -> None:
    with Service([answer_json(200, body)]) as service, pytest.raises(BatchError) as caught:
        list(harness.items(harness.client(service.url).iter_values(numbered(2))))
    assert isinstance(caught.value.__cause__, DomesdayError)


def test_no_row_is_read_ahead_of_its_request(harness: Harness) -> None:
    taken: list[int] = []

    def rows() -> Iterator[dict[str, Any]]:
        for index, row in enumerate(numbered(5)):
            taken.append(index)
            yield row

    async def rows_async() -> AsyncIterator[dict[str, Any]]:
        for row in rows():
            yield row

    sources = [rows()] if harness.kind is not AsyncClient else [rows(), rows_async()]
    for source in sources:
        taken.clear()
        with Service([results(0, 2)]) as service:
            client = harness.client(service.url)
            values = client.iter_values(source, mode="simple", rows_per_request=2)
            iterator = harness.items(values)
            next(iterator)
            assert len(taken) == 3
            harness.stop(values)


def test_each_mode_has_its_own_route(harness: Harness) -> None:
    with Service([*[results(0, 1)] * 3, *[answer_json(200, {"status": "valued"})] * 3]) as service:
        client = harness.client(service.url)
        homes = {"simple": home(), "standard": home(), "development": site()}
        for mode, row in homes.items():
            harness.get(client.value_many([row], mode=mode))
        for mode, row in homes.items():
            harness.get(client.value(row, mode=mode))
        assert [request.path for request in service.requests] == [
            "/v3/simple-batch-value",
            "/v3/batch-value",
            "/v3/development-batch-value",
            "/v3/simple-value",
            "/v3/value",
            "/v3/development-value",
        ]


def test_an_unknown_mode_is_refused_before_anything_is_sent(harness: Harness) -> None:
    with Service([]) as service:
        client = harness.client(service.url)
        for call in (client.value, lambda row, **o: client.value_many([row], **o)):
            with pytest.raises(ValueError, match="mode"):
                harness.get(call(home(), mode="quick"))
        assert service.requests == []


def test_no_rows_are_no_request(harness: Harness) -> None:
    with Service([]) as service:
        assert harness.get(harness.client(service.url).value_many([])) == []
        assert service.requests == []
