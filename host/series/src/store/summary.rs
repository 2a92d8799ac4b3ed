//! The extent of each dataset of an opened release.

use super::Release;
use crate::package::DatasetSummary;

impl Release {
    /// Returns the extent of every dataset of the family, in the order of the catalogue. The
    /// reasons are those of the manifest.
    pub fn summaries(&self) -> Vec<DatasetSummary> {
        let all = self.family.datasets().iter();
        all.map(|dataset| {
            let of_dataset = self
                .datasets
                .get(dataset.id)
                .and_then(|index| self.series.get(index.series.clone()))
                .unwrap_or_default();
            let history = of_dataset
                .iter()
                .filter_map(|series| series.history())
                .reduce(|(first, last), (from, to)| (first.min(from), last.max(to)));
            let reason = self.body.reason(dataset).map(str::to_owned);
            DatasetSummary::new(dataset, of_dataset.len(), history, reason)
        })
        .collect()
    }
}
