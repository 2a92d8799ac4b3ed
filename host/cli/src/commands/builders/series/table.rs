//! The table of a release's datasets: extent, series, and the reason where one is incomplete.

use domesday_series::package::DatasetSummary;

const HEADER: [&str; 5] = ["dataset", "first", "last", "series", "reason"];

/// Formats the table, one line a dataset under a header.
pub fn table(datasets: &[DatasetSummary]) -> String {
    let mut text = line(HEADER);
    for summary in datasets {
        text.push_str(&line([
            &summary.dataset,
            summary.from.as_deref().unwrap_or("-"),
            summary.to.as_deref().unwrap_or("-"),
            &summary.series.to_string(),
            summary.reason.as_deref().unwrap_or_default(),
        ]));
    }
    text
}

fn line([dataset, first, last, series, reason]: [&str; 5]) -> String {
    let line = format!("{dataset:32}  {first:10}  {last:10}  {series:>6}  {reason}");
    format!("{}\n", line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_dataset_has_dashes_and_its_reason() {
        let summary = |dataset: &str, at: Option<&str>, series, reason: Option<&str>| {
            let (at, reason) = (at.map(str::to_owned), reason.map(str::to_owned));
            DatasetSummary {
                dataset: dataset.to_owned(),
                from: at.clone(),
                to: at,
                series,
                reason,
            }
        };
        let datasets = [
            summary("bank_rate", Some("2025-08-07"), 1, None),
            summary("bank_rate_scenarios", None, 0, Some("Give IUDBEDR.")),
        ];
        let lines = table(&datasets);
        let words: Vec<Vec<&str>> = lines
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(words[0], HEADER);
        assert_eq!(words[1], ["bank_rate", "2025-08-07", "2025-08-07", "1"]);
        let empty = ["bank_rate_scenarios", "-", "-", "0", "Give", "IUDBEDR."];
        assert_eq!(words[2], empty);
        assert!(lines.lines().all(|line| line == line.trim_end()));
    }
}
