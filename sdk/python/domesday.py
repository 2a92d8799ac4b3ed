"""The SDK for valuation models in Python: the subject's types, the evidence and the outcomes.

A model is a module with one function::

    def value(subject: Subject) -> Outcome:

The host calls it once for each property, in a fresh sandbox: the module's state is always that of
the build. There are no files, no network and no environment. The clock stands at the start of the
valuation day, and random numbers repeat. ``wit/valuation.wit`` defines the interface. Its records
and enums have the same names here.
"""

from typing import List, Optional, Sequence, Tuple

from componentize_py_types import Err
from wit_world.imports import evidence, types
from wit_world.imports.evidence import (
    AreaLevel,
    Figures,
    IndexSeries,
    Sale,
    SalesOrder,
    SalesQuery,
)
from wit_world.imports.types import (
    AgeBand,
    Attribute,
    BuildStatus,
    Comparable,
    Country,
    DerivedInput,
    Derivation,
    EnergyRating,
    FailureReason,
    Occupancy,
    Outcome,
    Place,
    PropertySubtype,
    PropertyType,
    PropertyTypes,
    ReferralReason,
    Subject,
    Tenure,
)

__all__ = [
    "AgeBand",
    "AreaLevel",
    "Attribute",
    "BuildStatus",
    "Comparable",
    "Country",
    "DerivedInput",
    "Derivation",
    "EnergyRating",
    "EvidenceRefused",
    "FailureReason",
    "Figures",
    "IndexSeries",
    "Occupancy",
    "Outcome",
    "Place",
    "PropertySubtype",
    "PropertyType",
    "PropertyTypes",
    "ReferralReason",
    "Sale",
    "SalesOrder",
    "Subject",
    "Tenure",
    "area_figures",
    "failed",
    "nearby_sales",
    "own_sales",
    "price_index",
    "referred",
    "valued",
]

_TYPE_FLAGS = {
    PropertyType.DETACHED: PropertyTypes.DETACHED,
    PropertyType.SEMI_DETACHED: PropertyTypes.SEMI_DETACHED,
    PropertyType.TERRACED: PropertyTypes.TERRACED,
    PropertyType.FLAT: PropertyTypes.FLAT,
    PropertyType.OTHER: PropertyTypes.OTHER,
}


class EvidenceRefused(Exception):
    """A query is out of bounds or beyond the limits: 32 queries and 5,000 sales a valuation."""


def _query(function, *arguments):
    try:
        return function(*arguments)
    except Err as refusal:
        raise EvidenceRefused(refusal.value.name.lower()) from None


def nearby_sales(
    subject: Subject,
    radius: int,
    days: int,
    kind: Optional[PropertyType] = None,
    limit: int = 100,
    order: SalesOrder = SalesOrder.NEAREST,
    floor_area_only: bool = True,
) -> List[Sale]:
    """Return standard sales within ``radius`` metres (1 to 20,000) in the last ``days`` days.

    ``kind`` selects one property type. The answer holds at most ``limit`` sales (1 to 500) in
    ``order``, by default only those with a known floor area.
    """
    flags = PropertyTypes(31) if kind is None else _TYPE_FLAGS[kind]
    query = SalesQuery(
        center=subject.place,
        radius=radius,
        since=subject.valuation_day - days,
        types=flags,
        standard_only=True,
        floor_area_only=floor_area_only,
        order=order,
        limit=limit,
    )
    return _query(evidence.nearby_sales, query)


def own_sales() -> List[Sale]:
    """Return the subject's own earlier sales, newest first."""
    return _query(evidence.own_sales)


def price_index(kind: Optional[PropertyType], since: int) -> Optional[IndexSeries]:
    """Return the house price index at the subject from month ``since`` (since 1970-01)."""
    return _query(evidence.price_index, kind, since)


def area_figures(level: AreaLevel, kind: Optional[PropertyType] = None) -> Optional[Figures]:
    """Return twelve-month figures of the subject's area of a level."""
    return _query(evidence.area_figures, level, kind)


def valued(
    estimate: float,
    confidence: float,
    interval: Optional[Tuple[float, float]] = None,
    comparables: Sequence[Comparable] = (),
    derived: Sequence[DerivedInput] = (),
    dispersion: Optional[float] = None,
    own_sales_share: Optional[float] = None,
) -> Outcome:
    """Return an estimate in unrounded pounds with the strength of its evidence (0 to 1).

    ``interval`` is a calibrated range around the estimate. The outcome keeps the ten best
    comparables, in the order of the interface.
    """
    best = sorted(comparables, key=lambda sale: (-sale.similarity, sale.sale))[:10]
    return types.Outcome_Valued(
        types.Valuation(
            estimate=float(estimate),
            range=None if interval is None else types.ValueRange(float(interval[0]), float(interval[1])),
            confidence=float(confidence),
            comparables=best,
            derived=list(derived),
            dispersion=dispersion,
            own_sales_share=own_sales_share,
        )
    )


def referred(reason: ReferralReason, about: Optional[Attribute] = None) -> Outcome:
    """Return a referral: no automated value, and the reason."""
    return types.Outcome_Referred(types.Referral(reason, about))


def failed(reason: FailureReason) -> Outcome:
    """Return a failure. The same row fails in the same way every time."""
    return types.Outcome_Failed(reason)
