//! The property that a request means. The address must name one residential property of England or
//! Wales exactly. A stated UPRN must be the UPRN of that property.

use super::address_lookup::{AddressLookups, LookupState};
use domesday_address_lookup::{LookupResult, Unavailable};
use domesday_contract::error::{Code, ValidationError};
use domesday_contract::v3::identity as wire;
use domesday_contract::v3::identity::Uprn;
use domesday_contract::v3::request::Property as RequestedProperty;
use domesday_contract::v3::result::IdentitySource;
use domesday_property::{PostcodeLocation, Property, Resolution, Snapshot, SnapshotError};
use domesday_registers::Postcode;
use domesday_registers::records::Country;

/// A property that somebody vouches for.
pub struct Identity {
    /// The known facts, from the snapshot where it holds the property.
    pub property: Property,
    /// Its postcode's place, where the snapshot knows the postcode.
    pub postcode: Option<PostcodeLocation>,
    /// Source that vouches for it.
    pub source: IdentitySource,
}

/// The reason why an address does not resolve to a property.
#[derive(Debug)]
pub enum ResolveError {
    /// The request is invalid.
    Rejected(Box<ValidationError>),
    /// The snapshot could not be read.
    Store(SnapshotError),
    /// The address provider did not answer.
    Provider(Unavailable),
}

impl From<SnapshotError> for ResolveError {
    fn from(error: SnapshotError) -> Self {
        ResolveError::Store(error)
    }
}

/// The match of an address in the snapshot.
pub enum StoredMatch {
    /// The snapshot holds this property.
    Found(Box<Identity>),
    /// The snapshot does not hold the address as a home. The address provider may.
    Ambiguous(Box<Ambiguous>),
}

/// An address to look up at the provider.
pub struct Ambiguous {
    /// The postcode.
    pub postcode: Postcode,
    place: Option<PostcodeLocation>,
    /// The error where the provider does not hold the address either.
    otherwise: ValidationError,
}

/// Finds the property in the snapshot, or among the address provider's addresses of the postcode.
///
/// # Errors
/// The error of the address at its field, or the source that did not answer.
pub fn identity(
    snapshot: &Snapshot,
    requested: &RequestedProperty,
    answers: &AddressLookups,
) -> Result<Identity, ResolveError> {
    let ambiguous = match match_stored(snapshot, requested)? {
        StoredMatch::Found(identity) => return Ok(*identity),
        StoredMatch::Ambiguous(ambiguous) => ambiguous,
    };
    match answers.of(&ambiguous.postcode) {
        LookupState::NoProvider => Err(reject(ambiguous.otherwise)),
        LookupState::Unavailable(unavailable) => Err(ResolveError::Provider(unavailable)),
        LookupState::Addresses(answer) => match_provided(snapshot, requested, *ambiguous, answer),
    }
}

/// Matches a property in the snapshot alone.
///
/// # Errors
/// As [`identity`].
pub fn match_stored(
    snapshot: &Snapshot,
    requested: &RequestedProperty,
) -> Result<StoredMatch, ResolveError> {
    let postcode = Postcode::parse(requested.postcode.as_str());
    let postcode = postcode.ok_or_else(|| unknown_postcode(&requested.postcode))?;
    let unmatched = |place, error| {
        Ok(StoredMatch::Ambiguous(Box::new(Ambiguous {
            postcode: postcode.clone(),
            place,
            otherwise: error,
        })))
    };
    let place = match postcode_place(snapshot, &requested.postcode) {
        Ok((_, place)) => place,
        // A postcode that is newer than the snapshot.
        Err(ResolveError::Rejected(error)) if error.code == Code::AddressNotFound => {
            return unmatched(None, *error);
        }
        Err(unresolved) => return Err(unresolved),
    };
    let (building, street) = (&requested.building_number_or_name, &requested.street);
    let resolution = snapshot.resolve(&postcode, building, street)?;
    let has_address = |uprn| snapshot.has_address(uprn, &postcode, building, street);
    let uprn = match match_uprn(resolution, requested.uprn.map(Uprn::get), has_address)? {
        Ok(uprn) => uprn,
        Err(error) if matches!(error.code, Code::AddressNotFound | Code::NotResidential) => {
            return unmatched(Some(place), error);
        }
        Err(error) => return Err(reject(error)),
    };
    let Some(property) = snapshot.property(uprn)? else {
        return Err(ResolveError::Store(SnapshotError::Damaged {
            table: "properties",
        }));
    };
    if !property.residential {
        return unmatched(Some(place), not_residential());
    }
    Ok(StoredMatch::Found(Box::new(Identity {
        property: at_requested_postcode(snapshot, property, postcode)?,
        postcode: Some(place),
        source: IdentitySource::VerifiedIdentityStore,
    })))
}

