"""Cells of files: the type of the field decides, and no meaning is changed."""

import csv
import datetime
import io
import uuid
import warnings
from decimal import Decimal
from typing import Any

import numpy
import pandas
import polars
import pytest
from service import Answer, ReceivedRequest, Service, answer_json
from support import Harness, demo_server, flat_home, home

from domesday_client import CellError, RejectionWarning
from domesday_client.cells import convert_cell, field_kind, plain_cell
from domesday_client.columns import column_places
from domesday_client.models import ExistingRow
from domesday_client.untyped import items_of

FILE = """loan_id,valuation_date,postcode,building_number_or_name,street,type,subtype,title_tenure,\
occupancy,floor_area_m2,bedrooms,living_rooms
0012,2026-10-15,QA1 1AF,15,Badger Yard Gardens,S,house_semi_detached,freehold,owner_occupied,\
104.5,3,
0013,2026-10-15,QA1 1AF,15,Badger Yard Gardens,S,house_semi_detached,freehold,owner_occupied,\
104,3,2
"""
DAY = datetime.date(2026, 10, 15)
NOON = datetime.datetime(2026, 10, 15, 12)


def tables() -> dict[str, Any]:
    """Returns the file in each way that a caller may read it."""
    return {
        "polars": polars.read_csv(io.StringIO(FILE)),
        "polars, dates": polars.read_csv(io.StringIO(FILE), try_parse_dates=True),
        "polars, texts": polars.read_csv(io.StringIO(FILE), infer_schema=False),
        "pandas": pandas.read_csv(io.StringIO(FILE)),
        "pandas, dates": pandas.read_csv(io.StringIO(FILE), parse_dates=["valuation_date"]),
        "pandas, texts": pandas.read_csv(io.StringIO(FILE), dtype=str),
        "csv": list(csv.DictReader(io.StringIO(FILE))),
    }


def value(harness: Harness, table: Any, *answers: Any, **options: Any) -> list[Any]:
    """Values a table with scripted answers, and returns the rows that were sent."""
    with Service(list(answers)) as service:
        harness.get(harness.client(service.url).value_many(table, **options))
        return [row for request in service.requests for row in request.body["requests"]]


def answer_rows(status: str, **error: str) -> Any:
    """Returns answers of this status for as many rows as there are."""

    def answer(request: ReceivedRequest) -> Answer:
        result = {"status": status, "errors": [error]}
        return answer_json(200, {"results": [result] * len(request.body["requests"])})

    return answer


@pytest.mark.parametrize("name", tables())
def test_a_file_makes_the_same_requests_however_it_is_read(harness: Harness, name: str) -> None:
    first, second = value(harness, tables()[name], answer_rows("valued"), keep=["loan_id"])
    assert first == home()
    assert second == home(size={"floor_area_m2": 104, "bedrooms": 3, "living_rooms": 2})
    assert type(second["size"]["living_rooms"]) is int


@pytest.mark.live
@pytest.mark.parametrize("name", tables())
def test_a_file_is_valued_however_it_is_read(harness: Harness, name: str) -> None:
    client = harness.client(*(demo_server() or ("", "")))
    found = harness.get(client.value_many(tables()[name], keep=["loan_id"]))
    listed = items_of(found)
    statuses = [row["result_status"] for row in listed] or list(found["result_status"])
    assert statuses == ["valued", "valued"]


