//! The glossary, and the limits of the figures.

use crate::compare::comparison::Comparison;
use crate::compare::header::Source;
use maud::{Markup, html};

/// Returns the glossary.
pub fn words(found: &Comparison) -> Markup {
    let least = found.subject.least_rows;
    html! {
        h2 { "Glossary" }
        dl.words {
            dt { "change" } dd { "B's estimate over A's, less 1, on a row that both value; " b { "total" } " is that of the sums of all estimates." }
            dt { "flip" } dd { "A row that one of the two values, refers to a person or fails on, and the other does not." }
            dt { "MdAPE, B nearer" }
            dd { "Median of |estimate − price| / price on the same rows; the share of them on which B is nearer to the price, ties counted half, with its
                  95 % score interval by postcode from the rows that differ (Wilson 1927), in colour where it does not hold 50. Given from " (least) "
                  known prices on." }
            dt { "width, covered" }
            dd { "Median of (upper − lower) / estimate where both give a range; share of prices in their range, red where the promise lies outside its
                  95 % interval by postcode." }
            dt { "fuel, time" }
            dd { "Fuel is counted by the sandbox and the same everywhere; "
                @match &found.subject.rows {
                    Source::Live { .. } => { "time is of a busy server: A's within the request, B's afterwards, so that only great differences mean anything." }
                    _ => { "time is of this machine: every row is valued twice by both, in turn, and the second time is taken." }
                }
            }
        }
        @if matches!(found.subject.rows, Source::Sales { .. }) {
            p.quiet { "A price is what was agreed and not what a surveyor would say, and homes that were not sold are not here." }
        }
    }
}
