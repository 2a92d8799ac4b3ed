//! Messages with code between backticks, as pages show them.

use maud::{Markup, html};

/// Renders a message, with what stands between backticks as code. A message with an odd backtick is
/// text alone.
pub fn render_message(message: &str) -> Markup {
    let parts: Vec<&str> = message.split('`').collect();
    html! {
        @if parts.len().is_multiple_of(2) { (message) }
        @else {
            @for (at, part) in parts.iter().enumerate() {
                @if at % 2 == 1 { code { (part) } } @else { (part) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_between_backticks_is_code_and_stays_text() {
        let of = |message| render_message(message).into_string();
        assert_eq!(of("Run `a <b>`."), "Run <code>a &lt;b&gt;</code>.");
        assert_eq!(of("5` long"), "5` long");
        assert_eq!(of(""), "");
    }
}
