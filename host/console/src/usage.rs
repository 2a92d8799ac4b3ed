//! A tenant's used units: sums by day and kind, and the entries of the ledger.

use crate::number::{moment, thousands, whole};
use chrono::{DateTime, NaiveDate};
use domesday_state::{Month, UnixMillis, UsageEntry, UsageKind, UsagePosition};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// The units of a day and kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DaySum {
    /// Entries of charges.
    pub charges: usize,
    /// Units charged.
    pub charged: i64,
    /// Units given back, of the requests of this day.
    pub refunded: i64,
}

/// The sums of a month.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UsageSums {
    days: BTreeMap<(NaiveDate, UsageKind), DaySum>,
}

impl UsageSums {
    /// Adds entries.
    pub fn add(&mut self, entries: &[UsageEntry]) {
        for entry in entries {
            let key = (day(entry.source.at), entry.source.kind);
            let sum = self.days.entry(key).or_default();
            match entry.units < 0 {
                true => sum.refunded -= entry.units,
                false => {
                    sum.charges += 1;
                    sum.charged += entry.units;
                }
            }
        }
    }

    /// Returns the units used in the month.
    pub fn sum_units(&self) -> i64 {
        let sums = self.days.values();
        sums.map(|sum| sum.charged - sum.refunded).sum()
    }

    /// Draws the sums as a table.
    pub fn table(&self) -> Markup {
        html! {
            div.wide tabindex="0" { table {
                caption { "Units by day and kind, in UTC" }
                thead { tr {
                    @for (at, head) in ["Day", "Kind", "Charges", "Charged", "Given back", "Used"].iter().enumerate() {
                        th.number[at > 1] scope="col" { (head) }
                    }
                } }
                tbody {
                    @for ((day, kind), sum) in &self.days {
                        tr {
                            td.date { (day) }
                            td { (kind.as_str()) }
                            td.number { (whole(sum.charges)) }
                            td.number { (thousands(sum.charged)) }
                            td.number { (thousands(sum.refunded)) }
                            td.number { (thousands(sum.charged - sum.refunded)) }
                        }
                    }
                }
            } }
        }
    }
}

/// Draws entries as a table. In PostgreSQL an entry's number begins with the shard of its host, so
/// that those of several hosts follow each other.
pub fn table_of_entries(entries: &[UsageEntry]) -> Markup {
    html! {
        div.wide tabindex="0" { table {
            caption { "Entries, host by host, in the order in which they were made" }
            thead { tr {
                th scope="col" { "Time" } th.number scope="col" { "Units" }
                th scope="col" { "Kind" } th scope="col" { "Execution or job" }
            } }
            tbody {
                @for entry in entries {
                    tr {
                        td.date { (moment(entry.source.at)) }
                        td.number { (thousands(entry.units)) }
                        td { (entry.source.kind.as_str()) }
                        td.date { (id(entry)) }
                    }
                }
            }
        } }
    }
}

/// The names of the columns of a file of entries.
pub const COLUMNS: [&str; 5] = ["month", "at", "kind", "id", "units"];

/// Returns the cells of an entry in a file.
pub fn cells(entry: &UsageEntry) -> [String; 5] {
    let at = DateTime::from_timestamp_millis(entry.source.at.0).unwrap_or_default();
    [
        entry.month.to_string(),
        at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true),
        entry.source.kind.as_str().to_owned(),
        id(entry),
        entry.units.to_string(),
    ]
}

/// Returns the path of the page that follows a position.
pub fn path_after(month: Month, position: &UsagePosition) -> String {
    format!(
        "/usage?month={month}&row={}&place={}",
        position.row, position.place
    )
}

fn id(entry: &UsageEntry) -> String {
    let id = entry.source.known_id();
    id.map_or_else(String::new, |id| id.to_string())
}

fn day(at: UnixMillis) -> NaiveDate {
    let at = DateTime::from_timestamp_millis(at.0).unwrap_or_default();
    at.date_naive()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_state::UsageSource;

    fn entry(day: i64, kind: UsageKind, units: i64) -> UsageEntry {
        let at = UnixMillis(day * 86_400_000 + 5);
        UsageEntry {
            tenant: "acme".parse().unwrap(),
            month: Month::of(at),
            source: UsageSource {
                kind,
                id: Default::default(),
                at,
            },
            units,
        }
    }

    #[test]
    fn entries_are_summed_by_day_and_kind() {
        let mut sums = UsageSums::default();
        sums.add(&[
            entry(1, UsageKind::Value, 1),
            entry(1, UsageKind::Value, 2),
            entry(1, UsageKind::Value, -1),
        ]);
        sums.add(&[entry(1, UsageKind::Job, 40), entry(2, UsageKind::Value, 1)]);
        assert_eq!((sums.days.len(), sums.sum_units()), (3, 43));
        let first = sums.days.first_key_value().unwrap();
        let expected = DaySum {
            charges: 2,
            charged: 3,
            refunded: 1,
        };
        assert_eq!(first.0.0.to_string(), "1970-01-02");
        assert_eq!(first.1, &expected);
        let table = sums.table().into_string();
        assert!(table.contains("<td>job</td>"), "{table}");
    }

    #[test]
    fn the_table_of_entries_states_the_order_of_hosts() {
        let table = table_of_entries(&[entry(1, UsageKind::Job, 40)]).into_string();
        assert!(table.contains("host by host"), "{table}");
    }

    #[test]
    fn an_entry_without_a_request_has_a_blank_id() {
        let cells = cells(&entry(0, UsageKind::Unattributed, 7));
        let expected = [
            "1970-01",
            "1970-01-01T00:00:00.005Z",
            "unattributed",
            "",
            "7",
        ];
        assert_eq!(cells, expected);
        assert_eq!(cells.len(), COLUMNS.len());
    }
}
