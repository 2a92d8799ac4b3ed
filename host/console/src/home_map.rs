//! A map of a home and its comparables, drawn from the postcodes' points.

use crate::chart::coordinate;
use maud::{Markup, html};

/// Units of the drawing from one side to the other.
const SIDE: f64 = 400.0;
/// Units around the points.
const MARGIN: f64 = 30.0;
/// The radius of a point.
const CIRCLE: f64 = 6.0;
/// The height of a letter.
const LETTER: f64 = 14.0;
/// Rings of distance around the home. Those beyond the map are not seen.
const RINGS: u32 = 5;
/// The least width of the map, metres.
const LEAST_METRES: f64 = 400.0;

/// A place on the National Grid, metres.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridLocation {
    /// Metres to the east.
    pub easting: i32,
    /// Metres to the north.
    pub northing: i32,
}

/// A point of the map.
#[derive(Clone, Debug)]
pub struct Point {
    /// The label: a comparable's rank, or nothing for the home itself.
    pub label: Option<String>,
    /// The price and the day that belong to it.
    pub words: String,
    /// Its place on the National Grid.
    pub place: GridLocation,
}

/// Returns points of which no two are at one place. Homes of one postcode share a point, so their
/// labels are joined.
fn join_points(points: &[Point]) -> Vec<Point> {
    let mut joined: Vec<Point> = Vec::new();
    for point in points {
        let here = |other: &&mut Point| {
            other.label.is_some() == point.label.is_some() && other.place == point.place
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

/// The part of the National Grid that a map shows.
struct View {
    /// The point in the middle, metres.
    middle: (f64, f64),
    /// Metres from the points at one side to those at the other.
    metres: f64,
    /// Units of the drawing a metre.
    scale: f64,
}

impl View {
    /// Returns the view that has all points.
    fn of(points: &[Point]) -> View {
        let ends = |of: fn(&GridLocation) -> i32| {
            let values = points.iter().map(|point| f64::from(of(&point.place)));
            values.fold((f64::MAX, f64::MIN), |(low, high), value| {
                (low.min(value), high.max(value))
            })
        };
        let (west, east) = ends(|place| place.easting);
        let (south, north) = ends(|place| place.northing);
        let metres = (east - west).max(north - south).max(LEAST_METRES);
        View {
            middle: (f64::midpoint(west, east), f64::midpoint(south, north)),
            metres,
            scale: (SIDE - 2.0 * MARGIN) / metres,
        }
    }

    fn x(&self, place: &GridLocation) -> f64 {
        SIDE / 2.0 + (f64::from(place.easting) - self.middle.0) * self.scale
    }

    fn y(&self, place: &GridLocation) -> f64 {
        SIDE / 2.0 - (f64::from(place.northing) - self.middle.1) * self.scale
    }

    fn contains(&self, place: &GridLocation) -> bool {
        [self.x(place), self.y(place)]
            .iter()
            .all(|at| (0.0..=SIDE).contains(at))
    }
}

/// Returns the map, north up: the home in rings of distance, its comparables, and the postcodes of
/// its sector as dots.
pub fn map(points: &[Point], sector: &[GridLocation]) -> Markup {
    let points = join_points(points);
    let view = View::of(&points);
    let (x, y) = (
        |place| coordinate(view.x(place)),
        |place| coordinate(view.y(place)),
    );
    let step = round_length(view.metres / 3.0);
    let bar = round_length(view.metres / 2.0);
    html! {
        svg.map viewBox="0 0 400 400" role="img" aria-label="The home and its comparables at the points of their postcodes, north up" {
            rect.ground width="400" height="400" {}
            @for home in points.iter().filter(|point| point.label.is_none()) {
                @for ring in 1..=RINGS {
                    @let metres = step * f64::from(ring);
                    @let radius = metres * view.scale;
                    circle.ring cx=(x(&home.place)) cy=(y(&home.place)) r=(coordinate(radius)) {}
                    @if let Some((left, top)) = label_of_ring(view.x(&home.place), view.y(&home.place), radius) {
                        text.ring x=(coordinate(left)) y=(coordinate(top)) { (metres) " m" }
                    }
                }
            }
            @for place in sector.iter().filter(|place| view.contains(place)) {
                circle.postcode cx=(x(place)) cy=(y(place)) r="1.5" {}
            }
            @for label in place_labels(&points, &view) {
                g.comparable {
                    circle cx=(coordinate(label.point.0)) cy=(coordinate(label.point.1)) r="6" {}
                    @if label.is_far { path.leader d={ "M" (coordinate(label.point.0)) " " (coordinate(label.point.1)) "L" (coordinate(label.x)) " " (coordinate(label.y - 4.0)) } {} }
                    text x=(coordinate(label.x)) y=(coordinate(label.y)) { (label.words) }
                }
            }
            @for home in points.iter().filter(|point| point.label.is_none()) {
                circle.home cx=(x(&home.place)) cy=(y(&home.place)) r="6" {}
            }
            path.bar d={ "M12 384h" (coordinate(bar * view.scale)) } {}
            text.bar x="12" y="378" { (bar) " m" }
            path.north d="M384 10l6 18-6-5-6 5z" {}
            text.north x="384" y="40" { "N" }
        }
    }
}

/// The words at a point of the map.
struct Label<'a> {
    words: &'a str,
    /// The point that it belongs to.
    point: (f64, f64),
    /// The middle of the words.
    x: f64,
    /// The line that they stand on.
    y: f64,
    /// True if they are so far from the point that a line leads to them.
    is_far: bool,
}

impl Label<'_> {
    /// Returns half the width of words in the map's letters.
    #[allow(clippy::cast_precision_loss)]
    fn half_width(words: &str) -> f64 {
        4.0 * words.chars().count() as f64 + 1.0
    }

    /// Reports whether two labels cover each other.
    fn covers(&self, other: &Label<'_>) -> bool {
        let apart = Self::half_width(self.words) + Self::half_width(other.words);
        (self.x - other.x).abs() < apart && (self.y - other.y).abs() < LETTER
    }

    /// Reports whether the label covers a circle.
    fn covers_point(&self, (x, y): (f64, f64)) -> bool {
        let apart = Self::half_width(self.words) + CIRCLE;
        (self.x - x).abs() < apart && (self.y - LETTER / 3.0 - y).abs() < LETTER / 2.0 + CIRCLE
    }
}

/// Returns the labels of the comparables. Each stands at the nearest place around its point where
/// it covers no other label and no point.
fn place_labels<'a>(points: &'a [Point], view: &View) -> Vec<Label<'a>> {
    let circles: Vec<(f64, f64)> = points
        .iter()
        .map(|point| (view.x(&point.place), view.y(&point.place)))
        .collect();
    let mut placed: Vec<Label<'a>> = Vec::new();
    for (point, &(x, y)) in points.iter().zip(&circles) {
        let Some(words) = &point.label else { continue };
        let half = Label::half_width(words);
        let at = |across: f64, down: f64| Label {
            words,
            point: (x, y),
            x: (x + across).clamp(half, SIDE - half),
            y: (y + down).clamp(LETTER, SIDE - 3.0),
            is_far: down.abs() > 25.0 || across.abs() > half + 15.0,
        };
        let beside = half + CIRCLE + 2.0;
        let candidates = (0..6).flat_map(|step| {
            let more = LETTER * f64::from(step);
            [
                (0.0, -9.0 - more),
                (0.0, 18.0 + more),
                (beside + more, 4.0),
                (-beside - more, 4.0),
                (beside + more, -9.0 - more),
                (-beside - more, -9.0 - more),
                (beside + more, 18.0 + more),
                (-beside - more, 18.0 + more),
            ]
        });
        let is_free = |label: &Label<'_>| {
            !placed.iter().any(|other| label.covers(other))
                && !circles.iter().any(|circle| label.covers_point(*circle))
        };
        let mut free = candidates.map(|(across, down)| at(across, down));
        let label = free.find(is_free).unwrap_or_else(|| at(0.0, -9.0));
        placed.push(label);
    }
    placed
}

