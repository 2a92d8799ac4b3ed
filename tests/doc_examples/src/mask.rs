//! Masks values that differ between two runs, both on the page and in the printed output.
//!
//! | what | example |
//! |---|---|
//! | ids | `0199a7c2-5a0b-7c3e-9f51-0c7d3b0f6a11` |
//! | digests and secrets | 16 hexadecimal digits or more; a key of the API |
//! | times of day | `2026-11-22T05:24:41Z` (a day without a time is compared) |
//! | durations | `119 ms`, `1.2 s`, `3 min` |
//! | the folder that a page is typed in | |

use regex::Regex;
use std::path::Path;
use std::sync::LazyLock;

static RULES: LazyLock<[(Regex, &str); 5]> = LazyLock::new(|| {
    let rule = |pattern| Regex::new(pattern).expect("a literal");
    [
        (rule(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "<id>"),
        (rule(r"\bdk_[0-9a-f]{16}_[0-9a-f]{64}\b"), "<key>"),
        (rule(r"\b[0-9a-f]{16,}\b"), "<digest>"),
        (
            rule(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"),
            "<time>",
        ),
        (
            rule(r"\b\d[\d,]*(\.\d+)? ?(ms|µs|s|min|seconds?)\b"),
            "<duration>",
        ),
    ]
});

/// Returns a text with every match of the rules masked.
pub fn mask_text(text: &str, folder: &Path) -> String {
    let mut text = text.replace(&folder.display().to_string(), "<folder>");
    for (pattern, mask) in &*RULES {
        text = pattern.replace_all(&text, *mask).into_owned();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_volatile_text_is_masked() {
        let text = mask_text(
            "in /tmp/x/a took 1.2 s (34 ms), 3 sales on 2026-10-15 at 2026-10-15T01:02:03.4Z, 0199a7c2-5a0b-7c3e-9f51-0c7d3b0f6a11",
            Path::new("/tmp/x"),
        );
        assert_eq!(
            text,
            "in <folder>/a took <duration> (<duration>), 3 sales on 2026-10-15 at <time>, <id>"
        );
    }
}
