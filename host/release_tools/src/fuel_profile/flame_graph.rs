//! A flame graph as SVG, and the folded stacks that other programs draw it from.
//!
//! inferno draws them too, but its licence (CDDL) is none that this project takes.

use super::ReleaseProfile;
use super::function::{callers, path_totals};
use crate::check::{group_digits, percent};
use domesday_engine::fuel_profile::FuelProfile;
use maud::{Markup, html};
use std::collections::BTreeMap;
use std::fmt::Write;

const WIDTH: f64 = 1_200.0;
const MARGIN: f64 = 10.0;
const HEADER: f64 = 40.0;
/// Height of a frame.
const FRAME: f64 = 17.0;
/// A narrower frame is left out, with the frames on top of it.
const MIN_WIDTH: f64 = 0.4;
/// Width of a letter of the frames' font.
const LETTER: f64 = 6.6;

/// Returns a line a path: its functions with semicolons between, and the fuel of the innermost.
pub(super) fn fold_stacks(profile: &FuelProfile) -> String {
    let mut text = String::new();
    for (at, call) in profile.calls.iter().enumerate() {
        if call.self_fuel == 0 {
            continue;
        }
        let mut path: Vec<usize> = callers(profile, at).collect();
        path.reverse();
        path.push(at);
        let names = path
            .iter()
            .map(|&at| profile.calls[at].function.replace(';', ","));
        let names = names.collect::<Vec<_>>().join(";");
        let _ = writeln!(text, "{names} {}", call.self_fuel);
    }
    text
}

/// The drawing: the profile, and the frames that are on top of each.
struct Drawing<'a> {
    profile: &'a FuelProfile,
    totals: Vec<u64>,
    callees: BTreeMap<Option<usize>, Vec<usize>>,
    fuel: u64,
    height: f64,
}

/// Draws a profile: the host's calls at the bottom, callees on top, their width their fuel.
pub(super) fn draw(profile: &ReleaseProfile) -> String {
    let fuel = &profile.fuel;
    let mut callees: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (at, call) in fuel.calls.iter().enumerate() {
        callees.entry(call.caller).or_default().push(at);
    }
    for frames in callees.values_mut() {
        frames.sort_by(|&a, &b| fuel.calls[a].function.cmp(&fuel.calls[b].function));
    }
    let mut drawing = Drawing {
        profile: fuel,
        totals: path_totals(fuel),
        callees,
        fuel: fuel.fuel(),
        height: 0.0,
    };
    let depth = drawing
        .place(None, MARGIN, 0)
        .iter()
        .map(|frame| frame.depth + 1)
        .max();
    drawing.height = HEADER + FRAME * f64::from(depth.unwrap_or(0)) + MARGIN;
    let title = format!(
        "{}: fuel by function, {} rows of {} units",
        profile.release,
        group_digits(fuel.rows),
        group_digits(drawing.fuel / fuel.rows.max(1))
    );
    drawing.page(&title).into_string()
}

/// A frame with its place.
struct Frame {
    at: usize,
    depth: u32,
    left: f64,
    width: f64,
}

