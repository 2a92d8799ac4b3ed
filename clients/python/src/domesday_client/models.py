"""Models of the HTTP interfaces, written by `generate` from docs/openapi.json."""

from __future__ import annotations

from datetime import date as date_aliased
from typing import Annotated, Dict, Literal
from uuid import UUID

from domesday_client.base import Model
from pydantic import AwareDatetime, ConfigDict, Field, RootModel


class DateWindow(Model):
    from_: Annotated[date_aliased, Field(alias="from", description="First day.")]
    to: Annotated[date_aliased, Field(description="Last day.")]


class DetailedLease(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    ground_rent_gbp_per_year: Annotated[
        float | None,
        Field(description="Ground rent in pounds a year.", ge=0.0, le=100000.0),
    ] = None
    service_charge_gbp_per_year: Annotated[
        float | None,
        Field(description="Service charge in pounds a year.", ge=0.0, le=100000.0),
    ] = None
    start_date: Annotated[
        date_aliased,
        Field(description="First day of the lease, on or before the valuation date."),
    ]
    term_years: Annotated[
        int,
        Field(
            description="Length of the lease in years; it has not ended on the valuation date.",
            ge=1,
            le=999,
        ),
    ]


class DevelopmentOptions(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    comparables_limit: Annotated[
        int | None,
        Field(
            description=(
                "Most comparables to list; 0 gives an empty list. It does not change the valuation."
                " 5 where no level sets it."
            ),
            ge=0,
            le=10,
        ),
    ] = None
    include_comparables: Annotated[
        bool | None,
        Field(
            description="Lists the sales that speak for the estimate. False where no level sets it."
        ),
    ] = None
    include_context_metrics: Annotated[
        bool | None,
        Field(description="Adds figures of the neighbourhood. False where no level sets it."),
    ] = None


class DevelopmentSize(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    bedrooms: Annotated[int | None, Field(description="Bedrooms.", ge=0, le=20)] = None
    floor_area_m2: Annotated[
        float, Field(description="Floor area in square metres.", ge=10.0, le=2000.0)
    ]
    floor_level: Annotated[
        int | None,
        Field(
            description="Floor on which a flat lies: 0 is the ground floor; ignored for houses.",
            ge=-5,
            le=100,
        ),
    ] = None
    living_rooms: Annotated[int | None, Field(description="Living rooms.", ge=0, le=10)] = None
    storeys: Annotated[
        int | None,
        Field(description="Storeys of a house; ignored for flats.", ge=1, le=6),
    ] = None


class JobError(Model):
    code: Annotated[
        str,
        Field(
            description=(
                "The code that programs branch on: `processing_failed`, or rarely `job_expired`."
            )
        ),
    ]
    message: Annotated[str, Field(description="For people.")]
    retryable: Annotated[bool, Field(description="True if a new job of the same rows may succeed.")]


class Limits(Model):
    asynchronous_job_rows: Annotated[int, Field(description="Most rows of a job.", ge=0)]
    synchronous_batch_rows: Annotated[
        int, Field(description="Most rows of a synchronous batch.", ge=0)
    ]


class LocalAuthority(Model):
    code: Annotated[str, Field(description="Its nine-character code.")]
    name: Annotated[str, Field(description="Its name.")]


class Options(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    comparables_limit: Annotated[
        int | None,
        Field(
            description=(
                "Most comparables to list; 0 gives an empty list. It does not change the valuation."
                " 5 where no level sets it."
            ),
            ge=0,
            le=10,
        ),
    ] = None
    include_comparables: Annotated[
        bool | None,
        Field(
            description="Lists the sales that speak for the estimate. False where no level sets it."
        ),
    ] = None
    include_context_metrics: Annotated[
        bool | None,
        Field(description="Adds figures of the neighbourhood. False where no level sets it."),
    ] = None
    use_stored_data: Annotated[
        bool | None,
        Field(
            description=(
                "Lets stored values of this property fill what the request leaves blank; values "
                "that the request gives always win. Needs the scope `avm:stored-data`. False where "
                "no level sets it."
            )
        ),
    ] = None


class OwnSale(Model):
    price_gbp: Annotated[int, Field(description="The price paid, in whole pounds.", ge=0)]
    sale_date: Annotated[date_aliased, Field(description="Day of the sale.")]
    weight: Annotated[
        float,
        Field(
            description=(
                "Weight of the home's own sales in the estimate, 0 to 1. Comparables have the rest."
            ),
            ge=0.0,
            le=1.0,
        ),
    ]


class ParameterError(Model):
    code: Annotated[str, Field(description="The code that programs branch on.")]
    field: Annotated[
        str | None,
        Field(description="The invalid parameter; absent where the error concerns none."),
    ] = None
    message: Annotated[str, Field(description="For people: what is wrong and what to do about it.")]


class PostcodeCoverage(Model):
    recent_sales: Annotated[
        int,
        Field(
            description=(
                "Standard sales (category A) of dwellings there in the 1,096 days before today."
            ),
            ge=0,
        ),
    ]
    represented: Annotated[
        bool,
        Field(
            description="True if the release's snapshot has an address or a sale in the postcode."
        ),
    ]
    value: Annotated[
        str,
        Field(
            description="The postcode in standard form.",
            max_length=8,
            pattern="^[A-Z]{1,2}[0-9][A-Z0-9]? [0-9][A-Z]{2}$",
        ),
    ]


class ResultProperty(Model):
    identity_source: Annotated[str, Field(description="Source that vouches for the identity.")]
    postcode: Annotated[
        str,
        Field(
            description="Its postcode in standard form.",
            max_length=8,
            pattern="^[A-Z]{1,2}[0-9][A-Z0-9]? [0-9][A-Z]{2}$",
        ),
    ]
    uprn: Annotated[
        str | None,
        Field(
            description="Its UPRN; null on development routes, which invent none.",
            max_length=12,
            pattern="^[1-9][0-9]{0,11}$",
        ),
    ]


class SeriesArea(Model):
    code: Annotated[str, Field(description="Its code, of nine characters.")]
    name: Annotated[str, Field(description="Its name.")]


class SeriesAreas(Model):
    areas: list[SeriesArea]
    release_id: Annotated[str, Field(description="The package that answered, which never changes.")]
    request_id: Annotated[UUID, Field(description="As in X-Service-Request-Id.")]


class SeriesAvailability(Model):
    from_: Annotated[
        str | None,
        Field(
            alias="from",
            description="The first period held.",
            max_length=10,
            pattern="^[0-9]{4}-[0-9]{2}(-[0-9]{2})?$",
        ),
    ]
    status: Annotated[
        str,
        Field(
            description=(
                "More may come, so accept a value that is not in this list:\n\n- `available`: It "
                "has.\n- `suppressed`: Every value is withheld, since too few records lie behind "
                "it.\n- `not_available`: It has none."
            )
        ),
    ]
    to: Annotated[
        str | None,
        Field(
            description="The last period held.",
            max_length=10,
            pattern="^[0-9]{4}-[0-9]{2}(-[0-9]{2})?$",
        ),
    ]


class SeriesDimensions(Model):
    horizon_month: Annotated[
        int | None,
        Field(description="Start in months after the snapshot.", ge=0, le=4294967295),
    ] = None
    ltv_pct: Annotated[
        int | None, Field(description="Loan to value, per cent.", ge=0, le=4294967295)
    ] = None
    tenor_months: Annotated[
        int | None, Field(description="Maturity in months.", ge=0, le=4294967295)
    ] = None
    term_years: Annotated[
        int | None, Field(description="Length in years.", ge=0, le=4294967295)
    ] = None


class SeriesErrorBody(Model):
    error: Annotated[ParameterError, Field(description="The error.")]
    request_id: Annotated[
        str, Field(description="The id of this answer, as in X-Service-Request-Id.")
    ]


class SeriesMetric(Model):
    metric: Annotated[str, Field(description="The metric's id.")]
    unit: Annotated[str, Field(description="Its unit.")]


class SeriesNotice(Model):
    code: Annotated[
        str,
        Field(
            description=(
                "More may come, so accept a value that is not in this list:\n\n- "
                "`range_exceeds_history`: The dates reach past the history that the release "
                "holds.\n- `dataset_not_in_release`: The release holds no series of the dataset; "
                "`message` has the reason."
            )
        ),
    ]
    message: Annotated[str, Field(description="For people.")]


class SeriesObservation(Model):
    capital_observation_month: Annotated[
        str | None,
        Field(
            description="Month of the capital value.",
            max_length=10,
            pattern="^[0-9]{4}-[0-9]{2}$",
        ),
    ] = None
    capital_period_end: Annotated[
        date_aliased | None, Field(description="Last day of the capital window.")
    ] = None
    capital_period_start: Annotated[
        date_aliased | None, Field(description="First day of the capital window.")
    ] = None
    compounding: Annotated[str | None, Field(description="Compounding of the rate.")] = None
    day_count: Annotated[str | None, Field(description="Day count of the rate.")] = None
    input_month_gap: Annotated[
        int | None,
        Field(description="Months from the capital month to the rental month."),
    ] = None
    interval_end_date: Annotated[
        date_aliased | None, Field(description="Last day of the interval.")
    ] = None
    interval_end_month: Annotated[
        int | None,
        Field(description="End of the interval in months after the snapshot."),
    ] = None
    interval_kind: Annotated[str | None, Field(description="Meaning of the interval.")] = None
    interval_start_date: Annotated[
        date_aliased | None, Field(description="First day of the interval.")
    ] = None
    interval_start_month: Annotated[
        int | None,
        Field(description="Start of the interval in months after the snapshot."),
    ] = None
    matched_swap_as_of_date: Annotated[
        date_aliased | None,
        Field(description="The day of the swap that a spread is measured against."),
    ] = None
    mixed_vintage: Annotated[
        bool | None, Field(description="Marker of inputs of different months.")
    ] = None
    mortgage_latest_observation_date: Annotated[
        date_aliased | None,
        Field(description="Date of the latest mortgage rate that went in."),
    ] = None
    period: Annotated[
        str,
        Field(
            description="YYYY-MM or YYYY-MM-DD.",
            max_length=10,
            pattern="^[0-9]{4}-[0-9]{2}(-[0-9]{2})?$",
        ),
    ]
    period_end: Annotated[
        date_aliased | None,
        Field(description="Last day that the value is made from. Markets alone."),
    ] = None
    period_start: Annotated[
        date_aliased | None,
        Field(description="First day that the value is made from. Markets alone."),
    ] = None
    projection_end_date: Annotated[
        date_aliased | None, Field(description="Last day of the projected interval.")
    ] = None
    projection_end_month: Annotated[
        int | None,
        Field(description="End of the projected interval in months after the snapshot."),
    ] = None
    projection_start_date: Annotated[
        date_aliased | None, Field(description="First day of the projected interval.")
    ] = None
    projection_start_month: Annotated[
        int | None,
        Field(description="Start of the projected interval in months after the snapshot."),
    ] = None
    reference_basis: Annotated[str | None, Field(description="Reference rate of a spread.")] = None
    rental_observation_month: Annotated[
        str | None,
        Field(
            description="Month of the rent.",
            max_length=10,
            pattern="^[0-9]{4}-[0-9]{2}$",
        ),
    ] = None
    rental_period_end: Annotated[
        date_aliased | None, Field(description="Last day of the rental window.")
    ] = None
    rental_period_start: Annotated[
        date_aliased | None, Field(description="First day of the rental window.")
    ] = None
    snapshot_date: Annotated[date_aliased | None, Field(description="The day of the curve.")] = None
    sonia_compounding: Annotated[
        str | None, Field(description="Compounding of SONIA in the path.")
    ] = None
    status: Annotated[
        str,
        Field(
            description=(
                "More may come, so accept a value that is not in this list:\n\n- `estimated`: An "
                "estimate.\n- `recorded_revisable`: Recorded, and open to revision.\n- "
                "`indicative`: Indicative.\n- `scenario`: Part of a scenario."
            )
        ),
    ]
    structure_observation_month: Annotated[
        str | None,
        Field(
            description="Month of the rents' structure by type and size.",
            max_length=10,
            pattern="^[0-9]{4}-[0-9]{2}$",
        ),
    ] = None
    svr_latest_observation_date: Annotated[
        date_aliased | None,
        Field(description="Date of the latest reversion rate that went in."),
    ] = None
    swap_10y_end_date: Annotated[
        date_aliased | None, Field(description="End of the ten-year swap that went in.")
    ] = None
    swap_2y_end_date: Annotated[
        date_aliased | None, Field(description="End of the two-year swap that went in.")
    ] = None
    swap_5y_end_date: Annotated[
        date_aliased | None,
        Field(description="End of the five-year swap that went in."),
    ] = None
    value: Annotated[
        float,
        Field(description="In the unit of the series. What is missing is absent and never zero."),
    ]


class SeriesPreviewBounds(Model):
    from_: Annotated[
        str | None,
        Field(
            alias="from",
            description="The first period exported.",
            max_length=10,
            pattern="^[0-9]{4}-[0-9]{2}(-[0-9]{2})?$",
        ),
    ]
    to: Annotated[
        str | None,
        Field(
            description="The last period exported.",
            max_length=10,
            pattern="^[0-9]{4}-[0-9]{2}(-[0-9]{2})?$",
        ),
    ]


class SeriesRelease(Model):
    created_at: Annotated[AwareDatetime, Field(description="When the package was made.")]
    family: Annotated[
        str,
        Field(
            description=(
                "More may come, so accept a value that is not in this list:\n\n- `markets`\n- "
                "`rates`"
            )
        ),
    ]
    preview_bounds: Annotated[
        SeriesPreviewBounds | None,
        Field(description="The limits of the export, where it was limited."),
    ]
    published_at: Annotated[
        AwareDatetime | None,
        Field(description="When it was published; null where none is recorded."),
    ]
    release_id: Annotated[str, Field(description="The package that answered, which never changes.")]
    request_id: Annotated[UUID, Field(description="As in X-Service-Request-Id.")]
    status: Annotated[
        str,
        Field(
            description=(
                "More may come, so accept a value that is not in this list:\n\n- `accepted`: It is "
                "served."
            )
        ),
    ]


class SeriesSelection(Model):
    model_config = ConfigDict(
        extra="allow",
    )
    __annotations__ = {
        "__pydantic_extra__": Dict[str, str],
    }
    mode: Annotated[
        str,
        Field(
            description=(
                "More may come, so accept a value that is not in this list:\n\n- `latest`: No dates"
                " were given.\n- `range`: Dates were given."
            )
        ),
    ]


class SimpleLease(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    years_remaining: Annotated[
        float,
        Field(
            description="Years left on the valuation date, above 0; a fraction is fine.",
            gt=0.0,
            le=999.0,
        ),
    ]


class Size(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    bedrooms: Annotated[int | None, Field(description="Bedrooms.", ge=0, le=20)] = None
    floor_area_m2: Annotated[
        float | None,
        Field(description="Floor area in square metres.", ge=10.0, le=2000.0),
    ] = None
    floor_level: Annotated[
        int | None,
        Field(
            description="Floor on which a flat lies: 0 is the ground floor; ignored for houses.",
            ge=-5,
            le=100,
        ),
    ] = None
    living_rooms: Annotated[int | None, Field(description="Living rooms.", ge=0, le=10)] = None
    storeys: Annotated[
        int | None,
        Field(description="Storeys of a house; ignored for flats.", ge=1, le=6),
    ] = None


class Summary(Model):
    referred: Annotated[int, Field(description="Rows referred.", ge=0)]
    rejected: Annotated[int, Field(description="Rows rejected.", ge=0)]
    requested: Annotated[int, Field(description="Rows of the request.", ge=0)]
    valuation_failed: Annotated[int, Field(description="Rows whose valuation failed.", ge=0)]
    valued: Annotated[int, Field(description="Rows valued.", ge=0)]


class UprnCoverage(Model):
    present: Annotated[
        bool,
        Field(description="True if the release's snapshot has the UPRN as a home."),
    ]
    value: Annotated[
        str, Field(description="The UPRN.", max_length=12, pattern="^[1-9][0-9]{0,11}$")
    ]


class ValidationError(Model):
    code: Annotated[str, Field(description="The code that programs branch on.")]
    field: Annotated[
        str | None,
        Field(
            description=(
                "JSON Pointer (RFC 6901) to the invalid field, relative to the row in a batch. The "
                "empty\npointer is the whole document; none means that the error concerns no field."
            )
        ),
    ] = None
    message: Annotated[str, Field(description="For people: what is wrong and what to do about it.")]
    retryable: Annotated[bool, Field(description="True if the same request may succeed later.")]


class ValueRange(Model):
    lower_value_gbp: Annotated[
        int, Field(description="Lower end in whole pounds.", ge=0, le=10000000000)
    ]
    nominal_coverage: Annotated[
        float,
        Field(
            description=(
                "Share of a portfolio's true values that such ranges are made to hold, 0 to 1."
            ),
            ge=0.0,
            le=1.0,
        ),
    ]
    upper_value_gbp: Annotated[
        int, Field(description="Upper end in whole pounds.", ge=0, le=10000000000)
    ]


class Comparable(Model):
    adjusted_price_gbp: Annotated[
        int,
        Field(
            description=(
                "The price brought to the valuation date and the subject's likeness, in whole "
                "pounds."
            ),
            ge=0,
        ),
    ]
    distance_m: Annotated[int, Field(description="Metres from the subject.", ge=0)]
    floor_area_m2: Annotated[
        float | None,
        Field(description="Its floor area in square metres; null where it is unknown."),
    ]
    postcode: Annotated[
        str,
        Field(
            description="Its postcode.",
            max_length=8,
            pattern="^[A-Z]{1,2}[0-9][A-Z0-9]? [0-9][A-Z]{2}$",
        ),
    ]
    price_gbp: Annotated[int, Field(description="The price paid, in whole pounds.", ge=0)]
    property_type: Annotated[str, Field(description="Its type.")]
    rank: Annotated[int, Field(description="1 for the most telling.", ge=0)]
    sale_date: Annotated[date_aliased, Field(description="Day of the sale.")]
    similarity: Annotated[
        float, Field(description="Likeness to the subject, 0 to 1.", ge=0.0, le=1.0)
    ]
    title_tenure: str | None


class Confidence(Model):
    band: Annotated[
        str,
        Field(description="The band in which the release's thresholds put the score."),
    ]
    score: Annotated[float, Field(description="0 to 1.", ge=0.0, le=1.0)]


class Context(Model):
    local_authority: LocalAuthority | None
    median_price_gbp: Annotated[
        int | None, Field(description="Their median price in whole pounds.", ge=0)
    ]
    own_sale: OwnSale | None
    postcode_sector: Annotated[str, Field(description="The postcode sector, such as `RG30 1`.")]
    price_change_12m_pct: Annotated[
        float | None,
        Field(description="Change of prices over twelve months, in per cent."),
    ]
    price_per_sqm_gbp: Annotated[
        float | None,
        Field(description="Sum of prices over sum of floor areas, in pounds."),
    ]
    sales_count_12m: Annotated[int, Field(description="Sales of the last twelve months.", ge=0)]


class Coverage(Model):
    postcode: Annotated[PostcodeCoverage, Field(description="Coverage of the postcode.")]
    release_id: Annotated[str, Field(description="The active valuation release.")]
    uprn: UprnCoverage | None


class DevelopmentEnergy(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    efficiency_score: Annotated[
        int | None, Field(description="Energy efficiency score.", ge=1, le=100)
    ] = None
    rating: Annotated[
        Literal["A", "B", "C", "D", "E", "F", "G"] | None,
        Field(
            description=(
                "Energy rating.\n\n- `A`: The best.\n- `B`: Second.\n- `C`: Third.\n- `D`: "
                "Fourth.\n- `E`: Fifth.\n- `F`: Sixth.\n- `G`: The worst."
            )
        ),
    ] = None


class DevelopmentProperty(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    building_number_or_name: Annotated[
        str | None,
        Field(
            description="House or plot, where there is one yet. Nothing is looked up with it.",
            max_length=200,
            min_length=1,
            pattern=(
                "^[\\t-\\r "
                "\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*[^\\u0000"
                "-"
                " "
                "\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000](?:[^\\u0"
                "000-\\u001f\\u007f-\\u009f]*[^\\u0000-"
                " "
                "\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000])?[\\t-\\"
                "r"
                " \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*$"
            ),
        ),
    ] = None
    postcode: Annotated[
        str,
        Field(
            description="A full postcode in any case and spacing, such as `RG30 1AA`.",
            pattern=(
                "^[ \\u00a0]*(?:[A-Za-z][ \\u00a0]*){1,2}[0-9][ \\u00a0]*(?:[A-Za-z0-9][ "
                "\\u00a0]*)?[0-9][ \\u00a0]*(?:[ABD-HJLNP-UW-Zabd-hjlnp-uw-z][ \\u00a0]*){2}$"
            ),
        ),
    ]
    site_latitude: Annotated[
        float,
        Field(
            description=(
                "WGS84 latitude of the site, in degrees north; the site lies in England or Wales."
            ),
            ge=-90.0,
            le=90.0,
        ),
    ]
    site_longitude: Annotated[
        float,
        Field(
            description="WGS84 longitude of the site, in degrees east (negative to the west).",
            ge=-180.0,
            le=180.0,
        ),
    ]
    street: Annotated[
        str | None,
        Field(
            description="The street, where there is one yet. Nothing is looked up with it.",
            max_length=200,
            min_length=1,
            pattern=(
                "^[\\t-\\r "
                "\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*[^\\u0000"
                "-"
                " "
                "\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000](?:[^\\u0"
                "000-\\u001f\\u007f-\\u009f]*[^\\u0000-"
                " "
                "\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000])?[\\t-\\"
                "r"
                " \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*$"
            ),
        ),
    ] = None
    subtype: Annotated[
        Literal[
            "house_detached",
            "house_semi_detached",
            "house_mid_terrace",
            "house_end_terrace",
            "bungalow_detached",
            "bungalow_semi_detached",
            "bungalow_terraced",
            "flat_purpose_built",
            "flat_converted",
            "maisonette",
        ],
        Field(
            description=(
                "The kind within the type. It must belong to it. D: house_detached, "
                "bungalow_detached; S: house_semi_detached, bungalow_semi_detached; T: "
                "house_mid_terrace, house_end_terrace, bungalow_terraced; F: flat_purpose_built, "
                "flat_converted, maisonette."
            )
        ),
    ]
    title_tenure: Annotated[
        Literal["freehold", "leasehold"],
        Field(
            description="The title's tenure.\n\n- `freehold`: Freehold.\n- `leasehold`: Leasehold."
        ),
    ]
    type: Annotated[
        Literal["D", "S", "T", "F"],
        Field(
            description=(
                "The type of a property, by its single-letter code.\n\n- `D`: Detached house or "
                "bungalow.\n- `S`: Semi-detached house or bungalow.\n- `T`: Terraced house or "
                "bungalow.\n- `F`: Flat or maisonette."
            )
        ),
    ]
    valuation_date: Annotated[
        date_aliased,
        Field(description="Day of the valuation, within the window of the release metadata."),
    ]


class Energy(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    construction_age_band: Annotated[
        Literal["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L"] | None,
        Field(
            description=(
                "Age band of construction, by the letters of the energy certificates of England and"
                " Wales.\n\n- `A`: Before 1900.\n- `B`: 1900 to 1929.\n- `C`: 1930 to 1949.\n- `D`:"
                " 1950 to 1966.\n- `E`: 1967 to 1975.\n- `F`: 1976 to 1982.\n- `G`: 1983 to "
                "1990.\n- `H`: 1991 to 1995.\n- `I`: 1996 to 2002.\n- `J`: 2003 to 2006.\n- `K`: "
                "2007 to 2011.\n- `L`: 2012 and later."
            )
        ),
    ] = None
    efficiency_score: Annotated[
        int | None, Field(description="Energy efficiency score.", ge=1, le=100)
    ] = None
    rating: Annotated[
        Literal["A", "B", "C", "D", "E", "F", "G"] | None,
        Field(
            description=(
                "Energy rating.\n\n- `A`: The best.\n- `B`: Second.\n- `C`: Third.\n- `D`: "
                "Fourth.\n- `E`: Fifth.\n- `F`: Sixth.\n- `G`: The worst."
            )
        ),
    ] = None


class ErrorBody(Model):
    error: Annotated[ValidationError, Field(description="The first error of the refusal.")]
    errors: Annotated[
        list[ValidationError] | None,
        Field(
            description=(
                "Every error of the request, the first twenty in document order; only where its "
                "content is\ninvalid."
            ),
            max_length=20,
            min_length=1,
        ),
    ] = None


class Fabric(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    floor_type: Annotated[
        Literal["solid", "suspended", "premises_below", "other"] | None,
        Field(
            description=(
                "The lowest floor.\n\n- `solid`: On the ground.\n- `suspended`: Over a void.\n- "
                "`premises_below`: None: another dwelling lies below.\n- `other`: Anything else."
            )
        ),
    ] = None
    glazing: Annotated[
        Literal["single", "double", "triple", "secondary", "other"] | None,
        Field(
            description=(
                "Most of the windows.\n\n- `single`: One pane.\n- `double`: Two panes.\n- `triple`:"
                " Three panes.\n- `secondary`: A second window inside the first.\n- `other`: "
                "Anything else."
            )
        ),
    ] = None
    roof_type: Annotated[
        Literal["pitched", "flat", "thatched", "room_in_roof", "premises_above", "other"] | None,
        Field(
            description=(
                "The main roof.\n\n- `pitched`: Sloping.\n- `flat`: Flat.\n- `thatched`: Of "
                "thatch.\n- `room_in_roof`: With rooms in it.\n- `premises_above`: None: another "
                "dwelling lies above.\n- `other`: Anything else."
            )
        ),
    ] = None
    wall_type: Annotated[
        Literal["cavity", "solid_brick", "stone", "timber_frame", "system_built", "cob", "other"]
        | None,
        Field(
            description=(
                "The material of the main walls.\n\n- `cavity`: Two leaves with a gap.\n- "
                "`solid_brick`: Brick without a gap.\n- `stone`: Stone.\n- `timber_frame`: A frame "
                "of timber.\n- `system_built`: Concrete or steel panels of a system.\n- `cob`: "
                "Earth.\n- `other`: Anything else."
            )
        ),
    ] = None


class FailedResult(Model):
    api_version: Literal["v3"]
    errors: Annotated[list[ValidationError], Field(max_length=20, min_length=1)]
    execution_id: Annotated[
        UUID, Field(description="This execution; shared by the rows of a batch.")
    ]
    release_id: Annotated[str, Field(description="The valuation release, which never changes.")]
    request_reference: Annotated[
        str | None, Field(description="Your own reference, where the request has one.")
    ] = None
    status: Literal["valuation_failed"]
    valuation_id: Annotated[
        UUID,
        Field(description="This property's valuation; the authoritative identifier."),
    ]


class JobDocument(Model):
    api_version: Literal["v3"]
    created_at: Annotated[AwareDatetime, Field(description="When it was accepted.")]
    error: Annotated[JobError | None, Field(description="Why it failed, where it did.")] = None
    expires_at: Annotated[
        AwareDatetime,
        Field(
            description=(
                "Seven days after created_at: from then on the job and its results are gone."
            )
        ),
    ]
    job_id: UUID
    mode: Annotated[str, Field(description="As submitted.")]
    release_id: Annotated[
        str,
        Field(description="The release that was active at submission; the job stays on it."),
    ]
    request_count: Annotated[int, Field(description="Its rows.", ge=1, le=2500)]
    results_url: Annotated[str, Field(description="Path of its results.")]
    status: Annotated[
        str,
        Field(
            description=(
                "The status of a job.\n\nMore may come, so accept a value that is not in this "
                "list:\n\n- `queued`: Accepted, and waiting for its turn.\n- `running`: Being "
                "worked on.\n- `completed`: Every row has its result.\n- `failed`: It could not be "
                "finished."
            )
        ),
    ]
    status_url: Annotated[str, Field(description="Path of the job.")]
    updated_at: Annotated[AwareDatetime, Field(description="When it last moved.")]


class Note(Model):
    field: Annotated[str, Field(description="The input.")]
    reason: Annotated[str | None, Field(description="Reason for the treatment.")] = None
    source: Annotated[str | None, Field(description="The source of its value.")] = None


class Occupancy(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    status: Annotated[
        Literal["owner_occupied", "tenanted", "vacant"],
        Field(
            description=(
                "The occupancy of the property.\n\n- `owner_occupied`: The owner.\n- `tenanted`: A "
                "tenant.\n- `vacant`: Nobody."
            )
        ),
    ]


class Property(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    build_status: Annotated[
        Literal["existing"] | None,
        Field(
            description=(
                "Whether the building stands; proposed buildings have the development routes."
            )
        ),
    ] = None
    building_number_or_name: Annotated[
        str,
        Field(
            description=(
                "House number or name, flat and building: what tells the property from its "
                "neighbours, such as `15` or `Flat 3, Fern Point, 60`."
            ),
            max_length=200,
            min_length=1,
            pattern=(
                "^[\\t-\\r "
                "\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*[^\\u0000"
                "-"
                " "
                "\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000](?:[^\\u0"
                "000-\\u001f\\u007f-\\u009f]*[^\\u0000-"
                " "
                "\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000])?[\\t-\\"
                "r"
                " \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*$"
            ),
        ),
    ]
    postcode: Annotated[
        str,
        Field(
            description="A full postcode in any case and spacing, such as `RG30 1AA`.",
            pattern=(
                "^[ \\u00a0]*(?:[A-Za-z][ \\u00a0]*){1,2}[0-9][ \\u00a0]*(?:[A-Za-z0-9][ "
                "\\u00a0]*)?[0-9][ \\u00a0]*(?:[ABD-HJLNP-UW-Zabd-hjlnp-uw-z][ \\u00a0]*){2}$"
            ),
        ),
    ]
    street: Annotated[
        str,
        Field(
            description="The street.",
            max_length=200,
            min_length=1,
            pattern=(
                "^[\\t-\\r "
                "\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*[^\\u0000"
                "-"
                " "
                "\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000](?:[^\\u0"
                "000-\\u001f\\u007f-\\u009f]*[^\\u0000-"
                " "
                "\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000])?[\\t-\\"
                "r"
                " \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*$"
            ),
        ),
    ]
    subtype: Annotated[
        Literal[
            "house_detached",
            "house_semi_detached",
            "house_mid_terrace",
            "house_end_terrace",
            "bungalow_detached",
            "bungalow_semi_detached",
            "bungalow_terraced",
            "flat_purpose_built",
            "flat_converted",
            "maisonette",
        ],
        Field(
            description=(
                "The kind within the type. It must belong to it. D: house_detached, "
                "bungalow_detached; S: house_semi_detached, bungalow_semi_detached; T: "
                "house_mid_terrace, house_end_terrace, bungalow_terraced; F: flat_purpose_built, "
                "flat_converted, maisonette."
            )
        ),
    ]
    title_tenure: Annotated[
        Literal["freehold", "leasehold"],
        Field(
            description="The title's tenure.\n\n- `freehold`: Freehold.\n- `leasehold`: Leasehold."
        ),
    ]
    type: Annotated[
        Literal["D", "S", "T", "F"],
        Field(
            description=(
                "The type of a property, by its single-letter code.\n\n- `D`: Detached house or "
                "bungalow.\n- `S`: Semi-detached house or bungalow.\n- `T`: Terraced house or "
                "bungalow.\n- `F`: Flat or maisonette."
            )
        ),
    ]
    uprn: Annotated[
        str | None,
        Field(
            description=(
                "Unique Property Reference Number. Where given, it is verified against the address;"
                " where not, the address must be that of exactly one property."
            ),
            max_length=12,
            pattern="^0{0,11}[1-9][0-9]{0,11}$",
        ),
    ] = None
    valuation_date: Annotated[
        date_aliased,
        Field(description="Day of the valuation, within the window of the release metadata."),
    ]


class Referral(Model):
    code: Annotated[str, Field(description="For programs.")]
    message: Annotated[str, Field(description="For people.")]


class ReferredValuation(Model):
    date: Annotated[date_aliased, Field(description="Day of the valuation asked for.")]
    range: Annotated[
        ValueRange | None,
        Field(description="Always null: a referred property has no range."),
    ]


class RejectedResult(Model):
    api_version: Literal["v3"]
    errors: Annotated[list[ValidationError], Field(max_length=20, min_length=1)]
    execution_id: Annotated[
        UUID, Field(description="This execution; shared by the rows of a batch.")
    ]
    release_id: Annotated[str, Field(description="The valuation release, which never changes.")]
    request_reference: Annotated[
        str | None, Field(description="Your own reference, where the request has one.")
    ] = None
    status: Literal["rejected"]
    valuation_id: Annotated[
        UUID,
        Field(description="This property's valuation; the authoritative identifier."),
    ]


class ReleaseMetadata(Model):
    countries: Annotated[list[str], Field(description="Countries that it covers.")]
    effective_date: Annotated[date_aliased, Field(description="The day from which it holds.")]
    endpoints: Annotated[list[str], Field(description="Routes that this caller may use.")]
    limits: Annotated[
        Limits,
        Field(description="The lowest of the release's, the plan's and the payload's limits."),
    ]
    property_types: Annotated[list[str], Field(description="Property types that it values.")]
    release_id: Annotated[str, Field(description="The active valuation release.")]
    valuation_date: Annotated[DateWindow, Field(description="Valuation dates that it accepts.")]


class Series(Model):
    availability: SeriesAvailability
    basis: Annotated[
        str,
        Field(
            description=(
                "More may come, so accept a value that is not in this list:\n\n- `observed`: "
                "Recorded by its publisher.\n- `estimated`: Estimated from records.\n- "
                "`recorded_revisable`: Counted from records that are still added to.\n- "
                "`indicative`: Read from a fitted curve, or computed from one.\n- `derived`: "
                "Computed from other series.\n- `scenario`: Result of a stated assumption."
            )
        ),
    ]
    capital_window_months: Annotated[
        int | None, Field(description="Months of capital values behind a yield.")
    ] = None
    dimensions: SeriesDimensions
    frequency: Annotated[
        str,
        Field(
            description=(
                "More may come, so accept a value that is not in this list:\n\n- `monthly`: By "
                "calendar month, `YYYY-MM`.\n- `daily`: By day, `YYYY-MM-DD`; not every day has an "
                "observation."
            )
        ),
    ]
    history_capability: Annotated[
        str,
        Field(
            description=(
                "More may come, so accept a value that is not in this list:\n\n- "
                "`retained_observations`: All observations that were retained.\n- "
                "`latest_summary_per_release`: One summary, the latest.\n- `saved_snapshot_only`: "
                "One snapshot, as it was saved."
            )
        ),
    ]
    method: Annotated[
        str | None,
        Field(description="The rule behind its values, where one is stated."),
    ] = None
    metric: Annotated[str, Field(description="The metric's id.")]
    observations: list[SeriesObservation] | None = None
    rental_window_months: Annotated[
        int | None, Field(description="Months of rents behind a yield.")
    ] = None
    series_id: Annotated[str, Field(description="Its id, the same in every release.")]
    unit: Annotated[str, Field(description="Its unit.")]
    window_months: Annotated[
        int | None,
        Field(
            description=(
                "Months of the rolling window that ends with each period; null for a yield, which "
                "has two. Markets alone."
            )
        ),
    ] = None


class SeriesDataset(Model):
    dataset: Annotated[str, Field(description="Its exact name in queries.")]
    default_metrics: Annotated[list[str], Field(description="Those selected where none are named.")]
    frequency: Annotated[
        str,
        Field(
            description=(
                "More may come, so accept a value that is not in this list:\n\n- `monthly`: By "
                "calendar month, `YYYY-MM`.\n- `daily`: By day, `YYYY-MM-DD`; not every day has an "
                "observation."
            )
        ),
    ]
    history_capability: Annotated[
        str,
        Field(
            description=(
                "More may come, so accept a value that is not in this list:\n\n- "
                "`retained_observations`: All observations that were retained.\n- "
                "`latest_summary_per_release`: One summary, the latest.\n- `saved_snapshot_only`: "
                "One snapshot, as it was saved."
            )
        ),
    ]
    metrics: list[SeriesMetric]
    optional: Annotated[list[str], Field(description="The other parameters that it takes.")]
    required: Annotated[
        list[str], Field(description="Parameters that an initial request must give.")
    ]
    requires_metric_selection: Annotated[
        bool, Field(description="Whether this key must name its metrics.")
    ]
    selector_options: Annotated[
        dict[str, list[str]],
        Field(description="The values of each enumerated selector."),
    ]


class SeriesEnvelope(Model):
    dataset: Annotated[str, Field(description="As asked.")]
    next_cursor: Annotated[
        str | None,
        Field(description="Continues after this page; null on the last one and on coverage."),
    ]
    notice: Annotated[
        SeriesNotice | None,
        Field(description="A warning about the answer; absent if there is none."),
    ] = None
    published_at: Annotated[
        AwareDatetime | None,
        Field(description="When it was published; null where none is recorded."),
    ]
    release_id: Annotated[str, Field(description="The package that answered, which never changes.")]
    release_status: Annotated[
        str,
        Field(
            description=(
                "More may come, so accept a value that is not in this list:\n\n- `accepted`: It is "
                "served."
            )
        ),
    ]
    request_id: Annotated[UUID, Field(description="As in X-Service-Request-Id.")]
    revision_policy: Annotated[str, Field(description="The rule for revisions in later releases.")]
    selection: SeriesSelection
    series: list[Series]


class Valuation(Model):
    date: Annotated[date_aliased, Field(description="Day of the valuation.")]
    estimated_value_gbp: Annotated[
        int,
        Field(
            description="The estimate, rounded to the nearest pound.",
            ge=0,
            le=10000000000,
        ),
    ]
    range: Annotated[
        ValueRange | None,
        Field(description="A calibrated range; null where the evidence does not support one."),
    ]


class DevelopmentRequest(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    energy: DevelopmentEnergy | None = None
    lease: Annotated[
        SimpleLease | DetailedLease | None,
        Field(
            description=(
                "The lease, on either of two paths: the years that it has left on the valuation "
                "date, or its terms. Needed for leasehold, refused for freehold."
            )
        ),
    ] = None
    occupancy: Occupancy
    options: DevelopmentOptions | None = None
    property: DevelopmentProperty
    request_reference: Annotated[
        str | None,
        Field(
            description=(
                "Your own reference, echoed in the result. It neither identifies the valuation nor "
                "keeps a second one from being made."
            ),
            max_length=200,
            min_length=1,
            pattern=(
                "^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000- "
                "\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000][^\\u0000"
                "-\\u001f\\u007f-\\u009f]*$"
            ),
        ),
    ] = None
    size: DevelopmentSize


class DevelopmentRow(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    energy: DevelopmentEnergy | None = None
    lease: Annotated[
        SimpleLease | DetailedLease | None,
        Field(
            description=(
                "The lease, on either of two paths: the years that it has left on the valuation "
                "date, or its terms. Needed for leasehold, refused for freehold."
            )
        ),
    ] = None
    occupancy: Occupancy
    options: Annotated[
        DevelopmentOptions | None,
        Field(
            description="The row's own options. Left out, null and {} inherit all of the batch's."
        ),
    ] = None
    property: DevelopmentProperty
    request_reference: Annotated[
        str | None,
        Field(
            description=(
                "Your own reference, echoed in the result. It neither identifies the valuation nor "
                "keeps a second one from being made."
            ),
            max_length=200,
            min_length=1,
            pattern=(
                "^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000- "
                "\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000][^\\u0000"
                "-\\u001f\\u007f-\\u009f]*$"
            ),
        ),
    ] = None
    size: DevelopmentSize


class ExistingRequest(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    energy: Energy | None = None
    fabric: Fabric | None = None
    lease: Annotated[
        SimpleLease | DetailedLease | None,
        Field(
            description=(
                "The lease, on either of two paths: the years that it has left on the valuation "
                "date, or its terms. Needed for leasehold, refused for freehold."
            )
        ),
    ] = None
    occupancy: Occupancy
    options: Options | None = None
    property: Property
    request_reference: Annotated[
        str | None,
        Field(
            description=(
                "Your own reference, echoed in the result. It neither identifies the valuation nor "
                "keeps a second one from being made."
            ),
            max_length=200,
            min_length=1,
            pattern=(
                "^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000- "
                "\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000][^\\u0000"
                "-\\u001f\\u007f-\\u009f]*$"
            ),
        ),
    ] = None
    size: Size


class ExistingRow(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    energy: Energy | None = None
    fabric: Fabric | None = None
    lease: Annotated[
        SimpleLease | DetailedLease | None,
        Field(
            description=(
                "The lease, on either of two paths: the years that it has left on the valuation "
                "date, or its terms. Needed for leasehold, refused for freehold."
            )
        ),
    ] = None
    occupancy: Occupancy
    options: Annotated[
        Options | None,
        Field(
            description="The row's own options. Left out, null and {} inherit all of the batch's."
        ),
    ] = None
    property: Property
    request_reference: Annotated[
        str | None,
        Field(
            description=(
                "Your own reference, echoed in the result. It neither identifies the valuation nor "
                "keeps a second one from being made."
            ),
            max_length=200,
            min_length=1,
            pattern=(
                "^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000- "
                "\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000][^\\u0000"
                "-\\u001f\\u007f-\\u009f]*$"
            ),
        ),
    ] = None
    size: Size


class InputResolution(Model):
    conflicting_inputs: Annotated[
        list[Note] | None,
        Field(
            description=(
                "Inputs of the request that the property's stored record contradicts; left out "
                "where there is\nnone. The request's own value was used."
            )
        ),
    ] = None
    derived_inputs: Annotated[
        list[Note],
        Field(description="Blank inputs that the release or the route filled."),
    ]
    ignored_inputs: Annotated[
        list[Note],
        Field(description="Inputs of the request that were valid, and of no use."),
    ]
    stored_data_used: Annotated[
        list[Note],
        Field(description="Blank inputs that stored values of this property filled."),
    ]


class ReferredResult(Model):
    api_version: Literal["v3"]
    execution_id: Annotated[
        UUID, Field(description="This execution; shared by the rows of a batch.")
    ]
    input_resolution: InputResolution
    property: ResultProperty
    referral: Referral
    release_id: Annotated[str, Field(description="The valuation release, which never changes.")]
    request_reference: Annotated[
        str | None, Field(description="Your own reference, where the request has one.")
    ] = None
    status: Literal["referred"]
    valuation: ReferredValuation
    valuation_id: Annotated[
        UUID,
        Field(description="This property's valuation; the authoritative identifier."),
    ]


class SeriesCatalogue(Model):
    datasets: list[SeriesDataset]
    family: Annotated[
        str,
        Field(
            description=(
                "More may come, so accept a value that is not in this list:\n\n- `markets`\n- "
                "`rates`"
            )
        ),
    ]
    published_at: Annotated[
        AwareDatetime | None,
        Field(description="When it was published; null where none is recorded."),
    ]
    release_id: Annotated[str, Field(description="The package that answered, which never changes.")]
    request_id: Annotated[UUID, Field(description="As in X-Service-Request-Id.")]


class ValuedResult(Model):
    api_version: Literal["v3"]
    comparables: Annotated[
        list[Comparable] | None,
        Field(
            description=(
                "The sales that speak for the estimate, the most telling first; where the options "
                "ask for them, on standard and development routes."
            ),
            max_length=10,
        ),
    ] = None
    confidence: Confidence
    context: Annotated[
        Context | None,
        Field(description="Present if the options ask for it, on standard and development routes."),
    ] = None
    execution_id: Annotated[
        UUID, Field(description="This execution; shared by the rows of a batch.")
    ]
    input_resolution: InputResolution
    property: ResultProperty
    release_id: Annotated[str, Field(description="The valuation release, which never changes.")]
    request_reference: Annotated[
        str | None, Field(description="Your own reference, where the request has one.")
    ] = None
    status: Literal["valued"]
    valuation: Valuation
    valuation_id: Annotated[
        UUID,
        Field(description="This property's valuation; the authoritative identifier."),
    ]


class BatchRequest(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    options: Annotated[
        Options | None,
        Field(description="Options of every row that does not say otherwise."),
    ] = None
    requests: Annotated[
        list[ExistingRow],
        Field(
            description="The rows; the release metadata says how many this key may send at once.",
            max_length=2500,
            min_length=1,
        ),
    ]


class DevelopmentBatchRequest(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    options: Annotated[
        DevelopmentOptions | None,
        Field(description="Options of every row that does not say otherwise."),
    ] = None
    requests: Annotated[
        list[DevelopmentRow],
        Field(
            description="The rows; the release metadata says how many this key may send at once.",
            max_length=2500,
            min_length=1,
        ),
    ]


class DevelopmentJobRequest(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    idempotency_key: Annotated[
        str | None,
        Field(
            description=(
                "Makes a submission repeatable: the same key with the same body answers with the "
                "job that exists and costs nothing more; with another body it is refused with 409. "
                "A key is remembered for 30 days."
            ),
            max_length=100,
            min_length=1,
            pattern="^[A-Za-z0-9._:-]+$",
        ),
    ] = None
    mode: Annotated[
        Literal["development"],
        Field(description="Development properties, by their sites."),
    ]
    options: Annotated[
        DevelopmentOptions | None,
        Field(description="Options of every row that does not say otherwise."),
    ] = None
    requests: Annotated[
        list[DevelopmentRow],
        Field(
            description="The rows; the release metadata says how many this key may send at once.",
            max_length=2500,
            min_length=1,
        ),
    ]


class ExistingJobRequest(Model):
    model_config = ConfigDict(
        extra="forbid",
    )
    idempotency_key: Annotated[
        str | None,
        Field(
            description=(
                "Makes a submission repeatable: the same key with the same body answers with the "
                "job that exists and costs nothing more; with another body it is refused with 409. "
                "A key is remembered for 30 days."
            ),
            max_length=100,
            min_length=1,
            pattern="^[A-Za-z0-9._:-]+$",
        ),
    ] = None
    mode: Annotated[
        Literal["simple", "standard"] | None,
        Field(
            description=(
                "How deep the results go: simple, the core; standard, with the evidence asked for."
            )
        ),
    ] = "simple"
    options: Annotated[
        Options | None,
        Field(description="Options of every row that does not say otherwise."),
    ] = None
    requests: Annotated[
        list[ExistingRow],
        Field(
            description="The rows; the release metadata says how many this key may send at once.",
            max_length=2500,
            min_length=1,
        ),
    ]


class JobRequest(RootModel[ExistingJobRequest | DevelopmentJobRequest]):
    root: Annotated[
        ExistingJobRequest | DevelopmentJobRequest,
        Field(
            description=(
                "Rows to value in the background. In development mode they are development "
                "requests."
            )
        ),
    ]


class BatchResult(Model):
    api_version: Literal["v3"]
    release_id: Annotated[str, Field(description="The valuation release, which never changes.")]
    results: Annotated[
        list[
            Annotated[
                ValuedResult | ReferredResult | RejectedResult | FailedResult,
                Field(discriminator="status"),
            ]
        ],
        Field(
            description="One result a row, in the order of the rows.",
            max_length=2500,
            min_length=1,
        ),
    ]
    status: Annotated[
        str,
        Field(
            description=(
                "The outcome of a batch as a whole.\n\nMore may come, so accept a value that is not"
                " in this list:\n\n- `completed`: Every row is valued or referred.\n- `partial`: "
                "Some rows are valued or referred, and some are not.\n- `failed`: No row is valued "
                "or referred."
            )
        ),
    ]
    summary: Summary


class JobResults(Model):
    api_version: Literal["v3"]
    error: Annotated[JobError | None, Field(description="The error of a failed job.")] = None
    job_id: UUID
    release_id: Annotated[str, Field(description="The valuation release, which never changes.")]
    result: Annotated[BatchResult | None, Field(description="The results of a completed job.")] = (
        None
    )
    status: Annotated[str, Field(description="`completed` or `failed`.")]
