//! WGS84 degrees on the British National Grid, as the Ordnance Survey defines it since 2016. The
//! conversion is a transverse Mercator projection of the GRS80 ellipsoid, then the shifts of
//! OSTN15, which are known at every whole kilometre. WGS84 and ETRS89 differ by less than a metre
//! in Great Britain.
//!
//! Sine, logarithm and similar functions come from `libm`, compiled into the program. The machine's
//! own library may differ in the last digits from machine to machine.

use domesday_engine::subject::GridPoint;
use libm::{asinh, atan2, atanh, cos, cosh, floor, hypot, round, sin, sinh, sqrt};

/// Half of GRS80's longest diameter, metres.
const EQUATOR_M: f64 = 6_378_137.0;
/// The flattening of the ellipsoid.
const FLATTENING: f64 = 1.0 / 298.257_222_101;
/// Third flattening, the small number that the series below run in.
const N: f64 = FLATTENING / (2.0 - FLATTENING);
/// Scale on the central meridian.
const SCALE: f64 = 0.999_601_271_7;
/// The grid's true origin, degrees.
const ORIGIN: (f64, f64) = (49.0, -2.0);
/// The coordinates of the true origin, metres.
const FALSE_ORIGIN: (f64, f64) = (400_000.0, -100_000.0);
/// Radius of the sphere with a meridian as long as the ellipsoid's, times the scale, metres.
const RECTIFYING_M: f64 =
    SCALE * EQUATOR_M / (1.0 + N) * (1.0 + N * N / 4.0 + N * N * N * N / 64.0);
/// Krüger's series to the fourth order, which is good for far less than a millimetre here.
const KRUEGER: [f64; 4] = [
    N / 2.0 - N * N * 2.0 / 3.0 + N * N * N * 5.0 / 16.0 + N * N * N * N * 41.0 / 180.0,
    N * N * 13.0 / 48.0 - N * N * N * 3.0 / 5.0 + N * N * N * N * 557.0 / 1440.0,
    N * N * N * 61.0 / 240.0 - N * N * N * N * 103.0 / 140.0,
    N * N * N * N * 49_561.0 / 161_280.0,
];
/// Metres of a degree along a meridian, about.
const DEGREE_M: f64 = 111_200.0;
/// Steps of the search for the degrees of a point. Five to eight are enough.
const MOST_STEPS: usize = 30;
/// Side of a cell of the shifts' table, metres, and the table's points in a row.
const CELL_M: f64 = 1_000.0;
const POINTS: usize = 701;
/// OSTN15's shifts east and north at each point, in whole millimetres as little-endian `i32`, row
/// by row from the south-west. The build script writes it.
static OSTN15: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/ostn15.bin"));

/// Converts a point to the National Grid, to the metre. Returns `None` outside the grid's extent.
pub fn national_grid(latitude: f64, longitude: f64) -> Option<GridPoint> {
    let (east, north) = project(latitude, longitude);
    let (shift_east, shift_north) = shifts(east, north)?;
    Some(GridPoint {
        easting: round(east + shift_east) as i32,
        northing: round(north + shift_north) as i32,
    })
}

/// Converts a point of the National Grid to WGS84 degrees: latitude and longitude. Returns `None`
/// outside the grid's extent.
pub fn degrees(point: GridPoint) -> Option<(f64, f64)> {
    let (mut latitude, mut longitude) = (52.0, -1.0);
    // Each step is short by the angle between the grid's north and the true one, which is below
    // four degrees, and by the curvature.
    for _ in 0..MOST_STEPS {
        let (east, north) = project(latitude, longitude);
        let (shift_east, shift_north) = shifts(east, north)?;
        let off_east = f64::from(point.easting) - east - shift_east;
        let off_north = f64::from(point.northing) - north - shift_north;
        latitude += off_north / DEGREE_M;
        longitude += off_east / (DEGREE_M * cos(latitude.to_radians()));
        if hypot(off_east, off_north) < 0.001 {
            return Some((latitude, longitude));
        }
    }
    None
}

/// Metres east and north on the projection, before the shifts.
fn project(latitude: f64, longitude: f64) -> (f64, f64) {
    let (xi, eta) = on_the_sphere(latitude, longitude - ORIGIN.1);
    let (origin, _) = on_the_sphere(ORIGIN.0, 0.0);
    (
        FALSE_ORIGIN.0 + RECTIFYING_M * eta,
        FALSE_ORIGIN.1 + RECTIFYING_M * (xi - origin),
    )
}

/// Projects a point by the transverse Mercator projection, in units of the rectifying radius: along
/// the meridian, and away from it.
fn on_the_sphere(latitude: f64, from_meridian: f64) -> (f64, f64) {
    let (latitude, from_meridian) = (latitude.to_radians(), from_meridian.to_radians());
    let eccentricity = 2.0 * sqrt(N) / (1.0 + N);
    let sine = sin(latitude);
    let conformal = sinh(atanh(sine) - eccentricity * atanh(eccentricity * sine));
    let xi = atan2(conformal, cos(from_meridian));
    let eta = asinh(sin(from_meridian) / hypot(conformal, cos(from_meridian)));
    let mut point = (xi, eta);
    let mut twice = 0.0;
    for term in KRUEGER {
        twice += 2.0;
        point.0 += term * sin(twice * xi) * cosh(twice * eta);
        point.1 += term * cos(twice * xi) * sinh(twice * eta);
    }
    point
}

