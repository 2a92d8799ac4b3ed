//! A back-test: a release values sales that it was not trained on, each with the evidence of before
//! its day.
//!
//! The snapshot's queries decide the evidence, as for any valuation: sales, certificates, index and
//! figures strictly before the valuation day. A back-test may hide more ([`lagged_evidence`]),
//! never less. The crate `domesday-evaluation` computes the figures from the rows.

mod baselines;
mod error;
pub(crate) mod lagged_evidence;
mod leakage_probe;
mod request_shape;
pub(crate) mod sales;
pub(crate) mod training_window;
pub(crate) mod value;

pub use error::{BacktestError, SaleError};
pub use training_window::OverlapError;
pub(crate) use value::subject;

use crate::sampling;
use domesday_engine::Release;
use domesday_engine::evidence::EvidenceSource;
use domesday_evaluation::report::{AsAt, Header, LeakageProbe, REGISTERS_LAG_DAYS, Report};
use domesday_evaluation::request_shape::{RequestShape, ShapeFigures};
use domesday_evaluation::row::Row;
use domesday_package::{Band, ValuationBody};
use domesday_property::{ExportedSale, GssCode, Snapshot, SnapshotError};
use domesday_registers::Day;
use domesday_registers::Progress;
use domesday_valuation::comparison_header::training_data;
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// Sales valued between two reports of progress.
const CHUNK: usize = 500;
/// Sales that requests of other shapes ask about, at most.
const MAX_RESHAPED_SALES: usize = 2_000;

/// Days that registers lag by: a sale reaches the Land Registry's file about two months after its
/// day, as an index month does.
pub const EVIDENCE_LAG_DAYS: u16 = REGISTERS_LAG_DAYS as u16;

/// The input of a back-test.
pub struct BacktestOptions {
    /// First day of sale.
    pub from: Day,
    /// Last day of sale.
    pub to: Day,
    /// The day that a sale is valued as at.
    pub as_at: AsAt,
    /// The requests that ask about the sales.
    pub request: RequestShape,
    /// Days before the valuation day that are hidden besides.
    pub evidence_lag_days: u16,
    /// Sales at most, evenly taken.
    pub sample: Option<usize>,
    /// Homes that the leakage probe values at each of its cuts; 0 for no probe.
    pub probe_homes: usize,
    /// Go on although the release was trained on days of the window, and say so.
    pub allow_overlap: bool,
}

/// The release that is tested.
pub struct BacktestInput<'a> {
    /// The body of its manifest, perhaps before the package exists.
    pub manifest: &'a ValuationBody,
    /// The component.
    pub release: &'a Release,
    /// The snapshot that it is pinned to.
    pub snapshot: &'a Arc<Snapshot>,
    /// That snapshot's file.
    pub database: &'a Path,
    /// True if every household in that is invented.
    pub synthetic: bool,
}

/// Values the window's sales and makes the report; the rows that it rests on come with it.
///
/// # Errors
/// The window holds no sale that can be valued, or days that the release was trained on. The
/// snapshot cannot be read, or the host fails on a row.
pub fn run(
    tested: &BacktestInput<'_>,
    options: &BacktestOptions,
    progress: &mut Progress<'_>,
) -> Result<(Report, Vec<Row>), BacktestError> {
    let training = training_data(tested.manifest, options.from);
    if !options.allow_overlap {
        training_window::refuse(tested.manifest, &training, options.from)?;
    }
    progress("listing sales", 0, 1);
    let window = sales::Window::count(tested.snapshot, (options.from, options.to), options.sample)?;
    let all = window.sample_size();
    if all == 0 {
        return Err(BacktestError::NoSales {
            from: options.from,
            to: options.to,
            latest: tested.snapshot.identity().latest_sale,
        });
    }
    let lag = options.evidence_lag_days;
    let evidence_of = move |snapshot| -> Arc<dyn EvidenceSource> {
        Arc::new(lagged_evidence::LaggedEvidence::new(snapshot, lag))
    };
    let valuer = value::Valuer {
        manifest: tested.manifest,
        release: tested.release,
        snapshot: tested.snapshot,
        evidence: evidence_of(tested.snapshot.clone()),
        as_at: options.as_at,
        lag: i32::from(lag),
        shape: options.request,
    };
    let mut rows: Vec<Row> = Vec::with_capacity(all);
    // An even part of them is valued in the other shapes, too.
    let every = sampling::step(all, MAX_RESHAPED_SALES);
    let mut reshaped: Vec<ExportedSale> = Vec::new();
    let mut sold = window.sales()?;
    loop {
        let chunk = sold.by_ref().take(CHUNK).collect::<Result<Vec<_>, _>>()?;
        if chunk.is_empty() {
            break;
        }
        let until = rows.len().next_multiple_of(every) - rows.len();
        reshaped.extend(chunk.iter().skip(until).step_by(every).cloned());
        rows.extend(value_all(&valuer, &chunk)?.into_iter().flatten());
        progress("valuing", rows.len() as u64, all as u64);
    }
    if rows.is_empty() {
        return Err(BacktestError::NotAskable(options.request));
    }
    let shapes = match options.request {
        RequestShape::Stored => value_shapes(&valuer, &reshaped, &rows, every, progress)?,
        _ => Vec::new(),
    };
    let manifest = tested.manifest;
    let header = Header {
        release_id: manifest.release_id.to_string(),
        model: manifest.model.name.clone(),
        model_version: manifest.model.version.clone(),
        parameters_sha256: manifest
            .model
            .parameters_sha256
            .as_ref()
            .map(ToString::to_string),
        snapshot_id: manifest.snapshot.id.to_string(),
        snapshot_content: manifest.snapshot.content_digest.to_string(),
        synthetic: tested.synthetic,
        from: options.from.to_string(),
        to: options.to.to_string(),
        as_at: options.as_at,
        request: options.request,
        not_stated: all.saturating_sub(rows.len()),
        evidence_lag_days: u32::from(lag),
        training_data: training,
        sales_in_window: window.sales,
        not_askable: window.not_askable,
        taken_every: window.every,
        nominal_coverage: manifest.nominal_coverage,
        least_rows: domesday_evaluation::LEAST_ROWS,
    };
    let bands: Vec<String> = manifest
        .confidence_bands
        .iter()
        .map(|band| band_word(band.band).to_owned())
        .collect();
    let name = |code: &str| {
        let code = GssCode::parse(code)?;
        Some(tested.snapshot.authority(code)?.name.clone())
    };
    let mut report = Report::of(header, &rows, &bands, &name);
    report.shapes = shapes;
    report.leakage_probe = leakage_probe(tested, options, &evidence_of, progress)?;
    Ok((report, rows))
}

