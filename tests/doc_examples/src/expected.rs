//! Compares the output that a page shows with the printed output.
//!
//! A `…` that is a line by itself stands for any lines, and one within a line for anything there.
//! Everything else is the same, but for what [`mask`](crate::mask) takes away. JSON is compared as
//! values: `"…"` for any value, a member `"…"` for any further members, and a last element `"…"`
//! for any further elements.

use crate::mask::mask_text;
use regex::Regex;
use serde_json::Value;
use std::path::Path;

/// Returns the difference between a text and the page, if there is one.
pub fn text(expected: &str, printed: &str, folder: &Path) -> Option<String> {
    let (expected, printed) = (lines(expected, folder), lines(printed, folder));
    let pattern = |upto: usize| {
        let mut pattern = String::from("(?s)^");
        for line in &expected[..upto] {
            if line == "…" {
                pattern.push_str("(?:[^\n]*\n)*?");
            } else {
                let parts: Vec<String> = line.split('…').map(regex::escape).collect();
                pattern.push_str(&parts.join("[^\n]*?"));
                pattern.push('\n');
            }
        }
        pattern
    };
    let all = printed.iter().map(|line| format!("{line}\n"));
    let all: String = all.collect();
    let fits = |pattern: &str| Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(&all));
    if fits(&(pattern(expected.len()) + "$")) {
        return None;
    }
    let first = (1..=expected.len()).find(|&upto| !fits(&pattern(upto)));
    Some(match first {
        Some(line) => format!(
            "this was not printed: {}\nPrinted was:\n{all}",
            expected[line - 1]
        ),
        None => format!("more was printed than the page shows:\n{all}"),
    })
}

/// Returns the difference between a JSON document and the page, if there is one.
pub fn json(expected: &str, printed: &str) -> Option<String> {
    let expected: Value = match serde_json::from_str(expected) {
        Ok(value) => value,
        Err(error) => return Some(format!("the page's own JSON cannot be read: {error}")),
    };
    match serde_json::from_str(printed) {
        Ok(printed) => differs(&expected, &printed, "")
            .map(|difference| format!("{difference}\nPrinted was:\n{printed}")),
        Err(error) => Some(format!("no JSON was printed ({error}):\n{printed}")),
    }
}

fn lines(text: &str, folder: &Path) -> Vec<String> {
    let text = mask_text(text.trim_end(), folder);
    text.lines()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

fn differs(expected: &Value, printed: &Value, at: &str) -> Option<String> {
    const ANY: &str = "…";
    match (expected, printed) {
        (Value::String(any), _) if any == ANY => None,
        (Value::Object(expected), Value::Object(printed)) => {
            let open = expected.contains_key(ANY);
            if let Some(name) = printed.keys().find(|name| !expected.contains_key(*name))
                && !open
            {
                return Some(format!("{at}/{name} is not on the page"));
            }
            let mut members = expected.iter().filter(|(name, _)| *name != ANY);
            members.find_map(|(name, expected)| {
                let at = format!("{at}/{name}");
                match printed.get(name) {
                    Some(printed) => differs(expected, printed, &at),
                    None => Some(format!("{at} was not printed")),
                }
            })
        }
        (Value::Array(expected), Value::Array(printed)) => {
            let open = expected.last().is_some_and(|last| last == ANY);
            let known = expected.len() - usize::from(open);
            if printed.len() < known || (printed.len() > known && !open) {
                return Some(format!("{at} has {} elements", printed.len()));
            }
            let pairs = expected[..known].iter().zip(printed).enumerate();
            let mut pairs = pairs.map(|(n, (s, p))| differs(s, p, &format!("{at}/{n}")));
            pairs.find_map(|difference| difference)
        }
        _ if expected == printed => None,
        _ => Some(format!("{at} is {printed} and not {expected}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(expected: &str, printed: &str) -> Option<String> {
        text(expected, printed, Path::new("/nowhere"))
    }

    #[test]
    fn the_same_lines_pass_and_dots_stand_for_anything() {
        assert_eq!(compare("a\nb 3 of … c\n", "a\nb 3 of 17 c"), None);
        assert_eq!(compare("a\n…\nz", "a\nb\nc\nz\n"), None);
        assert_eq!(compare("a\n…\nz", "a\nz\n"), None);
        assert_eq!(compare("took 1.2 s", "took 340 ms"), None);
    }

    #[test]
    fn a_diff_is_reported() {
        let message = compare("a\nb\nc", "a\nB\nc").unwrap();
        assert!(message.starts_with("this was not printed: b"), "{message}");
        assert!(compare("a", "a\nb").unwrap().contains("more was printed"));
        assert!(compare("a\nb", "a").unwrap().contains("not printed: b"));
        assert!(compare("a…\nb", "a\nc\nb").is_some());
    }

    #[test]
    fn json_is_compared_as_values() {
        let expected = r#"{"a": 1, "b": "…", "c": [1, "…"], "d": {"e": null, "…": "…"}}"#;
        let sound = r#"{"d":{"e":null,"f":2},"c":[1,2,3],"b":{},"a":1}"#;
        assert_eq!(json(expected, sound), None);
        for (printed, message) in [
            (r#"{"a":2}"#, "/a is 2"),
            (r#"{"a":1,"b":1,"c":[],"d":{"e":null}}"#, "/c has 0"),
            (r#"{"a":1,"b":1,"c":[1],"d":{}}"#, "/d/e was not"),
            (
                r#"{"a":1,"b":1,"c":[1],"d":{"e":null},"g":1}"#,
                "/g is not on",
            ),
            ("oops", "no JSON"),
        ] {
            let difference = json(expected, printed).unwrap();
            assert!(difference.contains(message), "{difference}");
        }
    }
}
