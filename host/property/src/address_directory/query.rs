//! The text that a person typed: a postcode or the beginning of one, numbers, and words.

use super::tables::FoundAddress;
use domesday_registers::Postcode;

/// A search.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Query {
    /// The postcode or its beginning, without a space; empty where none was typed.
    pub(super) postcode: String,
    /// The words of a street or of a building's name, where no postcode was typed.
    pub(super) street: String,
    /// The words that each address has, or begins with.
    words: Vec<String>,
}

impl Query {
    /// Reads a text. `None` if it has fewer than two letters or digits, or a number alone.
    pub(super) fn parse(typed: &str) -> Option<Query> {
        let mut words = words_of(typed);
        if words.iter().map(|word| word.chars().count()).sum::<usize>() < 2 {
            return None;
        }
        let postcode = take_postcode(&mut words);
        // The first word without a digit that names no unit begins the street.
        let named = words
            .iter()
            .position(|word| !is_number(word) && !is_unit(word));
        let street = match named {
            Some(at) if postcode.is_empty() => words[at..].join(" "),
            _ => String::new(),
        };
        let searched = !postcode.is_empty() || !street.is_empty();
        searched.then_some(Query {
            postcode,
            street,
            words,
        })
    }

    /// Returns whether an address has a word that begins as each word of the search. A number that
    /// other words follow is whole.
    pub(super) fn fits(&self, address: &FoundAddress) -> bool {
        let known = words_of(&format!(
            "{} {} {}",
            address.building, address.street, address.town
        ));
        let last = self.words.len().saturating_sub(1);
        self.words.iter().enumerate().all(|(at, word)| {
            let whole = at < last && is_number(word);
            known.iter().any(|known| match whole {
                true => known == word,
                false => known.starts_with(word.as_str()),
            })
        })
    }
}

/// Splits a text into words of upper-case letters and digits, without punctuation.
pub(super) fn words_of(text: &str) -> Vec<String> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '\'';
    text.split(|letter| !is_part(letter))
        .map(|word| word.replace('\'', "").to_uppercase())
        .filter(|word| !word.is_empty())
        .collect()
}

fn is_number(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_digit())
}

fn is_unit(word: &str) -> bool {
    ["FLAT", "APARTMENT", "UNIT", "ROOM"].contains(&word)
}

/// Takes a postcode, or the beginning of one, out of the words. It is written with its space or
/// without.
fn take_postcode(words: &mut Vec<String>) -> String {
    for at in 0..words.len() {
        let pair = words.get(at + 1).map(|next| format!("{}{next}", words[at]));
        if let Some(whole) = pair.filter(|pair| Postcode::parse(pair).is_some()) {
            words.drain(at..at + 2);
            return whole;
        }
        if Postcode::parse(&words[at]).is_some() {
            return words.remove(at);
        }
    }
    // A beginning: the outward code, and what was typed of the inward code.
    let Some(at) = words.iter().position(|word| is_outward(word)) else {
        return String::new();
    };
    let mut beginning = words.remove(at);
    let inward = words
        .get(at)
        .is_some_and(|next| is_number(next) && next.len() < 3);
    if inward && at + 1 == words.len() {
        beginning.push_str(&words.remove(at));
    }
    beginning
}

/// Returns whether a word is an outward code: one or two letters, a digit, and perhaps a further
/// letter or digit.
fn is_outward(word: &str) -> bool {
    let letters = word.chars().take_while(char::is_ascii_uppercase).count();
    let mut rest = word.chars().skip(letters);
    let digit = rest.next().is_some_and(|next| next.is_ascii_digit());
    let last = rest.next().is_none_or(|next| next.is_ascii_alphanumeric());
    (1..=2).contains(&letters) && digit && last && rest.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(typed: &str) -> (String, String, String) {
        let query = Query::parse(typed).unwrap();
        (query.postcode, query.street, query.words.join(" "))
    }

    #[test]
    fn a_text_is_split_into_postcode_street_and_words() {
        for (typed, postcode, street, words) in [
            ("qa1 1aa", "QA11AA", "", ""),
            ("QA11AA 12", "QA11AA", "", "12"),
            ("12 qa1 1aa", "QA11AA", "", "12"),
            ("QA1", "QA1", "", ""),
            ("qa1 1a", "QA11A", "", ""),
            ("12 Amber Str", "", "AMBER STR", "12 AMBER STR"),
            ("flat 3, 12 amber", "", "AMBER", "FLAT 3 12 AMBER"),
            ("King's Court", "", "KINGS COURT", "KINGS COURT"),
            ("12 amber street, qa1 1aa", "QA11AA", "", "12 AMBER STREET"),
        ] {
            assert_eq!(
                parts(typed),
                (postcode.to_owned(), street.to_owned(), words.to_owned()),
                "{typed}"
            );
        }
        for nothing in ["", " ,", "a", "12", "flat 3"] {
            assert_eq!(Query::parse(nothing), None, "{nothing}");
        }
    }
}
