"""Tables of each kind: columns as members of requests, and results as columns."""

import datetime
import json
from typing import Any

import pandas
import polars
import pyarrow
import pytest
from service import Answer, ReceivedRequest, Service, answer_json
from support import Harness, flat_home, home, site

from domesday_client.columns import RESULT_COLUMNS
from domesday_client.frame_columns import Library, make_column
from domesday_client.frames import FrameKind, is_missing, kind_of

VALUED = {
    "status": "valued",
    "release_id": "r",
    "valuation_id": "v",
    "valuation": {
        "estimated_value_gbp": 250_000,
        "range": {"lower_value_gbp": 1, "upper_value_gbp": 2, "nominal_coverage": 0.9},
    },
    "confidence": {"score": 0.5, "band": "high"},
}
REJECTED = {
    "status": "rejected",
    "errors": [{"code": "c", "field": "/f", "message": "m", "retryable": True}, {"code": "d"}],
}
REFERRED = {"status": "referred", "referral": {"code": "value_out_of_range", "message": "m"}}
KINDS: tuple[FrameKind, ...] = ("list", "polars", "pandas", "arrow")


def make(kind: str, rows: list[dict[str, Any]]) -> Any:
    """Returns a table of a kind."""
    if kind == "polars":
        return polars.DataFrame(rows)
    if kind == "pandas":
        return pandas.DataFrame(rows, index=[10 * position for position in range(len(rows))])
    return pyarrow.Table.from_pylist(rows) if kind == "arrow" else rows


def read(kind: str, table: Any) -> list[dict[str, Any]]:
    """Returns the rows of a table, with None for each empty cell."""
    assert kind_of(table) == kind
    if kind == "polars":
        return list(table.to_dicts())
    if kind == "pandas":
        rows = table.astype(object).where(table.notna(), None).to_dict("records")
        return list(rows)
    return list(table.to_pylist()) if kind == "arrow" else table


def echo(request: ReceivedRequest) -> Answer:
    """Answers rows by their references."""
    answers = {"valued": VALUED, "rejected": REJECTED, "referred": REFERRED}
    rows = [answers[row["request_reference"].split()[0]] for row in request.body["requests"]]
    return answer_json(200, {"status": "partial", "results": rows})


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_keeps_its_kind_its_columns_and_its_order(harness: Harness, kind: str) -> None:
    words = ["valued", "rejected", "referred", "valued"]
    rows = [
        flat_home(request_reference=word, customer=index, bedrooms=None if index == 2 else 3)
        for index, word in enumerate(words)
    ]
    with Service([echo, echo]) as service:
        client = harness.client(service.url)
        table = harness.get(
            client.value_many(make(kind, rows), keep=["customer"], rows_per_request=3)
        )
        sent = [row for request in service.requests for row in request.body["requests"]]
    assert sent[0] == home(request_reference="valued")
    assert sent[2]["size"] == {"floor_area_m2": 104.5}
    found = read(kind, table)
    assert [row["result_status"] for row in found] == words
    assert [row["customer"] for row in found] == [0, 1, 2, 3]
    assert list(found[0]) == [*rows[0], *(f"result_{name}" for name in RESULT_COLUMNS)]
    estimates = [row["result_estimated_value_gbp"] for row in found]
    assert estimates == [250_000, None, None, 250_000]
    first, second = found[0], found[1]
    assert (first["result_confidence_band"], first["result_release_id"]) == ("high", "r")
    assert first["result_nominal_coverage"] == 0.9
    assert (second["result_error_code"], second["result_error_field"]) == ("c", "/f")
    assert second["result_error_retryable"] is True
    assert found[2]["result_referral_code"] == "value_out_of_range"
    if kind == "pandas":
        assert list(table.index) == [0, 10, 20, 30]
        assert str(table["result_estimated_value_gbp"].dtype) == "Int64"


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_table_gets_its_columns(harness: Harness, kind: str) -> None:
    table = make(kind, [flat_home()])
    empty = table[:0] if kind in ("list", "polars", "pandas") else table.slice(0, 0)
    with Service([]) as service:
        found = harness.get(harness.client(service.url).value_many(empty))
    assert read(kind, found) == []
    if kind != "list":
        names = found.column_names if kind == "arrow" else list(found.columns)
        assert "result_status" in names and "postcode" in names


