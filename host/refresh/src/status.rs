//! The state of the last rounds as metrics in the text form that Prometheus reads, for a collector
//! of text files.
//!
//! A round of some parts says nothing of the others. So what was last known of each part is kept.

use crate::config::RefreshConfig;
use crate::error::{RefreshError, io_error};
use crate::part::Part;
use crate::report::PartReport;
use chrono::{DateTime, Utc};
use domesday_package::replace_durably;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// The file of the last known state in the folder of reports. The console lists files of JSON.
const STATUS: &str = "refresh.status";
/// The file of the metrics there.
const METRICS: &str = "refresh.prom";
/// The collector is another user.
const READABLE: u32 = 0o644;

/// The last known state of each part.
#[derive(Default, Serialize, Deserialize)]
struct RefreshStatus {
    parts: BTreeMap<Part, PartStatus>,
}

/// The last known state of a part.
#[derive(Serialize, Deserialize)]
struct PartStatus {
    /// True if a step failed in its last round.
    failed: bool,
    /// True if a person should look, or promote its release.
    attention: bool,
    /// Time of the last round that did not fail it, in seconds since 1970.
    done_at: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    part: &'static str,
}

type PartGauges = Family<Labels, Gauge>;

/// Records the end of a round that began `now`, with the parts that it did, and writes the metrics.
/// `inbox_problems` is none where an error broke the round off.
///
/// # Errors
/// [`RefreshError::Io`] if a file cannot be written.
pub(crate) fn record_round(
    config: &RefreshConfig,
    now: DateTime<Utc>,
    parts: &[PartReport],
    inbox_problems: Option<usize>,
) -> Result<(), RefreshError> {
    let status = config.reports.join(STATUS);
    // A damaged file is made anew: the next rounds say the same again.
    let known = fs::read(&status).unwrap_or_default();
    let mut known: RefreshStatus = serde_json::from_slice(&known).unwrap_or_default();
    known.parts.retain(|part, _| config.part(*part).is_some());
    let now = now.timestamp();
    for part in parts {
        let failed = part.state.is_failure();
        let done_before = known.parts.get(&part.part).and_then(|it| it.done_at);
        let of_part = PartStatus {
            failed,
            attention: part.needs_person(),
            done_at: if failed { done_before } else { Some(now) },
        };
        known.parts.insert(part.part, of_part);
    }
    let text = serde_json::to_vec(&known).map_err(|error| io_error(&status)(error.into()))?;
    write(&status, &text)?;
    let path = config.reports.join(METRICS);
    let text = metrics(&known, now, inbox_problems)
        .map_err(|error| io_error(&path)(io::Error::other(error)))?;
    write(&path, text.as_bytes())
}

fn write(path: &Path, text: &[u8]) -> Result<(), RefreshError> {
    replace_durably(path, READABLE, text).map_err(io_error(path))
}

