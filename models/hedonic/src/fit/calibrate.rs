//! Calibration of the ranges on valuations of sales later than the fit.

mod adapt;

use self::adapt::{AdaptationOptions, ScoredSale, adapt, align_tenths};
use super::quantile::{conformal_quantile, conformal_rank};
use super::rows::{PredictionRow, Status};
use super::{FitError, json_lines, read_day, write_day};
use crate::build_period::BuildPeriod;
use crate::confidence::scale;
use crate::conformal::{
    PRIOR_SALES, PRIOR_SALES_OF_GROUP, Segment, quantile, range, shrunk, shrunk_factor, tenth,
};
use crate::document::{CalibrationRecord, Document};
use crate::embedded_parameters::StaticList;
use crate::parameters::{
    AuthorityFactor, ConfidenceParameters, ConformalParameters, PerBuildPeriod, PerType,
    SegmentQuantile, WidthFactor,
};
use crate::property_kind::PropertyKind;
use domesday_sdk::Day;
use std::collections::BTreeMap;
use std::io::BufRead;

/// Options of a calibration.
#[derive(Clone, Copy, Debug)]
pub struct CalibrationOptions<'a> {
    /// Nominal coverage: the share of prices within their ranges.
    pub coverage: f64,
    /// Least sales of a calibration, and of a build period or authority with a factor.
    pub least_sales: u32,
    /// Least comparables of a valuation with a range.
    pub least_comparables: u32,
    /// True to adapt the coverage to how ranges held from day to day.
    pub adaptive: bool,
    /// Lower ends of the confidence bands whose ranges adapt each to its own sales. Empty to adapt
    /// all alike.
    pub bands: &'a [f64],
}

/// One valued sale.
struct CalibrationPoint {
    day: Day,
    kind: PropertyKind,
    confidence: f64,
    estimate: f64,
    price: f64,
    comparables: u32,
    built: BuildPeriod,
    authority: String,
}

impl CalibrationPoint {
    fn segment(&self) -> Segment<'_> {
        Segment {
            kind: self.kind,
            confidence: self.confidence,
            built: self.built,
            authority: &self.authority,
        }
    }

    fn score(&self, p: &ConfidenceParameters) -> f64 {
        (libm::log(self.price) - libm::log(self.estimate)).abs() / scale(p, self.confidence)
    }

    fn error(&self) -> f64 {
        (self.estimate - self.price).abs() / self.price
    }
}

/// Reads the valued sales, and returns them with the count of all rows and the first and last day.
fn read(
    source: impl BufRead,
    through: Option<Day>,
) -> Result<(u64, Vec<CalibrationPoint>, Day, Day), FitError> {
    let mut points = Vec::new();
    let (mut count, mut first, mut last) = (0, Day::MAX, Day::MIN);
    for row in json_lines::read::<PredictionRow>(source) {
        let (_, row) = row?;
        count += 1;
        if let Some(through) = through.filter(|t| row.day <= *t) {
            return Err(FitError::AlreadyFitted {
                id: row.id,
                day: write_day(row.day),
                through: write_day(through),
            });
        }
        (first, last) = (first.min(row.day), last.max(row.day));
        let usable = |v: &f64| v.is_finite() && *v > 0.0;
        if let (Status::Valued, Some(estimate), Some(confidence)) = (
            row.status,
            row.estimate.filter(usable),
            row.confidence.filter(usable),
        ) && row.price_gbp > 0
        {
            points.push(CalibrationPoint {
                day: row.day,
                kind: row.property_type.kind(),
                confidence,
                estimate,
                price: row.price_gbp as f64,
                comparables: row.comparables,
                built: BuildPeriod::of(row.new_build, row.age_band.and_then(band)),
                authority: row.authority,
            });
        }
    }
    Ok((count, points, first, last))
}

/// Returns the index of a construction band, A being 0.
fn band(letter: char) -> Option<usize> {
    ('A'..='L').position(|known| known == letter)
}

fn segment_quantile(
    points: &[&CalibrationPoint],
    p: &ConfidenceParameters,
    options: CalibrationOptions<'_>,
) -> SegmentQuantile {
    let mut scores: Vec<f64> = points.iter().map(|point| point.score(p)).collect();
    let mut errors: Vec<f64> = points.iter().map(|point| point.error()).collect();
    errors.sort_unstable_by(f64::total_cmp);
    let within = errors.iter().filter(|e| **e <= 0.1).count();
    SegmentQuantile {
        sales: u32::try_from(points.len()).unwrap_or(u32::MAX),
        quantile: conformal_quantile(&mut scores, options.coverage),
        median_absolute_error: errors.get(errors.len() / 2).copied(),
        within_10_percent: (!errors.is_empty()).then(|| within as f64 / errors.len() as f64),
    }
}