@pytest.mark.parametrize("kind", ["list", "polars", "arrow"])
def test_sections_paths_and_dates_are_columns_too(harness: Harness, kind: str) -> None:
    row = home(request_reference="valued")
    row["size.bedrooms"] = row["size"].pop("bedrooms")
    row["property"]["valuation_date"] = datetime.date(2026, 10, 15)
    del row["size"]
    row["size.floor_area_m2"] = 104.5
    with Service([echo]) as service:
        harness.get(harness.client(service.url).value_many(make(kind, [row])))
        assert service.requests[0].body["requests"] == [home(request_reference="valued")]


def test_a_column_of_whole_numbers_with_a_gap_stays_whole(harness: Harness) -> None:
    rows = [flat_home(request_reference="valued"), flat_home(request_reference="valued")]
    rows[1]["bedrooms"] = None
    table = pandas.DataFrame(rows)
    assert str(table["bedrooms"].dtype) == "float64"
    with Service([echo]) as service:
        harness.get(harness.client(service.url).value_many(table))
        sent = service.requests[0].content.decode()
    assert '"bedrooms":3}' in sent and sent.count("bedrooms") == 1


def test_sites_have_the_columns_of_development(harness: Harness) -> None:
    row = {**site()["property"], **site()["size"], "occupancy": "vacant"}
    answer = answer_json(200, {"results": [VALUED]})
    with Service([answer]) as service:
        harness.get(harness.client(service.url).value_many([row], mode="development"))
        assert service.requests[0].body["requests"] == [site()]


@pytest.mark.parametrize(
    ("row", "keep", "message"),
    [
        (flat_home(floor_aera=1), [], "'floor_aera' is not a field"),
        (flat_home(include_comparables=True), [], "'include_comparables' is not a field"),
        (flat_home(result_status="x"), ["result_status"], "another `prefix`"),
        ({**flat_home(), "size.rooms": 3}, [], "'size.rooms' is not a field"),
        (
            flat_home(loan_id=1, floor_aera=2),
            [],
            r"'loan_id', 'floor_aera' are not fields .* keep=\['loan_id', 'floor_aera'\]",
        ),
        (flat_home(loan_id=1, an_id=2), "loan_id", r"'an_id' is not a field"),
        ({**flat_home(), "size.bedrooms": 4}, [], r"'bedrooms' and 'size.bedrooms' state the same"),
        (flat_home(size={"bedrooms": 4}), [], r"'size' state the same .*keep=\['size'\]"),
    ],
)
def test_a_column_without_a_place_is_refused_before_anything_is_sent(
    harness: Harness, row: dict[str, Any], keep: list[str] | str, message: str
) -> None:
    with Service([]) as service:
        with pytest.raises(ValueError, match=message):
            harness.get(harness.client(service.url).value_many([row], keep=keep))
        assert service.requests == []


@pytest.mark.parametrize("table", ["text", 7, {"a": 1}, ["text"]])
def test_an_object_that_is_no_table_is_refused(harness: Harness, table: Any) -> None:
    with pytest.raises(TypeError):
        harness.get(harness.client("http://service.invalid").value_many(table))


def test_documents_and_another_prefix(harness: Harness) -> None:
    with Service([echo]) as service:
        client = harness.client(service.url)
        rows = [home(request_reference="valued")]
        (row,) = harness.get(client.value_many(rows, prefix="v_", documents=True))
    assert '"estimated_value_gbp": 250000' in row["v_document"]
    assert row["v_status"] == "valued"


@pytest.mark.filterwarnings("ignore::domesday_client.RejectionWarning")
@pytest.mark.parametrize("kind", ["polars", "pandas", "arrow"])
def test_types_of_columns_do_not_depend_on_the_results(harness: Harness, kind: str) -> None:
    types = []
    for word in ("valued", "rejected", "referred"):
        with Service([echo]) as service:
            client = harness.client(service.url)
            rows = [flat_home(request_reference=word)]
            table = harness.get(client.value_many(make(kind, rows)))
        types.append(str(table.schema if kind == "arrow" else table.dtypes))
    assert types[0] == types[1] == types[2]


@pytest.mark.parametrize("library", ["polars", "pandas", "arrow"])
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2.5, None], int),
        (["x", 7, None], int),
        ([True, 2], int),
        ([1, "x"], str),
        ([[1], {"a": 1}, "x"], str),
        ([2**70, 1], int),
    ],
)
def test_a_column_of_other_values_than_expected_loses_none(
    library: Library, values: list[Any], expected: type
) -> None:
    column = make_column(library, "c", values, expected)
    found = column.to_pylist() if library == "arrow" else list(column)
    texts = [None if value is None else json.dumps(value).strip('"') for value in values]
    for cell, value, text in zip(found, values, texts, strict=True):
        if value is None:
            assert is_missing(cell)
            continue
        assert cell in (value, text) or str(cell) == str(value)
