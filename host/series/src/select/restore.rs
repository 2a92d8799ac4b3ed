//! From a continuation back to its query.

use super::{Continuation, ParameterError, Parameters, Query, QueryKind};
use crate::store::Release;

impl Query {
    /// Returns the query of a continuation, checked again against its release.
    ///
    /// # Errors
    /// As for an initial request. A continuation of this release by this program has none.
    pub fn restore(
        continuation: &Continuation,
        release: &Release,
    ) -> Result<Query, ParameterError> {
        let parameters = Parameters::read(continuation.query.iter().cloned())?;
        let dataset = parameters.dataset(release.family())?;
        parameters.query(QueryKind::Series, dataset, release, true)
    }
}
