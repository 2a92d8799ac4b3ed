//! A page to execute: its blocks in order, its spans of code, its links and headings, and the
//! instructions in its comments.
//!
//! | comment | what it says |
//! |---|---|
//! | `<!-- folder: empty -->` | the page is typed in an empty folder instead of a checkout's |
//! | `<!-- needs: WHAT -->` | the page is typed only where that is there, such as `real-data` |
//! | `<!-- in small: A as B -->` | B is typed where the page says A |
//! | `<!-- not typed: WHY -->` | the block of commands that follows is not typed |
//!
//! Any other comment is a fault, so that a slip in one does not leave a page unproved.

use crate::Problem;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// Languages of blocks that a page may have.
const LANGUAGES: [&str; 7] = ["sh", "text", "json", "toml", "csv", "rust", "python"];

/// A page.
#[derive(Debug, Clone)]
pub struct Page {
    /// Its path from the repository's root.
    pub name: String,
    /// The whole of it.
    pub text: String,
    /// Its blocks of code, in order.
    pub blocks: Vec<Block>,
    /// Code within sentences and tables: the line and the text.
    pub spans: Vec<(usize, String)>,
    /// The targets of links, with the line.
    pub links: Vec<(usize, String)>,
    /// The anchors of its headings.
    pub anchors: Vec<String>,
    /// True if it is typed in an empty folder.
    pub empty_folder: bool,
    /// The programs and data that the page needs.
    pub needs: Vec<String>,
    /// Replacements for typing: the page's text, and the typed text.
    pub in_small: Vec<(String, String)>,
}

/// A block of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The line on which its text begins, from 1.
    pub line: usize,
    /// Its language.
    pub language: String,
    /// Its text.
    pub text: String,
    /// The reason why it is not typed, if the page gives one.
    pub not_typed: Option<String>,
    /// The file that it is, where the sentence before it ends with the file's name and a colon.
    pub file: Option<String>,
}

impl Block {
    /// Reports whether the block holds commands.
    pub fn is_commands(&self) -> bool {
        self.language == "sh"
    }
}

impl Page {
    /// Reads a page.
    ///
    /// # Errors
    /// All faults of its form: a block without a known language, an indented block, an unknown
    /// comment, a comment that applies to no block.
    pub fn read(name: &str, text: &str) -> Result<Page, Vec<Problem>> {
        let mut reader = Reader::new(name, text);
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            reader.take(event, range.start);
        }
        reader.end()
    }

    /// Returns a fault of this page.
    pub fn fault(&self, line: usize, what: impl Into<String>) -> Problem {
        Problem {
            page: self.name.clone(),
            line,
            what: what.into(),
        }
    }
}

/// Returns the anchor of a heading, as GitHub makes it.
pub fn anchor(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter_map(|character| match character {
            ' ' => Some('-'),
            '-' | '_' => Some(character),
            _ => character.is_alphanumeric().then_some(character),
        })
        .collect()
}

/// The state of the parser while it reads a page.
struct Reader<'a> {
    page: Page,
    source: &'a str,
    faults: Vec<Problem>,
    block: Option<Block>,
    heading: Option<String>,
    comment: Option<(usize, String)>,
    not_typed: Option<(usize, String)>,
    /// The paragraph before, as far as it tells which file a block is.
    sentence: String,
    named: Option<String>,
}

impl<'a> Reader<'a> {
    fn new(name: &str, source: &'a str) -> Reader<'a> {
        Reader {
            page: Page {
                name: name.to_owned(),
                text: source.to_owned(),
                blocks: Vec::new(),
                spans: Vec::new(),
                links: Vec::new(),
                anchors: Vec::new(),
                empty_folder: false,
                needs: Vec::new(),
                in_small: Vec::new(),
            },
            source,
            faults: Vec::new(),
            block: None,
            heading: None,
            comment: None,
            not_typed: None,
            sentence: String::new(),
            named: None,
        }
    }

    fn line(&self, at: usize) -> usize {
        self.source.as_bytes()[..at]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count()
            + 1
    }

    fn fault(&mut self, line: usize, what: impl Into<String>) {
        let fault = self.page.fault(line, what);
        self.faults.push(fault);
    }

    fn take(&mut self, event: Event<'_>, at: usize) {
        let line = self.line(at);
        match event {
            Event::Start(Tag::CodeBlock(kind)) => self.begin_block(kind, line),
            Event::End(TagEnd::CodeBlock) => self.page.blocks.extend(self.block.take()),
            Event::Start(Tag::Heading { .. }) => self.heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let heading = self.heading.take().unwrap_or_default();
                self.page.anchors.push(anchor(&heading));
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                self.page.links.push((line, dest_url.into_string()));
            }
            Event::Start(Tag::Paragraph) => {
                self.sentence.clear();
                self.named = None;
            }
            Event::Code(code) => {
                self.add_text(&code);
                self.named = Some(code.to_string());
                self.page.spans.push((line, code.into_string()));
            }
            Event::Text(text) => match &mut self.block {
                Some(block) => block.text.push_str(&text),
                None => self.add_text(&text),
            },
            Event::Html(html) => {
                let (_, comment) = self.comment.get_or_insert((line, String::new()));
                comment.push_str(&html);
            }
            Event::InlineHtml(html) if html.starts_with("<!--") => {
                self.fault(line, format!("{html}: a comment stands on separate lines"));
            }
            Event::End(TagEnd::HtmlBlock) => {
                if let Some((line, comment)) = self.comment.take() {
                    self.comment(line, &comment);
                }
            }
            _ => {}
        }
    }

