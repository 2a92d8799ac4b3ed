"""The local price per square metre times the floor area: a minimal useful model.

The price is the median over the forty nearest sales of the same type within two kilometres and
three years. A sale of the home itself in those years moves the estimate halfway to its price. The
confidence is the share of the forty that agree. The model gives no range, because it is not
calibrated.
"""

from statistics import median

from domesday import (
    Attribute,
    Comparable,
    Outcome,
    ReferralReason,
    Subject,
    nearby_sales,
    own_sales,
    referred,
    valued,
)

RADIUS_METRES = 2_000
DAYS = 3 * 365
MIN_SALES = 5
MAX_SALES = 40
# The departure from the median price up to which a sale agrees with it.
AGREEMENT = 0.25


def value(subject: Subject) -> Outcome:
    """Value a property."""
    area = subject.size.floor_area
    if area is None:
        return referred(ReferralReason.MISSING_INPUT, Attribute.FLOOR_AREA)
    sales = nearby_sales(subject, RADIUS_METRES, DAYS, subject.property_type, limit=MAX_SALES)
    if len(sales) < MIN_SALES:
        return referred(ReferralReason.INSUFFICIENT_EVIDENCE)
    price = median(sale.price / sale.floor_area for sale in sales)
    comparables = [
        Comparable(
            sale=sale.id,
            adjusted_price=sale.price / sale.floor_area * area,
            similarity=1.0 - sale.distance / (2.0 * RADIUS_METRES),
        )
        for sale in sales
    ]
    agreeing = sum(
        abs(sale.price / sale.floor_area / price - 1.0) < AGREEMENT for sale in sales
    )
    estimate = price * area
    since = subject.valuation_day - DAYS
    # The newest is first.
    last = next((sale for sale in own_sales() if sale.standard and sale.day >= since), None)
    own_sales_share = None
    if last is not None:
        own_sales_share = 0.5
        estimate = (estimate * last.price) ** own_sales_share
    return valued(
        estimate,
        confidence=agreeing / MAX_SALES,
        comparables=comparables,
        own_sales_share=own_sales_share,
    )
