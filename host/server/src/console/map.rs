//! A map of a home and its comparables, drawn from the postcodes' points.

use domesday_property::Snapshot;
use domesday_registers::Postcode;
use maud::{Markup, html};

/// Units of the drawing from one side to the other.
const SIDE: f64 = 400.0;
/// Units around the points.
const MARGIN: f64 = 30.0;
/// The least width of the map, metres.
const LEAST_METRES: f64 = 400.0;

/// A point of the map.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// The label: a comparable's rank, or nothing for the home itself.
    label: Option<String>,
    easting: f64,
    northing: f64,
}

/// Returns the point of a postcode, where the snapshot has it.
pub(super) fn point(snapshot: &Snapshot, postcode: &str, label: Option<String>) -> Option<Point> {
    let postcode = Postcode::parse(postcode)?;
    // A damaged row is found and logged by the valuation itself.
    let location = snapshot.postcode(&postcode).ok()??;
    Some(Point {
        label,
        easting: location.easting.into(),
        northing: location.northing.into(),
    })
}

/// Returns points of which no two are at one place. Homes of one postcode share a point, so their
/// labels are joined.
fn join_points(points: &[Point]) -> Vec<Point> {
    let mut joined: Vec<Point> = Vec::new();
    for point in points {
        let here = |other: &&mut Point| {
            other.label.is_some() == point.label.is_some()
                && (other.easting, other.northing) == (point.easting, point.northing)
        };
        match (joined.iter_mut().find(here), &point.label) {
            (Some(other), Some(label)) => {
                let before = other.label.take().unwrap_or_default();
                other.label = Some(format!("{before}, {label}"));
            }
            (Some(_), None) => {}
            (None, _) => joined.push(point.clone()),
        }
    }
    joined
}

/// Returns the map, north up.
pub(super) fn map(points: &[Point]) -> Markup {
    let points = join_points(points);
    let ends = |of: fn(&Point) -> f64| {
        let values = points.iter().map(of);
        values.fold((f64::MAX, f64::MIN), |(low, high), value| {
            (low.min(value), high.max(value))
        })
    };
    let (west, east) = ends(|point| point.easting);
    let (south, north) = ends(|point| point.northing);
    let metres = (east - west).max(north - south).max(LEAST_METRES);
    let scale = (SIDE - 2.0 * MARGIN) / metres;
    let x = |point: &Point| SIDE / 2.0 + (point.easting - f64::midpoint(west, east)) * scale;
    let y = |point: &Point| SIDE / 2.0 - (point.northing - f64::midpoint(south, north)) * scale;
    let bar = scale_bar(metres);
    html! {
        svg.map viewBox="0 0 400 400" role="img" aria-label="The home and its comparables at the points of their postcodes, north up" {
            rect.ground width="400" height="400" {}
            @for point in &points {
                @if let Some(label) = &point.label {
                    g.comparable {
                        circle cx=(coordinate(x(point))) cy=(coordinate(y(point))) r="6" {}
                        text x=(coordinate(x(point))) y=(coordinate(y(point) - 9.0)) { (label) }
                    }
                }
            }
            @for home in points.iter().filter(|point| point.label.is_none()) {
                circle.home cx=(coordinate(x(home))) cy=(coordinate(y(home))) r="6" {}
            }
            path.bar d={ "M12 384h" (coordinate(bar * scale)) } {}
            text.bar x="12" y="378" { (bar) " m" }
        }
    }
}

/// Returns a coordinate with one decimal.
pub(super) fn coordinate(value: f64) -> String {
    format!("{value:.1}")
}

/// Returns the longest of 100, 200, 500 metres and so on that takes less than half of the width.
fn scale_bar(metres: f64) -> f64 {
    let lengths = [100.0, 200.0, 500.0, 1_000.0, 2_000.0, 5_000.0, 10_000.0];
    let fits = lengths
        .into_iter()
        .rev()
        .find(|length| *length < metres / 2.0);
    fits.unwrap_or(100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_lie_within_the_map_with_north_up() {
        let at = |label: Option<&str>, easting, northing| Point {
            label: label.map(str::to_owned),
            easting,
            northing,
        };
        let points = [at(None, 0.0, 0.0), at(Some("1"), 1_000.0, 500.0)];
        let drawn = map(&points).into_string();
        assert!(
            drawn.contains(r#"<circle class="home" cx="30.0" cy="285.0" r="6">"#),
            "{drawn}"
        );
        assert!(drawn.contains(r#"cx="370.0" cy="115.0""#), "{drawn}");
        assert!(drawn.contains("200 m"), "{drawn}");
        // Comparables of one postcode share a point.
        let shared = [&points[..], &[at(Some("2"), 1_000.0, 500.0)]].concat();
        let drawn = map(&shared).into_string();
        assert!(drawn.contains(">1, 2</text>"), "{drawn}");
        // One point alone is in the middle.
        let alone = map(&points[..1]).into_string();
        assert!(alone.contains(r#"cx="200.0" cy="200.0""#), "{alone}");
    }
}
