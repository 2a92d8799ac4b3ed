//! Text as HTML.

/// Escapes text for HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Renders paragraphs and lists. An empty line separates paragraphs, lines that begin with a dash
/// are a list, and back-quotes hold code.
pub fn prose(text: &str) -> String {
    text.split("\n\n").map(paragraph).collect()
}

fn paragraph(text: &str) -> String {
    let items: Option<Vec<&str>> = text.lines().map(|line| line.strip_prefix("- ")).collect();
    match items {
        Some(items) if !items.is_empty() => {
            let items: String = items
                .iter()
                .map(|item| format!("<li>{}</li>", inline(item)))
                .collect();
            format!("<ul>{items}</ul>")
        }
        _ if text.trim().is_empty() => String::new(),
        _ => format!("<p>{}</p>", inline(text)),
    }
}

/// Renders one line, with its code.
pub fn inline(text: &str) -> String {
    let mut out = String::new();
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 1 {
            out.push_str(&format!("<code>{}</code>", escape(part)));
        } else {
            out.push_str(&escape(part));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_become_paragraphs_and_lists() {
        assert_eq!(
            prose("Who & what `a<b`.\n\n- `x`: one\n- two"),
            "<p>Who &amp; what <code>a&lt;b</code>.</p><ul><li><code>x</code>: one</li><li>two</li></ul>"
        );
    }
}
