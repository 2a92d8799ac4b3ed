//! Different spellings of one home's address in the registers, for worlds that are made with noise.
//!
//! Every kind is a way in which real registers differ. Some leave room for one home only, and some
//! leave none or more, as real ones do: a matcher is to be tempted too. Draws come from a
//! separate stream, so nothing else of a world moves.

use crate::draw::Draw;
use crate::dwelling::{Address, Dwelling};
use std::borrow::Cow;

/// The share of addresses with each kind of noise, where it can apply.
const RATE: f64 = 0.03;
/// Share of addresses with a slip of the hand in a name, and with another postcode.
const SLIP: f64 = 0.01;
const OLDER: f64 = 0.01;
const WRONG: f64 = 0.002;
/// Share of older postcodes that were of another sector.
const MOVED: f64 = 0.25;

/// Varies the address of a dwelling as a register may write it.
pub(crate) fn vary_address<'d>(dwelling: &'d Dwelling, draw: &mut Draw) -> Cow<'d, Dwelling> {
    let mut address = dwelling.address.clone();
    unit(&mut address, draw);
    building(&mut address, draw);
    if draw.chance(SLIP) {
        slip(&mut address.street, draw);
    }
    if draw.chance(SLIP) && !address.paon.bytes().any(|b| b.is_ascii_digit()) {
        slip(&mut address.paon, draw);
    }
    if draw.chance(OLDER) {
        let moved = draw.chance(MOVED).then(|| draw.below(10));
        older(&mut address.postcode, moved);
    } else if draw.chance(WRONG) {
        wrong(&mut address.postcode, draw);
    }
    if address == dwelling.address {
        return Cow::Borrowed(dwelling);
    }
    let mut changed = dwelling.clone();
    changed.address = address;
    Cow::Owned(changed)
}

/// Rewrites "12A" as "Flat A, 12" and back, "First floor flat" in other words, and "Flat" alone.
fn unit(address: &mut Address, draw: &mut Draw) {
    let Address { saon, paon, .. } = address;
    if saon.is_empty() {
        let letter = paon.strip_suffix(['A', 'B', 'C']).map(str::to_owned);
        let Some(number) = letter.filter(|n| n.bytes().all(|b| b.is_ascii_digit())) else {
            return;
        };
        if draw.chance(RATE) {
            *saon = format!("FLAT {}", &paon[number.len()..]);
            *paon = number;
        } else if draw.chance(RATE) {
            *saon = "FLAT".to_owned();
            *paon = number;
        }
        return;
    }
    let letter = saon.strip_prefix("FLAT ").filter(|id| id.len() == 1);
    if let Some(letter) = letter.filter(|id| id.bytes().all(|b| b.is_ascii_uppercase())) {
        if draw.chance(RATE) && paon.bytes().all(|b| b.is_ascii_digit()) {
            *paon = format!("{paon}{letter}");
            saon.clear();
        }
    } else if let Some(storey) = saon.strip_suffix(" FLOOR FLAT").map(str::to_owned)
        && draw.chance(RATE)
    {
        *saon = match draw.below(4) {
            0 => format!("{storey} FLOOR"),
            1 => format!("{storey} FLOOR MAISONETTE"),
            2 => format!("FLAT {storey} FLOOR"),
            _ => "FLAT".to_owned(),
        };
    }
}

/// Rewrites ranges, names with and without their number, articles, and houses without their street.
fn building(address: &mut Address, draw: &mut Draw) {
    let Address {
        saon, paon, street, ..
    } = address;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if let Some((from, to)) = paon.split_once('-').filter(|(from, _)| digits(from)) {
        if draw.chance(0.3) {
            *paon = if draw.chance(0.6) { from } else { to }.to_owned();
        }
    } else if let Some((name, number)) = paon.split_once(", ") {
        if draw.chance(0.2) {
            *paon = if draw.chance(0.5) { name } else { number }.to_owned();
        }
    } else if !paon.bytes().any(|b| b.is_ascii_digit()) {
        if draw.chance(RATE) {
            *paon = format!("THE {paon}");
        }
        if saon.is_empty() && draw.chance(RATE) {
            street.clear();
        }
    }
}

/// Drops, doubles or replaces a letter, or swaps it with the next, anywhere but at the beginning.
fn slip(name: &mut String, draw: &mut Draw) {
    let mut letters: Vec<char> = name.chars().collect();
    if letters.len() < 5 {
        return;
    }
    let at = 1 + draw.below(letters.len() - 2);
    match draw.below(4) {
        0 => {
            letters.remove(at);
        }
        1 => letters.insert(at, letters[at]),
        2 => letters[at] = char::from(b'A' + draw.below(26) as u8),
        _ => letters.swap(at, at + 1),
    }
    *name = letters.into_iter().collect();
}

/// Replaces a postcode by one that is given to nothing now, as if it had stood here before.
///
/// It is of the same sector, or of another of the district.
fn older(postcode: &mut String, sector: Option<usize>) {
    if let Some(last) = postcode.pop() {
        postcode.pop();
        if let Some(sector) = sector.and_then(|digit| char::from_digit(digit as u32, 10)) {
            postcode.pop();
            postcode.push(sector);
        }
        postcode.push('Z');
        postcode.push(last);
    }
}

/// Replaces a postcode by a neighbour's.
fn wrong(postcode: &mut String, draw: &mut Draw) {
    postcode.pop();
    postcode.push(char::from(b"ABDEFGHJLNPQRSTUWXYZ"[draw.below(20)]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Purpose;

    #[test]
    fn a_slip_is_one_letter_and_never_the_first() {
        let mut draw = Draw::new(7, Purpose::Noise, 0, 0);
        for _ in 0..2_000 {
            let mut name = String::from("HAREBELL LANE");
            slip(&mut name, &mut draw);
            assert!(
                name.starts_with('H') && name.len().abs_diff(13) <= 1,
                "{name}"
            );
        }
    }

    #[test]
    fn an_older_postcode_is_of_the_same_district() {
        let mut postcode = String::from("QA1 2DE");
        older(&mut postcode, None);
        assert_eq!(postcode, "QA1 2ZE");
        older(&mut postcode, Some(7));
        assert_eq!(postcode, "QA1 7ZE");
    }
}
