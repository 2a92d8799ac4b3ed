//! The stage that checks the property against the manifest of the release. A property outside it is
//! referred, and the release does not run.

use domesday_contract::v3::result::{Referral, ReferralCode};
use domesday_engine::outcome::ReferralReason;
use domesday_engine::subject::{Attribute, Subject};
use domesday_package as package;
use domesday_package::ValuationBody;
use domesday_registers::codes::PropertyType;
use domesday_registers::records::Country;

use super::render::contract_referral;

/// Returns the referral of a property that the manifest excludes.
pub fn outside(release: &ValuationBody, subject: &Subject) -> Option<Referral> {
    let kind = match subject.property_type {
        PropertyType::Detached => Some(package::PropertyType::Detached),
        PropertyType::SemiDetached => Some(package::PropertyType::SemiDetached),
        PropertyType::Terraced => Some(package::PropertyType::Terraced),
        PropertyType::Flat => Some(package::PropertyType::Flat),
        PropertyType::Other => None,
    };
    if !kind.is_some_and(|kind| release.property_types.contains(&kind)) {
        let about = Some(Attribute::PropertyType);
        return Some(contract_referral(
            ReferralReason::OutsidePropertyTypes,
            about,
        ));
    }
    let country = match subject.country {
        Country::England => Some(package::Country::England),
        Country::Wales => Some(package::Country::Wales),
        _ => None,
    };
    if !country.is_some_and(|country| release.countries.contains(&country)) {
        return Some(Referral {
            code: ReferralCode::OutsideCountries,
            message: "This release does not value properties in this country.".to_owned(),
        });
    }
    None
}
