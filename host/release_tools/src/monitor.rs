//! The errors of a release in use: sales of a later snapshot, valued as the release serves them.

use crate::backtest::sales::Window;
use crate::backtest::value::Valuer;
use crate::backtest::{BacktestError, value_all};
use domesday_engine::evidence::SnapshotEvidence;
use domesday_evaluation::monitor::{Header, MonitorReport};
use domesday_evaluation::report::{AsAt, Report};
use domesday_evaluation::request_shape::RequestShape;
use domesday_evaluation::row::Row;
use domesday_property::{ExportedSale, GssCode, Snapshot, SnapshotError};
use domesday_registers::{Day, Progress};
use domesday_valuation::release_store::OpenRelease;
use std::sync::Arc;

/// Sales valued between two reports of progress.
const CHUNK: usize = 500;
/// The change of a segment's median error that raises an alarm, unless the options say another.
pub const ALARM: f64 = 0.05;

/// The options of a run.
pub struct MonitorOptions {
    /// First day of sale; by default the day after the latest sale of the release's snapshot.
    pub from: Option<Day>,
    /// Last day of sale; by default the day of the later snapshot's latest sale.
    pub to: Option<Day>,
    /// The change of a segment's median error that raises an alarm, a share of the price.
    pub alarm: f64,
    /// Days that registers lag by.
    pub evidence_lag_days: u16,
}

/// The reason why a release cannot be monitored.
#[derive(Debug, thiserror::Error)]
pub enum MonitorError {
    /// A snapshot has no sale.
    #[error("snapshot {0} holds no sale")]
    NoSale(String),
    /// The later snapshot has no later sale.
    #[error(
        "snapshot {later} holds no sale of a home that the release knows from {from} to {to}; its latest sale is of {latest}"
    )]
    NoLaterSale {
        /// The later snapshot.
        later: String,
        /// First day.
        from: Day,
        /// Last day.
        to: Day,
        /// Its latest sale.
        latest: Day,
    },
    /// The first day is one that the release could see.
    #[error(
        "the release's snapshot has sales until {seen}, so those from {from} are no test of it; name a day after {seen}"
    )]
    SeenSales {
        /// First day that was asked for.
        from: Day,
        /// The latest sale of the release's snapshot.
        seen: Day,
    },
    /// The later snapshot ends where the release's does.
    #[error(
        "snapshot {later} has sales until {latest}, none after {seen}, the last day of the release's snapshot"
    )]
    NotLater {
        /// The snapshot.
        later: String,
        /// Its latest sale.
        latest: Day,
        /// The latest sale of the release's snapshot.
        seen: Day,
    },
    /// A snapshot cannot be read.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// A sale cannot be valued.
    #[error(transparent)]
    Sale(#[from] BacktestError),
}

/// Values the later sales, and compares their errors with those of the release's `backtest`.
///
/// # Errors
/// [`MonitorError`] if there is no later sale, a snapshot cannot be read, or the host fails.
pub fn run(
    release: &OpenRelease,
    backtest: Option<&Report>,
    (later_id, later): (&str, &Snapshot),
    options: &MonitorOptions,
    progress: &mut Progress<'_>,
) -> Result<MonitorReport, MonitorError> {
    let manifest = &release.manifest;
    let pinned_id = manifest.snapshot.id.to_string();
    let latest_of = |id: &str, snapshot: &Snapshot| {
        let latest = snapshot.identity().latest_sale;
        latest.ok_or_else(|| MonitorError::NoSale(id.to_owned()))
    };
    let seen = latest_of(&pinned_id, &release.snapshot)?;
    let latest = latest_of(later_id, later)?;
    let (from, to) = (
        options.from.unwrap_or(Day(seen.0 + 1)),
        options.to.unwrap_or(latest),
    );
    if latest <= seen {
        return Err(MonitorError::NotLater {
            later: later_id.to_owned(),
            latest,
            seen,
        });
    }
    if from <= seen {
        return Err(MonitorError::SeenSales { from, seen });
    }
    progress("listing sales", 0, 1);
    let (known, unknown_homes) = known_homes(release, later, (from, to))?;
    if known.is_empty() {
        return Err(MonitorError::NoLaterSale {
            later: later_id.to_owned(),
            from,
            to,
            latest,
        });
    }
    let valuer = Valuer {
        manifest,
        release: &release.release,
        snapshot: &release.snapshot,
        evidence: Arc::new(SnapshotEvidence::new(release.snapshot.clone())),
        as_at: AsAt::Sale,
        lag: 0,
        shape: RequestShape::Stored,
    };
    let mut rows: Vec<Row> = Vec::with_capacity(known.len());
    for chunk in known.chunks(CHUNK) {
        rows.extend(value_all(&valuer, chunk)?.into_iter().flatten());
        progress("valuing", rows.len() as u64, known.len() as u64);
    }
    let header = Header {
        release_id: manifest.release_id.to_string(),
        snapshot_id: pinned_id,
        later_snapshot_id: later_id.to_owned(),
        from: from.to_string(),
        to: to.to_string(),
        registered_through: latest.to_string(),
        evidence_lag_days: u32::from(options.evidence_lag_days),
        alarm: options.alarm,
        nominal_coverage: manifest.nominal_coverage,
        unknown_homes,
        against_backtest: backtest.is_some(),
    };
    let name = |code: &str| {
        let code = GssCode::parse(code)?;
        Some(later.authority(code)?.name.clone())
    };
    Ok(MonitorReport::of(header, &rows, backtest, latest, &name))
}

/// Returns the later snapshot's sales of homes that the release's snapshot has, and the number of
/// the others. A service answers that their address is not found.
fn known_homes(
    release: &OpenRelease,
    later: &Snapshot,
    days: (Day, Day),
) -> Result<(Vec<ExportedSale>, usize), MonitorError> {
    let window = Window::count(later, days, None)?;
    let (mut known, mut unknown) = (Vec::new(), 0);
    for sold in window.sales()? {
        let sold = sold?;
        let property = match sold.sale.uprn {
            Some(uprn) => release.snapshot.property(uprn)?,
            None => None,
        };
        match property {
            Some(_) => known.push(sold),
            None => unknown += 1,
        }
    }
    Ok((known, unknown))
}
