"""What a valuation model in Python needs: the subject's types, the evidence, and ways to say an outcome.

A model is a module with one function::

    def value(subject: Subject) -> Outcome:

It is called once for each property, in a sandbox of its own: whatever the module keeps between calls is as it was when
the release was built. There are no files, no network and no environment; the clock stands at the start of the valuation
day, and random numbers are the same every time. What the interface promises stands in ``wit/valuation.wit``, whose
records and enums are here under their own names.
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

_OF_TYPE = {
    PropertyType.DETACHED: PropertyTypes.DETACHED,
    PropertyType.SEMI_DETACHED: PropertyTypes.SEMI_DETACHED,
    PropertyType.TERRACED: PropertyTypes.TERRACED,
    PropertyType.FLAT: PropertyTypes.FLAT,
    PropertyType.OTHER: PropertyTypes.OTHER,
}


class EvidenceRefused(Exception):
    """A question was out of bounds, or one too many: 32 questions and 5,000 sales a valuation."""


def _answer(ask, *arguments):
    try:
        return ask(*arguments)
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
    """Standard sales within ``radius`` metres (1 to 20,000) in the last ``days`` days, of one type or of all.

    At most ``limit`` (1 to 500), in ``order``; by default only those whose floor area is known.
    """
    types_asked = PropertyTypes(31) if kind is None else _OF_TYPE[kind]
    query = SalesQuery(
        center=subject.place,
        radius=radius,
        since=subject.valuation_day - days,
        types=types_asked,
        standard_only=True,
        floor_area_only=floor_area_only,
        order=order,
        limit=limit,
    )
    return _answer(evidence.nearby_sales, query)


def own_sales() -> List[Sale]:
    """The subject's own earlier sales, newest first."""
    return _answer(evidence.own_sales)


def price_index(kind: Optional[PropertyType], since: int) -> Optional[IndexSeries]:
    """The house price index where the subject stands, from month ``since`` on (months since 1970-01)."""
    return _answer(evidence.price_index, kind, since)


def area_figures(level: AreaLevel, kind: Optional[PropertyType] = None) -> Optional[Figures]:
    """Twelve-month figures of the area of that level which holds the subject."""
    return _answer(evidence.area_figures, level, kind)


def valued(
    estimate: float,
    confidence: float,
    interval: Optional[Tuple[float, float]] = None,
    comparables: Sequence[Comparable] = (),
    derived: Sequence[DerivedInput] = (),
    dispersion: Optional[float] = None,
    own_sales_share: Optional[float] = None,
) -> Outcome:
    """An estimate in pounds, unrounded, with the strength of its evidence (0 to 1).

    ``interval`` is a calibrated range around the estimate. Comparables are put in the order of the interface, best first,
    and the ten best are kept.
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
    """No automated value is offered, and why."""
    return types.Outcome_Referred(types.Referral(reason, about))


def failed(reason: FailureReason) -> Outcome:
    """The work could not be done; the same row fails in the same way every time."""
    return types.Outcome_Failed(reason)