    fn add_text(&mut self, text: &str) {
        self.sentence.push_str(text);
        if let Some(heading) = &mut self.heading {
            heading.push_str(text);
        }
    }

    fn begin_block(&mut self, kind: CodeBlockKind<'_>, line: usize) {
        let CodeBlockKind::Fenced(language) = kind else {
            self.fault(line, "an indented block: fence it and name its language");
            self.block = Some(self.new_block("text", line));
            return;
        };
        if !LANGUAGES.contains(&&*language) {
            self.fault(
                line,
                format!("a block of language \"{language}\": name one of {LANGUAGES:?}"),
            );
        }
        let mut block = self.new_block(&language, line + 1);
        if let Some((number, why)) = self.not_typed.take() {
            if block.is_commands() {
                block.not_typed = Some(why);
            } else {
                self.fault(
                    number,
                    "\"not typed\" is said of a block that has no commands",
                );
            }
        }
        let ending = format!(".{language}");
        let name = self
            .named
            .take()
            .filter(|name| name.ends_with(&ending) && self.sentence.trim_end().ends_with(':'));
        block.file = name;
        self.block = Some(block);
    }

    fn new_block(&self, language: &str, line: usize) -> Block {
        Block {
            line,
            language: language.to_owned(),
            text: String::new(),
            not_typed: None,
            file: None,
        }
    }

    fn comment(&mut self, line: usize, comment: &str) {
        let text = comment
            .trim()
            .strip_prefix("<!--")
            .and_then(|rest| rest.strip_suffix("-->"))
            .map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        let Some(text) = text else {
            return self.fault(line, "HTML that is no comment by itself");
        };
        match text.split_once(": ") {
            Some(("folder", "empty")) => self.page.empty_folder = true,
            Some(("needs", what)) => self.page.needs.push(what.to_owned()),
            Some(("in small", what)) => match what.split_once(" as ") {
                Some((large, small)) => {
                    let pair = (large.to_owned(), small.to_owned());
                    if !self.source.replacen(comment.trim(), "", 1).contains(large) {
                        self.fault(line, format!("\"{large}\" stands nowhere on the page"));
                    }
                    self.page.in_small.push(pair);
                }
                None => self.fault(line, "\"in small\" wants A as B"),
            },
            Some(("not typed", why)) if !why.is_empty() => {
                self.not_typed = Some((line, why.to_owned()));
            }
            _ => self.fault(line, format!("a comment that says nothing known: {text}")),
        }
    }

    fn end(mut self) -> Result<Page, Vec<Problem>> {
        if let Some((line, _)) = self.not_typed.take() {
            self.fault(line, "\"not typed\" is followed by no block");
        }
        if self.faults.is_empty() {
            Ok(self.page)
        } else {
            Err(self.faults)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        let faults = Page::read("docs/a.md", text).unwrap_err();
        faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn blocks_spans_links_and_headings_are_read() {
        let text = "# A `b` page, 2\n\n<!-- folder: empty -->\n<!-- in small: 900 as 9 -->\n\nSee [x](y.md#z), `c`.\n\nA file, `d.toml`:\n\n```toml\ne = 1\n```\n\n<!-- not typed: it\ntakes a day -->\n\n```sh\nf 900\n```\n\n```text\ng\n```\n";
        let page = Page::read("docs/a.md", text).unwrap();
        assert_eq!(page.anchors, ["a-b-page-2"]);
        assert_eq!(page.links, [(6, "y.md#z".to_owned())]);
        let spans: Vec<&str> = page.spans.iter().map(|(_, span)| &**span).collect();
        assert_eq!(spans, ["b", "c", "d.toml"]);
        assert!(page.empty_folder);
        assert_eq!(page.in_small, [("900".to_owned(), "9".to_owned())]);
        let blocks: Vec<_> = page.blocks.iter().map(|b| (b.line, &*b.language)).collect();
        assert_eq!(blocks, [(11, "toml"), (18, "sh"), (22, "text")]);
        assert_eq!(page.blocks[0].file.as_deref(), Some("d.toml"));
        assert_eq!(page.blocks[1].not_typed.as_deref(), Some("it takes a day"));
        assert_eq!(page.blocks[1].file, None);
    }

    #[test]
    fn a_block_without_a_language_is_a_fault() {
        assert!(faults("```\nrun\n```\n")[0].starts_with("docs/a.md:1: a block of language"));
        assert!(faults("a\n\n    run\n")[0].contains("indented"));
    }

    #[test]
    fn a_comment_that_is_not_understood_is_a_fault() {
        assert!(faults("<!-- nottyped: x -->\n")[0].contains("nothing known"));
        assert!(faults("<!-- not typed: x -->\n")[0].contains("no block"));
        assert!(faults("<!-- not typed: x -->\n\n```text\na\n```\n")[0].contains("no commands"));
        assert!(faults("<!-- in small: 7000 as 7 -->\n")[0].contains("nowhere"));
        assert!(faults("a <!-- folder: empty -->\n")[0].contains("separate lines"));
    }
}
