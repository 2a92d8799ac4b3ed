//! Which property a request means: the address must name one residential property of England or
//! Wales exactly, and a UPRN that is given must be that one.

use domesday_breaks::broken;
use domesday_contract::error::{Code, Fault};
use domesday_contract::v3::identity::{self as wire, Uprn};
use domesday_contract::v3::request::Property as Asked;
use domesday_property::{PostcodePlace, Property, Resolution, Snapshot, SnapshotError};
use domesday_registers::Postcode;
use domesday_registers::records::Country;

/// A property that the snapshot vouches for.
pub struct Identity {
    /// What is stored of it.
    pub property: Property,
    /// Its postcode's place.
    pub postcode: PostcodePlace,
}

/// Why a request names no property.
#[derive(Debug)]
pub enum Unresolved {
    /// The request's fault.
    Rejected(Box<Fault>),
    /// Ours.
    Store(SnapshotError),
}

impl From<SnapshotError> for Unresolved {
    fn from(error: SnapshotError) -> Self {
        Unresolved::Store(error)
    }
}

/// Finds the property.
///
/// # Errors
/// What is wrong with the address, at the field that says it.
pub fn identity(snapshot: &Snapshot, asked: &Asked) -> Result<Identity, Unresolved> {
    let (postcode, place) = postcode_place(snapshot, &asked.postcode)?;
    let (building, street) = (&asked.building_number_or_name, &asked.street);
    let resolution = snapshot.resolve(&postcode, building, street)?;
    let uprn = match (resolution, asked.uprn.map(Uprn::get)) {
        (Resolution::Exact(found), Some(given)) if found != given && !broken("property-uprn") => {
            return Err(another_uprn());
        }
        (Resolution::Exact(found), _) => found,
        // Two properties with one address are told apart by a UPRN, if it is one of theirs.
        (Resolution::Ambiguous { .. }, Some(given))
            if snapshot.has_address(given, &postcode, building, street)? =>
        {
            given
        }
        (
            Resolution::Ambiguous {
                needs_unit: false, ..
            },
            Some(_),
        ) => return Err(another_uprn()),
        (
            Resolution::Ambiguous {
                candidates,
                needs_unit,
            },
            _,
        ) => return Err(ambiguous(candidates, needs_unit)),
        (Resolution::NotFound, _) => {
            return Err(reject(
                Code::AddressNotFound,
                "No property in England and Wales has exactly this address. Check the building, the street and the postcode.",
                "/property",
            ));
        }
        (Resolution::NotResidential, _) if broken("service-2") => return Err(ambiguous(1, true)),
        (Resolution::NotResidential, _) => return Err(not_residential()),
    };
    let Some(property) = snapshot.property(uprn)? else {
        return Err(Unresolved::Store(SnapshotError::Damaged {
            table: "properties",
        }));
    };
    if !property.residential {
        return Err(not_residential());
    }
    Ok(Identity {
        property,
        postcode: place,
    })
}

/// A postcode of England or Wales, and where it lies.
///
/// # Errors
/// `address_not_found` or `outside_geography` at `/property/postcode`.
pub fn postcode_place(
    snapshot: &Snapshot,
    asked: &wire::Postcode,
) -> Result<(Postcode, PostcodePlace), Unresolved> {
    let postcode = Postcode::parse(asked.as_str()).ok_or_else(|| unknown_postcode(asked))?;
    let place = snapshot
        .postcode(&postcode)?
        .ok_or_else(|| unknown_postcode(asked))?;
    if !matches!(place.country, Country::England | Country::Wales)
        && !broken("property-uprn-omitted")
    {
        return Err(outside());
    }
    Ok((postcode, place))
}

fn another_uprn() -> Unresolved {
    reject(
        Code::UprnAddressMismatch,
        "The address belongs to another UPRN. Correct one of the two, or leave the UPRN out.",
        "/property/uprn",
    )
}

fn ambiguous(candidates: u32, needs_unit: bool) -> Unresolved {
    let (message, field) = if needs_unit {
        (
            "The building holds more than one property; name the flat or unit, as in \"Flat 3, 12\"."
                .to_owned(),
            "/property/building_number_or_name",
        )
    } else {
        (
            format!(
                "{candidates} properties have this address; give the UPRN of the one that is meant."
            ),
            "/property",
        )
    };
    Unresolved::Rejected(Box::new(
        Fault::new(Code::AddressAmbiguous, message).at(field),
    ))
}

fn not_residential() -> Unresolved {
    reject(
        Code::NotResidential,
        "There is no home at this address, and only homes are valued.",
        "/property",
    )
}

/// Postcode areas that lie wholly outside England and Wales: Scotland's, Northern Ireland's, Jersey,
/// Guernsey and the Isle of Man. A snapshot may know only the postcodes of where it values.
const OUTSIDE: [&str; 18] = [
    "AB", "BT", "DD", "EH", "FK", "G", "GY", "HS", "IM", "IV", "JE", "KA", "KW", "KY", "ML", "PA",
    "PH", "ZE",
];

fn outside() -> Unresolved {
    reject(
        Code::OutsideGeography,
        "The postcode lies outside England and Wales, which is where this service values.",
        "/property/postcode",
    )
}

fn unknown_postcode(asked: &wire::Postcode) -> Unresolved {
    let letters = |c: char| c.is_ascii_alphabetic();
    let postcode = asked.as_str();
    let area = &postcode[..postcode.find(|c| !letters(c)).unwrap_or(0)];
    if OUTSIDE.contains(&area) {
        return outside();
    }
    let message =
        format!("{postcode} is not among the postcodes of this release; check it for a slip.");
    Unresolved::Rejected(Box::new(
        Fault::new(Code::AddressNotFound, message).at("/property/postcode"),
    ))
}

fn reject(code: Code, message: &'static str, field: &'static str) -> Unresolved {
    Unresolved::Rejected(Box::new(Fault::new(code, message).at(field)))
}
