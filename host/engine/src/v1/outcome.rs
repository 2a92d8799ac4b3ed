//! A release's outcome, untrusted until every promise of the interface is checked.

use super::subject::attribute;
use super::wit;
use crate::evidence::Sale;
use crate::outcome::{
    Comparable, Derivation, DerivedInput, FailureReason, Outcome, Referral, ReferralReason,
    RowFailure, Valuation, ValueRange,
};
use crate::subject::Attribute;

/// Comparables in one outcome.
const MAX_COMPARABLES: usize = 10;
/// More than any home or estate in England and Wales has fetched, pounds.
const MAX_POUNDS: f64 = 1e10;

/// Checks an outcome against the interface's promises.
///
/// Returns the host's outcome with the sales behind its comparables, or a failure that names the
/// broken promise.
pub(crate) fn check(
    outcome: wit::Outcome,
    shown_sales: &[Sale],
) -> Result<(Outcome, Vec<Sale>), RowFailure> {
    match outcome {
        wit::Outcome::Valued(valuation) => valued(valuation, shown_sales),
        wit::Outcome::Referred(referral) => Ok((
            Outcome::Referred(Referral {
                reason: reason(referral.reason),
                about: referral.about.map(attribute),
            }),
            Vec::new(),
        )),
        wit::Outcome::Failed(reason) => Ok((
            Outcome::Failed {
                reason: match reason {
                    wit::FailureReason::UnusableEvidence => FailureReason::UnusableEvidence,
                    wit::FailureReason::Numeric => FailureReason::Numeric,
                    wit::FailureReason::EvidenceRefused => FailureReason::EvidenceRefused,
                    wit::FailureReason::Other => FailureReason::Other,
                },
            },
            Vec::new(),
        )),
        wit::Outcome::Other => Err(invalid("outcome", "is a case that 1.0.0 never makes")),
    }
}

fn valued(given: wit::Valuation, shown_sales: &[Sale]) -> Result<(Outcome, Vec<Sale>), RowFailure> {
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
    let (comparables, sales) = comparables(given.comparables, shown_sales)?;
    let derived = derived(given.derived)?;
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
    Ok((Outcome::Valued(valuation), sales))
}

fn comparables(
    given: Vec<wit::Comparable>,
    shown_sales: &[Sale],
) -> Result<(Vec<Comparable>, Vec<Sale>), RowFailure> {
    if given.len() > MAX_COMPARABLES {
        return Err(invalid("comparables", "are more than 10"));
    }
    let mut comparables: Vec<Comparable> = Vec::with_capacity(given.len());
    let mut sales = Vec::with_capacity(given.len());
    for (at, comparable) in given.into_iter().enumerate() {
        let name = |part: &str| format!("comparables[{at}].{part}");
        let sale = shown_sales
            .iter()
            .find(|sale| sale.id == comparable.sale)
            .ok_or_else(|| invalid(&name("sale"), "was not shown to the release"))?;
        if comparables
            .iter()
            .any(|earlier| earlier.sale == comparable.sale)
        {
            return Err(invalid(&name("sale"), "is given twice"));
        }
        let next = Comparable {
            sale: comparable.sale,
            adjusted_price: pounds(&name("adjusted_price"), comparable.adjusted_price)?,
            similarity: share(&name("similarity"), comparable.similarity)?,
        };
        if comparables
            .last()
            .is_some_and(|last| (next.similarity, last.sale) > (last.similarity, next.sale))
        {
            return Err(invalid(&name("similarity"), "is out of order"));
        }
        comparables.push(next);
        sales.push(sale.clone());
    }
    Ok((comparables, sales))
}

fn derived(given: Vec<wit::DerivedInput>) -> Result<Vec<DerivedInput>, RowFailure> {
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
                &format!("derived[{at}].value"),
                "is not a finite number",
            ));
        }
        if next.input == Attribute::Other
            || inputs.last().is_some_and(|last| last.input >= next.input)
        {
            return Err(invalid(
                &format!("derived[{at}].input"),
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

fn pounds(field: &str, value: f64) -> Result<f64, RowFailure> {
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

fn share(field: &str, value: f64) -> Result<f64, RowFailure> {
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(invalid(field, "is not between 0 and 1"))
    }
}

fn invalid(field: &str, problem: &str) -> RowFailure {
    RowFailure::InvalidOutcome {
        field: field.to_owned(),
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
        match check(wit::Outcome::Valued(valuation), &[]) {
            Err(RowFailure::InvalidOutcome { field, .. }) => field,
            other => format!("{other:?}"),
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
        let comparable = wit::Comparable {
            sale: 7,
            adjusted_price: 1.0,
            similarity: 1.0,
        };
        assert_eq!(
            field(wit::Valuation {
                comparables: vec![comparable],
                ..valuation()
            }),
            "comparables[0].sale"
        );
    }
}
