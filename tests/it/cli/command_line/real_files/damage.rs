//! Tables of text as users damage them.

use super::Variant;
use std::fmt::Write as _;

/// Lines of a file that a variant has at most.
const LINES: usize = 400;

/// Returns a table in each damaged form that applies to it.
pub(super) fn text_variants(text: &str) -> Vec<Variant> {
    let lines: Vec<&str> = text.lines().take(LINES).collect();
    let whole = lines.join("\n") + "\n";
    let plain = whole.trim_start_matches('\u{feff}');
    let marked = format!("\u{feff}{plain}");
    let half = lines.len() / 2;
    let last = lines.last().map_or(0, |line| line.len());
    let mut variants = vec![
        ("semicolons", delimited(&whole, ";")),
        ("tabs", delimited(&whole, "\t")),
        ("vertical bars", delimited(&whole, "|")),
        ("UTF-16, little end first", utf16(&marked, u16::to_le_bytes)),
        ("UTF-16, big end first", utf16(&marked, u16::to_be_bytes)),
        (
            "UTF-16 without a mark, little end first",
            utf16(plain, u16::to_le_bytes),
        ),
        (
            "UTF-16 without a mark, big end first",
            utf16(plain, u16::to_be_bytes),
        ),
        (
            "joined first lines",
            whole.replacen('\n', "", 1).into_bytes(),
        ),
        // Within the last row, behind its middle.
        (
            "truncated",
            whole.as_bytes()[..whole.len() - 1 - last / 2].to_vec(),
        ),
        (
            "cut within the last cell",
            whole.as_bytes()[..whole.len() - 2].to_vec(),
        ),
        ("first half", (lines[..half].join("\n") + "\n").into_bytes()),
        (
            "second half",
            (lines[half..].join("\n") + "\n").into_bytes(),
        ),
    ];
    if !whole.is_ascii() {
        variants.push(("Windows-1252", latin(&whole)));
    }
    for (name, style) in [
        ("days, day first", Style::DayFirst),
        ("days, month first", Style::MonthFirst),
        ("days with full stops", Style::Dots),
    ] {
        let restyled = restyled(&whole, style);
        if restyled != whole {
            variants.push((name, restyled.into_bytes()));
        }
    }
    let variants = variants.into_iter();
    variants
        .map(|(name, content)| Variant {
            name: name.to_owned(),
            content,
        })
        .collect()
}

/// Replaces the commas outside quotation marks.
fn delimited(text: &str, delimiter: &str) -> Vec<u8> {
    let mut quoted = false;
    let mut replaced = String::new();
    for c in text.chars() {
        quoted ^= c == '"';
        match c {
            ',' if !quoted => replaced.push_str(delimiter),
            c => replaced.push(c),
        }
    }
    replaced.into_bytes()
}

fn utf16(text: &str, to: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(to).collect()
}

/// Writes one byte a character, and a question mark for one beyond Latin-1.
fn latin(text: &str) -> Vec<u8> {
    let text = text.trim_start_matches('\u{feff}').chars();
    text.map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?'))
        .collect()
}

/// A way to write a day.
#[derive(Clone, Copy)]
enum Style {
    DayFirst,
    MonthFirst,
    Dots,
}

/// Returns the text with the days of its cells in this style.
fn restyled(text: &str, style: Style) -> String {
    let mut restyled = String::new();
    for piece in text.split_inclusive([',', '\n', '"']) {
        let cell = piece.trim_end_matches([',', '\n', '"']);
        match day(cell) {
            Some((year, month, day, rest)) => {
                match style {
                    Style::DayFirst => write!(restyled, "{day:02}/{month:02}/{year}"),
                    Style::MonthFirst => write!(restyled, "{month:02}/{day:02}/{year}"),
                    Style::Dots => write!(restyled, "{day:02}.{month:02}.{year}"),
                }
                .unwrap();
                restyled.push_str(rest);
            }
            None => restyled.push_str(cell),
        }
        restyled.push_str(&piece[cell.len()..]);
    }
    restyled
}

/// Parses year, month and day of a publisher's cell, and the rest of it, such as a time.
fn day(cell: &str) -> Option<(u32, u32, u32, &str)> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse::<u32>().unwrap())
    };
    if let Some(date) = cell.get(..10) {
        let parts: Vec<&str> = date.split('-').collect();
        if let [year, month, day] = parts.as_slice() {
            let sizes = year.len() == 4 && month.len() == 2 && day.len() == 2;
            if let (true, Some(y), Some(m), Some(d)) =
                (sizes, number(year), number(month), number(day))
            {
                return Some((y, m, d, &cell[10..]));
            }
        }
    }
    let parts: Vec<&str> = cell.split([' ', '-', '/']).collect();
    let [day, month, year] = parts.as_slice() else {
        return None;
    };
    let month = match number(month) {
        Some(month) => month,
        None if month.len() == 3 => u32::try_from(MONTHS.find(month)?).unwrap() / 3 + 1,
        None => return None,
    };
    let year = match (year.len(), number(year)?) {
        (4, year) => year,
        (2, year) if year >= 69 => 1900 + year,
        (2, year) => 2000 + year,
        _ => return None,
    };
    Some((year, month, number(day)?, ""))
}
