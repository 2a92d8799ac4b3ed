//! Weights of the stack, fitted on valuations of sales outside every member's training data.
//!
//! Two stacks are fitted, one on the sales with an even id and one on the others. The ranges are
//! calibrated on the errors of each stack on the sales that its weights did not see. The release
//! has the mean of the two. A type that a stack does not help stays with the reference model
//! (`share.rs`).

mod share;

use self::share::{EstimatedSale, share};
use super::FitError;
use crate::assembly::Document;
use crate::stack::{ByHistory, EQUAL, MEMBERS, Stack, Weights, blend};
use domesday_hedonic::confidence::{scale, score};
use domesday_hedonic::fit::rows::TypeName;
use domesday_hedonic::parameters::ConfidenceParameters;
use domesday_hedonic::property_kind::PropertyKind;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::BufRead;

/// Least sales of either half that weights are fitted on.
const MIN_SALES: usize = 200;
/// Number of sales that equal weights count for beside the fit over all sales.
const PRIOR_SALES: f64 = 100.0;
/// Number of sales that the weights over all count for beside those of a type and history.
const PRIOR_SALES_OF_GROUP: f64 = 300.0;
/// Weights of the reference model alone.
const REFERENCE: Weights = [1.0, 0.0, 0.0];
/// Steps of a weight from zero to one.
const STEPS: usize = 20;
/// Multiples of the members' variance that are tried.
const DISAGREEMENTS: [f64; 6] = [0.0, 0.25, 0.5, 1.0, 2.0, 4.0];
/// Gain in log likelihood from which a multiple is preferred to none.
const LEAST_GAIN: f64 = 2.0;

/// The members of one valuation, as the component showed them.
#[derive(Deserialize)]
struct Row {
    id: u64,
    price_gbp: u64,
    property_type: TypeName,
    confidence: Option<f64>,
    /// Absent in files of earlier versions. Then each sale is a place by itself.
    #[serde(default)]
    postcode: Option<String>,
    #[serde(default)]
    inputs: BTreeMap<String, Option<f64>>,
}

/// One valued sale.
#[derive(Clone, Copy)]
struct Point {
    id: u64,
    /// The same number for sales of one postcode.
    place: usize,
    kind: PropertyKind,
    own_sale: bool,
    log_price: f64,
    members: [f64; MEMBERS.len()],
    /// Standard deviation by the reference model.
    scale: f64,
}

impl Point {
    /// Returns the members of a row, or `None` unless it is valued and shows all of them.
    fn of(row: &Row, place: usize, confidence: &ConfidenceParameters) -> Option<Point> {
        let input = |name: &str| row.inputs.get(name).copied().flatten();
        let mut members = [0.0; MEMBERS.len()];
        for (member, name) in members.iter_mut().zip(MEMBERS) {
            *member = input(&format!("member_{name}"))?;
        }
        (row.price_gbp > 0).then_some(())?;
        Some(Point {
            id: row.id,
            place,
            kind: row.property_type.kind(),
            own_sale: input("member_own_sale")? > 0.0,
            log_price: libm::log(row.price_gbp as f64),
            members,
            scale: scale(confidence, row.confidence?),
        })
    }

    fn is_even(&self) -> bool {
        self.id.is_multiple_of(2)
    }

    /// Returns whether the point is of the first of two halves of its own half.
    fn is_of_first_half(&self) -> bool {
        (self.id / 2).is_multiple_of(2)
    }

    fn weights<'a>(&self, stack: &'a Stack) -> &'a Weights {
        stack.weights.of(self.kind).of(self.own_sale)
    }
}

/// Fits the stack of `document` on valuations of later sales, one JSON object a line. Returns the
/// valuations, each with the estimate and confidence of a stack that did not see its price. A model
/// without a stack gets its valuations back as they are.
///
/// # Errors
/// [`FitError::Row`] if a line is not a valuation, [`FitError::Read`] if it cannot be read.
pub fn fit_stack(document: &mut Document, predictions: impl BufRead) -> Result<Vec<u8>, FitError> {
    let lines = predictions.lines().collect::<Result<Vec<_>, _>>()?;
    if !document.mapping.stack {
        return Ok((lines.join("\n") + "\n").into_bytes());
    }
    let confidence = document.reference.parameters.confidence;
    let mut rows: Vec<(Map<String, Value>, Option<Point>)> = Vec::with_capacity(lines.len());
    let mut places = BTreeMap::<String, usize>::new();
    for (line, text) in (1..).zip(&lines) {
        let row = |source| FitError::Row { line, source };
        let read: Row = serde_json::from_str(text).map_err(row)?;
        let members = serde_json::from_str(text).map_err(row)?;
        let postcode = read.postcode.clone();
        let next = places.len();
        let place = places.entry(postcode.unwrap_or_else(|| read.id.to_string()));
        rows.push((
            members,
            Point::of(&read, *place.or_insert(next), &confidence),
        ));
    }
    let points = rows.iter().filter_map(|(_, point)| *point);
    let (even, odd): (Vec<Point>, Vec<Point>) = points.partition(Point::is_even);
    let enough = even.len().min(odd.len()) >= MIN_SALES;
    let [of_even, of_odd] = if enough {
        [fit(&even), fit(&odd)]
    } else {
        [Stack::equal(); 2]
    };
    document.stack = Some(mean(&of_even, &of_odd));
    let mut stacked_rows = Vec::new();
    for (line, (mut row, point)) in (1..).zip(rows) {
        if let Some(point) = point {
            let unseen = if point.is_even() { &of_odd } else { &of_even };
            let (estimate, scale) = estimate_of(unseen, &point);
            row.insert("estimate".to_owned(), libm::exp(estimate).into());
            row.insert("confidence".to_owned(), score(&confidence, scale).into());
        }
        row.remove("inputs");
        serde_json::to_writer(&mut stacked_rows, &row)
            .map_err(|source| FitError::Row { line, source })?;
        stacked_rows.push(b'\n');
    }
    Ok(stacked_rows)
}

