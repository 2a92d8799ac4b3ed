//! The routes of the interface.

use crate::vocabulary::vocabulary;

vocabulary! {
    /// A path, as the release metadata lists it.
    pub open enum Endpoint {
        /// One property, core response.
        SimpleValue = "/v3/simple-value",
        /// One property, with evidence.
        Value = "/v3/value",
        /// Many properties, core response.
        SimpleBatchValue = "/v3/simple-batch-value",
        /// Many properties, with evidence.
        BatchValue = "/v3/batch-value",
        /// One proposed property.
        DevelopmentValue = "/v3/development-value",
        /// Many proposed properties.
        DevelopmentBatchValue = "/v3/development-batch-value",
        /// Jobs.
        ValuationJobs = "/v3/valuation-jobs",
        /// Release metadata.
        CurrentRelease = "/v3/releases/current",
        /// Coverage check.
        Coverage = "/v3/coverage",
    }
}
