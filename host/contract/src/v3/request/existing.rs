//! The existing-property request: the body of a single route, and each row of a batch.

use super::building::{self, Energy, Fabric};
use super::error::RequestError;
use super::lease::{self, Lease};
use super::occupancy::{self, Occupancy};
use super::property::{self, Property};
use super::size::{self, Size};
use super::{Kind, REFERENCE_LONGEST};
use crate::error::ValidationErrors;
use crate::json::values::verbatim;
use crate::json::{self, Section, Shape, Value};
use crate::v3::input::Note;
use crate::v3::options::{self, Level, Options, Settings};

/// A request to value an existing property. It satisfies every rule that the document alone can
/// break. The address, the window of dates and the key's scopes are still to be judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The customer's own reference, to be echoed.
    pub request_reference: Option<String>,
    /// The options as they apply here.
    pub options: Options,
    /// Location and kind of the property.
    pub property: Property,
    /// The occupancy of the property.
    pub occupancy: Occupancy,
    /// Size, without the members that do not apply to its type.
    pub size: Size,
    /// Its lease; present exactly where the tenure is leasehold.
    pub lease: Option<Lease>,
    /// Its materials.
    pub fabric: Fabric,
    /// The figures of its energy certificate.
    pub energy: Energy,
    /// Fields that were valid but say nothing about this type of property.
    pub ignored_inputs: Vec<Note>,
}

pub(super) const SHAPE: Shape = Shape {
    pointer: "",
    fields: &[
        "request_reference",
        "options",
        "property",
        "occupancy",
        "size",
        "lease",
        "fabric",
        "energy",
    ],
};

impl Request {
    /// Reads the body of a single route.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(body: &[u8]) -> Result<Self, RequestError> {
        walk(&json::read(body)?, Level::Shared, Settings::default())
    }

    /// Reads a batch's row. The batch's `shared` options hold where the row has none.
    ///
    /// # Errors
    /// Everything that is wrong with it; pointers are relative to the row.
    pub fn read_row(row: &str, shared: Settings) -> Result<Self, RequestError> {
        walk(&json::read_text(row)?, Level::Row, shared)
    }
}

fn walk(value: &Value<'_>, level: Level, shared: Settings) -> Result<Request, RequestError> {
    let mut errors = ValidationErrors::default();
    let Some(mut document) = Section::document(value, SHAPE, &mut errors) else {
        return Err(RequestError::new(None, errors));
    };
    let request_reference = document.optional(
        &mut errors,
        "request_reference",
        verbatim(REFERENCE_LONGEST),
    );
    let options = options::read(&mut document, &mut errors, level, Kind::Existing)
        .map(|settings| settings.within(shared));
    let property = property::read(&mut document, &mut errors);
    let occupancy = occupancy::read(&mut document, &mut errors);
    // Broken options say nothing about stored data, so the area's absence is then not judged.
    let area_required = options
        .filter(|options| !options.use_stored_data)
        .map(|_| "This field is required where the option use_stored_data is not true.");
    let size = size::read(&mut document, &mut errors, area_required);
    let lease = lease::read(
        &mut document,
        &mut errors,
        property.title_tenure,
        property.valuation_date,
    );
    let fabric = building::read_fabric(&mut document, &mut errors);
    let energy = building::read_energy(&mut document, &mut errors, Kind::Existing);
    document.finish(&mut errors);

    match (options, property.whole, occupancy, size) {
        (Some(options), Some(property), Some(occupancy), Some(size)) if errors.count() == 0 => {
            let (size, ignored_inputs) = size.applicable(property.property_type);
            Ok(Request {
                request_reference,
                options,
                property,
                occupancy,
                size,
                lease,
                fabric,
                energy,
                ignored_inputs,
            })
        }
        _ => Err(RequestError::new(request_reference, errors)),
    }
}