/// Returns the stack halfway between two.
fn mean(one: &Stack, other: &Stack) -> Stack {
    let middle = |a: &Weights, b: &Weights| std::array::from_fn(|at| f64::midpoint(a[at], b[at]));
    let mut stack = Stack::equal();
    for kind in PropertyKind::ALL {
        let (a, b) = (one.weights.of(kind), other.weights.of(kind));
        *stack.weights.of_mut(kind) = ByHistory {
            own_sale: middle(&a.own_sale, &b.own_sale),
            none: middle(&a.none, &b.none),
        };
    }
    stack.disagreement = f64::midpoint(one.disagreement, other.disagreement);
    stack
}

/// Returns the log estimate of a point and its standard deviation.
fn estimate_of(stack: &Stack, point: &Point) -> (f64, f64) {
    let (estimate, variance) = blend(point.weights(stack), &point.members);
    let scale = point.scale * point.scale + stack.disagreement * variance;
    (estimate, scale.sqrt())
}

/// Fits the weights and the disagreement of one stack.
fn fit(points: &[Point]) -> Stack {
    let mut stack = fit_weights(points);
    move_to_reference(&mut stack, points);
    stack.disagreement = best_disagreement(&stack, points);
    stack
}

/// Fits weights of all, then of each type and history, each shrunk towards the wider one.
fn fit_weights(points: &[Point]) -> Stack {
    let all: Vec<&Point> = points.iter().collect();
    let of_all = towards(EQUAL, best_weights(&all), all.len(), PRIOR_SALES);
    let group = |kind, own_sale| {
        let chosen: Vec<&Point> = points
            .iter()
            .filter(|p| p.kind == kind && p.own_sale == own_sale)
            .collect();
        if chosen.is_empty() {
            return of_all;
        }
        let found = best_weights(&chosen);
        towards(of_all, found, chosen.len(), PRIOR_SALES_OF_GROUP)
    };
    let mut stack = Stack::equal();
    for kind in PropertyKind::ALL {
        *stack.weights.of_mut(kind) = ByHistory {
            own_sale: group(kind, true),
            none: group(kind, false),
        };
    }
    stack
}

/// Moves the weights of each type towards the reference model alone, by what its sales gain.
/// Weights of either half are judged on the other half.
fn move_to_reference(stack: &mut Stack, points: &[Point]) {
    let (one, other): (Vec<Point>, Vec<Point>) =
        points.iter().copied().partition(Point::is_of_first_half);
    let [of_one, of_other] = [&one, &other].map(|half| fit_weights(half));
    let estimated = points.iter().map(|point| {
        let unseen = if point.is_of_first_half() {
            &of_other
        } else {
            &of_one
        };
        let [reference, ..] = point.members;
        EstimatedSale {
            kind: point.kind,
            place: point.place,
            log_price: point.log_price,
            reference,
            stacked: blend(point.weights(unseen), &point.members).0,
        }
    });
    let estimated: Vec<EstimatedSale> = estimated.collect();
    for kind in PropertyKind::ALL {
        let share = share(kind, &estimated);
        let of_type = stack.weights.of_mut(kind);
        for weights in [&mut of_type.own_sale, &mut of_type.none] {
            *weights =
                std::array::from_fn(|at| share * weights[at] + (1.0 - share) * REFERENCE[at]);
        }
    }
}

/// Returns a mean of two lists of weights, of which `prior` counts for a number of sales.
fn towards(from: Weights, to: Weights, sales: usize, prior: f64) -> Weights {
    let share = sales as f64 / (sales as f64 + prior);
    std::array::from_fn(|at| share * to[at] + (1.0 - share) * from[at])
}

/// Returns the weights of least mean absolute deviation among all in steps of one in [`STEPS`].
fn best_weights(points: &[&Point]) -> Weights {
    let mut best = (f64::INFINITY, EQUAL);
    for first in 0..=STEPS {
        for second in 0..=STEPS - first {
            let weights =
                [first, second, STEPS - first - second].map(|step| step as f64 / STEPS as f64);
            let deviation: f64 = points
                .iter()
                .map(|p| (p.log_price - blend(&weights, &p.members).0).abs())
                .sum();
            if deviation < best.0 {
                best = (deviation, weights);
            }
        }
    }
    best.1
}

/// Returns the multiple of the members' variance under which Laplace errors are likeliest.
fn best_disagreement(stack: &Stack, points: &[Point]) -> f64 {
    let likelihood = |disagreement: f64| {
        let stack = Stack {
            disagreement,
            ..*stack
        };
        let (mut ratios, mut logs) = (0.0, 0.0);
        for point in points {
            let (estimate, scale) = estimate_of(&stack, point);
            ratios += (point.log_price - estimate).abs() / scale;
            logs += libm::log(scale);
        }
        let count = points.len() as f64;
        -count * libm::log(ratios / count) - logs
    };
    let none = likelihood(0.0);
    let mut best = (none + LEAST_GAIN, 0.0);
    for tried in DISAGREEMENTS {
        let found = likelihood(tried);
        if found > best.0 {
            best = (found, tried);
        }
    }
    best.1
}

#[cfg(test)]
mod tests;
