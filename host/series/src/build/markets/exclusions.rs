//! Sound rows that a build of market statistics leaves out, each judged by itself.
//!
//! The authorities of a release exclude more rows, such as postcodes outside them.

use domesday_registers::records::{AreaRow, Certificate, IndexRow, PostcodeUnit, PricePaid};

/// Returns the day and price of a sale as they are held, or the reason for which the row is left
/// out.
///
/// # Errors
/// A stable code of the reason.
pub fn day_and_price(sale: &PricePaid) -> Result<(u16, u32), &'static str> {
    let day = u16::try_from(sale.day.0).map_err(|_| "day_out_of_range")?;
    let price = u32::try_from(sale.price_gbp).map_err(|_| "price_out_of_range")?;
    Ok((day, price))
}

/// Returns the home of a certificate, or the reason for which the row is left out.
///
/// # Errors
/// A stable code of the reason.
pub fn uprn(certificate: &Certificate) -> Result<u64, &'static str> {
    certificate.uprn.ok_or("no_uprn")
}

/// Returns the reason for which an area is left out.
pub fn area(row: &AreaRow) -> Option<&'static str> {
    (!is_of_england_or_wales(&row.code)).then_some("outside_england_and_wales")
}

/// Returns the reason for which a postcode is left out.
pub fn postcode(row: &PostcodeUnit) -> Option<&'static str> {
    (!is_of_england_or_wales(&row.authority)).then_some("outside_the_areas")
}

/// Returns the index over all types, or the reason for which the row is left out.
///
/// # Errors
/// A stable code of the reason.
pub fn index(row: &IndexRow) -> Result<f64, &'static str> {
    match row.all {
        _ if !is_of_england_or_wales(&row.area_code) => Err("outside_the_areas"),
        None => Err("no_index"),
        Some(index) => Ok(index),
    }
}

fn is_of_england_or_wales(code: &str) -> bool {
    code.starts_with(['E', 'W'])
}
