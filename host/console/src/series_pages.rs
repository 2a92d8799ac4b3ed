//! The pages of the API that hold the observations of a choice, read up to a limit.

use crate::fields::Fields;
use crate::number::whole;
use serde_json::Value;

/// Observations of a page, the most that the API gives.
const PAGE_SIZE: usize = 5_000;
/// Pages that are read of one choice at most.
const MOST_PAGES: usize = 20;

/// The pages of one or more choices.
#[derive(Debug)]
pub struct SeriesPages {
    /// The pages in their order.
    pub pages: Vec<Value>,
    /// False if the choices have more observations than were read.
    pub is_whole: bool,
}

impl Default for SeriesPages {
    fn default() -> Self {
        SeriesPages {
            pages: Vec::new(),
            is_whole: true,
        }
    }
}

impl SeriesPages {
    /// Adds the pages of another choice.
    pub fn append(&mut self, other: SeriesPages) {
        self.pages.extend(other.pages);
        self.is_whole &= other.is_whole;
    }
}

/// Returns the notices that the API gives beside its observations, each once.
pub fn notices(pages: &[Value]) -> Vec<&str> {
    let mut notices: Vec<&str> = Vec::new();
    for page in pages {
        // Each page of a choice repeats its notice.
        let message = page["notice"]["message"].as_str();
        notices.extend(message.filter(|message| !notices.contains(message)));
    }
    notices
}

/// Returns what to do where a choice has more observations than are read.
pub fn advice() -> String {
    format!(
        "The console reads {} observations of a choice at most, and this one has more. Choose a \
         shorter time or fewer series, or follow the cursors of the API to read all of them.",
        whole(PAGE_SIZE * MOST_PAGES)
    )
}

/// A choice whose pages are read one after another.
#[derive(Debug)]
pub struct PageReader {
    next: Option<Fields>,
    pages: Vec<Value>,
}

impl PageReader {
    /// Returns a reader of the first page of a choice.
    pub fn new(fields: &Fields) -> PageReader {
        let mut first = fields.clone();
        first.set("page_size", &PAGE_SIZE.to_string());
        PageReader {
            next: Some(first),
            pages: Vec::new(),
        }
    }

    /// Returns the query of the next page, unless all are read or as many as are allowed.
    pub fn next_query(&self) -> Option<String> {
        let next = self.next.as_ref()?;
        (self.pages.len() < MOST_PAGES).then(|| next.query())
    }

    /// Adds the page of the last query.
    pub fn add(&mut self, page: Value) {
        self.next = page["next_cursor"].as_str().map(|cursor| {
            // A cursor holds the whole query.
            let mut fields = Fields::default();
            fields.set("cursor", cursor);
            fields
        });
        self.pages.push(page);
    }

    /// Returns the pages.
    pub fn finish(self) -> SeriesPages {
        SeriesPages {
            is_whole: self.next.is_none(),
            pages: self.pages,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Reads a choice of this many pages.
    fn read(count: usize) -> (Vec<String>, SeriesPages) {
        let mut reader = PageReader::new(&Fields::parse(b"dataset=bank_rate"));
        let mut queries = Vec::new();
        while let Some(query) = reader.next_query() {
            queries.push(query);
            let is_last = queries.len() == count;
            let cursor = (!is_last).then(|| format!("after-{}", queries.len()));
            reader.add(json!({ "next_cursor": cursor }));
        }
        (queries, reader.finish())
    }

    #[test]
    fn pages_are_read_to_the_last_or_to_the_limit() {
        let (queries, read_whole) = read(2);
        let expected = ["dataset=bank_rate&page_size=5000", "cursor=after-1"];
        assert_eq!(queries, expected);
        assert!(read_whole.is_whole);
        let (_, most) = read(MOST_PAGES);
        assert_eq!((most.pages.len(), most.is_whole), (MOST_PAGES, true));
        let (_, cut) = read(MOST_PAGES + 1);
        assert_eq!((cut.pages.len(), cut.is_whole), (MOST_PAGES, false));
    }

    #[test]
    fn a_notice_is_stated_once_for_all_pages_and_choices() {
        let page = |message: &str| json!({"notice": {"code": "c", "message": message}});
        let pages = [page("one"), json!({}), page("one"), page("other")];
        assert_eq!(notices(&pages), ["one", "other"]);
    }

    #[test]
    fn choices_are_whole_together() {
        let mut both = SeriesPages::default();
        assert!(both.is_whole);
        both.append(read(MOST_PAGES + 1).1);
        both.append(read(1).1);
        assert_eq!((both.pages.len(), both.is_whole), (MOST_PAGES + 1, false));
        assert!(advice().contains("100,000 observations"), "{}", advice());
    }
}
