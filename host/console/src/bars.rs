//! Bars: a value for each of a few groups, in one unit.

use crate::chart::{Axis, Frame, coordinate, place};
use maud::{Markup, html};

/// One bar.
pub struct Bar {
    /// The words beneath it.
    pub label: String,
    /// The words that name it and its value.
    pub title: String,
    /// Its height; `None` leaves its place empty.
    pub value: Option<f64>,
}

/// Returns a chart of bars, with a line where one is promised. Without a bar there is none.
#[allow(clippy::cast_precision_loss)]
pub fn bars(
    title: &str,
    unit: &str,
    across: &str,
    bars: &[Bar],
    promised: Option<(f64, &str)>,
) -> Markup {
    let values = bars.iter().filter_map(|bar| bar.value);
    let most = values.chain(promised.map(|(at, _)| at)).fold(0.0, f64::max);
    if bars.iter().all(|bar| bar.value.is_none()) {
        return html! {};
    }
    let axis = Axis::of(0.0, most.max(1.0));
    let width = 1.0 / bars.len() as f64;
    let middle = |at: usize| place(width * (at as f64 + 0.5));
    let drawing = html! {
        g.series-0.bars {
            @for (at, bar) in bars.iter().enumerate() {
                @if let Some(value) = bar.value {
                    @let (left, top) = (place(width * (at as f64 + 0.1)), axis.y(value));
                    rect x=(coordinate(left)) y=(coordinate(top)) width=(coordinate(place(0.8 * width))) height=(coordinate(axis.y(0.0) - top)) {
                        title { (bar.title) }
                    }
                }
            }
        }
        @if let Some((at, words)) = promised {
            path.limit d={ "M0 " (coordinate(axis.y(at))) "H" (place(1.0)) } { title { (words) } }
        }
    };
    let labels = bars.iter().enumerate();
    let labels = labels.filter(|(_, bar)| !bar.label.is_empty());
    let caption = match promised {
        Some((_, words)) => format!("{title}, {unit}. The broken line is {words}."),
        None => format!("{title}, {unit}"),
    };
    let frame = Frame {
        title,
        caption: &caption,
        unit,
        across,
        axis: &axis,
        marks: labels
            .map(|(at, bar)| (middle(at), bar.label.clone()))
            .collect(),
        names: Vec::new(),
    };
    frame.show(&drawing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_stands_on_zero_and_is_as_high_as_its_value() {
        let bar = |value| Bar {
            label: "a".to_owned(),
            title: "b".to_owned(),
            value,
        };
        let all = [bar(Some(50.0)), bar(None), bar(Some(100.0))];
        let drawn = bars("T", "%", "group", &all, Some((80.0, "promised"))).into_string();
        // The axis goes from 0 to 100 over 220 pixels.
        assert!(
            drawn.contains("y=\"110.0\" width=\"170.7\" height=\"110.0\""),
            "{drawn}"
        );
        assert_eq!(drawn.matches("<rect").count(), 2, "{drawn}");
        assert!(drawn.contains("M0 44.0H640"), "{drawn}");
        assert_eq!(
            bars("T", "%", "group", &[bar(None)], None).into_string(),
            ""
        );
    }
}
