//! A sold home as requests of other shapes state it.

use domesday_engine::subject::{Attribute, Energy, Fabric, Size, Subject};
use domesday_evaluation::request_shape::RequestShape;

/// The shapes that a back-test compares with [`RequestShape::Stored`].
pub const OTHERS: [RequestShape; 2] = [RequestShape::Area, RequestShape::Bedrooms];

/// Returns the home as a request of the shape states it. Returns `None` where the home cannot be
/// asked about so: its floor area is not on record.
pub fn reshape(subject: &Subject, shape: RequestShape) -> Option<Subject> {
    let mut subject = subject.clone();
    let area = subject.size.floor_area_m2;
    let stated = match shape {
        RequestShape::Stored => return Some(subject),
        RequestShape::Area => Some(area?),
        RequestShape::Bedrooms => None,
    };
    subject.size = Size {
        floor_area_m2: stated,
        bedrooms: subject.size.bedrooms,
        ..Size::default()
    };
    subject.fabric = Fabric::default();
    subject.energy = Energy::default();
    subject.provenance.stored.clear();
    if stated.is_some() {
        subject.provenance.customer.push(Attribute::FloorArea);
        subject.provenance.customer.sort_unstable();
        subject.stored_data = false;
    }
    Some(subject)
}
