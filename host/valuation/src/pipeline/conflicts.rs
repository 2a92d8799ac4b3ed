//! Compares the statements of a request with the property's stored record, where the customer may
//! use stored data and asks for it.

use domesday_contract::v3::input::{Input, Note, Source};
use domesday_registers::codes::{PropertyType, Subtype};

/// Returns a note on a stated type or subtype that the stored record contradicts. The note does not
/// disclose the stored value, and the statement stands.
pub(super) fn conflicts(
    property_type: PropertyType,
    subtype: Subtype,
    stored_type: Option<PropertyType>,
    stored_subtype: Option<Subtype>,
) -> Vec<Note> {
    let field = if stored_type.is_some_and(|stored| stored != property_type) {
        Input::PropertyType
    } else if stored_subtype.is_some_and(|stored| stored != subtype) {
        Input::Subtype
    } else {
        return Vec::new();
    };
    vec![Note {
        field,
        source: Some(Source::EnergyCertificate),
        reason: None,
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_that_the_record_contradicts_is_noted_without_the_stored_value() {
        let (semi, house) = (PropertyType::SemiDetached, Subtype::HouseSemiDetached);
        for (stored_type, stored_subtype, field) in [
            (None, None, None),
            (Some(semi), Some(house), None),
            (Some(semi), None, None),
            (
                Some(semi),
                Some(Subtype::BungalowSemiDetached),
                Some(Input::Subtype),
            ),
            (
                Some(PropertyType::Flat),
                Some(Subtype::Maisonette),
                Some(Input::PropertyType),
            ),
        ] {
            let expected = field.map(|field| Note {
                field,
                source: Some(Source::EnergyCertificate),
                reason: None,
            });
            let notes = conflicts(semi, house, stored_type, stored_subtype);
            assert_eq!(notes, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
