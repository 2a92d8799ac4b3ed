//! The latest complete window as metrics in the text form that Prometheus reads, for a collector of
//! text files.

use super::{Alarm, MonitorReport};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::sync::atomic::AtomicU64;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    release_id: String,
    by: String,
    segment: String,
}

type Shares = Family<Labels, Gauge<f64, AtomicU64>>;
type Counts = Family<Labels, Gauge>;

/// Returns the metrics. Without a complete window there are names and no samples.
///
/// # Errors
/// Never; text has room for every number.
pub fn metrics(report: &MonitorReport) -> Result<String, std::fmt::Error> {
    let (errors, changes, coverages) = (Shares::default(), Shares::default(), Shares::default());
    let (sales, alarms) = (Counts::default(), Counts::default());
    for segment in report.latest_complete().map_or(&[][..], |it| &it.segments) {
        let labels = Labels {
            release_id: report.subject.release_id.clone(),
            by: segment.by.clone(),
            segment: segment.key.clone(),
        };
        let count = i64::try_from(segment.valued).unwrap_or(i64::MAX);
        sales.get_or_create(&labels).set(count);
        if let Some(error) = segment.median_error {
            errors.get_or_create(&labels).set(error);
        }
        if let Some(change) = segment.change {
            changes.get_or_create(&labels).set(change);
        }
        if let Some(ranges) = &segment.ranges {
            coverages.get_or_create(&labels).set(ranges.coverage);
        }
        // A 0 would say that the segment was judged.
        if segment.is_judged() {
            let alarm = matches!(segment.alarm, Some(Alarm::Bias | Alarm::Coverage));
            alarms.get_or_create(&labels).set(i64::from(alarm));
        }
    }
    let mut registry = Registry::with_prefix("domesday_release");
    registry.register(
        "monitored_sales",
        "Sales of the latest three complete months that the release values",
        sales,
    );
    registry.register(
        "median_error_ratio",
        "Their median error, estimate / price - 1",
        errors,
    );
    registry.register(
        "median_error_change_ratio",
        "Their median error less that of the back-test",
        changes,
    );
    registry.register(
        "coverage_ratio",
        "Share of their prices in the release's ranges",
        coverages,
    );
    registry.register(
        "monitor_alarm",
        "1 where the segment raises an alarm, absent where it has too few sales for a test",
        alarms,
    );
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}
