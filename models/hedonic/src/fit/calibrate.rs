//! Calibrates ranges on valuations of sales later than those fitted on.

use super::rows::{PredictionRow, Status};
use super::{FitError, lines, read_day, write_day};
use crate::baked::Baked;
use crate::built::Built;
use crate::confidence::scale;
use crate::conformal::{Segment, factor, quantile, range, tenth};
use crate::document::{Calibrated, Document};
use crate::kind::Kind;
use crate::parameters::{
    AuthorityRanges, Cell, ConfidenceParameters, ConformalParameters, Factor, PerBuilt, PerType,
};
use domesday_sdk::Day;
use std::collections::BTreeMap;
use std::io::BufRead;

/// What is wanted of the calibration.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Share of prices that should lie within their ranges.
    pub coverage: f64,
    /// Fewest sales that a segment is calibrated on.
    pub least_sales: u32,
    /// Fewest comparables with which a range is given.
    pub least_comparables: u32,
}

/// One valued sale.
struct Point {
    kind: Kind,
    confidence: f64,
    estimate: f64,
    price: f64,
    comparables: u32,
    built: Built,
    authority: String,
}

impl Point {
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

/// Reads the valued sales, with the count of all and the first and last day.
fn read(
    source: impl BufRead,
    through: Option<Day>,
) -> Result<(u64, Vec<Point>, Day, Day), FitError> {
    let mut points = Vec::new();
    let (mut count, mut first, mut last) = (0, Day::MAX, Day::MIN);
    for row in lines::read::<PredictionRow>(source) {
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
            points.push(Point {
                kind: row.property_type.kind(),
                confidence,
                estimate,
                price: row.price_gbp as f64,
                comparables: row.comparables,
                built: Built::of(row.new_build, row.age_band.and_then(band)),
                authority: row.authority,
            });
        }
    }
    Ok((count, points, first, last))
}

/// The ⌈(n + 1) coverage⌉-th smallest score; none where n is too small for there to be one.
pub fn conformal_quantile(scores: &mut [f64], coverage: f64) -> Option<f64> {
    scores.sort_unstable_by(f64::total_cmp);
    let wanted = (scores.len() as f64 + 1.0) * coverage;
    // What is whole but for a rounding of the product is whole.
    let rank = libm::ceil(wanted - 1e-9) as usize;
    scores.get(rank.max(1) - 1).copied()
}

/// The number of a construction band, of which A is 0.
fn band(letter: char) -> Option<usize> {
    ('A'..='L').position(|known| known == letter)
}

fn cell(points: &[&Point], p: &ConfidenceParameters, wanted: Wanted) -> Cell {
    let mut scores: Vec<f64> = points.iter().map(|point| point.score(p)).collect();
    let mut errors: Vec<f64> = points.iter().map(|point| point.error()).collect();
    errors.sort_unstable_by(f64::total_cmp);
    let within = errors.iter().filter(|e| **e <= 0.1).count();
    let enough = points.len() >= wanted.least_sales as usize;
    Cell {
        sales: u32::try_from(points.len()).unwrap_or(u32::MAX),
        quantile: conformal_quantile(&mut scores, wanted.coverage).filter(|_| enough),
        median_absolute_error: errors.get(errors.len() / 2).copied(),
        within_10_percent: (!errors.is_empty()).then(|| within as f64 / errors.len() as f64),
    }
}

