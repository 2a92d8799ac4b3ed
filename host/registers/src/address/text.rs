//! Text to words: case, punctuation, spacing, numbers.

use super::words::{in_full, is_direction};

/// The longest text that is read, in bytes: several times the longest real one, and short enough to
/// bound the cost of the rules.
pub(super) const LONGEST: usize = 500;

/// Returns the words of an address, in capitals.
///
/// Punctuation separates, but apostrophes vanish and a point or slash between digits stays
/// ("4.12" is no "412"). "&" is "AND", and "12 A" is "12A". "12 - 14" and "12 to 14" are "12-14".
/// "No. 12" is "12". Leading zeros go. A text beyond 500 bytes is no address and has no words.
pub(super) fn words(text: &str) -> Vec<String> {
    if text.len() > LONGEST {
        return Vec::new();
    }
    let mut words = WordBuilder::default();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let between_digits = |next: Option<&char>| {
            word.ends_with(|c: char| c.is_ascii_digit()) && next.is_some_and(char::is_ascii_digit)
        };
        match c {
            // Combining accents are removed, as accents within a letter are.
            '\u{300}'..='\u{36f}' => {}
            '\'' | '\u{2019}' | '\u{2018}' | '`' | '\u{b4}' => {}
            '.' | '/' if between_digits(chars.peek()) => word.push(c),
            '&' | '-' | '\u{2013}' | '\u{2014}' => {
                words.push(std::mem::take(&mut word));
                if c == '&' {
                    words.push("AND".to_owned());
                } else {
                    words.hyphen();
                }
            }
            c if c.is_alphanumeric() => fold(c, &mut word),
            _ => words.push(std::mem::take(&mut word)),
        }
    }
    words.push(word);
    words.done
}

/// Adds the capital letter without its accents, so that "Tŷ" and "TY" are equal.
fn fold(c: char, word: &mut String) {
    if c.is_ascii() {
        word.push(c.to_ascii_uppercase());
        return;
    }
    for c in c.to_uppercase().filter(|c| c.is_alphanumeric()) {
        word.push(match c {
            'À'..='Å' | 'Ā' => 'A',
            'Ç' => 'C',
            'È'..='Ë' | 'Ē' => 'E',
            'Ì'..='Ï' | 'Ī' => 'I',
            'Ñ' => 'N',
            'Ò'..='Ö' | 'Ø' | 'Ō' => 'O',
            'Ù'..='Ü' | 'Ū' => 'U',
            'Ŵ' | 'Ẁ' | 'Ẃ' | 'Ẅ' => 'W',
            'Ý' | 'Ŷ' | 'Ÿ' | 'Ỳ' => 'Y',
            other => other,
        });
    }
}

/// Words put together so far.
#[derive(Default)]
struct WordBuilder {
    done: Vec<String>,
    hyphen: bool,
}

impl WordBuilder {
    fn hyphen(&mut self) {
        self.hyphen = true;
    }

    fn push(&mut self, mut word: String) {
        if word.is_empty() {
            return;
        }
        let hyphen = std::mem::take(&mut self.hyphen);
        let zeros = word
            .bytes()
            .zip(word.bytes().skip(1))
            .take_while(|(a, b)| *a == b'0' && b.is_ascii_digit())
            .count();
        word.drain(..zeros);
        let letter = word.len() == 1 && word.starts_with(|c: char| c.is_ascii_uppercase());
        if letter && self.done.last().is_some_and(|last| takes_letter(last)) {
            if let Some(last) = self.done.last_mut() {
                last.push_str(&word);
            }
            return;
        }
        if is_house_number(&word) {
            let to = !hyphen && self.done.last().is_some_and(|last| last == "TO");
            let from = self.done.len().checked_sub(if to { 2 } else { 1 });
            let from = from
                .and_then(|at| self.done.get(at))
                .filter(|from| (hyphen || to) && is_house_number(from));
            if let Some(from) = from {
                let range = format!("{from}-{word}");
                self.done.truncate(self.done.len() - if to { 2 } else { 1 });
                self.done.push(range);
                return;
            }
            while self
                .done
                .last()
                .is_some_and(|last| matches!(last.as_str(), "NO" | "NOS" | "NUMBER"))
            {
                self.done.pop();
            }
        }
        self.done.push(word);
    }
}

/// Reports whether a letter that follows belongs to the word: digits, or a range that ends in
/// digits.
fn takes_letter(word: &str) -> bool {
    let (from, to) = word.split_once('-').unwrap_or(("0", word));
    is_house_number(from) && !to.is_empty() && to.bytes().all(|b| b.is_ascii_digit())
}

/// Reports whether a word is digits with at most one letter after them.
fn is_house_number(word: &str) -> bool {
    let digits = word
        .strip_suffix(|c: char| c.is_ascii_uppercase())
        .unwrap_or(word);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Reports whether a word is a number of a building: "12", "12A", "12-14", "4.12", "12/14".
pub(super) fn is_number(word: &str) -> bool {
    let parts = |separator| word.split(separator).all(is_house_number);
    parts('-') || parts('.') || parts('/')
}

/// Returns whether a word identifies a unit of a building: a number, a letter, or letters and then
/// digits.
pub(super) fn is_unit_id(word: &str) -> bool {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let letters = word.len() - digits.len();
    is_number(word)
        || (letters <= 2
            && digits.bytes().all(|b| b.is_ascii_digit())
            && (letters == 1 || !digits.is_empty()))
}

/// Writes the last word of a name in full, and "Saint" as "St".
///
/// "St" is a street at the end of a name (or before "North" and the like) and a saint anywhere
/// else. Numbers at the end are no part of the name: "Kings Ct, 12".
pub(super) fn name(mut words: Vec<String>) -> Vec<String> {
    let numbers = words
        .iter()
        .rev()
        .take_while(|word| is_number(word))
        .count();
    let end = words.len() - numbers;
    let directions = words
        .iter()
        .take(end)
        .rev()
        .take_while(|word| is_direction(word))
        .count();
    let last = (end - directions).checked_sub(1).filter(|last| *last > 0);
    for (at, word) in words.iter_mut().enumerate() {
        if let Some(instead) = replacement(word, Some(at) == last) {
            *word = instead.to_owned();
        }
    }
    words
}

/// Returns what stands in a key for a word of a name, where that is another word. `is_last` is true
/// for the last word before "North" and the like.
pub(super) fn replacement(word: &str, is_last: bool) -> Option<&'static str> {
    match is_last {
        true => in_full(word),
        false => (word == "SAINT").then_some("ST"),
    }
}
