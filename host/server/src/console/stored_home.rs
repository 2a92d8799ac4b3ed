//! The type, the subtype and the tenure of a found address, where stored data have them.

use super::Console;
use super::blocking::blocking;
use super::error::ConsoleError;
use domesday_console::fields::Fields;
use domesday_property::address_directory::FoundAddress;
use domesday_property::{Resolution, Snapshot, SnapshotError};
use domesday_registers::codes::{PropertyType, Subtype, Tenure};
use domesday_registers::{Day, Postcode};
use serde::Serialize;

/// Sales of a home that are looked at for its type and tenure.
const SALES: usize = 10;

/// A field of the form, and the value of its choice.
type Choice = (&'static str, String);

/// Fills the fields of a found address that the current release's snapshot knows as at the
/// valuation date. Returns whether it filled any.
///
/// # Errors
/// `State` if the snapshot cannot be read.
pub(super) async fn fill(
    console: &Console,
    address: &FoundAddress,
    fields: &mut Fields,
) -> Result<bool, ConsoleError> {
    if console.service.releases.current_problem().is_some() {
        return Ok(false);
    }
    let release = console.service.releases.current();
    let day = fields.get("valuation_date").and_then(Day::parse_iso);
    let (Some(day), address) = (day, address.clone()) else {
        return Ok(false);
    };
    let read = blocking(move || read_choices(&release.snapshot, &address, day)).await?;
    let choices = read.map_err(|error| ConsoleError::State(error.to_string()))?;
    for (name, value) in &choices {
        fields.set(name, value);
    }
    Ok(!choices.is_empty())
}

fn read_choices(
    snapshot: &Snapshot,
    address: &FoundAddress,
    day: Day,
) -> Result<Vec<Choice>, SnapshotError> {
    let Some(uprn) = uprn_of(snapshot, address)? else {
        return Ok(Vec::new());
    };
    let property = snapshot.property(uprn)?;
    let known = property.and_then(|property| property.attributes_before(day));
    let sales = snapshot.own_sales(uprn, day, SALES)?;
    let sold = sales.iter().map(|sale| sale.property_type);
    Ok(choices(&KnownHome {
        kind: known.as_ref().and_then(|known| known.property_type),
        subtype: known.as_ref().and_then(|known| known.subtype),
        sold: { sold }.find(|kind| *kind != PropertyType::Other),
        tenure: sales.iter().find_map(|sale| sale.tenure),
    }))
}

fn uprn_of(snapshot: &Snapshot, address: &FoundAddress) -> Result<Option<u64>, SnapshotError> {
    if address.uprn.is_some() {
        return Ok(address.uprn);
    }
    let Some(postcode) = Postcode::parse(&address.postcode) else {
        return Ok(None);
    };
    match snapshot.resolve(&postcode, &address.building, &address.street)? {
        Resolution::Exact(uprn) => Ok(Some(uprn)),
        _ => Ok(None),
    }
}

/// The facts of a home in its certificates and its latest sales.
#[derive(Default)]
struct KnownHome {
    kind: Option<PropertyType>,
    /// Belongs to `kind`.
    subtype: Option<Subtype>,
    /// The type of the latest sale.
    sold: Option<PropertyType>,
    tenure: Option<Tenure>,
}

/// Returns the choices that a home's certificates and sales agree on. A home whose certificate and
/// last sale name two types has no type.
fn choices(home: &KnownHome) -> Vec<Choice> {
    let agreed = match (home.kind, home.sold) {
        (Some(one), Some(other)) if one != other => None,
        (one, other) => one.or(other),
    };
    let subtype = home
        .subtype
        .filter(|subtype| agreed == Some(subtype.property_type()));
    let all = [
        ("type", agreed.and_then(letter_of).map(str::to_owned)),
        ("subtype", subtype.and_then(word_of)),
        ("title_tenure", home.tenure.and_then(word_of)),
    ];
    let known = all.into_iter();
    known
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

/// Returns the letter of the contract for a type.
fn letter_of(kind: PropertyType) -> Option<&'static str> {
    match kind {
        PropertyType::Detached => Some("D"),
        PropertyType::SemiDetached => Some("S"),
        PropertyType::Terraced => Some("T"),
        PropertyType::Flat => Some("F"),
        PropertyType::Other => None,
    }
}

/// Returns the word of the contract for a code of the registers.
fn word_of(code: impl Serialize) -> Option<String> {
    let word = serde_json::to_value(code).ok()?;
    word.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_has_the_choices_that_certificate_and_sale_agree_on() {
        let words = |home: KnownHome| -> Vec<String> {
            choices(&home).into_iter().map(|(_, value)| value).collect()
        };
        let flat = || KnownHome {
            kind: Some(PropertyType::Flat),
            subtype: Some(Subtype::Maisonette),
            sold: Some(PropertyType::Flat),
            tenure: Some(Tenure::Leasehold),
        };
        assert_eq!(words(flat()), ["F", "maisonette", "leasehold"]);
        let differing = KnownHome {
            sold: Some(PropertyType::Detached),
            ..flat()
        };
        assert_eq!(words(differing), ["leasehold"]);
        let sold = KnownHome {
            sold: Some(PropertyType::Terraced),
            ..KnownHome::default()
        };
        assert_eq!(words(sold), ["T"]);
        assert_eq!(words(KnownHome::default()), [""; 0]);
    }
}
