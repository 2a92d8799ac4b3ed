//! The release on sales that neither its fit nor its calibration saw.

use super::{BuildError, BuildOptions};
use crate::backtest;
use crate::backtest::{BacktestInput, report_json};
use domesday_evaluation::report::AsAt;
use domesday_evaluation::request_shape::RequestShape;
use domesday_registers::Day;
use domesday_registers::Progress;

/// Homes that the leakage probe values at each of its cuts.
pub(crate) const PROBE_HOMES: usize = 50;

/// Returns the back-test of the sales from `first` to `last` as the package stores it, or `None`
/// without any sales.
///
/// # Errors
/// [`BuildError::Leak`] if the leakage probe fails, another if a sale cannot be valued.
pub fn report(
    tested: &BacktestInput<'_>,
    options: &BuildOptions,
    (first, last): (Day, Day),
    progress: &mut Progress<'_>,
) -> Result<Option<Vec<u8>>, BuildError> {
    if first > last || backtest::askable(tested.snapshot, first, last)? == 0 {
        return Ok(None);
    }
    let (report, _) = backtest::run(
        tested,
        &backtest::BacktestOptions {
            from: first,
            to: last,
            as_at: AsAt::Sale,
            request: RequestShape::Stored,
            evidence_lag_days: options.evidence_lag_days,
            sample: Some(options.max_backtest_rows),
            probe_homes: PROBE_HOMES,
            allow_overlap: false,
        },
        progress,
    )?;
    match &report.leakage_probe {
        Some(probe) if !probe.passed => Err(BuildError::Leak),
        _ => Ok(Some(report_json(&report)?.into_bytes())),
    }
}
