//! Compares the statements of a request with the property's stored record, where the customer may
//! use stored data and asks for it.

use domesday_contract::v3::input::{Input, Note, Source};
use domesday_contract::v3::request::Request;
use domesday_property::{Attributes, Property, Snapshot, SnapshotError};
use domesday_registers::Day;
use domesday_registers::codes::{PropertyType, Subtype, Tenure};

/// The stored facts that a request states as well.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct StoredKind {
    property_type: Option<PropertyType>,
    subtype: Option<Subtype>,
    tenure: Option<Tenure>,
}

impl StoredKind {
    /// Returns the type and subtype of the certificates, and the tenure of the last sale.
    pub(super) fn new(certificates: Option<&Attributes>, tenure: Option<Tenure>) -> StoredKind {
        StoredKind {
            property_type: certificates.and_then(|stored| stored.property_type),
            subtype: certificates.and_then(|stored| stored.subtype),
            tenure,
        }
    }
}

/// Returns the tenure of a home's last sale before the valuation day, if the request asks for
/// stored data. `None` where the home was never sold, or its register leaves the tenure open.
pub(super) fn stored_tenure(
    snapshot: &Snapshot,
    request: &Request,
    property: &Property,
) -> Result<Option<Tenure>, SnapshotError> {
    if !request.options.use_stored_data {
        return Ok(None);
    }
    let day = Day::from(request.property.valuation_date);
    let last = snapshot.own_sales(property.uprn, day, 1)?;
    Ok(last.first().and_then(|sale| sale.tenure))
}

/// Returns a note on each stated type, subtype and tenure that the stored record contradicts. A
/// note does not disclose the stored value, and the statement stands.
pub(super) fn conflicts(stated: (PropertyType, Subtype, Tenure), stored: StoredKind) -> Vec<Note> {
    let (property_type, subtype, tenure) = stated;
    let is_other = stored.property_type.is_some_and(|it| it != property_type);
    let is_other_subtype = stored.subtype.is_some_and(|it| it != subtype);
    let is_other_tenure = stored.tenure.is_some_and(|it| it != tenure);
    let certificate = Source::EnergyCertificate;
    [
        (is_other, Input::PropertyType, certificate),
        (is_other_subtype, Input::Subtype, certificate),
        (is_other_tenure, Input::TitleTenure, Source::SoldPrices),
    ]
    .into_iter()
    .filter(|(is_contradicted, ..)| *is_contradicted)
    .map(|(_, field, source)| Note {
        field,
        source: Some(source),
        reason: None,
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_that_the_record_contradicts_is_noted_without_the_stored_value() {
        let (semi, house) = (PropertyType::SemiDetached, Subtype::HouseSemiDetached);
        let (bungalow, flat) = (Subtype::BungalowSemiDetached, PropertyType::Flat);
        let (freehold, leasehold) = (Some(Tenure::Freehold), Some(Tenure::Leasehold));
        let certificate = Source::EnergyCertificate;
        let type_note = (Input::PropertyType, certificate);
        let subtype_note = (Input::Subtype, certificate);
        let tenure_note = (Input::TitleTenure, Source::SoldPrices);
        for (property_type, subtype, tenure, notes) in [
            (None, None, None, vec![]),
            (Some(semi), Some(house), freehold, vec![]),
            (Some(semi), None, None, vec![]),
            (Some(semi), Some(bungalow), freehold, vec![subtype_note]),
            (Some(semi), Some(house), leasehold, vec![tenure_note]),
            (None, None, leasehold, vec![tenure_note]),
            (
                Some(flat),
                Some(Subtype::Maisonette),
                leasehold,
                vec![type_note, subtype_note, tenure_note],
            ),
        ] {
            let stored = StoredKind {
                property_type,
                subtype,
                tenure,
            };
            let expected = notes.into_iter().map(|(field, source)| Note {
                field,
                source: Some(source),
                reason: None,
            });
            let found = conflicts((semi, house, Tenure::Freehold), stored);
            assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }
}
