//! OS AddressBase Plus: its columns, and its address as unit, building and street.
//!
//! Ordnance Survey publishes the data in files without a header, and the header in another file. A
//! file is read with it or without. The address is the local authority's (`SAO_…`, `PAO_…`,
//! `STREET_DESCRIPTION`), which every property has, or Royal Mail's where the former names no
//! building.

use crate::header::Header;
use crate::record::Record;
use crate::rejected_row::RejectReason;
use crate::rows::RowError;

/// Columns of a file without a header.
const COLUMNS: usize = 77;
/// The positions of the needed columns, in the order of [`NAMES`].
const PLACES: [usize; 26] = [
    0, 2, 3, 5, 7, 8, 13, 21, 22, 23, 24, 25, 26, 27, 28, 30, 31, 32, 33, 34, 49, 56, 57, 60, 62,
    65,
];
/// The needed columns.
const NAMES: [&str; 26] = [
    "uprn",
    "change_type",
    "state",
    "class",
    "x_coordinate",
    "y_coordinate",
    "country",
    "sub_building_name",
    "building_name",
    "building_number",
    "sao_start_number",
    "sao_start_suffix",
    "sao_end_number",
    "sao_end_suffix",
    "sao_text",
    "pao_start_number",
    "pao_start_suffix",
    "pao_end_number",
    "pao_end_suffix",
    "pao_text",
    "street_description",
    "dependent_locality",
    "locality",
    "town_name",
    "post_town",
    "postcode_locator",
];
/// The other name that a column goes by.
const CLASSIFICATION_CODE: &str = "classification_code";

/// The positions of the columns, in the order of [`NAMES`].
#[derive(Clone, Debug)]
pub(crate) struct Columns([usize; NAMES.len()]);

/// A row's cells by meaning.
pub(crate) struct Cells<'r> {
    pub(crate) uprn: &'r str,
    pub(crate) saon: String,
    pub(crate) paon: String,
    pub(crate) street: &'r str,
    pub(crate) locality: &'r str,
    pub(crate) town: &'r str,
    pub(crate) postcode: &'r str,
    pub(crate) easting: String,
    pub(crate) northing: String,
    pub(crate) classification: &'r str,
    pub(crate) country: &'r str,
}

/// Returns whether a header is this product's.
pub(crate) fn is_header(header: &Header) -> bool {
    header.find(&["pao_start_number"]).is_some()
}

/// Returns the columns of a header; those that are missing are noted in it.
pub(crate) fn of_header(header: &mut Header) -> Columns {
    Columns(NAMES.map(|name| match name {
        "class" => header.need(&["class", CLASSIFICATION_CODE]),
        name => header.need(&[name]),
    }))
}

/// Returns the columns of a file whose first line is a row already, if it is one of this product's.
pub(crate) fn of_row(first: &Record<'_>) -> Option<Columns> {
    let digits = |at: usize| {
        !first.cell(at).is_empty() && first.cell(at).bytes().all(|b| b.is_ascii_digit())
    };
    (first.len() == COLUMNS && digits(0)).then_some(Columns(PLACES))
}

impl Columns {
    /// Reads a row.
    ///
    /// # Errors
    /// [`RejectReason::NoLongerThere`] if the address was removed (change type `D`, state 4), and
    /// [`RejectReason::PermissionOnly`] if no building of it was begun (state 6).
    pub(crate) fn cells<'r>(&self, record: &Record<'r>) -> Result<Cells<'r>, RowError> {
        let [
            uprn,
            change,
            state,
            classification,
            easting,
            northing,
            country,
            sub_building,
            building_name,
            building_number,
            sao @ ..,
        ] = self.0.map(|at| record.cell(at));
        let [
            a,
            b,
            c,
            d,
            sao_text,
            e,
            f,
            g,
            h,
            pao_text,
            street,
            dependent,
            locality,
            town,
            post_town,
            postcode,
        ] = sao;
        if change == "D" || state == "4" {
            return Err(RowError::new(RejectReason::NoLongerThere, uprn));
        }
        if state == "6" {
            return Err(RowError::new(RejectReason::PermissionOnly, uprn));
        }
        let saon = join_with_space(sao_text, &range([a, b, c, d]));
        let number = range([e, f, g, h]);
        let paon = match (pao_text.is_empty(), number.is_empty()) {
            (false, false) => format!("{pao_text}, {number}"),
            _ => format!("{pao_text}{number}"),
        };
        let royal_mail = paon.is_empty();
        Ok(Cells {
            uprn,
            saon: if royal_mail && saon.is_empty() {
                sub_building.to_owned()
            } else {
                saon
            },
            paon: match (
                royal_mail,
                building_name.is_empty(),
                building_number.is_empty(),
            ) {
                (false, ..) => paon,
                (true, false, false) => format!("{building_name}, {building_number}"),
                (true, ..) => format!("{building_name}{building_number}"),
            },
            street,
            locality: either(locality, dependent),
            town: either(town, post_town),
            postcode,
            easting: whole(easting),
            northing: whole(northing),
            classification,
            country,
        })
    }
}

fn either<'t>(one: &'t str, other: &'t str) -> &'t str {
    if one.is_empty() { other } else { one }
}

fn join_with_space(one: &str, other: &str) -> String {
    match one.is_empty() || other.is_empty() {
        true => format!("{one}{other}"),
        false => format!("{one} {other}"),
    }
}

/// Formats a range: "12", "12A", "12-14", "12A-12C".
fn range([start, start_suffix, end, end_suffix]: [&str; 4]) -> String {
    match (end, end_suffix) {
        ("", "") => format!("{start}{start_suffix}"),
        _ => format!("{start}{start_suffix}-{end}{end_suffix}"),
    }
}

/// Returns a coordinate as the product writes it, "459318.00", in whole metres.
pub(crate) fn whole(cell: &str) -> String {
    match cell.parse::<f64>() {
        Ok(metres) => format!("{:.0}", metres.round()),
        Err(_) => cell.to_owned(),
    }
}
