//! The `lease` section: how long a lease has to run, stated or to be reckoned.

use chrono::{Datelike, Months, NaiveDate};

use super::property::Tenure;
use crate::error::{Code, ValidationErrors};
use crate::json::values::{date, integer, number};
use crate::json::{Section, Shape};

/// Longest lease, in years.
pub(super) const YEARS_MAX: u16 = 999;
/// Highest yearly charge, in pounds.
pub(super) const CHARGE_MAX: f64 = 100_000.0;

/// A lease, by either of its two paths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Lease {
    /// Years that it has left on the valuation date, above 0 and at most 999.
    Simple {
        /// The years.
        years_remaining: f64,
    },
    /// Its terms.
    Detailed(DetailedLease),
}

/// The terms of a lease.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DetailedLease {
    /// First day of the term.
    pub start_date: NaiveDate,
    /// Length of the term in years, 1 to 999.
    pub term_years: u16,
    /// Ground rent in pounds a year.
    pub ground_rent_gbp_per_year: Option<f64>,
    /// Service charge in pounds a year.
    pub service_charge_gbp_per_year: Option<f64>,
}

impl Lease {
    /// Years left on `day`, in years of 365.25 days; negative after the end.
    #[must_use]
    pub fn years_remaining(&self, day: NaiveDate) -> f64 {
        match self {
            Self::Simple { years_remaining } => *years_remaining,
            Self::Detailed(terms) => terms.years_remaining(day),
        }
    }
}

impl DetailedLease {
    fn years_remaining(&self, day: NaiveDate) -> f64 {
        let months = Months::new(u32::from(self.term_years) * 12);
        // A term of 999 years ends within the calendar's range for any year of four digits.
        let end = self
            .start_date
            .checked_add_months(months)
            .unwrap_or(NaiveDate::MAX);
        f64::from(end.num_days_from_ce() - day.num_days_from_ce()) / 365.25
    }
}

pub(super) const DETAILED_FIELDS: [&str; 4] = [
    "start_date",
    "term_years",
    "ground_rent_gbp_per_year",
    "service_charge_gbp_per_year",
];

pub(super) const SHAPE: Shape = Shape {
    pointer: "/lease",
    fields: &[
        "years_remaining",
        "start_date",
        "term_years",
        "ground_rent_gbp_per_year",
        "service_charge_gbp_per_year",
    ],
};

/// Reads the section, and compares it with the tenure and the valuation date.
pub(super) fn read(
    document: &mut Section<'_, '_>,
    errors: &mut ValidationErrors,
    title_tenure: Option<Tenure>,
    valuation_date: Option<NaiveDate>,
) -> Option<Lease> {
    const NAME: &str = "lease";
    match title_tenure {
        Some(Tenure::Leasehold) if !document.has(NAME) => {
            document.missing(errors, NAME, "A leasehold property needs its lease.");
        }
        Some(Tenure::Freehold) if document.has(NAME) => {
            let message = "A freehold property has no lease; leave the section out.".to_owned();
            document.report(errors, Code::InvalidValue, NAME, message);
        }
        _ => {}
    }
    let mut section = document.section(errors, NAME, SHAPE)?;
    let years = section.optional(
        errors,
        "years_remaining",
        number(0.0..=f64::from(YEARS_MAX)),
    );
    let start = section.optional(errors, "start_date", date);
    let term = section.optional(errors, "term_years", integer(1..=YEARS_MAX));
    let ground_rent_gbp_per_year =
        section.optional(errors, "ground_rent_gbp_per_year", number(0.0..=CHARGE_MAX));
    let service_charge_gbp_per_year = section.optional(
        errors,
        "service_charge_gbp_per_year",
        number(0.0..=CHARGE_MAX),
    );
    let detailed = DETAILED_FIELDS.iter().any(|field| section.has(field));
    let lease = match (section.has("years_remaining"), detailed) {
        (true, true) => {
            let message = "Give either years_remaining alone, or start_date and term_years with \
                           what belongs to them, not both."
                .to_owned();
            section.report(errors, Code::InvalidValue, "years_remaining", message);
            None
        }
        (true, false) => years.and_then(|years_remaining| {
            if years_remaining > 0.0 {
                return Some(Lease::Simple { years_remaining });
            }
            let message = "A lease with no time left cannot be valued as one.".to_owned();
            section.report(errors, Code::InvalidValue, "years_remaining", message);
            None
        }),
        (false, true) => {
            for field in ["start_date", "term_years"] {
                if !section.has(field) {
                    let message = "A lease needs start_date and term_years together.";
                    section.missing(errors, field, message);
                }
            }
            start.zip(term).and_then(|(start_date, term_years)| {
                let terms = DetailedLease {
                    start_date,
                    term_years,
                    ground_rent_gbp_per_year,
                    service_charge_gbp_per_year,
                };
                runs_on(&section, errors, &terms, valuation_date).then_some(Lease::Detailed(terms))
            })
        }
        // Nothing but unknown fields, which are reported below.
        (false, false) => None,
    };
    section.finish(errors);
    lease
}

/// Returns whether the lease has begun and not ended on the valuation date, where that is known.
fn runs_on(
    section: &Section<'_, '_>,
    errors: &mut ValidationErrors,
    terms: &DetailedLease,
    day: Option<NaiveDate>,
) -> bool {
    let Some(day) = day else { return true };
    let (field, message) = if terms.start_date > day {
        ("start_date", "The lease begins after the valuation date.")
    } else if terms.years_remaining(day) <= 0.0 {
        ("term_years", "The lease has ended by the valuation date.")
    } else {
        return true;
    };
    section.report(errors, Code::InvalidValue, field, message.to_owned());
    false
}
