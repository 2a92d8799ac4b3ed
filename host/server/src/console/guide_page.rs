//! The operations guide, as the documents have it. An operator on call reads it where the trouble
//! is shown.

use super::error::ConsoleError;
use super::layout;
use crate::console_sessions::Session;
use axum::Extension;
use axum::response::Response;
use maud::PreEscaped;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};
use std::sync::Arc;

/// The path of the page.
pub(super) const PATH: &str = "/operation/guide";

const GUIDE: &str = include_str!("../../../../docs/how-to/operate.md");

/// Shows the guide.
pub(super) async fn page(
    Extension(session): Extension<Arc<Session>>,
) -> Result<Response, ConsoleError> {
    if !session.user.operator {
        return Err(ConsoleError::NotOperator);
    }
    let content = PreEscaped(render(GUIDE));
    Ok(layout::page("Operations guide", Some(&session), &content))
}

/// Returns a page of the documents as HTML. A link to another page becomes its words, since the
/// console lacks that page.
fn render(text: &str) -> String {
    let events: Vec<Event<'_>> = Parser::new_ext(text, Options::ENABLE_TABLES).collect();
    let mut linked = false;
    let shown = (0..events.len()).filter_map(|at| match &events[at] {
        Event::Start(Tag::Heading {
            level,
            classes,
            attrs,
            ..
        }) => Some(Event::Start(Tag::Heading {
            level: *level,
            id: Some(CowStr::from(anchor(&events[at + 1..]))),
            classes: classes.clone(),
            attrs: attrs.clone(),
        })),
        Event::Start(Tag::Link { dest_url, .. }) => {
            linked = dest_url.starts_with('#');
            linked.then(|| events[at].clone())
        }
        Event::End(TagEnd::Link) => linked.then(|| events[at].clone()),
        Event::Html(_) | Event::InlineHtml(_) => None,
        other => Some(other.clone()),
    });
    let mut page = String::new();
    html::push_html(&mut page, shown);
    // Regions that scroll are reached by the keyboard.
    page.replace("<pre>", "<pre tabindex=\"0\">")
        .replace("<table>", "<div class=\"wide\" tabindex=\"0\"><table>")
        .replace("</table>", "</table></div>")
}

/// Returns the anchor of a heading from these events, which are the rest of it.
fn anchor(events: &[Event<'_>]) -> String {
    let words = events
        .iter()
        .take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))))
        .filter_map(|event| match event {
            Event::Text(text) | Event::Code(text) => Some(text.as_ref()),
            _ => None,
        });
    words.collect::<String>().to_lowercase().replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_has_anchors_and_no_link_to_another_page() {
        let page = render(GUIDE);
        for heading in ["probes", "memory", "commands-reach-the-server"] {
            assert!(
                page.contains(&format!("<h2 id=\"{heading}\">")),
                "{heading}"
            );
        }
        assert!(!page.contains(".md"), "{page}");
        assert!(!page.contains("<!--"), "{page}");
    }

    #[test]
    fn code_stays_code() {
        let page = render("`<script>`\n\n<script>alert(1)</script>\n");
        assert!(page.contains("<code>&lt;script&gt;</code>"), "{page}");
        assert!(!page.contains("<script"), "{page}");
    }
}