/// Returns the confidence at which each tenth begins, without the lowest.
fn tenths(points: &[&CalibrationPoint]) -> [f64; 9] {
    let mut confidences: Vec<f64> = points.iter().map(|p| p.confidence).collect();
    confidences.sort_unstable_by(f64::total_cmp);
    std::array::from_fn(|below| {
        confidences
            .get(confidences.len() * (below + 1) / 10)
            .copied()
            .unwrap_or(1.0)
    })
}

/// Calibrates the ranges of `document`.
///
/// # Errors
/// [`FitError`] if a line cannot be read, a sale is not later than the fit, or the sales are too
/// few.
pub fn calibrate(
    document: Document,
    source: impl BufRead,
    options: CalibrationOptions<'_>,
) -> Result<Document, FitError> {
    if !(0.01..=0.999).contains(&options.coverage) {
        return Err(FitError::Coverage(options.coverage));
    }
    let mut document = document;
    let through = document
        .fitted
        .as_ref()
        .map(|f| read_day(&f.through))
        .transpose()?;
    let (predictions, points, first, last) = read(source, through)?;
    let confidence = document.parameters.confidence;
    // Only valuations with a range count for its width.
    let points: Vec<&CalibrationPoint> = points
        .iter()
        .filter(|p| p.comparables >= options.least_comparables)
        .collect();
    let mut tenths = tenths(&points);
    align_tenths(
        &mut tenths,
        options.bands,
        points.iter().map(|point| point.confidence),
    );
    let of = |keep: &dyn Fn(&CalibrationPoint) -> bool| {
        let chosen: Vec<&CalibrationPoint> = points.iter().copied().filter(|p| keep(p)).collect();
        segment_quantile(&chosen, &confidence, options)
    };
    let in_tenth = |p: &CalibrationPoint, at: usize| tenth(&tenths, p.confidence) == at;
    let segments = |kind| std::array::from_fn(|at| of(&|p| p.kind == kind && in_tenth(p, at)));
    let of_type = |kind| of(&|p| p.kind == kind);
    let mut conformal = ConformalParameters {
        coverage: options.coverage,
        least_comparables: options.least_comparables,
        tenths,
        by_type_and_tenth: per_type(segments),
        by_tenth: std::array::from_fn(|at| of(&|p| in_tenth(p, at))),
        by_type: per_type(of_type),
        all: of(&|_| true),
        by_build_period: PerBuildPeriod {
            new: NO_FACTOR,
            modern: NO_FACTOR,
            older: NO_FACTOR,
            unknown: NO_FACTOR,
        },
        by_authority: StaticList(&[]),
    };
    let enough = points.len() >= options.least_sales as usize;
    let Some(all) = conformal.all.quantile.filter(|_| enough) else {
        return Err(FitError::TooFew {
            found: points.len() as u64,
            needed: count_needed_sales(options) as u64,
        });
    };
    shrink_quantiles(&mut conformal, all);
    conformal.by_build_period = by_build_period(&points, &conformal, &confidence, options);
    conformal.by_authority = by_authority(&points, &conformal, &confidence, options).into();
    let adapted_coverage = options.adaptive.then(|| {
        let scored = points.iter().map(|point| ScoredSale {
            day: point.day,
            confidence: point.confidence,
            score: relative_score(point, &conformal, &confidence),
        });
        let scored: Vec<ScoredSale> = scored.collect();
        let options = AdaptationOptions {
            coverage: options.coverage,
            least_sales: options.least_sales as usize,
            bands: options.bands,
        };
        adapt(&mut conformal, &scored, options)
    });
    let inside = |p: &&&CalibrationPoint| {
        let named = p.comparables as usize;
        range(
            Some(&conformal),
            &confidence,
            p.segment(),
            named,
            p.estimate,
        )
        .is_some_and(|r| r.lower <= p.price && p.price <= r.upper)
    };
    document.calibrated = Some(CalibrationRecord {
        from: write_day(first),
        through: write_day(last),
        predictions,
        valued: points.len() as u64,
        adapted_coverage,
        covered_in_sample: points.iter().filter(inside).count() as f64 / points.len() as f64,
    });
    document.parameters.conformal = Some(conformal);
    Ok(document)
}

