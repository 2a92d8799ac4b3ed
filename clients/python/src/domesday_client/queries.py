"""The routes that only read: releases, coverage and catalogues."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

from .models import Coverage, ReleaseMetadata, SeriesAreas, SeriesCatalogue, SeriesRelease
from .operation import Operation
from .results import read_answer
from .series import Family, Selection
from .transport import Session, query

M = TypeVar("M", bound=BaseModel)


def _read(
    session: Session, path: str, parameters: Mapping[str, str], model: type[M]
) -> Operation[M]:
    return read_answer(model, (yield from query(session, path, parameters)))


def release(session: Session) -> Operation[ReleaseMetadata]:
    """Reads the active valuation release."""
    return _read(session, "/v3/releases/current", {}, ReleaseMetadata)


def coverage(session: Session, postcode: str, uprn: str | None) -> Operation[Coverage]:
    """Reads if a postcode, and a UPRN, are in the active release."""
    parameters = {"postcode": postcode} if uprn is None else {"postcode": postcode, "uprn": uprn}
    return _read(session, "/v3/coverage", parameters, Coverage)


def series_coverage(session: Session, selection: Selection) -> Operation[Any]:
    """Reads the series of a selection, without observations."""
    return query(session, selection.path("coverage"), selection.pinned())


def datasets(
    session: Session, family: Family, release_id: str | None
) -> Operation[SeriesCatalogue]:
    """Reads the catalogue of a family."""
    chosen = Selection(family, release_id, {})
    return _read(session, chosen.path("datasets"), chosen.pinned(), SeriesCatalogue)


def areas(session: Session, release_id: str | None) -> Operation[SeriesAreas]:
    """Reads the local authorities of a markets release."""
    chosen = Selection("markets", release_id, {})
    return _read(session, chosen.path("areas"), chosen.pinned(), SeriesAreas)


def current_release(session: Session, family: Family) -> Operation[SeriesRelease]:
    """Reads the current release of a family."""
    return _read(session, f"/v1/{family}/releases/current", {}, SeriesRelease)
