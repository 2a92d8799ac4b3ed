"""Series: cursors, pins, and the members that an observation keeps."""

from typing import Any

import pytest
from service import Answer, Service, answer_json
from support import Harness

AVAILABLE = {"status": "available", "from": "2026-01", "to": "2026-03"}


def page(periods: list[str], cursor: str | None, value: float = 0) -> Answer:
    """Returns a page with an observation for each period."""
    observations = [{"period": period, "status": "new", "value": value} for period in periods]
    series = {
        "series_id": "s",
        "basis": "observed",
        "metric": "m",
        "unit": "u",
        "extra": 1,
        "dimensions": {"tenor_months": 60},
        "availability": AVAILABLE,
        "observations": observations,
    }
    release = {"dataset": "bank_rate", "release_id": "r1", "next_cursor": cursor}
    return answer_json(200, {**release, "series": [series]})


def test_a_selection_is_read_to_its_last_page_by_cursors_alone(harness: Harness) -> None:
    with Service([page(["a", "b"], "c1"), page([], "c2"), page(["c"], None)]) as service:
        client = harness.client(service.url)
        rows = harness.get(client.rates.series("bank_rate", from_="2026-01-01"))
        assert [request.path for request in service.requests] == [
            "/v1/rates/series?dataset=bank_rate&from=2026-01-01",
            "/v1/rates/series?cursor=c1",
            "/v1/rates/series?cursor=c2",
        ]
    assert [row["period"] for row in rows] == ["a", "b", "c"]
    assert rows[0] == {
        "release_id": "r1",
        "dataset": "bank_rate",
        "series_id": "s",
        "basis": "observed",
        "metric": "m",
        "unit": "u",
        "extra": 1,
        "tenor_months": 60,
        "period": "a",
        "status": "new",
        "value": 0,
    }


@pytest.mark.parametrize("frame", ["polars", "pandas", "arrow"])
@pytest.mark.parametrize("empty", [False, True])
def test_a_series_comes_as_a_frame_of_each_library(
    harness: Harness, frame: str, empty: bool
) -> None:
    answers = [page([], None)] if empty else [page(["a"], "c1", 1), page(["b"], None, 2.5)]
    with Service([*answers]) as service:
        client = harness.client(service.url)
        table = harness.get(client.markets.series("market_activity", area="E1", frame=frame))
    columns = table.column_names if frame == "arrow" else list(table.columns)
    assert {"release_id", "dataset", "basis", "unit", "period", "status", "value"} <= set(columns)
    values = table["value"]
    found = values.to_pylist() if frame == "arrow" else list(values)
    assert found == ([] if empty else [1.0, 2.5])


def test_an_unknown_kind_of_frame_is_refused(harness: Harness) -> None:
    with Service([page(["a"], None)]) as service, pytest.raises(ValueError, match="frame"):
        harness.get(harness.client(service.url).rates.series("bank_rate", frame="excel"))


def test_pages_are_asked_for_one_by_one(harness: Harness) -> None:
    with Service([page(["a"], "c1"), page(["b"], None)]) as service:
        client = harness.client(service.url)
        for method in (client.markets.pages, client.markets.rows):
            pages = method("market_activity", area="E1")
            iterator = harness.items(pages)
            next(iterator)
            assert len(service.requests) == (1 if method == client.markets.pages else 2)
            harness.stop(pages)


def test_a_series_without_observations_is_in_its_page(harness: Harness) -> None:
    head = {"series_id": "s", "availability": {"status": "suppressed"}}
    body = {"series": [head], "notice": {"code": "new"}, "next_cursor": None}
    with Service([answer_json(200, body)] * 2) as service:
        client = harness.client(service.url)
        (found,) = harness.items(client.rates.pages("bank_rate"))
        assert found == body
        assert harness.get(client.rates.series("bank_rate")) == []


def pinned_paths(harness: Harness, service: Service, markets: Any) -> list[str]:
    """Returns the requests of a pinned session of markets."""
    list(harness.items(markets.rows("market_activity", area="E1")))
    harness.get(markets.coverage("market_activity", area="E1"))
    harness.get(markets.datasets())
    harness.get(markets.areas())
    return [request.path for request in service.requests]


PINNED = [
    "/v1/markets/series?release_id=r9&dataset=market_activity&area=E1",
    "/v1/markets/series?cursor=c1",
    "/v1/markets/coverage?release_id=r9&dataset=market_activity&area=E1",
    "/v1/markets/datasets?release_id=r9",
    "/v1/markets/areas?release_id=r9",
]


def test_a_pinned_session_names_its_release_but_not_beside_a_cursor(harness: Harness) -> None:
    answers = [page(["a"], "c1"), page(["b"], None), *[answer_json(200, {})] * 3]
    with Service([answer_json(200, {"release_id": "r9"}), *answers]) as service:
        markets = harness.get(harness.client(service.url).markets.pin())
        assert markets.release_id == "r9"
        paths = pinned_paths(harness, service, markets)
    assert paths == ["/v1/markets/releases/current", *PINNED]
    with Service([*answers]) as service:
        client = harness.client(service.url).pinned(markets="r9")
        assert pinned_paths(harness, service, client.markets) == PINNED


def test_a_pin_on_a_given_release_asks_for_nothing(harness: Harness) -> None:
    with Service([]) as service:
        client = harness.client(service.url)
        assert harness.get(client.rates.pin("r2")).release_id == "r2"
        both = client.pinned(rates="r2").pinned(markets="m3")
        assert (both.rates.release_id, both.markets.release_id) == ("r2", "m3")
        assert client.rates.release_id is None
        assert service.requests == []


def test_selectors_and_metrics_are_sent_by_their_names(harness: Harness) -> None:
    with Service([page([], None)]) as service:
        rates = harness.client(service.url).rates
        harness.get(
            rates.series("ois_spot_curve", tenor_months=60, metrics=["a", "b"], page_size=7)
        )
        assert service.requests[0].path == (
            "/v1/rates/series?dataset=ois_spot_curve&tenor_months=60&metrics=a,b&page_size=7"
        )