impl Drawing<'_> {
    fn width(&self, fuel: u64) -> f64 {
        (WIDTH - 2.0 * MARGIN) * fuel as f64 / self.fuel.max(1) as f64
    }

    /// Places the callees of a frame side by side, and theirs on top of them.
    fn place(&self, caller: Option<usize>, left: f64, depth: u32) -> Vec<Frame> {
        let mut frames = Vec::new();
        let mut waiting = vec![(caller, left, depth)];
        while let Some((caller, mut left, depth)) = waiting.pop() {
            for &at in self.callees.get(&caller).into_iter().flatten() {
                let width = self.width(self.totals[at]);
                if width >= MIN_WIDTH {
                    waiting.push((Some(at), left, depth + 1));
                    frames.push(Frame {
                        at,
                        depth,
                        left,
                        width,
                    });
                }
                left += width;
            }
        }
        frames
    }

    fn page(&self, title: &str) -> Markup {
        let box_ = format!("0 0 {WIDTH} {}", self.height);
        html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox=(box_) width=(WIDTH) height=(self.height)
                font-family="monospace" font-size="11" {
                rect width="100%" height="100%" fill="#fff" {}
                text x=(WIDTH / 2.0) y="24" text-anchor="middle" font-size="15" { (title) }
                @for frame in self.place(None, MARGIN, 0) { (self.frame(&frame)) }
            }
        }
    }

    fn frame(&self, frame: &Frame) -> Markup {
        let call = &self.profile.calls[frame.at];
        let fuel = self.totals[frame.at];
        let share = percent(fuel as f64 / self.fuel.max(1) as f64);
        let told = format!("{}: {} units, {share}", call.function, group_digits(fuel));
        let top = self.height - MARGIN - FRAME * f64::from(frame.depth + 1);
        let letters = (frame.width - 4.0) / LETTER;
        let x = |left: f64| format!("{left:.1}");
        html! {
            g {
                title { (told) }
                rect x=(x(frame.left)) y=(x(top)) width=(x(frame.width)) height=(FRAME - 1.0)
                    fill=(colour(&call.function)) rx="2" {}
                @if letters >= 3.0 {
                    text x=(x(frame.left + 3.0)) y=(x(top + 12.0)) { (cut(&call.function, letters)) }
                }
            }
        }
    }
}

/// Cuts a name to as many letters. Its path goes first.
fn cut(name: &str, letters: f64) -> String {
    // A few hundred at most.
    let letters = letters as usize;
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    let name = name.rsplit_once("::").map_or(name, |(_, last)| last);
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    let kept: String = name.chars().take(letters.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// Returns a warm colour that is always the same for a name.
fn colour(name: &str) -> String {
    let hash = name.bytes().fold(2_166_136_261_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(16_777_619)
    });
    let (green, blue) = (100 + hash % 110, 50 + (hash >> 16) % 50);
    format!("rgb(245,{green},{blue})")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, profile_of, release_profile};
    use super::*;

    #[test]
    fn folded_stacks_hold_all_fuel_and_no_other_semicolon() {
        let profile = profile_of(vec![
            call(None, "value", 0),
            call(Some(0), "<[f64; 4] as Sum>::sum", 7),
            call(Some(1), "add", 3),
        ]);
        let text = "value;<[f64, 4] as Sum>::sum 7\nvalue;<[f64, 4] as Sum>::sum;add 3\n";
        assert_eq!(fold_stacks(&profile), text);
    }

    #[test]
    fn a_frame_is_as_wide_as_its_fuel_and_stands_on_its_caller() {
        let profile = release_profile(vec![
            call(None, "value", 250),
            call(Some(0), "Vec<f64>::sort", 500),
            call(Some(0), "ask", 250),
        ]);
        let svg = profile.flame_graph();
        let frame = |title: &str| {
            let from = svg
                .split_once(&format!("<title>{title}</title>"))
                .unwrap()
                .1;
            let attribute = |name: &str| -> f64 {
                let value = from.split_once(&format!(" {name}=\"")).unwrap().1;
                value.split_once('"').unwrap().0.parse().unwrap()
            };
            (attribute("x"), attribute("y"), attribute("width"))
        };
        assert_eq!(frame("value: 1,000 units, 100.0 %"), (10.0, 57.0, 1_180.0));
        assert_eq!(frame("ask: 250 units, 25.0 %"), (600.0, 40.0, 295.0));
        // Names are escaped.
        assert_eq!(
            frame("Vec&lt;f64&gt;::sort: 500 units, 50.0 %"),
            (10.0, 40.0, 590.0)
        );
        assert_eq!(svg, profile.flame_graph());
    }

    #[test]
    fn a_name_is_cut_to_its_frame() {
        assert_eq!(cut("value", 5.2), "value");
        assert_eq!(cut("values", 5.2), "valu…");
        assert_eq!(cut("model::time::value", 5.2), "value");
    }
}
