//! The reasons why datasets are empty or lack metrics, with the inputs to give.

use super::inputs::Inputs;
use crate::build::Draft;
use crate::catalogue::Family;

/// States the reason for each dataset of the draft that is empty or lacks metrics.
pub(super) fn state(draft: &mut Draft, inputs: &Inputs) {
    for summary in draft.summaries(Family::Markets) {
        let Some(dataset) = Family::Markets.dataset(&summary.dataset) else {
            continue;
        };
        let reasons = reasons(dataset.id, summary.to.is_none(), inputs);
        if !reasons.is_empty() {
            draft.reason(dataset, reasons.join(" "));
        }
    }
}

fn reasons(id: &str, empty: bool, inputs: &Inputs) -> Vec<&'static str> {
    let mut reasons = Vec::new();
    match id {
        "market_activity" if inputs.certificates.is_empty() => {
            reasons.push("No price per square metre: give --certificates.");
        }
        "rental_market" => {
            if inputs.rents.is_empty() {
                reasons.push("No rents and yields: give --rents.");
            }
            if inputs.price_index.is_empty() {
                reasons.push("No values and yields: give --house-price-index.");
            }
        }
        _ => {}
    }
    if empty && reasons.is_empty() {
        reasons.push(
            "No authority has enough sales in a whole window. Give price paid files of more \
             months, or a wider --covers.",
        );
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn reason(inputs: &Inputs, id: &str) -> Option<String> {
        let mut draft = Draft::new();
        state(&mut draft, inputs);
        let all = draft.summaries(Family::Markets);
        all.into_iter().find(|one| one.dataset == id)?.reason
    }

    #[test]
    fn an_absent_input_is_named_and_otherwise_the_sales_are_too_few() {
        let mut inputs = Inputs::default();
        let activity = reason(&inputs, "market_activity").unwrap();
        assert!(activity.contains("--certificates"), "{activity}");
        let rental = reason(&inputs, "rental_market").unwrap();
        assert!(rental.contains("--rents"), "{rental}");
        assert!(rental.contains("--house-price-index"), "{rental}");
        inputs.rents.push(PathBuf::new());
        let rental = reason(&inputs, "rental_market").unwrap();
        assert!(!rental.contains("--rents"), "{rental}");
        let bands = reason(&inputs, "price_bands").unwrap();
        assert!(bands.contains("--covers"), "{bands}");
    }
}