/// Returns the point of a ring around a centre where its label is within the map: above, below, at
/// the left or at the right.
fn label_of_ring(x: f64, y: f64, radius: f64) -> Option<(f64, f64)> {
    let points = [
        (x, y - radius),
        (x, y + radius),
        (x - radius, y),
        (x + radius, y),
    ];
    let within = |at: &f64| (20.0..=SIDE - 20.0).contains(at);
    let mut inside = points.into_iter().filter(|(x, y)| within(x) && within(y));
    inside.next()
}

/// Returns the longest of 100, 200, 500 metres and so on that is below a length.
fn round_length(metres: f64) -> f64 {
    let lengths = [100.0, 200.0, 500.0, 1_000.0, 2_000.0, 5_000.0, 10_000.0];
    let fits = lengths.into_iter().rev().find(|length| *length < metres);
    fits.unwrap_or(100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_lie_within_the_map_with_north_up() {
        let place = |easting, northing| GridLocation { easting, northing };
        let at = |label: Option<&str>, easting, northing| Point {
            label: label.map(str::to_owned),
            words: String::new(),
            place: place(easting, northing),
        };
        let points = [at(None, 0, 0), at(Some("1"), 1_000, 500)];
        let drawn = map(&points, &[]).into_string();
        assert!(
            drawn.contains(r#"<circle class="home" cx="30.0" cy="285.0" r="6">"#),
            "{drawn}"
        );
        assert!(drawn.contains(r#"cx="370.0" cy="115.0""#), "{drawn}");
        assert!(drawn.contains("200 m"), "{drawn}");
        // Comparables of one postcode share a point.
        let shared = [&points[..], &[at(Some("2"), 1_000, 500)]].concat();
        let drawn = map(&shared, &[]).into_string();
        assert!(drawn.contains(">1, 2</text>"), "{drawn}");
        // One point alone is in the middle.
        let alone = map(&points[..1], &[]).into_string();
        assert!(alone.contains(r#"cx="200.0" cy="200.0""#), "{alone}");
    }

    #[test]
    fn labels_of_points_that_are_close_are_moved_apart() {
        let near = |rank: usize, easting| Point {
            label: Some(rank.to_string()),
            words: String::new(),
            place: GridLocation {
                easting,
                northing: 500,
            },
        };
        let mut points: Vec<Point> = (1..=8).map(|at| near(at, 480 + 5 * at as i32)).collect();
        points.push(near(9, 1_000));
        points.push(near(10, 0));
        let view = View::of(&points);
        let labels = place_labels(&points, &view);
        assert_eq!(labels.len(), 10);
        for (at, label) in labels.iter().enumerate() {
            let mut others = labels.iter().skip(at + 1);
            assert!(!others.any(|other| label.covers(other)), "{}", label.words);
        }
    }

    #[test]
    fn rings_around_the_home_have_round_distances_and_dots_lie_within_the_map() {
        let place = |easting, northing| GridLocation { easting, northing };
        let home = Point {
            label: None,
            words: String::new(),
            place: place(1_000, 1_000),
        };
        let far = Point {
            label: Some("1".to_owned()),
            place: place(2_000, 1_000),
            ..home.clone()
        };
        let drawn = map(&[home, far], &[place(1_200, 1_000), place(9_000, 0)]).into_string();
        // 340 units are a kilometre.
        for (metres, radius) in [(200, "68.0"), (400, "136.0"), (600, "204.0")] {
            let ring = format!(r#"<circle class="ring" cx="30.0" cy="200.0" r="{radius}">"#);
            assert!(drawn.contains(&ring), "{drawn}");
            assert!(drawn.contains(&format!("{metres} m</text>")), "{drawn}");
        }
        assert_eq!(drawn.matches(r#"class="postcode""#).count(), 1, "{drawn}");
        assert!(
            drawn.contains(r#"class="postcode" cx="98.0" cy="200.0""#),
            "{drawn}"
        );
    }
}