/// Counts the sales that a calibration needs. A coverage near one needs more than the options say,
/// since fewer sales have no quantile of it.
fn count_needed_sales(options: CalibrationOptions<'_>) -> usize {
    let least = options.least_sales as usize;
    let has_quantile = |count: &usize| conformal_rank(*count, options.coverage).is_some();
    // The greatest coverage needs 999 sales.
    (least..1_000).find(has_quantile).unwrap_or(least)
}

/// Shrinks the quantiles of types and tenths towards that of all sales, and those of segments
/// towards their types' and tenths'.
fn shrink_quantiles(conformal: &mut ConformalParameters, all: f64) {
    let shrink = |cell: &mut SegmentQuantile, parent: f64, prior: f64| {
        let quantile = shrunk(cell.quantile, cell.sales as usize, parent, prior);
        cell.quantile = Some(quantile);
        quantile
    };
    let of_tenth = conformal
        .by_tenth
        .each_mut()
        .map(|cell| shrink(cell, all, PRIOR_SALES_OF_GROUP));
    for kind in PropertyKind::ALL {
        let of_type = conformal.by_type.of_mut(kind);
        let of_type = shrink(of_type, all, PRIOR_SALES_OF_GROUP);
        let segments = conformal.by_type_and_tenth.of_mut(kind);
        for (cell, of_tenth) in segments.iter_mut().zip(of_tenth) {
            // All quantiles are zero where that of all sales is.
            let parent = if all > 0.0 {
                of_tenth * of_type / all
            } else {
                0.0
            };
            shrink(cell, parent, PRIOR_SALES);
        }
    }
}

/// The factor before any calibration.
const NO_FACTOR: WidthFactor = WidthFactor {
    sales: 0,
    factor: 1.0,
};

/// Returns a point's score over its quantile so far.
fn relative_score(
    p: &CalibrationPoint,
    conformal: &ConformalParameters,
    confidence: &ConfidenceParameters,
) -> f64 {
    // All sales together have a quantile. It is zero only if every score of the segment is.
    let quantile = quantile(conformal, p.segment()).filter(|quantile| *quantile > 0.0);
    quantile.map_or(1.0, |quantile| p.score(confidence) / quantile)
}

/// Returns the factor of a group of points from their relative scores.
fn factor_of(mut scores: Vec<f64>, options: CalibrationOptions<'_>) -> WidthFactor {
    let enough = scores.len() >= options.least_sales as usize;
    let quantile = conformal_quantile(&mut scores, options.coverage).filter(|_| enough);
    WidthFactor {
        sales: u32::try_from(scores.len()).unwrap_or(u32::MAX),
        factor: quantile.map_or(1.0, |quantile| shrunk_factor(quantile, scores.len())),
    }
}

fn by_build_period(
    points: &[&CalibrationPoint],
    conformal: &ConformalParameters,
    confidence: &ConfidenceParameters,
    options: CalibrationOptions<'_>,
) -> PerBuildPeriod<WidthFactor> {
    let of = |built| {
        let chosen = points.iter().filter(|point| point.built == built);
        let scores = chosen.map(|point| relative_score(point, conformal, confidence));
        factor_of(scores.collect(), options)
    };
    PerBuildPeriod {
        new: of(BuildPeriod::New),
        modern: of(BuildPeriod::Modern),
        older: of(BuildPeriod::Older),
        unknown: of(BuildPeriod::Unknown),
    }
}

/// Returns the factors of the authorities with enough sales, in the order of their codes.
fn by_authority(
    points: &[&CalibrationPoint],
    conformal: &ConformalParameters,
    confidence: &ConfidenceParameters,
    options: CalibrationOptions<'_>,
) -> Vec<AuthorityFactor> {
    let mut of: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for point in points.iter().filter(|point| !point.authority.is_empty()) {
        let scores = of.entry(&point.authority).or_default();
        scores.push(relative_score(point, conformal, confidence));
    }
    of.into_iter()
        .filter(|(_, scores)| scores.len() >= options.least_sales as usize)
        .map(|(authority, scores)| {
            let WidthFactor { sales, factor } = factor_of(scores, options);
            let authority = authority.to_owned().leak();
            AuthorityFactor {
                authority,
                sales,
                factor,
            }
        })
        .collect()
}

fn per_type<T>(of: impl Fn(PropertyKind) -> T) -> PerType<T> {
    PerType {
        detached: of(PropertyKind::Detached),
        semi_detached: of(PropertyKind::SemiDetached),
        terraced: of(PropertyKind::Terraced),
        flat: of(PropertyKind::Flat),
    }
}
