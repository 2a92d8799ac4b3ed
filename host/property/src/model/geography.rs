//! Postcodes and local authorities.

use super::GssCode;
use domesday_registers::records::Country;
use serde::{Deserialize, Serialize};

/// A live postcode of Great Britain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostcodeLocation {
    /// British National Grid, metres: the mean position of the postcode's addresses.
    pub easting: i32,
    /// British National Grid, metres.
    pub northing: i32,
    /// Local authority district now in force; absent where the register names none.
    pub authority: Option<GssCode>,
    /// Country. Only England and Wales are within the service.
    pub country: Country,
    /// Region of England, or Wales; absent elsewhere and for an authority without one.
    pub region: Option<GssCode>,
}

/// A local authority district under the code now in force.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Authority {
    /// Code now in force.
    pub code: GssCode,
    /// Current name, or the code where no register names it.
    pub name: String,
    /// Region of England, or Wales.
    pub region: Option<GssCode>,
    /// Name of the region.
    pub region_name: String,
    /// Land area in hectares, where the areas file has it (under this code or an older one).
    pub land_hectares: Option<f64>,
}