fn metrics(
    known: &RefreshStatus,
    now: i64,
    inbox_problems: Option<usize>,
) -> Result<String, std::fmt::Error> {
    let (round, broken_off): (Gauge, Gauge) = Default::default();
    round.set(now);
    broken_off.set(i64::from(inbox_problems.is_none()));
    let (failed, attention, done_at): (PartGauges, PartGauges, PartGauges) = Default::default();
    for (part, status) in &known.parts {
        let labels = Labels { part: part.name() };
        failed.get_or_create(&labels).set(status.failed.into());
        attention
            .get_or_create(&labels)
            .set(status.attention.into());
        if let Some(time) = status.done_at {
            done_at.get_or_create(&labels).set(time);
        }
    }
    let mut registry = Registry::with_prefix("domesday");
    registry.register(
        "refresh_round_timestamp_seconds",
        "Begin of the last round that came to an end, in seconds since 1970",
        round,
    );
    registry.register(
        "refresh_round_broken_off",
        "1 if an error broke it off before the end of its parts",
        broken_off,
    );
    if let Some(count) = inbox_problems {
        let problems: Gauge = Gauge::default();
        problems.set(i64::try_from(count).unwrap_or(i64::MAX));
        registry.register(
            "refresh_inbox_problems",
            "Kinds of files that came too late, and files that are unknown or cannot be read",
            problems,
        );
    }
    registry.register(
        "refresh_part_failed",
        "1 if a step of the part failed",
        failed,
    );
    registry.register(
        "refresh_part_attention",
        "1 if a person should look at the part",
        attention,
    );
    registry.register(
        "refresh_part_done_timestamp_seconds",
        "Begin of the last round that did not fail the part, in seconds since 1970",
        done_at,
    );
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::WHOLE;
    use crate::report::PartState;

    /// A host's rounds, and their metrics.
    struct Rounds {
        config: RefreshConfig,
        _folder: tempfile::TempDir,
    }

    impl Rounds {
        fn new() -> Rounds {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("refresh.toml");
            fs::write(&path, WHOLE).unwrap();
            let config = RefreshConfig::read(&path).unwrap();
            fs::create_dir_all(&config.reports).unwrap();
            Rounds {
                config,
                _folder: folder,
            }
        }

        /// Records a round, and returns the lines of the metrics that are samples.
        fn record(
            &self,
            at: i64,
            parts: &[(Part, PartState)],
            inbox_problems: Option<usize>,
        ) -> Vec<String> {
            let parts = parts.iter();
            let parts: Vec<PartReport> = parts
                .map(|(part, state)| PartReport::new(*part, *state))
                .collect();
            self.record_parts(at, &parts, inbox_problems)
        }

        fn record_parts(
            &self,
            at: i64,
            parts: &[PartReport],
            inbox_problems: Option<usize>,
        ) -> Vec<String> {
            let now = DateTime::from_timestamp(at, 0).unwrap();
            record_round(&self.config, now, parts, inbox_problems).unwrap();
            let text = fs::read_to_string(self.config.reports.join(METRICS)).unwrap();
            let samples = text.lines().filter(|line| !line.starts_with('#'));
            let mut samples: Vec<String> = (samples)
                .map(|line| line.strip_prefix("domesday_refresh_").unwrap().to_owned())
                .collect();
            samples.sort();
            samples
        }
    }

    #[test]
    fn the_metrics_keep_each_part_as_its_last_round_left_it() {
        use PartState::{Failed, Held, Promoted};
        let rounds = Rounds::new();
        let first = [(Part::Rates, Promoted), (Part::Markets, Failed)];
        let samples = rounds.record(100, &first, Some(1));
        assert_eq!(
            samples,
            [
                "inbox_problems 1",
                "part_attention{part=\"markets\"} 0",
                "part_attention{part=\"rates\"} 0",
                "part_done_timestamp_seconds{part=\"rates\"} 100",
                "part_failed{part=\"markets\"} 1",
                "part_failed{part=\"rates\"} 0",
                "round_broken_off 0",
                "round_timestamp_seconds 100",
            ]
        );
        let second = [(Part::Rates, Failed), (Part::Valuation, Held)];
        let samples = rounds.record(200, &second, Some(1));
        for sample in [
            "part_attention{part=\"valuation\"} 1",
            "part_done_timestamp_seconds{part=\"rates\"} 100",
            "part_done_timestamp_seconds{part=\"valuation\"} 200",
            "part_failed{part=\"markets\"} 1",
            "part_failed{part=\"rates\"} 1",
        ] {
            assert!(
                samples.iter().any(|it| it == sample),
                "{sample}: {samples:?}"
            );
        }
    }

    #[test]
    fn a_release_that_waits_for_its_promotion_is_for_a_person() {
        use PartState::{Proposed, Unchanged};
        let rounds = Rounds::new();
        let cases = [(Proposed, true), (Unchanged, true), (Unchanged, false)];
        for (at, (state, is_for_person)) in (0..).zip(cases) {
            let next = is_for_person.then(|| "domesday release promote".to_owned());
            let part = PartReport {
                next,
                ..PartReport::new(Part::Valuation, state)
            };
            let samples = rounds.record_parts(at, &[part], Some(0));
            let count = i32::from(is_for_person);
            let sample = format!("part_attention{{part=\"valuation\"}} {count}");
            assert!(samples.contains(&sample), "{at}: {samples:?}");
        }
    }

    #[test]
    fn a_round_that_is_broken_off_says_nothing_of_the_inbox_and_keeps_the_parts() {
        let rounds = Rounds::new();
        rounds.record(100, &[(Part::Rates, PartState::Unchanged)], Some(0));
        let samples = rounds.record(200, &[(Part::Markets, PartState::Failed)], None);
        assert_eq!(
            samples,
            [
                "part_attention{part=\"markets\"} 0",
                "part_attention{part=\"rates\"} 0",
                "part_done_timestamp_seconds{part=\"rates\"} 100",
                "part_failed{part=\"markets\"} 1",
                "part_failed{part=\"rates\"} 0",
                "round_broken_off 1",
                "round_timestamp_seconds 200",
            ]
        );
    }

    #[test]
    fn a_part_that_the_configuration_no_longer_has_and_a_damaged_file_are_forgotten() {
        let mut rounds = Rounds::new();
        rounds.record(100, &[(Part::Rates, PartState::Unchanged)], Some(0));
        rounds.config.rates = None;
        let left = ["round_broken_off 1", "round_timestamp_seconds 200"];
        assert_eq!(rounds.record(200, &[], None), left);
        fs::write(rounds.config.reports.join(STATUS), "{").unwrap();
        assert_eq!(rounds.record(200, &[], None), left);
    }
}
