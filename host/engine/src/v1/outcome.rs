//! A release's outcome, untrusted until every promise of the interface is checked.

use super::subject::attribute;
use super::wit;
use crate::outcome::{
    Comparable, Derivation, DerivedInput, FailureReason, Outcome, Referral, ReferralReason,
    RowFailure, Valuation, ValueRange,
};
use crate::subject::Attribute;
use std::fmt::Display;

/// Comparables in one outcome.
const MAX_COMPARABLES: usize = 10;
/// More than any home or estate in England and Wales has fetched, pounds.
const MAX_POUNDS: f64 = 1e10;

/// Checks an outcome against the interface's promises.
///
/// Returns the host's outcome, or a failure that names the broken promise. `is_shown` tells whether
/// the release was shown a sale.
pub(crate) fn check(
    outcome: wit::Outcome,
    is_shown: impl Fn(u64) -> bool,
) -> Result<Outcome, RowFailure> {
    match outcome {
        wit::Outcome::Valued(valuation) => read_valuation(valuation, is_shown),
        wit::Outcome::Referred(referral) => Ok(Outcome::Referred(Referral {
            reason: reason(referral.reason),
            about: referral.about.map(attribute),
        })),
        wit::Outcome::Failed(reason) => Ok(Outcome::Failed {
            reason: match reason {
                wit::FailureReason::UnusableEvidence => FailureReason::UnusableEvidence,
                wit::FailureReason::Numeric => FailureReason::Numeric,
                wit::FailureReason::EvidenceRefused => FailureReason::EvidenceRefused,
                wit::FailureReason::Other => FailureReason::Other,
            },
        }),
        wit::Outcome::Other => Err(invalid("outcome", "is a case that 1.0.0 never makes")),
    }
}

fn read_valuation(
    given: wit::Valuation,
    is_shown: impl Fn(u64) -> bool,
) -> Result<Outcome, RowFailure> {
    let estimate = pounds("estimate", given.estimate)?;
    let range = given
        .range
        .map(|range| {
            let range = ValueRange {
                lower: pounds("range.lower", range.lower)?,
                upper: pounds("range.upper", range.upper)?,
            };
            if range.lower <= estimate && estimate <= range.upper {
                Ok(range)
            } else {
                Err(invalid("range", "does not contain the estimate in order"))
            }
        })
        .transpose()?;
    let confidence = share("confidence", given.confidence)?;
    let comparables = comparables(given.comparables, is_shown)?;
    let derived = read_derived_inputs(given.derived)?;
    let dispersion = given.dispersion;
    if dispersion.is_some_and(|sigma| !sigma.is_finite() || sigma <= 0.0) {
        return Err(invalid("dispersion", "is not a finite number above 0"));
    }
    let own_sales_share = given
        .own_sales_share
        .map(|part| share("own_sales_share", part))
        .transpose()?;
    let valuation = Valuation {
        estimate,
        range,
        confidence,
        comparables,
        derived,
        dispersion,
        own_sales_share,
    };
    Ok(Outcome::Valued(valuation))
}

fn comparables(
    given: Vec<wit::Comparable>,
    is_shown: impl Fn(u64) -> bool,
) -> Result<Vec<Comparable>, RowFailure> {
    if given.len() > MAX_COMPARABLES {
        return Err(invalid("comparables", "are more than 10"));
    }
    let mut comparables: Vec<Comparable> = Vec::with_capacity(given.len());
    for (at, comparable) in given.into_iter().enumerate() {
        if !is_shown(comparable.sale) {
            return Err(invalid(
                format_args!("comparables[{at}].sale"),
                "was not shown to the release",
            ));
        }
        if comparables
            .iter()
            .any(|earlier| earlier.sale == comparable.sale)
        {
            return Err(invalid(
                format_args!("comparables[{at}].sale"),
                "is given twice",
            ));
        }
        let next = Comparable {
            sale: comparable.sale,
            adjusted_price: pounds(
                format_args!("comparables[{at}].adjusted_price"),
                comparable.adjusted_price,
            )?,
            similarity: share(
                format_args!("comparables[{at}].similarity"),
                comparable.similarity,
            )?,
        };
        if comparables
            .last()
            .is_some_and(|last| (next.similarity, last.sale) > (last.similarity, next.sale))
        {
            return Err(invalid(
                format_args!("comparables[{at}].similarity"),
                "is out of order",
            ));
        }
        comparables.push(next);
    }
    Ok(comparables)
}

