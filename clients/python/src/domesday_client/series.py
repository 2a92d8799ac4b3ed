"""The rules of market statistics and rates: two families with the same routes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .frames import FrameKind, build
from .operation import Emit, Operation
from .transport import Session, query
from .untyped import items_of, members_of

Family = Literal["markets", "rates"]


@dataclass(frozen=True)
class Selection:
    """The selection of a series query. A pinned one names its release."""

    family: Family
    release_id: str | None
    parameters: Mapping[str, str]

    def path(self, route: str) -> str:
        """Returns the path of a route of the family."""
        return f"/v1/{self.family}/{route}"

    def pinned(self) -> dict[str, str]:
        """Returns the parameters with the release, unless they name one themselves."""
        pin = {} if self.release_id is None else {"release_id": self.release_id}
        return {**pin, **self.parameters}


def select(
    family: Family,
    release_id: str | None,
    dataset: str,
    start: object,
    end: object,
    metrics: Sequence[str] | str | None,
    page_size: int | None,
    selectors: Mapping[str, object],
) -> Selection:
    """Returns the selection of a query. Parameters that are None are left out."""
    named = metrics if metrics is None or isinstance(metrics, str) else ",".join(metrics)
    parameters = {
        "dataset": dataset,
        **selectors,
        "from": start,
        "to": end,
        "metrics": named,
        "page_size": page_size,
    }
    texts = {name: str(value) for name, value in parameters.items() if value is not None}
    return Selection(family, release_id, texts)


def read_pages(session: Session, selection: Selection) -> Operation[None]:
    """Emits the pages of a selection. The cursor keeps the selection and the release."""
    parameters = selection.pinned()
    while True:
        page = yield from query(session, selection.path("series"), parameters)
        yield Emit(page)
        cursor = members_of(page).get("next_cursor")
        if not cursor:
            return
        parameters = {"cursor": str(cursor)}


def flatten(page: Any) -> list[dict[str, Any]]:
    """Returns a row for each observation of a page.

    A row has the release, the dataset, the members of its series and its dimensions, and the
    members of the observation. Basis and status stay with each value. Nothing is filled.
    """
    rows: list[dict[str, Any]] = []
    answer = members_of(page)
    head = {"release_id": answer.get("release_id"), "dataset": answer.get("dataset")}
    for series in items_of(answer.get("series")):
        members = dict(members_of(series))
        observations = items_of(members.pop("observations", None))
        dimensions = members_of(members.pop("dimensions", None))
        members.pop("availability", None)
        for observation in observations:
            rows.append({**head, **members, **dimensions, **members_of(observation)})
    return rows


#: The columns that a table of observations always has, with their types.
COLUMNS: Mapping[str, type] = {
    "release_id": str,
    "dataset": str,
    "series_id": str,
    "basis": str,
    "metric": str,
    "unit": str,
    "period": str,
    "status": str,
    "value": float,
}


def table_of(pages: Sequence[Any], frame: FrameKind) -> Any:
    """Returns the observations of pages as a table."""
    rows = [row for page in pages for row in flatten(page)]
    return build(rows, frame, COLUMNS)
