//! The seven datasets of property markets.

use super::{
    Basis, Choices, Dataset, Family, Frequency, History, Latest, Metric, ObservationField,
    Presence, Selector, SelectorName, SelectorRule, Status,
};

/// Types of home.
pub const PROPERTY_TYPES: &[&str] = &["all", "detached", "semi_detached", "terraced", "flat"];
/// Groups by number of bedrooms.
pub const BEDROOM_GROUPS: &[&str] = &["all", "1", "2", "3", "4_plus"];

const AREA: Selector = Selector {
    presence: Presence::Required,
    rule: SelectorRule::Area,
    name: SelectorName::Area,
};
const PROPERTY_TYPE: Selector = Selector {
    presence: Presence::Default("all"),
    rule: SelectorRule::Choice(Choices::Fixed(PROPERTY_TYPES)),
    name: SelectorName::PropertyType,
};
const BEDROOM_GROUP: Selector = Selector {
    presence: Presence::Default("all"),
    rule: SelectorRule::Choice(Choices::Fixed(BEDROOM_GROUPS)),
    name: SelectorName::BedroomGroup,
};
const PRICE_BAND: Selector = Selector {
    presence: Presence::Required,
    rule: SelectorRule::Choice(Choices::PriceBands),
    name: SelectorName::PriceBand,
};

/// Returns the price in pounds from which a band holds, by its name: `under_100k`, `100k_to_150k`,
/// `1m_plus`. The names' alphabet is not the order of the bands.
pub(crate) fn lower_bound(band: &str) -> u64 {
    let end = band.find(|letter: char| !letter.is_ascii_digit());
    let (digits, rest) = band.split_at(end.unwrap_or(band.len()));
    let scale = match rest.chars().next() {
        Some('k') => 1_000,
        Some('m') => 1_000_000,
        _ => 1,
    };
    digits.parse().map_or(0, |number: u64| number * scale)
}

const fn metric(id: &'static str, unit: &'static str, basis: Basis, status: Status) -> Metric {
    Metric {
        id,
        unit,
        basis,
        status,
    }
}

const fn count_metric(id: &'static str, unit: &'static str) -> Metric {
    metric(
        id,
        unit,
        Basis::RecordedRevisable,
        Status::RecordedRevisable,
    )
}

const fn estimate_metric(id: &'static str, unit: &'static str) -> Metric {
    metric(id, unit, Basis::Estimated, Status::Estimated)
}

const fn monthly(
    id: &'static str,
    summary: &'static str,
    selectors: &'static [Selector],
    metrics: &'static [Metric],
    default_metrics: &'static [&'static str],
    fields: &'static [ObservationField],
) -> Dataset {
    Dataset {
        id,
        family: Family::Markets,
        summary,
        selectors,
        frequency: Frequency::Monthly,
        metrics,
        default_metrics,
        history: History::RetainedObservations,
        latest: Latest::EachSeries,
        fields,
    }
}

const RENTAL_FIELDS: &[ObservationField] = &[
    ObservationField::RentalObservationMonth,
    ObservationField::StructureObservationMonth,
    ObservationField::CapitalObservationMonth,
    ObservationField::RentalPeriodStart,
    ObservationField::RentalPeriodEnd,
    ObservationField::CapitalPeriodStart,
    ObservationField::CapitalPeriodEnd,
    ObservationField::InputMonthGap,
    ObservationField::MixedVintage,
];

/// The table.
pub const DATASETS: &[Dataset] = &[
    monthly(
        "market_activity",
        "Sales, their value and price per square metre over rolling twelve months.",
        &[AREA, PROPERTY_TYPE],
        &[
            estimate_metric("price_per_sqm_gbp", "GBP/m2"),
            count_metric("sales_count", "sales"),
            count_metric("sales_share_pct", "percent"),
            count_metric("sales_value_gbp", "GBP"),
            count_metric("sales_value_per_km2_gbp", "GBP/km2"),
        ],
        &[
            "price_per_sqm_gbp",
            "sales_count",
            "sales_share_pct",
            "sales_value_gbp",
            "sales_value_per_km2_gbp",
        ],
        &[],
    ),
    monthly(
        "price_bands",
        "Sales by band of price over rolling twelve months.",
        &[AREA, PRICE_BAND],
        &[
            count_metric("sales_count", "sales"),
            count_metric("sales_share_pct", "percent"),
        ],
        &["sales_count", "sales_share_pct"],
        &[],
    ),
    monthly(
        "rental_market",
        "Rents, estimated values over rolling 24 months, and gross yields.",
        &[AREA, BEDROOM_GROUP],
        &[
            estimate_metric("gross_yield_pct", "percent"),
            estimate_metric("monthly_rent_gbp", "GBP/month"),
            estimate_metric("property_value_gbp", "GBP"),
        ],
        &["gross_yield_pct", "monthly_rent_gbp", "property_value_gbp"],
        RENTAL_FIELDS,
    ),
    monthly(
        "new_build_price_differential",
        "Prices of newly built homes beside established ones over rolling 36 months.",
        &[AREA, PROPERTY_TYPE],
        &[
            estimate_metric("price_differential_pct", "percent"),
            estimate_metric("new_build_price_gbp", "GBP"),
            estimate_metric("established_price_gbp", "GBP"),
            count_metric("new_build_sales_count", "sales"),
        ],
        &["price_differential_pct"],
        &[],
    ),
    monthly(
        "new_build_deliveries",
        "First sales of newly built homes over rolling twelve months.",
        &[AREA, PROPERTY_TYPE],
        &[count_metric("deliveries_count", "homes")],
        &["deliveries_count"],
        &[],
    ),
    monthly(
        "new_build_sales_share",
        "The part of sales that newly built homes are over rolling twelve months.",
        &[AREA, PROPERTY_TYPE],
        &[
            count_metric("new_build_share_pct", "percent"),
            count_metric("new_build_sales_count", "sales"),
        ],
        &["new_build_share_pct"],
        &[],
    ),
    monthly(
        "development_deliveries",
        "New homes delivered in developments, estimated from postcodes and dates, over rolling twelve months.",
        &[AREA],
        &[
            estimate_metric("deliveries_count", "homes"),
            estimate_metric("developments_count", "developments"),
            estimate_metric("homes_per_development", "homes/development"),
            estimate_metric("major_development_share_pct", "percent"),
        ],
        &[
            "deliveries_count",
            "developments_count",
            "homes_per_development",
            "major_development_share_pct",
        ],
        &[],
    ),
];
