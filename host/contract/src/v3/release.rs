//! `GET /v3/releases/current`: the requests that the active release takes, for this caller.

use chrono::NaiveDate;
use serde::Serialize;
use utoipa::ToSchema;

use super::endpoint::Endpoint;
use super::request::{PropertyType, ReportedPropertyType};
use super::result::iso_day;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// A country that a release can cover.
    pub open enum Country {
        /// England.
        England = "england",
        /// Wales.
        Wales = "wales",
    }
}

/// Release metadata.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ReleaseMetadata {
    /// The active valuation release.
    pub release_id: String,
    /// The day from which it holds.
    #[serde(serialize_with = "iso_day")]
    pub effective_date: NaiveDate,
    /// Countries that it covers.
    pub countries: Vec<Country>,
    /// Property types that it values.
    #[schema(value_type = Vec<ReportedPropertyType>)]
    pub property_types: Vec<PropertyType>,
    /// Valuation dates that it accepts.
    pub valuation_date: DateWindow,
    /// The lowest of the release's, the plan's and the payload's limits.
    pub limits: Limits,
    /// Routes that this caller may use.
    pub endpoints: Vec<Endpoint>,
}

/// Days from the first to the last, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct DateWindow {
    /// First day.
    #[serde(serialize_with = "iso_day")]
    pub from: NaiveDate,
    /// Last day.
    #[serde(serialize_with = "iso_day")]
    pub to: NaiveDate,
}

impl DateWindow {
    /// Returns whether `day` lies in the window.
    #[must_use]
    pub fn contains(self, day: NaiveDate) -> bool {
        (self.from..=self.to).contains(&day)
    }
}

/// Row limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Limits {
    /// Most rows of a synchronous batch.
    pub synchronous_batch_rows: u32,
    /// Most rows of a job.
    pub asynchronous_job_rows: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_includes_its_first_and_its_last_day() {
        let march = |day| NaiveDate::from_ymd_opt(2026, 3, day).unwrap();
        let window = DateWindow {
            from: march(2),
            to: march(4),
        };
        let days: Vec<u32> = (1..=5).filter(|&day| window.contains(march(day))).collect();
        assert_eq!(days, [2, 3, 4]);
    }
}
