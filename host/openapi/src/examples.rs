//! The examples of the description. Their homes are in the demo's made-up country, so each request
//! can be sent to a fresh checkout unchanged. The answers are those of that demo.

pub mod answers;
pub mod errors;

use serde_json::Value;
use utoipa::openapi::example::ExampleBuilder;

/// An example of a body.
pub struct Example {
    /// Its name in the description.
    pub name: &'static str,
    /// Its summary.
    pub summary: &'static str,
    /// The body.
    pub text: &'static str,
}

impl Example {
    /// Returns the example as a part of the description.
    pub fn openapi(&self) -> utoipa::openapi::example::Example {
        let value: Option<Value> = serde_json::from_str(self.text).ok();
        ExampleBuilder::new()
            .summary(self.summary)
            .value(value)
            .build()
    }
}

macro_rules! example {
    ($(#[$meta:meta])* $NAME:ident, $name:literal, $summary:literal) => {
        $(#[$meta])*
        pub const $NAME: Example = Example {
            name: $name,
            summary: $summary,
            text: include_str!(concat!("examples/", $name, ".json")),
        };
    };
}

example!(/** A house. */ HOUSE, "house", "A semi-detached house");
example!(/** A flat on a lease. */ FLAT, "flat", "A flat on a lease");
example!(/** With all evidence. */ EVIDENCE, "evidence", "A house with comparables, context and stored data");
example!(/** A batch. */ BATCH, "batch", "Two rows, one with an option of its own");
example!(/** A site. */ DEVELOPMENT, "development", "A detached house to be built");
example!(/** Sites. */ DEVELOPMENT_BATCH, "development_batch", "A plot of a site");
example!(/** A job. */ JOB, "job", "A job that can be submitted again");