/// Returns the UPRN that an address means, by one rule for every source of addresses.
fn match_uprn(
    resolution: Resolution,
    given: Option<u64>,
    has_address: impl Fn(u64) -> Result<bool, SnapshotError>,
) -> Result<Result<u64, ValidationError>, SnapshotError> {
    Ok(match (resolution, given) {
        (Resolution::Exact(found), Some(given)) if found != given => Err(another_uprn()),
        (Resolution::Exact(found), _) => Ok(found),
        // Two properties with one address are told apart by a UPRN, if it is one of theirs.
        (Resolution::Ambiguous { .. }, Some(given)) if has_address(given)? => Ok(given),
        (
            Resolution::Ambiguous {
                needs_unit: false, ..
            },
            Some(_),
        ) => Err(another_uprn()),
        (
            Resolution::Ambiguous {
                candidates,
                needs_unit,
            },
            _,
        ) => Err(ambiguous(candidates, needs_unit)),
        (Resolution::NotFound, _) => Err(ValidationError::new(
            Code::AddressNotFound,
            "No property in England and Wales has exactly this address. Check the building, the street and the postcode.",
        )
        .at("/property")),
        (Resolution::NotResidential, _) => Err(not_residential()),
    })
}

/// The largest distance in metres between the provider's point and the middle of its postcode. No
/// postcode of England or Wales reaches farther.
const REACH_M: f64 = 10_000.0;

/// Finds the property among the provider's addresses, where the snapshot does not resolve one.
fn match_provided(
    snapshot: &Snapshot,
    requested: &RequestedProperty,
    ambiguous: Ambiguous,
    answer: &LookupResult,
) -> Result<Identity, ResolveError> {
    let Ambiguous {
        postcode,
        place: around,
        otherwise,
    } = ambiguous;
    let (building, street) = (&requested.building_number_or_name, &requested.street);
    let resolution = answer.address_list.resolve(building, street);
    let has_address = |uprn| Ok(answer.address_list.has_address(uprn, building, street));
    let uprn = match match_uprn(resolution, requested.uprn.map(Uprn::get), has_address)? {
        Ok(uprn) => uprn,
        // Neither holds it. The snapshot's error may say more.
        Err(error) if error.code == Code::AddressNotFound => return Err(reject(otherwise)),
        Err(error) => return Err(reject(error)),
    };
    if !answer.residential(uprn) {
        return Err(reject(not_residential()));
    }
    let provided_place = answer.location(uprn);
    let near = |&(easting, northing): &(i32, i32)| {
        around.is_none_or(|around| {
            let east = f64::from(easting) - f64::from(around.easting);
            let north = f64::from(northing) - f64::from(around.northing);
            east.hypot(north) <= REACH_M
        })
    };
    let point = provided_place.point.filter(near);
    // The snapshot's facts of a property stay, even if it has them at an older address.
    let stored = match snapshot.property(uprn)? {
        Some(stored) => Some(at_requested_postcode(snapshot, stored, postcode.clone())?),
        None => None,
    };
    let place = point.or(stored.as_ref().and_then(|stored| stored.place));
    // Without a position no evidence can be near the property, whatever its country.
    if place.is_none() && around.is_none() {
        return Err(reject(otherwise));
    }
    let country = around
        .map(|around| around.country)
        .or(provided_place.country);
    let Some(country @ (Country::England | Country::Wales)) = country else {
        return Err(reject(outside()));
    };
    let property = match stored {
        Some(stored) => Property {
            place,
            country,
            residential: true,
            ..stored
        },
        None => Property {
            uprn,
            postcode,
            place,
            authority: None,
            country,
            residential: true,
            certificates: Vec::new(),
            sale_days: Vec::new(),
        },
    };
    Ok(Identity {
        property,
        postcode: around,
        source: IdentitySource::IdentityProvider,
    })
}

/// Returns a stored property at the postcode of the request, which may differ from the one of its
/// last certificate.
fn at_requested_postcode(
    snapshot: &Snapshot,
    stored: Property,
    postcode: Postcode,
) -> Result<Property, SnapshotError> {
    if stored.postcode == postcode {
        return Ok(stored);
    }
    let other = snapshot.postcode(&stored.postcode)?;
    Ok(with_postcode(stored, postcode, other))
}

/// Gives a property the postcode of the request. The middle of its `other` postcode does not say
/// where it is.
fn with_postcode(
    stored: Property,
    postcode: Postcode,
    other: Option<PostcodeLocation>,
) -> Property {
    let middle = other.map(|other| (other.easting, other.northing));
    Property {
        place: stored.place.filter(|place| Some(*place) != middle),
        postcode,
        ..stored
    }
}

/// Returns a postcode of England or Wales and its location.
///
/// # Errors
/// `address_not_found` or `outside_geography` at `/property/postcode`.
pub fn postcode_place(
    snapshot: &Snapshot,
    requested: &wire::Postcode,
) -> Result<(Postcode, PostcodeLocation), ResolveError> {
    let postcode =
        Postcode::parse(requested.as_str()).ok_or_else(|| unknown_postcode(requested))?;
    let place = snapshot
        .postcode(&postcode)?
        .ok_or_else(|| unknown_postcode(requested))?;
    if !matches!(place.country, Country::England | Country::Wales) {
        return Err(reject(outside()));
    }
    Ok((postcode, place))
}