@pytest.mark.parametrize(
    ("kind", "cell", "expected"),
    [
        (str, 15, "15"),
        (str, 15.0, "15"),
        (str, Decimal("15.0"), "15"),
        (str, numpy.int64(15), "15"),
        (str, " 015 ", " 015 "),
        (str, "15.0", "15.0"),
        (str, DAY, "2026-10-15"),
        (str, uuid.UUID(int=7), "00000000-0000-0000-0000-000000000007"),
        (int, " 3 ", 3),
        (int, "3.0", 3),
        (int, "-1", -1),
        (int, 3.0, 3),
        (int, Decimal(3), 3),
        (int, numpy.float32(3), 3),
        (float, "104.5", 104.5),
        (float, "1e2", 100.0),
        (float, 104, 104),
        (float, Decimal("104.5"), 104.5),
        (bool, "Yes", True),
        (bool, "FALSE", False),
        (bool, "0", False),
        (bool, 1, True),
        (bool, 0.0, False),
        (bool, numpy.bool_(True), True),
        (datetime.date, DAY, "2026-10-15"),
        (datetime.date, NOON, "2026-10-15"),
        (datetime.date, pandas.Timestamp(NOON), "2026-10-15"),
        (datetime.date, numpy.datetime64("2026-10-15", "ns"), "2026-10-15"),
        (datetime.date, " 2026-10-15 ", "2026-10-15"),
        (datetime.date, "2026-10-15T00:00:00.000000", "2026-10-15"),
        (datetime.date, "2026-10-15 00:00:00+01:00", "2026-10-15"),
    ],
)
def test_a_cell_takes_the_type_of_its_field(kind: Any, cell: Any, expected: Any) -> None:
    found = convert_cell(plain_cell(cell), kind)
    assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize(
    ("kind", "cell"),
    [
        (str, 15.5),
        (str, True),
        (str, float(2**53)),
        (str, float("inf")),
        (str, ["15"]),
        (int, "3.5"),
        (int, 3.5),
        (int, "3 rooms"),
        (int, "1e2"),
        (int, "٣"),
        (int, "9" * 5000),
        (int, Decimal("1e999999")),
        (int, True),
        (float, "1,200"),
        (float, "1_200"),
        (float, "nan"),
        (float, "1e999"),
        (float, float("inf")),
        (float, True),
        (float, DAY),
        (bool, "maybe"),
        (bool, 2),
        (datetime.date, "15/10/2026"),
        (datetime.date, "20261015"),
        (datetime.date, "2026-02-30"),
        (datetime.date, "2026-10-15 or so"),
        (datetime.date, "2026-10-14T23:00:00Z"),
        (datetime.date, NOON.replace(tzinfo=datetime.UTC)),
        (datetime.date, 46310),
    ],
)
def test_a_cell_whose_meaning_would_change_is_refused(kind: Any, cell: Any) -> None:
    with pytest.raises(ValueError, match=r"^(is|has) "):
        convert_cell(plain_cell(cell), kind)


@pytest.mark.parametrize(
    "cell",
    [
        None,
        "",
        " \t",
        float("nan"),
        numpy.float32("nan"),
        Decimal("nan"),
        pandas.NA,
        pandas.NaT,
        numpy.datetime64("NaT"),
    ],
)
def test_an_empty_cell_is_not_sent(harness: Harness, cell: Any) -> None:
    row = flat_home(living_rooms=cell, uprn=cell, construction_age_band=cell, lease=cell)
    assert value(harness, [row], answer_rows("valued")) == [home()]
    whole = home(size={"floor_area_m2": "104.5", "bedrooms": "3", "living_rooms": cell})
    assert value(harness, [whole], answer_rows("valued")) == [home()]
    section = home(fabric={"wall_type": cell, "glazing": cell}, lease={"years_remaining": cell})
    assert value(harness, [section], answer_rows("valued")) == [home()]


def test_a_section_of_empty_cells_is_not_sent_and_an_empty_object_is(harness: Harness) -> None:
    rows = [flat_home(years_remaining=None), flat_home(years_remaining=99)]
    table = polars.DataFrame(rows).with_columns(lease=polars.struct("years_remaining"))
    table = table.drop("years_remaining")
    sent = value(harness, table, answer_rows("valued"))
    assert sent == [home(), home(lease={"years_remaining": 99})]
    stated = home(options={})
    assert value(harness, [stated], answer_rows("valued")) == [stated]


