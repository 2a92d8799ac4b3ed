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
    if !lists_type(&release.property_types, subject.property_type) {
        let about = Some(Attribute::PropertyType);
        return Some(contract_referral(
            ReferralReason::OutsidePropertyTypes,
            about,
        ));
    }
    if !lists_country(&release.countries, subject.country) {
        return Some(Referral {
            code: ReferralCode::OutsideCountries,
            message: "This release does not value properties in this country.".to_owned(),
        });
    }
    None
}

/// Returns whether a manifest that lists these types values one.
pub fn lists_type(listed: &[package::PropertyType], property_type: PropertyType) -> bool {
    let letter = match property_type {
        PropertyType::Detached => package::PropertyType::Detached,
        PropertyType::SemiDetached => package::PropertyType::SemiDetached,
        PropertyType::Terraced => package::PropertyType::Terraced,
        PropertyType::Flat => package::PropertyType::Flat,
        PropertyType::Other => return false,
    };
    listed.contains(&letter)
}

/// Returns whether a manifest that lists these countries values homes in one.
pub fn lists_country(listed: &[package::Country], country: Country) -> bool {
    let country = match country {
        Country::England => package::Country::England,
        Country::Wales => package::Country::Wales,
        Country::Scotland | Country::Other => return false,
    };
    listed.contains(&country)
}
