"""The client against a running server of the demo: DOMESDAY_URL and DOMESDAY_KEY name it."""

import time
from pathlib import Path
from typing import Any

import polars
import pytest
from support import Harness, demo_server, flat_home, home, site

from domesday_client import AuthenticationError, InvalidRequestError, NotFoundError
from domesday_client.models import ExistingRequest, ReferredResult, RejectedResult, ValuedResult

pytestmark = pytest.mark.live
# Jobs of the demo end within milliseconds, so the tests need not wait as the contract asks.
SOON = {"poll_seconds": 0.1, "timeout_seconds": 30}


@pytest.fixture
def client(harness: Harness) -> Any:
    """Returns a client of the demo server."""
    server = demo_server()
    assert server is not None
    return harness.client(*server)


def test_a_home_is_valued_in_each_mode(harness: Harness, client: Any) -> None:
    options = {"include_comparables": True, "comparables_limit": 2}
    standard = harness.get(client.value(home(options=options)))
    assert isinstance(standard, ValuedResult) and standard.comparables is not None
    assert standard.valuation.estimated_value_gbp > 0 and len(standard.comparables) == 2
    model = ExistingRequest.model_validate(home(options=options))
    simple = harness.get(client.value(model, mode="simple"))
    assert isinstance(simple, ValuedResult) and simple.comparables is None
    assert harness.get(client.value(site(), mode="development")).status == "valued"


def test_a_home_outside_the_market_is_referred(harness: Harness, client: Any) -> None:
    land = home()
    land["size"]["floor_area_m2"] = 1_999
    result = harness.get(client.value(land))
    assert isinstance(result, ReferredResult), result


def test_many_rows_come_back_in_order_a_rejected_one_among_them(
    harness: Harness, client: Any
) -> None:
    rows = [
        flat_home(number, request_reference=f"row {index}", own=index)
        for index, number in enumerate(["15", "999", "15"])
    ]
    table = polars.DataFrame(rows)
    found = harness.get(client.value_many(table, keep=["own"], rows_per_request=2))
    assert found["result_status"].to_list() == ["valued", "rejected", "valued"]
    assert found["own"].to_list() == [0, 1, 2]
    assert found["result_error_code"].to_list() == [None, "address_not_found", None]
    results = list(harness.items(client.iter_values([home(), home("999")])))
    assert [type(row.result) for row in results] == [ValuedResult, RejectedResult]


def test_a_client_that_starts_again_finds_its_job(harness: Harness, client: Any) -> None:
    # A new label for each run of the test, since a key is remembered for 30 days.
    label = f"live-{time.time_ns()}"
    body = {"mode": "standard", "requests": [home(), home("999")]}
    job = harness.get(client.jobs.submit(body, label=label))
    again = harness.client(*(demo_server() or ("", "")))
    assert harness.get(again.jobs.submit(body, label=label)).job_id == job.job_id
    other = harness.get(client.jobs.submit(body, label=f"{label}-b"))
    assert other.job_id != job.job_id
    results = list(harness.items(client.jobs.results(job.job_id, **SOON)))
    assert [result.status for result in results] == ["valued", "rejected"]
    assert harness.get(client.jobs.wait(job.job_id, **SOON)).status == "completed"


def test_all_pages_of_a_series_have_the_observations_of_a_single_page(
    harness: Harness, client: Any
) -> None:
    rates = harness.get(client.rates.pin())
    (single,) = harness.items(rates.pages("bank_rate", from_="2026-09-01"))
    rows = list(harness.items(rates.rows("bank_rate", from_="2026-09-01", page_size=7)))
    assert len(rows) > 7
    expected = single["series"][0]["observations"]
    assert [{name: row[name] for name in expected[0]} for row in rows] == expected
    for row in rows:
        assert row["release_id"] == rates.release_id
        assert (row["basis"], row["status"]) == ("observed", "recorded_revisable")
    table = harness.get(rates.series("bank_rate", from_="2026-09-01", frame="polars"))
    assert table["value"].to_list() == [row["value"] for row in rows]


def test_markets_have_areas_datasets_coverage_and_series(harness: Harness, client: Any) -> None:
    markets = harness.get(client.markets.pin())
    area = harness.get(markets.areas()).areas[0].code
    datasets = harness.get(markets.datasets()).datasets
    assert "market_activity" in [entry.dataset for entry in datasets]
    coverage = harness.get(markets.coverage("market_activity", area=area))
    assert all("observations" not in series for series in coverage["series"])
    rows = harness.get(markets.series("market_activity", area=area, page_size=1))
    assert len(rows) > 1 and all(row["period_end"] for row in rows)


def test_stored_answers_are_confirmed_by_the_service(
    harness: Harness, client: Any, tmp_path: Path
) -> None:
    stored = harness.client(*(demo_server() or ("", "")), cache_folder=tmp_path)
    first = harness.get(stored.rates.series("bank_rate", from_="2026-09-01"))
    assert len(list(tmp_path.iterdir())) == 1
    before = next(tmp_path.iterdir()).stat().st_mtime_ns
    assert harness.get(stored.rates.series("bank_rate", from_="2026-09-01")) == first
    # A response 304 leaves the stored file as it was.
    assert next(tmp_path.iterdir()).stat().st_mtime_ns == before


def test_a_release_that_does_not_exist_is_an_error_of_the_release(
    harness: Harness, client: Any
) -> None:
    pinned = harness.get(client.rates.pin("no-such-release"))
    with pytest.raises(NotFoundError) as caught:
        harness.get(pinned.series("bank_rate"))
    assert (caught.value.code, caught.value.pointer) == ("release_not_found", "release_id")


def test_the_release_and_the_coverage_check_are_read(harness: Harness, client: Any) -> None:
    release = harness.get(client.release())
    assert "/v3/valuation-jobs" in release.endpoints
    assert release.limits.synchronous_batch_rows > 0
    coverage = harness.get(client.coverage("QA1 1AF", "999082968959"))
    assert coverage.postcode.represented and coverage.uprn.present


def test_refusals_have_their_class_code_pointer_and_request_id(
    harness: Harness, client: Any
) -> None:
    url, _ = demo_server() or ("", "")
    with pytest.raises(AuthenticationError):
        harness.get(harness.client(url, "unknown").release())
    with pytest.raises(InvalidRequestError) as caught:
        harness.get(client.value({**home(), "size": {"floor_area_m2": -1}}))
    assert (caught.value.code, caught.value.pointer) == ("invalid_value", "/size/floor_area_m2")
    assert len(caught.value.request_id or "") == 36
    with pytest.raises(NotFoundError):
        harness.get(client.jobs.get("00000000-0000-7000-8000-000000000000"))