/// Values sales, in their order.
pub(crate) fn value_all(
    valuer: &value::Valuer<'_>,
    sales: &[ExportedSale],
) -> Result<Vec<Option<Row>>, BacktestError> {
    sales.par_iter().map(|sold| valuer.row(sold)).collect()
}

/// Values `sales` in the other shapes. They are every `every`-th of the sales of `rows`.
fn value_shapes(
    valuer: &value::Valuer<'_>,
    sales: &[ExportedSale],
    rows: &[Row],
    every: usize,
    progress: &mut Progress<'_>,
) -> Result<Vec<ShapeFigures>, BacktestError> {
    let nominal = valuer.manifest.nominal_coverage;
    let stored: Vec<&Row> = rows.iter().step_by(every).collect();
    let mut shapes = Vec::new();
    for (at, shape) in request_shape::OTHERS.into_iter().enumerate() {
        let all = request_shape::OTHERS.len() as u64;
        progress("valuing other requests", at as u64, all);
        let valued = value_all(
            &value::Valuer {
                shape,
                ..valuer.clone()
            },
            sales,
        )?;
        let pairs: Vec<(Row, &Row)> = valued
            .into_iter()
            .zip(&stored)
            .filter_map(|(row, stored)| Some((row?, *stored)))
            .collect();
        shapes.push(ShapeFigures::of(shape, &pairs, nominal));
    }
    Ok(shapes)
}

fn leakage_probe(
    tested: &BacktestInput<'_>,
    options: &BacktestOptions,
    evidence_of: &leakage_probe::EvidenceOf<'_>,
    progress: &mut Progress<'_>,
) -> Result<Option<LeakageProbe>, BacktestError> {
    if options.probe_homes == 0 {
        return Ok(None);
    }
    leakage_probe::probe(tested, options, evidence_of, progress).map(Some)
}

/// Counts the sales from `from` to `to` that can be tested on.
///
/// # Errors
/// [`SnapshotError`] if the snapshot cannot be read.
pub fn askable(snapshot: &Snapshot, from: Day, to: Day) -> Result<usize, SnapshotError> {
    sales::Window::count(snapshot, (from, to), None).map(|window| window.sample_size())
}

/// Renders the report as a file's text: JSON, with its members in one order.
///
/// # Errors
/// Never; a report is always JSON.
pub fn report_json(report: &Report) -> serde_json::Result<String> {
    let mut text = serde_json::to_string_pretty(report)?;
    text.push('\n');
    Ok(text)
}

/// Returns a warning about the evidence of a package's back-test, where there is one.
pub fn stored_lag_warning(stored: &[u8]) -> Option<String> {
    let report: Report = serde_json::from_slice(stored).ok()?;
    report.subject.lag_warning()
}

fn band_word(band: Band) -> &'static str {
    match band {
        Band::High => "high",
        Band::Medium => "medium",
        Band::Low => "low",
    }
}