def test_a_line_with_more_cells_than_the_header_is_refused(harness: Harness) -> None:
    rows = list(
        csv.DictReader(io.StringIO("postcode,street\nQA1 1AF,Badger Yard Gardens, Upper\n"))
    )
    with pytest.raises(ValueError, match="more cells than the file has columns: "):
        harness.get(harness.client("http://service.invalid").value_many(rows))


def test_each_field_of_a_request_has_a_kind() -> None:
    names = [name for name in ExistingRow.model_fields if name != "request_reference"]
    sections = column_places(names, "standard", [])
    for name, place in sections.items():
        assert place.members and None not in place.members.values(), name
    assert field_kind(ExistingRow.model_fields["request_reference"].annotation) is str
    assert field_kind(int | str) is None


def test_unsound_cells_are_an_error_with_row_column_and_value(harness: Harness) -> None:
    rows = [flat_home(), flat_home(bedrooms="3.5"), *[flat_home(valuation_date="soon")] * 6]
    with Service([]) as service:
        with pytest.raises(CellError) as caught:
            harness.get(
                harness.client(service.url).value_many(polars.DataFrame(rows, strict=False))
            )
        assert service.requests == []
    first = caught.value.faults[0]
    assert (first.row, first.column, first.value) == (1, "bedrooms", "3.5")
    text = str(caught.value)
    assert "row 1, column 'bedrooms': '3.5' is not a whole number" in text
    assert "row 2, column 'valuation_date': 'soon' is not a date as YYYY-MM-DD" in text
    assert text.endswith("; and 2 more row(s)") and caught.value.row_count == 7


@pytest.mark.parametrize(
    ("row", "column"),
    [
        ({**flat_home(), "options.include_comparables": "maybe"}, "options.include_comparables"),
        (home(size={"floor_area_m2": "x" * 1000}), "size.floor_area_m2"),
        (home(size="large"), "size"),
        (flat_home(request_reference=1.5), "request_reference"),
        (flat_home(street="Caf\udce9 Row"), "street"),
        (home(lease={"note": "\udce9"}), "lease.note"),
    ],
)
def test_an_unsound_cell_is_found_in_each_kind_of_column(
    harness: Harness, row: dict[str, Any], column: str
) -> None:
    with pytest.raises(CellError) as caught:
        harness.get(harness.client("http://service.invalid").value_many([row]))
    assert caught.value.faults[0].column == column
    assert len(str(caught.value)) < 250


def test_a_table_whose_rows_are_all_rejected_is_a_warning_with_the_reason(
    harness: Harness,
) -> None:
    def answer(request: ReceivedRequest) -> Answer:
        rows = [("c", "/property/street"), ("missing", "/size/bedrooms"), ("c", "/property/street")]
        return answer_json(
            200,
            {
                "results": [
                    {
                        "status": "rejected",
                        "errors": [{"code": code, "field": field, "message": "M"}],
                    }
                    for code, field in rows
                ]
            },
        )

    message = r"all 3 row\(s\) were rejected, 2 of them with c in column 'street': M"
    with pytest.warns(RejectionWarning, match=message) as caught:
        value(harness, [flat_home()] * 3, answer)
    if harness.kind.__name__ == "Client":
        assert caught[0].filename.endswith(("test_cells.py", "support.py"))


@pytest.mark.parametrize("errors", [[], None, [7], [{"code": ["x"]}]])
def test_rejections_without_a_known_reason_are_a_warning_too(
    harness: Harness, errors: object
) -> None:
    answer = answer_json(200, {"results": [{"status": "rejected", "errors": errors}]})
    with pytest.warns(RejectionWarning, match="all 1"):
        value(harness, [flat_home()], answer)


@pytest.mark.parametrize("status", ["valued", "referred", "valuation_failed"])
def test_a_table_with_another_result_gives_no_warning(harness: Harness, status: str) -> None:
    results = [{"status": "rejected", "errors": []}, {"status": status}]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value(harness, [flat_home()] * 2, answer_json(200, {"results": results}))
        value(harness, [])