fn read_derived_inputs(given: Vec<wit::DerivedInput>) -> Result<Vec<DerivedInput>, RowFailure> {
    let mut inputs: Vec<DerivedInput> = Vec::new();
    for (at, input) in given.into_iter().enumerate() {
        let next = DerivedInput {
            input: attribute(input.input),
            basis: match input.basis {
                wit::Derivation::LocalTypical => Derivation::LocalTypical,
                wit::Derivation::TypeTypical => Derivation::TypeTypical,
                wit::Derivation::OtherAttributes => Derivation::OtherAttributes,
                wit::Derivation::OwnSales => Derivation::OwnSales,
                wit::Derivation::Other => Derivation::Other,
            },
            value: input.value,
        };
        if next.value.is_some_and(|value| !value.is_finite()) {
            return Err(invalid(
                format_args!("derived[{at}].value"),
                "is not a finite number",
            ));
        }
        if next.input == Attribute::Other
            || inputs.last().is_some_and(|last| last.input >= next.input)
        {
            return Err(invalid(
                format_args!("derived[{at}].input"),
                "is unknown, given twice or out of order",
            ));
        }
        inputs.push(next);
    }
    Ok(inputs)
}

fn reason(reason: wit::ReferralReason) -> ReferralReason {
    match reason {
        wit::ReferralReason::OutsidePropertyTypes => ReferralReason::OutsidePropertyTypes,
        wit::ReferralReason::UnusualSize => ReferralReason::UnusualSize,
        wit::ReferralReason::UnusualValue => ReferralReason::UnusualValue,
        wit::ReferralReason::InsufficientEvidence => ReferralReason::InsufficientEvidence,
        wit::ReferralReason::ShortLease => ReferralReason::ShortLease,
        wit::ReferralReason::MissingInput => ReferralReason::MissingInput,
        wit::ReferralReason::ConflictingInputs => ReferralReason::ConflictingInputs,
        wit::ReferralReason::Other => ReferralReason::Other,
    }
}

fn pounds(field: impl Display, value: f64) -> Result<f64, RowFailure> {
    if !value.is_finite() {
        Err(invalid(field, "is not a finite number"))
    } else if value <= 0.0 || value > MAX_POUNDS {
        Err(invalid(
            field,
            "is not above 0 and at most 10,000,000,000 pounds",
        ))
    } else {
        Ok(value)
    }
}

fn share(field: impl Display, value: f64) -> Result<f64, RowFailure> {
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(invalid(field, "is not between 0 and 1"))
    }
}

