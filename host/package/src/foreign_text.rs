//! Texts of registries, object stores and connections, for terminals and logs.

use std::error::Error;

/// The longest text of an answer that is repeated, characters.
const LONGEST_ANSWER: usize = 200;

/// Returns the beginning of a foreign text in a form that is safe on a terminal.
///
/// Control characters and those that change the direction of the text are replaced.
pub fn printable(text: &str) -> String {
    printable_within(text, LONGEST_ANSWER)
}

/// Returns at most this many characters of a foreign text, as [`printable`] does.
pub fn printable_within(text: &str, longest: usize) -> String {
    let turns = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    let mut safe: String = text
        .trim()
        .chars()
        .take(longest)
        .map(|c| match c {
            c if c.is_whitespace() => ' ',
            c if c.is_control() || turns(c) => char::REPLACEMENT_CHARACTER,
            c => c,
        })
        .collect();
    if text.trim().chars().nth(longest).is_some() {
        safe.push('…');
    }
    safe
}

/// Joins an error with its causes, each once. A connection's own text says only that it failed.
pub fn join_causes(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let text = next.to_string();
        if !message.ends_with(&text) {
            message = format!("{message}: {text}");
        }
        cause = next.source();
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_short_and_moves_no_cursor() {
        assert_eq!(printable(" it is\nbroken "), "it is broken");
        let shown = printable("\u{1b}[2Jall is well\u{202e}\u{9b}1m");
        assert_eq!(shown, "\u{fffd}[2Jall is well\u{fffd}\u{fffd}1m");
        assert_eq!(
            printable(&"x".repeat(9999)).chars().count(),
            LONGEST_ANSWER + 1
        );
        assert_eq!(
            printable(&"x".repeat(LONGEST_ANSWER)).chars().count(),
            LONGEST_ANSWER
        );
        assert_eq!(printable_within("endless", 3), "end…");
    }
}
