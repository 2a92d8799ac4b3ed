//! The different spellings of one address in registers.

use crate::draw::Draw;
use crate::dwelling::Address;
use crate::names::{self, WAYS};

/// The change of an address in the certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// Case, lines and commas apart, as in the gazetteer.
    Faithful,
    /// The street's last word cut short, with or without a full stop.
    Abbreviated,
    /// The unit behind the building, as "12 Flat 3".
    Reordered,
    /// Two letters of the street exchanged: no matcher that is exact can find it.
    Misspelt,
}

impl Spelling {
    /// Returns the name in truth.csv.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Spelling::Faithful => "faithful",
            Spelling::Abbreviated => "abbreviated",
            Spelling::Reordered => "reordered",
            Spelling::Misspelt => "misspelt",
        }
    }
}

/// Shares of abbreviated, reordered and misspelt addresses.
const RATES: (f64, f64, f64) = (0.07, 0.05, 0.004);

/// Writes up to three address lines as an assessor lodges them, and returns the change.
pub(crate) fn lodge(address: &Address, draw: &mut Draw) -> ([String; 3], Spelling) {
    let u = draw.unit();
    let spelling = if u < RATES.0 {
        Spelling::Abbreviated
    } else if u < RATES.0 + RATES.1 {
        Spelling::Reordered
    } else if u < RATES.0 + RATES.1 + RATES.2 {
        Spelling::Misspelt
    } else {
        Spelling::Faithful
    };
    let (street, spelling) = match spelling {
        Spelling::Abbreviated => match abbreviate(&address.street, draw) {
            Some(street) => (street, spelling),
            None => (address.street.clone(), Spelling::Faithful),
        },
        Spelling::Misspelt if address.street.len() > 4 => (misspell(&address.street), spelling),
        Spelling::Reordered if !address.saon.is_empty() => (address.street.clone(), spelling),
        _ => (address.street.clone(), Spelling::Faithful),
    };
    let first_is_digit = address.paon.starts_with(|c: char| c.is_ascii_digit());
    let separator = if draw.chance(0.12) || !first_is_digit {
        ", "
    } else {
        " "
    };
    let road = join(&address.paon, separator, &street);
    let mut lines = if address.saon.is_empty() {
        [road, address.locality.clone(), String::new()]
    } else if spelling == Spelling::Reordered {
        let building = join(&join(&address.paon, " ", &address.saon), ", ", &street);
        [building, address.locality.clone(), String::new()]
    } else {
        match draw.below(3) {
            0 => [
                join(&address.saon, ", ", &road),
                address.locality.clone(),
                String::new(),
            ],
            1 if !first_is_digit => [address.saon.clone(), address.paon.clone(), street],
            _ => [address.saon.clone(), road, address.locality.clone()],
        }
    };
    if draw.chance(0.7) {
        for line in &mut lines {
            *line = names::title(line);
        }
    }
    (lines, spelling)
}

/// Returns the parts with a separator between them, where both are there.
fn join(one: &str, separator: &str, other: &str) -> String {
    if one.is_empty() || other.is_empty() {
        format!("{one}{other}")
    } else {
        format!("{one}{separator}{other}")
    }
}

fn abbreviate(street: &str, draw: &mut Draw) -> Option<String> {
    WAYS.iter().find_map(|(way, short)| {
        let stem = street.strip_suffix(way)?;
        Some(format!(
            "{stem}{short}{}",
            if draw.chance(0.3) { "." } else { "" }
        ))
    })
}

/// Exchanges the second and third letters.
fn misspell(street: &str) -> String {
    let mut letters: Vec<char> = street.chars().collect();
    if letters.len() > 3 {
        let (at, with) = if letters[1] == letters[2] {
            (2, 3)
        } else {
            (1, 2)
        };
        letters.swap(at, with);
    }
    letters.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Purpose;

    #[test]
    fn every_spelling_occurs_at_its_rate_and_only_misspelling_changes_letters() {
        let address = Address {
            saon: "FLAT 3".into(),
            paon: "12".into(),
            street: "AMBER WHARF LANE".into(),
            town: "QUILLFORD".into(),
            ..Address::default()
        };
        let mut draw = Draw::new(5, Purpose::Fault, 0, 0);
        let mut counts = [0_u32; 4];
        for _ in 0..20_000 {
            let (lines, spelling) = lodge(&address, &mut draw);
            counts[spelling as usize] += 1;
            let text = lines.join(" ").to_uppercase();
            let says = |word| text.contains(word);
            assert!(says("12") && says("FLAT 3"), "{text}");
            assert_eq!(
                says("AMBER WHARF"),
                spelling != Spelling::Misspelt,
                "{text}"
            );
            assert_eq!(says("LANE"), spelling != Spelling::Abbreviated, "{text}");
        }
        assert!(
            (1_250..1_550).contains(&counts[1]) && (880..1_120).contains(&counts[2]),
            "{counts:?}"
        );
        assert!((50..115).contains(&counts[3]), "{counts:?}");
    }
}
