//! Parsers of the certificates' descriptive cells.
//!
//! The assessors' software builds descriptions from a fixed stock of phrases, first the
//! construction, then its insulation. The leading phrase is enough here. Certificates of new
//! dwellings give a U-value ("Average thermal transmittance …") in place of a construction, some of
//! them in Welsh. Both are known texts that name no construction.

use crate::codes::{
    AgeBand, EnergyRating, FloorType, Glazing, PropertyType, RoofType, Subtype, WallType,
};

/// Returns whether a cell states nothing.
pub(super) fn says_nothing(cell: &str) -> bool {
    const NOTHING: [&str; 8] = [
        "",
        "NO DATA!",
        "INVALID!",
        "N/A",
        "NODATA!",
        "NULL",
        "NOT RECORDED",
        "UNKNOWN",
    ];
    NOTHING
        .iter()
        .any(|nothing| cell.eq_ignore_ascii_case(nothing))
}

/// Returns the type and subtype of a dwelling from `PROPERTY_TYPE` and `BUILT_FORM`; `None` where
/// the type is unknown. A park home has neither, and a house without a built form has no type.
pub(super) fn dwelling(
    property_type: &str,
    built_form: &str,
) -> Option<(Option<PropertyType>, Option<Subtype>)> {
    use Subtype::*;
    let form = built_form.to_ascii_lowercase();
    let subtype = match property_type.to_ascii_lowercase().as_str() {
        kind if kind.starts_with("flat") && kind.contains("convert") => Some(FlatConverted),
        kind if kind.starts_with("flat") => Some(FlatPurposeBuilt),
        kind if kind.starts_with("maisonette") => Some(Maisonette),
        kind @ ("house" | "bungalow") => {
            let house = kind == "house";
            match form.strip_prefix("enclosed ").unwrap_or(&form) {
                "detached" => Some(if house {
                    HouseDetached
                } else {
                    BungalowDetached
                }),
                "semi-detached" => Some(if house {
                    HouseSemiDetached
                } else {
                    BungalowSemiDetached
                }),
                "mid-terrace" => Some(if house {
                    HouseMidTerrace
                } else {
                    BungalowTerraced
                }),
                "end-terrace" => Some(if house {
                    HouseEndTerrace
                } else {
                    BungalowTerraced
                }),
                _ => None,
            }
        }
        "park home" => return Some((Some(PropertyType::Other), None)),
        _ => return None,
    };
    Some((subtype.map(Subtype::property_type), subtype))
}

/// Parses "England and Wales: 1967-1975", "before 1900", "2012 onwards", or a bare year.
pub(super) fn age_band(cell: &str) -> Option<AgeBand> {
    let band = cell.rsplit(':').next().unwrap_or(cell).trim();
    if let Some(year) = band.strip_prefix("before ") {
        return year
            .parse()
            .ok()
            .map(|year: i32| AgeBand::of_year(year - 1));
    }
    let year: i32 = band.get(..4)?.parse().ok()?;
    let rest = band.get(4..).unwrap_or_default().trim();
    let known = rest.is_empty()
        || rest == "onwards"
        || rest
            .strip_prefix('-')
            .is_some_and(|end| end.trim().parse::<i32>().is_ok_and(|end| end >= year));
    (known && (1000..=2100).contains(&year)).then(|| AgeBand::of_year(year))
}

/// Parses a rating, `A` to `G`.
pub(super) fn rating(cell: &str) -> Option<EnergyRating> {
    use EnergyRating::*;
    Some(match cell {
        "A" | "a" => A,
        "B" | "b" => B,
        "C" | "c" => C,
        "D" | "d" => D,
        "E" | "e" => E,
        "F" | "f" => F,
        "G" | "g" => G,
        _ => return None,
    })
}

/// Returns the storey of a flat. "mid floor", "top floor" and "21st or above" are known texts
/// without a storey.
pub(super) fn floor_level(cell: &str) -> Option<Option<i32>> {
    let text = cell.to_ascii_lowercase();
    let text = text.strip_suffix(" floor").unwrap_or(&text).trim();
    Some(match text {
        "ground" => Some(0),
        "basement" | "lower ground" => Some(-1),
        "mid" | "top" | "21st or above" | "unspecified" => None,
        _ => {
            let ordinal = ["st", "nd", "rd", "th"]
                .iter()
                .find_map(|suffix| text.strip_suffix(suffix));
            let number: i32 = ordinal.unwrap_or(text).parse().ok()?;
            (-5..=100).contains(&number).then_some(Some(number))?
        }
    })
}

