//! The attribution of tiles: text with links, as metadata writes it in HTML.

/// A part of an attribution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributionPart {
    /// Its text.
    pub text: String,
    /// The address that it links to, which begins with `https://` or `http://`.
    pub link: Option<String>,
}

/// An attribution. Every element but a link is left out, and its text stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attribution {
    /// Its parts in order.
    pub parts: Vec<AttributionPart>,
}

impl Attribution {
    /// Parses an attribution.
    pub fn parse(html: &str) -> Attribution {
        let mut parts: Vec<AttributionPart> = Vec::new();
        let mut link = None;
        let mut rest = html;
        while !rest.is_empty() {
            let (text, tag, after) = match rest.split_once('<') {
                Some((text, tail)) => {
                    let (tag, after) = tail.split_once('>').unwrap_or((tail, ""));
                    (text, tag, after)
                }
                None => (rest, "", ""),
            };
            if !text.is_empty() {
                parts.push(AttributionPart {
                    text: unescape(text),
                    link: link.clone(),
                });
            }
            match tag.split_whitespace().next() {
                Some("a") => link = href(tag),
                Some("/a") => link = None,
                _ => {}
            }
            rest = after;
        }
        parts.retain(|part| !part.text.is_empty());
        Attribution { parts }
    }
}

/// Returns the address of a link's tag.
fn href(tag: &str) -> Option<String> {
    let value = tag.split_once("href=")?.1;
    let quote = value
        .chars()
        .next()
        .filter(|letter| ['"', '\''].contains(letter));
    let address = match quote {
        Some(quote) => value[1..].split(quote).next()?,
        None => value.split_whitespace().next()?,
    };
    let is_of_the_web = ["https://", "http://"]
        .iter()
        .any(|scheme| address.starts_with(scheme));
    is_of_the_web.then(|| unescape(address))
}

/// Replaces the character references that attributions have.
fn unescape(text: &str) -> String {
    [
        ("&copy;", "©"),
        ("&#169;", "©"),
        ("&nbsp;", " "),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ]
    .into_iter()
    .fold(text.to_owned(), |text, (reference, letter)| {
        text.replace(reference, letter)
    })
}