/// Names a broken promise. The name is written where it is broken alone: a row has some thirty.
fn invalid(field: impl Display, problem: &str) -> RowFailure {
    RowFailure::InvalidOutcome {
        field: field.to_string(),
        problem: problem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn valuation() -> wit::Valuation {
        wit::Valuation {
            estimate: 250_000.0,
            range: None,
            confidence: 0.5,
            comparables: vec![],
            derived: vec![],
            dispersion: None,
            own_sales_share: None,
        }
    }

    fn field(valuation: wit::Valuation) -> String {
        field_after(&[], valuation)
    }

    /// Returns the first field that breaks a promise to a release that was shown these sales, or
    /// `Ok`.
    fn field_after(shown_sales: &[u64], valuation: wit::Valuation) -> String {
        let is_shown = |id| shown_sales.contains(&id);
        match check(wit::Outcome::Valued(valuation), is_shown) {
            Ok(_) => "Ok".to_owned(),
            Err(RowFailure::InvalidOutcome { field, .. }) => field,
            Err(other) => other.to_string(),
        }
    }

    fn comparable(sale: u64, similarity: f64) -> wit::Comparable {
        wit::Comparable {
            sale,
            adjusted_price: 1.0,
            similarity,
        }
    }

    #[test]
    fn a_number_that_is_none_is_caught_wherever_it_stands() {
        for bad in [f64::NAN, f64::INFINITY, 0.0, -1.0, 1e11] {
            assert_eq!(
                field(wit::Valuation {
                    estimate: bad,
                    ..valuation()
                }),
                "estimate"
            );
        }
        for bad in [f64::NAN, -0.1, 1.1] {
            assert_eq!(
                field(wit::Valuation {
                    confidence: bad,
                    ..valuation()
                }),
                "confidence"
            );
        }
        let range = Some(wit::ValueRange {
            lower: 240_000.0,
            upper: 249_999.0,
        });
        assert_eq!(
            field(wit::Valuation {
                range,
                ..valuation()
            }),
            "range"
        );
    }

    #[test]
    fn a_derived_input_is_known_and_in_order() {
        let derived = |input| wit::DerivedInput {
            input,
            basis: wit::Derivation::Other,
            value: None,
        };
        let (rooms, area) = (wit::Attribute::Bedrooms, wit::Attribute::FloorArea);
        for (given, expected) in [
            (vec![area, rooms], "Ok"),
            (vec![rooms, area], "derived[1].input"),
            (vec![area, area], "derived[1].input"),
            (vec![wit::Attribute::Other], "derived[0].input"),
        ] {
            let found = field(wit::Valuation {
                derived: given.into_iter().map(derived).collect(),
                ..valuation()
            });
            assert!(found.starts_with(expected), "{found}");
        }
    }

    #[test]
    fn a_comparable_must_have_been_shown() {
        assert_eq!(
            field(wit::Valuation {
                comparables: vec![comparable(7, 1.0)],
                ..valuation()
            }),
            "comparables[0].sale"
        );
    }

    #[test]
    fn comparables_are_at_most_ten_and_distinct_and_the_best_first() {
        let shown: Vec<u64> = (1..=11).collect();
        let alike = |count: u64| (1..=count).map(|sale| (sale, 0.5)).collect::<Vec<_>>();
        let cases: [(Vec<(u64, f64)>, &str); 7] = [
            (alike(10), "Ok"),
            (alike(11), "comparables"),
            (vec![(2, 0.9), (1, 0.8)], "Ok"),
            (vec![(1, 0.8), (2, 0.9)], "comparables[1].similarity"),
            (vec![(2, 0.5), (1, 0.5)], "comparables[1].similarity"),
            (vec![(1, 0.5), (1, 0.5)], "comparables[1].sale"),
            (vec![(12, 0.5)], "comparables[0].sale"),
        ];
        for (pairs, expected) in cases {
            let comparables = pairs.iter().map(|(sale, alike)| comparable(*sale, *alike));
            let given = wit::Valuation {
                comparables: comparables.collect(),
                ..valuation()
            };
            assert_eq!(field_after(&shown, given), expected, "{pairs:?}");
        }
    }

    #[test]
    fn every_number_of_a_valuation_has_its_bounds() {
        type Change = fn(&mut wit::Valuation, f64);
        let cases: [(&str, Change, &[f64], &[f64]); 4] = [
            (
                "estimate",
                |given, number| given.estimate = number,
                &[0.01, MAX_POUNDS],
                &[MAX_POUNDS + 1.0],
            ),
            (
                "dispersion",
                |given, number| given.dispersion = Some(number),
                &[0.01, 5.0],
                &[f64::NAN, f64::INFINITY, 0.0, -0.1],
            ),
            (
                "own_sales_share",
                |given, number| given.own_sales_share = Some(number),
                &[0.0, 1.0],
                &[f64::NAN, -0.1, 1.1],
            ),
            (
                "derived[0].value",
                |given, number| {
                    given.derived = vec![wit::DerivedInput {
                        input: wit::Attribute::FloorArea,
                        basis: wit::Derivation::LocalTypical,
                        value: Some(number),
                    }];
                },
                &[-1.0, 0.0],
                &[f64::NAN, f64::NEG_INFINITY],
            ),
        ];
        for (name, change, good, bad) in cases {
            let found = |number: f64| {
                let mut given = valuation();
                change(&mut given, number);
                field(given)
            };
            for number in good {
                assert_eq!(found(*number), "Ok", "{name} {number}");
            }
            for number in bad {
                assert_eq!(found(*number), name, "{number}");
            }
        }
    }

    #[test]
    fn a_range_holds_its_estimate() {
        for (lower, upper, expected) in [
            (250_000.0, 250_000.0, "Ok"),
            (249_999.0, 250_001.0, "Ok"),
            (250_001.0, 250_002.0, "range"),
            (249_998.0, 249_999.0, "range"),
        ] {
            let range = Some(wit::ValueRange { lower, upper });
            let given = wit::Valuation {
                range,
                ..valuation()
            };
            assert_eq!(field(given), expected, "{lower} {upper}");
        }
    }
}