/// Returns OSTN15's shifts at a point, interpolated between the four corners of its cell.
fn shifts(east: f64, north: f64) -> Option<(f64, f64)> {
    let table_m = (POINTS - 1) as f64 * CELL_M;
    // Also false for NaN.
    if !((0.0..table_m).contains(&east) && (0.0..1_250_000.0).contains(&north)) {
        return None;
    }
    let (column, row) = (floor(east / CELL_M), floor(north / CELL_M));
    let (right, up) = (east / CELL_M - column, north / CELL_M - row);
    let mut sum = (0.0, 0.0);
    for (along, across, weight) in [
        (0, 0, (1.0 - right) * (1.0 - up)),
        (1, 0, right * (1.0 - up)),
        (0, 1, (1.0 - right) * up),
        (1, 1, right * up),
    ] {
        let point = column as usize + along + (row as usize + across) * POINTS;
        let (shift_east, shift_north) = shifts_at(point)?;
        sum.0 += weight * shift_east;
        sum.1 += weight * shift_north;
    }
    Some(sum)
}

/// Reads the shifts at one point of the table, metres.
fn shifts_at(point: usize) -> Option<(f64, f64)> {
    let (entries, _) = OSTN15.as_chunks::<8>();
    let [a, b, c, d, e, f, g, h] = *entries.get(point)?;
    let metres = |bytes| f64::from(i32::from_le_bytes(bytes)) / 1_000.0;
    Some((metres([a, b, c, d]), metres([e, f, g, h])))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test points of the Ordnance Survey: degrees north and east, metres east and north.
    const POINTS: [(f64, f64, f64, f64); 11] = [
        (50.43885826, -4.108645636, 250359.811, 62016.569),
        (50.57563665, -1.297822772, 449816.371, 75335.861),
        (51.37447026, 1.444547304, 639821.835, 169565.858),
        (51.42754743, -2.544076183, 362269.991, 169978.69),
        (51.48936565, -0.119925572, 530624.974, 178388.464),
        (51.85890896, -4.30852477, 241124.584, 220332.641),
        (52.25529382, -2.154586144, 389544.19, 261912.153),
        (53.41628516, -4.289180698, 247958.971, 393492.909),
        (53.8002152, -1.663791682, 422242.186, 433818.701),
        (54.8954234, -2.938277411, 339921.145, 556034.761),
        (49.92226394, -6.29977752, 91492.146, 11318.804),
    ];

    #[test]
    fn the_ordnance_surveys_test_points_agree_to_the_millimetre() {
        for (latitude, longitude, easting, northing) in POINTS {
            let (east, north) = project(latitude, longitude);
            let (shift_east, shift_north) = shifts(east, north).unwrap();
            let off = hypot(east + shift_east - easting, north + shift_north - northing);
            // The points' degrees are printed to 8 places, which are up to a millimetre.
            assert!(off < 0.002, "{latitude} {longitude}: off by {off} m");
        }
    }

    /// The expected numbers are worked out in exact fractions from the flattening.
    #[test]
    fn the_series_have_the_coefficients_of_the_ellipsoid() {
        for (constant, exact) in [
            (KRUEGER[0], 8.377_318_247_344_344e-4),
            (KRUEGER[1], 7.608_527_788_826_163e-7),
            (KRUEGER[2], 1.197_638_019_173_153_4e-9),
            (KRUEGER[3], 2.443_376_242_510_367_8e-12),
            (RECTIFYING_M, 6_364_910.263_597_818),
        ] {
            assert!(
                (constant / exact - 1.0).abs() < 1e-14,
                "{constant}, not {exact}"
            );
        }
    }

    #[test]
    fn a_place_is_in_whole_metres() {
        let point = national_grid(51.427_547_43, -2.544_076_183).unwrap();
        assert_eq!((point.easting, point.northing), (362_270, 169_979));
    }

    #[test]
    fn the_degrees_of_a_point_are_those_that_lead_to_it() {
        for (latitude, longitude, easting, northing) in POINTS {
            let point = GridPoint {
                easting: round(easting) as i32,
                northing: round(northing) as i32,
            };
            let (found_latitude, found_longitude) = degrees(point).unwrap();
            // Half a metre of rounding in both directions.
            assert!((found_latitude - latitude).abs() < 1e-5, "{point:?}");
            assert!((found_longitude - longitude).abs() < 1e-5, "{point:?}");
            assert_eq!(national_grid(found_latitude, found_longitude), Some(point));
        }
        for (easting, northing) in [(-1, 0), (700_000, 0), (0, 1_250_000), (i32::MAX, i32::MIN)] {
            assert_eq!(degrees(GridPoint { easting, northing }), None);
        }
    }

    #[test]
    fn points_off_the_grid_are_refused() {
        for (latitude, longitude) in [
            (48.86, 2.35),
            (0.0, 0.0),
            (90.0, 0.0),
            (-90.0, 180.0),
            (51.5, 178.0),
            (51.5, 10.0),
            // Half a kilometre east of the table's last column.
            (52.0, 2.378_266_36),
            (62.0, -2.0),
            (f64::NAN, 0.0),
        ] {
            assert_eq!(
                national_grid(latitude, longitude),
                None,
                "{latitude} {longitude}"
            );
        }
    }
}