/// Returns the value of the first phrase that begins the text, or `Some(None)` for a known text
/// without a construction.
fn leading<T: Copy>(cell: &str, phrases: &[(&str, T)]) -> Option<Option<T>> {
    const NO_CONSTRUCTION: [&str; 2] = [
        "average thermal transmittance",
        "trawsyriannedd thermol cyfartalog",
    ];
    let text = cell.to_lowercase();
    let text = text.trim_start_matches('(');
    if NO_CONSTRUCTION
        .iter()
        .any(|phrase| text.starts_with(phrase))
    {
        return Some(None);
    }
    phrases
        .iter()
        .find(|(phrase, _)| text.starts_with(phrase))
        .map(|(_, value)| Some(*value))
}

/// Parses the construction of the walls.
pub(super) fn walls(cell: &str) -> Option<Option<WallType>> {
    use WallType::*;
    leading(
        cell,
        &[
            ("cavity", Cavity),
            ("waliau ceudod", Cavity),
            ("solid brick", SolidBrick),
            ("briciau solet", SolidBrick),
            ("sandstone", Stone),
            ("granite", Stone),
            ("limestone", Stone),
            ("stone", Stone),
            ("gwenithfaen", Stone),
            ("tywodfaen", Stone),
            ("timber frame", TimberFrame),
            ("ffrâm bren", TimberFrame),
            ("ffram bren", TimberFrame),
            ("system built", SystemBuilt),
            ("wedi'u hadeiladu yn ôl system", SystemBuilt),
            ("cob", Cob),
            ("park home", Other),
            ("curtain wall", Other),
            ("basement wall", Other),
        ],
    )
}

/// Parses the form of the roof.
pub(super) fn roof(cell: &str) -> Option<Option<RoofType>> {
    use RoofType::*;
    leading(
        cell,
        &[
            ("pitched", Pitched),
            ("ar oleddf", Pitched),
            ("flat", Flat),
            ("yn wastad", Flat),
            ("thatched", Thatched),
            ("to gwellt", Thatched),
            ("roof room", RoomInRoof),
            ("ystafell", RoomInRoof),
            ("another dwelling above", PremisesAbove),
            ("other premises above", PremisesAbove),
            ("same dwelling above", PremisesAbove),
            ("annedd arall uwchben", PremisesAbove),
            ("eiddo arall uwchben", PremisesAbove),
        ],
    )
}

/// Parses the form of the lowest floor.
pub(super) fn floor(cell: &str) -> Option<Option<FloorType>> {
    use FloorType::*;
    leading(
        cell,
        &[
            ("solid", Solid),
            ("solet", Solid),
            ("suspended", Suspended),
            ("crog", Suspended),
            ("another dwelling below", PremisesBelow),
            ("other premises below", PremisesBelow),
            ("same dwelling below", PremisesBelow),
            ("annedd arall islaw", PremisesBelow),
            ("eiddo arall islaw", PremisesBelow),
            ("to unheated space", Other),
            ("to external air", Other),
            ("i ofod heb ei wresogi", Other),
            ("i'r awyr tu allan", Other),
            ("conservatory", Other),
        ],
    )
}

/// Returns the glazing of most windows. The description decides if it has "fully" or "mostly" or
/// names one kind, and otherwise the glazed type. Descriptions are in English or in Welsh.
pub(super) fn glazing(windows: &str, glazed_type: &str) -> Option<Glazing> {
    use Glazing::*;
    let kind = |text: &str| {
        [
            ("triple", Triple),
            ("triphlyg", Triple),
            ("secondary", Secondary),
            ("eilaidd", Secondary),
            ("double", Double),
            ("dwbl", Double),
            ("single", Single),
            ("sengl", Single),
        ]
        .into_iter()
        .find(|(word, _)| text.contains(word))
        .map(|(_, kind)| kind)
    };
    let windows = windows.to_lowercase();
    // "Partial" and "some" mean that single glazing prevails. "Rhannol" follows its noun.
    let partial = ["partial", "some", "rhai "]
        .iter()
        .any(|word| windows.starts_with(word));
    if partial || windows.contains("rhannol") {
        return Some(Single);
    }
    if windows.contains("multiple") || windows.contains("lluosog") {
        return Some(Other);
    }
    kind(&windows)
        .or_else(|| kind(&glazed_type.to_lowercase()))
        .or_else(|| {
            let named = !says_nothing(&windows) && !windows.starts_with("average thermal");
            let glazing = ["glazing", "gwydrau", "perfformiad uchel"]
                .iter()
                .any(|words| windows.contains(words));
            (named && glazing).then_some(Other)
        })
}
