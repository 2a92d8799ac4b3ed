"""The local price of a square metre, times the floor area: the simplest model that is worth anything.

The price is the median over the forty nearest sales of the same type within two kilometres and three years. It gives no
range: nothing here has been calibrated.
"""

from statistics import median

from domesday import (
    Attribute,
    Comparable,
    Outcome,
    ReferralReason,
    Subject,
    nearby_sales,
    referred,
    valued,
)

RADIUS_METRES = 2_000
DAYS = 3 * 365
FEWEST = 5
MOST = 40


def value(subject: Subject) -> Outcome:
    area = subject.size.floor_area
    if area is None:
        return referred(ReferralReason.MISSING_INPUT, Attribute.FLOOR_AREA)
    sales = nearby_sales(subject, RADIUS_METRES, DAYS, subject.property_type, limit=MOST)
    if len(sales) < FEWEST:
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
    return valued(price * area, confidence=len(sales) / (2.0 * MOST), comparables=comparables)
