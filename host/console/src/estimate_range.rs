//! The range of an estimate, as a bar.

use crate::chart::coordinate;
use crate::number::{percent_of, pounds};
use maud::{Markup, html};
use serde_json::Value;

/// Returns the range as a bar on which the estimate is marked.
pub fn range(estimate: i64, range: &Value) -> Markup {
    let (Some(lower), Some(upper)) = (
        range["lower_value_gbp"].as_i64(),
        range["upper_value_gbp"].as_i64(),
    ) else {
        return html! { p { "This estimate has no range." } };
    };
    let share = if upper > lower {
        // Pounds of a home are far below the whole numbers that a double holds.
        #[allow(clippy::cast_precision_loss)]
        let share = (estimate - lower) as f64 / (upper - lower) as f64;
        share.clamp(0.0, 1.0)
    } else {
        0.5
    };
    let at = coordinate(10.0 + 380.0 * share);
    html! {
        svg.range viewBox="0 0 400 30" role="img" aria-label="The estimate within its range" {
            rect x="10" y="10" width="380" height="10" rx="5" {}
            path d={ "M" (at) " 3v24" } {}
        }
        p.ends {
            span { (pounds(lower)) } span { (pounds(upper)) }
        }
        p.quiet {
            "The range is meant to hold the price in " (percent_of(&range["nominal_coverage"], 0))
            " of sales."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_estimate_is_marked_within_its_range() {
        let of_range = json!({
            "lower_value_gbp": 100_000, "upper_value_gbp": 300_000, "nominal_coverage": 0.9,
        });
        let drawn = range(150_000, &of_range).into_string();
        for shown in ["d=\"M105", "£100,000", "£300,000", "90 % of sales"] {
            assert!(drawn.contains(shown), "{shown}: {drawn}");
        }
        let none = range(150_000, &Value::Null).into_string();
        assert!(none.contains("has no range"), "{none}");
    }
}
