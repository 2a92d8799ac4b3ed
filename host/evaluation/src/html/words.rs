//! The glossary, and the limits of the figures.

use super::tables::percent;
use crate::coverage::{MANY, POINTS};
use crate::report::Report;
use maud::{Markup, html};

/// Returns the glossary.
pub fn words(report: &Report) -> Markup {
    let least = report.subject.least_rows;
    html! {
        h2 { "Glossary" }
        dl.words {
            dt { "hit, ref." } dd { "Share of sales that the release valued, and that it referred to a person." }
            dt { "MdAPE, ≤5 %, ≤10 %, ≤20 %" }
            dd { "Median of |estimate − price| / price, and the share of values whose error is at most so much. Intervals are of 95 %, by postcode: sales of
                  one block or street are not independent." }
            dt { "bias" } dd { "Median of estimate / price − 1, per cent; above 0 is too high." }
            dt { "FSD" } dd { "Forecast standard deviation: sample standard deviation of ln(price / estimate)." }
            dt { "COD, PRD, PRB" }
            dd { "Coefficient of dispersion (per cent of the median ratio), price-related differential and price-related bias of the Standard on Ratio
                  Studies of the International Association of Assessing Officers (2013). A PRD above 1 and a PRB below 0 say that the dear are
                  valued too low against the cheap." }
            dt { "covered, width" }
            dd { "Share of prices in their range with its 95 % score interval by postcode (Wilson 1927), red where it fails the check of a release; and the
                  median of the range's width over the estimate. Of " (MANY) " independent ranges or more the share may be "
                  (percent(POINTS, 0)) " points from the promise. Of fewer an exact test refutes the promise at 95 %, of a group after Holm's
                  correction for all groups. Bands of price and small groups are not judged, so that they are never red." }
            dt { "release nearer" }
            dd { "Share of the same rows on which the release was nearer to the price than the baseline, ties counted half. The interval is of the rows that
                  differ, each counted for itself. Where it holds 50, the sample cannot tell the two apart." }
            dt { "too few" } dd { "Groups of fewer than " (least) " rows are shown, but not figured." }
        }
        p.quiet { "Bands of price are unkind to every model: sales that fetched little for their kind are in the low bands, so that estimates look too high
                   there, and too low in the high ones. A price is what was agreed and not what a surveyor would say; homes that were not sold are
                   not here; and some sales of category A were no arm's-length ones all the same." }
    }
}