fn another_uprn() -> ValidationError {
    ValidationError::new(
        Code::UprnAddressMismatch,
        "The address belongs to another UPRN. Correct one of the two, or leave the UPRN out.",
    )
    .at("/property/uprn")
}

fn ambiguous(candidates: u32, needs_unit: bool) -> ValidationError {
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
    ValidationError::new(Code::AddressAmbiguous, message).at(field)
}

fn not_residential() -> ValidationError {
    ValidationError::new(
        Code::NotResidential,
        "There is no home at this address, and only homes are valued.",
    )
    .at("/property")
}

/// Postcode areas that lie wholly outside England and Wales: Scotland's, Northern Ireland's,
/// Jersey, Guernsey and the Isle of Man. A snapshot may know only the postcodes of where it values.
const OUTSIDE: [&str; 18] = [
    "AB", "BT", "DD", "EH", "FK", "G", "GY", "HS", "IM", "IV", "JE", "KA", "KW", "KY", "ML", "PA",
    "PH", "ZE",
];

fn outside() -> ValidationError {
    ValidationError::new(
        Code::OutsideGeography,
        "The postcode lies outside England and Wales, which is where this service values.",
    )
    .at("/property/postcode")
}

fn unknown_postcode(requested: &wire::Postcode) -> ResolveError {
    let letters = |c: char| c.is_ascii_alphabetic();
    let postcode = requested.as_str();
    let area = &postcode[..postcode.find(|c| !letters(c)).unwrap_or(0)];
    if OUTSIDE.contains(&area) {
        return reject(outside());
    }
    let message =
        format!("{postcode} is not among the postcodes of this release; check it for a slip.");
    reject(ValidationError::new(Code::AddressNotFound, message).at("/property/postcode"))
}

fn reject(error: ValidationError) -> ResolveError {
    ResolveError::Rejected(Box::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stated_uprn_must_be_one_of_the_addresses() {
        let several = |needs_unit| Resolution::Ambiguous {
            candidates: 2,
            needs_unit,
        };
        let has_address = |uprn: u64| -> Result<bool, SnapshotError> { Ok(uprn == 7) };
        for (resolution, given, expected) in [
            (Resolution::Exact(7), None, Ok(7)),
            (Resolution::Exact(7), Some(7), Ok(7)),
            (
                Resolution::Exact(7),
                Some(8),
                Err(Code::UprnAddressMismatch),
            ),
            (several(false), Some(7), Ok(7)),
            (several(true), Some(7), Ok(7)),
            (several(false), Some(8), Err(Code::UprnAddressMismatch)),
            (several(true), Some(8), Err(Code::AddressAmbiguous)),
            (several(false), None, Err(Code::AddressAmbiguous)),
            (Resolution::NotFound, Some(7), Err(Code::AddressNotFound)),
            (
                Resolution::NotResidential,
                Some(7),
                Err(Code::NotResidential),
            ),
        ] {
            let uprn = match_uprn(resolution, given, has_address).unwrap();
            let code = uprn.map_err(|error| error.code);
            assert_eq!(code, expected, "{resolution:?} {given:?}");
        }
    }

    /// A home has certificates under two postcodes, and the last one names the other.
    #[test]
    fn a_home_has_the_postcode_of_the_request_and_not_the_middle_of_another() {
        let [asked, other] = ["QA1 1AF", "QA1 1AG"].map(|text| Postcode::parse(text).unwrap());
        let country = Country::England;
        let middle = PostcodeLocation {
            easting: 400_000,
            northing: 300_000,
            authority: None,
            country,
            region: None,
        };
        for (own, middle, expected) in [
            (
                Some((400_010, 300_020)),
                Some(middle),
                Some((400_010, 300_020)),
            ),
            (Some((400_000, 300_000)), Some(middle), None),
            (Some((400_000, 300_000)), None, Some((400_000, 300_000))),
            (None, Some(middle), None),
        ] {
            let stored = Property {
                uprn: 1,
                postcode: other.clone(),
                place: own,
                authority: None,
                country,
                residential: true,
                certificates: Vec::new(),
                sale_days: Vec::new(),
            };
            let found = with_postcode(stored, asked.clone(), middle);
            assert_eq!((found.postcode, found.place), (asked.clone(), expected));
        }
    }

    #[test]
    fn an_unknown_postcode_of_scotland_is_outside_the_service() {
        for (postcode, expected) in [
            ("EH1 1YZ", Code::OutsideGeography),
            ("G1 1AA", Code::OutsideGeography),
            ("GL1 1AA", Code::AddressNotFound),
            ("SW1A 1AA", Code::AddressNotFound),
        ] {
            let postcode = wire::Postcode::parse(postcode).unwrap();
            let ResolveError::Rejected(error) = unknown_postcode(&postcode) else {
                panic!("{postcode:?} is not rejected");
            };
            assert_eq!(error.code, expected, "{postcode:?}");
        }
    }
}