/// Confidence at which each tenth but the lowest begins.
fn tenths(points: &[&Point]) -> [f64; 9] {
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
/// Where a line cannot be read, a sale is not later than those fitted on, or all sales together
/// are too few.
pub fn calibrate(
    document: Document,
    source: impl BufRead,
    wanted: Wanted,
) -> Result<Document, FitError> {
    if !(0.01..=0.999).contains(&wanted.coverage) {
        return Err(FitError::Coverage(wanted.coverage));
    }
    let mut document = document;
    let through = document
        .fitted
        .as_ref()
        .map(|f| read_day(&f.through))
        .transpose()?;
    let (predictions, points, first, last) = read(source, through)?;
    let confidence = document.parameters.confidence;
    // Only valuations that will have a range tell how wide it must be.
    let points: Vec<&Point> = points
        .iter()
        .filter(|p| p.comparables >= wanted.least_comparables)
        .collect();
    let tenths = tenths(&points);
    let of = |keep: &dyn Fn(&Point) -> bool| {
        let chosen: Vec<&Point> = points.iter().copied().filter(|p| keep(p)).collect();
        cell(&chosen, &confidence, wanted)
    };
    let in_tenth = |p: &Point, at: usize| tenth(&tenths, p.confidence) == at;
    let segments = |kind| std::array::from_fn(|at| of(&|p| p.kind == kind && in_tenth(p, at)));
    let of_type = |kind| of(&|p| p.kind == kind);
    let mut conformal = ConformalParameters {
        coverage: wanted.coverage,
        least_comparables: wanted.least_comparables,
        tenths,
        by_type_and_tenth: per_type(segments),
        by_tenth: std::array::from_fn(|at| of(&|p| in_tenth(p, at))),
        by_type: per_type(of_type),
        all: of(&|_| true),
        by_built: PerBuilt {
            new: NONE,
            modern: NONE,
            older: NONE,
            unknown: NONE,
        },
        by_authority: Baked(&[]),
    };
    if conformal.all.quantile.is_none() {
        return Err(FitError::TooFew {
            found: points.len() as u64,
            needed: u64::from(wanted.least_sales),
        });
    }
    conformal.by_built = by_built(&points, &conformal, &confidence, wanted);
    conformal.by_authority = by_authority(&points, &conformal, &confidence, wanted).into();
    let inside = |p: &&&Point| {
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
    document.calibrated = Some(Calibrated {
        from: write_day(first),
        through: write_day(last),
        predictions,
        valued: points.len() as u64,
        covered: points.iter().filter(inside).count() as f64 / points.len() as f64,
    });
    document.parameters.conformal = Some(conformal);
    Ok(document)
}

/// Nothing is known yet.
const NONE: Factor = Factor {
    sales: 0,
    factor: 1.0,
};

/// A point's score against the quantile that it has so far.
fn relative(p: &Point, conformal: &ConformalParameters, confidence: &ConfidenceParameters) -> f64 {
    // There is one for all, and where it is nought every score of its segment was.
    let quantile = quantile(conformal, p.segment()).filter(|quantile| *quantile > 0.0);
    quantile.map_or(1.0, |quantile| p.score(confidence) / quantile)
}

/// The factor of some points, from their relative scores.
fn factor_of(mut scores: Vec<f64>, wanted: Wanted) -> Factor {
    let enough = scores.len() >= wanted.least_sales as usize;
    let quantile = conformal_quantile(&mut scores, wanted.coverage).filter(|_| enough);
    Factor {
        sales: u32::try_from(scores.len()).unwrap_or(u32::MAX),
        factor: quantile.map_or(1.0, |quantile| factor(quantile, scores.len())),
    }
}

fn by_built(
    points: &[&Point],
    conformal: &ConformalParameters,
    confidence: &ConfidenceParameters,
    wanted: Wanted,
) -> PerBuilt<Factor> {
    let of = |built| {
        let chosen = points.iter().filter(|point| point.built == built);
        let scores = chosen.map(|point| relative(point, conformal, confidence));
        factor_of(scores.collect(), wanted)
    };
    PerBuilt {
        new: of(Built::New),
        modern: of(Built::Modern),
        older: of(Built::Older),
        unknown: of(Built::Unknown),
    }
}

/// The authorities with enough sales, in the order of their codes.
fn by_authority(
    points: &[&Point],
    conformal: &ConformalParameters,
    confidence: &ConfidenceParameters,
    wanted: Wanted,
) -> Vec<AuthorityRanges> {
    let mut of: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for point in points.iter().filter(|point| !point.authority.is_empty()) {
        let scores = of.entry(&point.authority).or_default();
        scores.push(relative(point, conformal, confidence));
    }
    of.into_iter()
        .filter(|(_, scores)| scores.len() >= wanted.least_sales as usize)
        .map(|(authority, scores)| {
            let Factor { sales, factor } = factor_of(scores, wanted);
            let authority = authority.to_owned().leak();
            AuthorityRanges {
                authority,
                sales,
                factor,
            }
        })
        .collect()
}

fn per_type<T>(of: impl Fn(Kind) -> T) -> PerType<T> {
    PerType {
        detached: of(Kind::Detached),
        semi_detached: of(Kind::SemiDetached),
        terraced: of(Kind::Terraced),
        flat: of(Kind::Flat),
    }
}
