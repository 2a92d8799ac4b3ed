//! The example answers of the description: the demo's own, to the example requests where a route
//! has a body. Lists of datasets are cut short.

use super::Example;

macro_rules! answer {
    ($NAME:ident, $file:literal, $name:literal, $summary:literal) => {
        #[doc = $summary]
        pub const $NAME: Example = Example {
            name: $name,
            summary: $summary,
            text: include_str!(concat!("answers/", $file, ".json")),
        };
    };
}

answer!(HOUSE, "house", "house", "The house, valued");
answer!(
    EVIDENCE,
    "evidence",
    "evidence",
    "The house, with comparables, context and stored data"
);
answer!(SIMPLE_BATCH, "simple_batch", "batch", "Both rows, valued");
answer!(BATCH, "batch", "batch", "Both rows, one with comparables");
answer!(
    DEVELOPMENT,
    "development",
    "development",
    "The house to be built, valued"
);
answer!(
    DEVELOPMENT_BATCH,
    "development_batch",
    "development_batch",
    "The plot, valued"
);
answer!(QUEUED, "queued", "queued", "A job that waits for its turn");
answer!(COMPLETED, "completed", "completed", "A job that is done");
answer!(
    RESULTS,
    "results",
    "results",
    "The results of a completed job"
);
answer!(
    RELEASE,
    "release",
    "release",
    "The release and what the key may use"
);
answer!(
    COVERAGE,
    "coverage",
    "coverage",
    "A postcode and a UPRN that the release knows"
);
answer!(
    MARKETS_SERIES,
    "markets_series",
    "market_activity",
    "Two metrics of an area, the latest of each"
);
answer!(
    MARKETS_COVERAGE,
    "markets_coverage",
    "market_activity",
    "The periods of two metrics of an area"
);
answer!(
    MARKETS_DATASETS,
    "markets_datasets",
    "datasets",
    "Two of the datasets"
);
answer!(
    MARKETS_AREAS,
    "markets_areas",
    "areas",
    "The areas of the demo"
);
answer!(
    MARKETS_RELEASE,
    "markets_release",
    "release",
    "The release of the demo"
);
answer!(
    RATES_SERIES,
    "rates_series",
    "ois_spot_curve",
    "A node of a curve, the latest day"
);
answer!(
    RATES_COVERAGE,
    "rates_coverage",
    "ois_spot_curve",
    "The days of a node of a curve"
);
answer!(
    RATES_DATASETS,
    "rates_datasets",
    "datasets",
    "Two of the datasets"
);
answer!(
    RATES_RELEASE,
    "rates_release",
    "release",
    "The release of the demo"
);
