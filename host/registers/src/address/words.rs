//! The closed word lists behind address keys.

/// Common abbreviations of the last word of a street or building name, with the word in full.
const ABBREVIATIONS: &[(&str, &str)] = &[
    ("APTS", "APARTMENTS"),
    ("AV", "AVENUE"),
    ("AVE", "AVENUE"),
    ("BLDG", "BUILDING"),
    ("BLDGS", "BUILDINGS"),
    ("BLVD", "BOULEVARD"),
    ("CL", "CLOSE"),
    ("CLO", "CLOSE"),
    ("COTT", "COTTAGE"),
    ("COTTS", "COTTAGES"),
    ("CRES", "CRESCENT"),
    ("CRESC", "CRESCENT"),
    ("CT", "COURT"),
    ("CTS", "COURTS"),
    ("DR", "DRIVE"),
    ("DRV", "DRIVE"),
    ("EST", "ESTATE"),
    ("GDN", "GARDEN"),
    ("GDNS", "GARDENS"),
    ("GRN", "GREEN"),
    ("GRO", "GROVE"),
    ("GRV", "GROVE"),
    ("HSE", "HOUSE"),
    ("HTS", "HEIGHTS"),
    ("LN", "LANE"),
    ("MANS", "MANSIONS"),
    ("MDW", "MEADOW"),
    ("MDWS", "MEADOWS"),
    ("PDE", "PARADE"),
    ("PK", "PARK"),
    ("PL", "PLACE"),
    ("PROM", "PROMENADE"),
    ("RD", "ROAD"),
    ("SQ", "SQUARE"),
    ("ST", "STREET"),
    ("STR", "STREET"),
    ("TCE", "TERRACE"),
    ("TER", "TERRACE"),
    ("TERR", "TERRACE"),
    ("VLS", "VILLAS"),
    ("VW", "VIEW"),
    ("WLK", "WALK"),
    ("WY", "WAY"),
    ("YD", "YARD"),
];

/// Returns the word in full where `word` abbreviates the last word of a name.
pub(super) fn in_full(word: &str) -> Option<&'static str> {
    ABBREVIATIONS
        .binary_search_by_key(&word, |(short, _)| short)
        .ok()
        .and_then(|at| ABBREVIATIONS.get(at))
        .map(|(_, full)| *full)
}

/// Reports whether a word may follow the last word of a street's name, as in "High Street North".
pub(super) fn is_direction(word: &str) -> bool {
    matches!(word, "NORTH" | "SOUTH" | "EAST" | "WEST")
}

/// The kind of a word for a unit within a building.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnitWord {
    /// A flat, the same as a number alone: "Flat 3", "Apartment 3" and "3, Kings Court".
    Flat,
    /// Numbered within the building, and also a unit without a number, as in "The Penthouse".
    Alone(&'static str),
    /// Numbered within the building. Without a number it is not a unit: "The Studio" is a house.
    Numbered(&'static str),
}

/// Reads a unit word.
pub(super) fn unit_word(word: &str) -> Option<UnitWord> {
    Some(match word {
        "FLAT" | "FLT" | "APARTMENT" | "APT" | "APPT" => UnitWord::Flat,
        "MAISONETTE" | "MAIS" => UnitWord::Alone("MAISONETTE"),
        "PENTHOUSE" => UnitWord::Alone("PENTHOUSE"),
        "BEDSIT" => UnitWord::Numbered("BEDSIT"),
        "ROOM" | "RM" => UnitWord::Numbered("ROOM"),
        "STUDIO" => UnitWord::Numbered("STUDIO"),
        "SUITE" => UnitWord::Numbered("SUITE"),
        "UNIT" => UnitWord::Numbered("UNIT"),
        _ => return None,
    })
}

/// Returns a word of a unit's key that only a dwelling has.
pub(super) fn is_dwelling(word: &str) -> bool {
    matches!(word, "BEDSIT" | "FLAT" | "MAISONETTE" | "PENTHOUSE")
}

/// Returns the key's form of a word that places a unit within its building.
pub(super) fn place_word(word: &str) -> Option<&'static str> {
    Some(match word {
        "BASEMENT" => "BASEMENT",
        "FIFTH" | "5TH" => "FIFTH",
        "FIRST" | "1ST" => "FIRST",
        "FLOOR" => "FLOOR",
        "FOURTH" | "4TH" => "FOURTH",
        "FRONT" => "FRONT",
        "GARDEN" => "GARDEN",
        "GROUND" => "GROUND",
        "HALL" => "HALL",
        "LEFT" => "LEFT",
        "LOWER" => "LOWER",
        "MIDDLE" => "MIDDLE",
        "REAR" => "REAR",
        "RIGHT" => "RIGHT",
        "SECOND" | "2ND" => "SECOND",
        "SIXTH" | "6TH" => "SIXTH",
        "THIRD" | "3RD" => "THIRD",
        "TOP" => "TOP",
        "UPPER" => "UPPER",
        _ => return None,
    })
}

/// Returns a name that ends like a street's.
pub(super) fn is_thoroughfare(name: &[String]) -> bool {
    let last = name
        .iter()
        .rev()
        .find(|word| !is_direction(word))
        .or(name.last());
    last.is_some_and(|word| {
        matches!(
            word.as_str(),
            "ACRE"
                | "ACRES"
                | "ALLEY"
                | "APPROACH"
                | "AVENUE"
                | "BANK"
                | "BOULEVARD"
                | "BROADWAY"
                | "BROW"
                | "BYWAY"
                | "CAUSEWAY"
                | "CHASE"
                | "CIRCLE"
                | "CIRCUS"
                | "CLOSE"
                | "COMMON"
                | "COPSE"
                | "CRESCENT"
                | "CREST"
                | "CROFT"
                | "CROSS"
                | "DALE"
                | "DELL"
                | "DENE"
                | "DRIFT"
                | "DRIVE"
                | "DROVE"
                | "END"
                | "ESPLANADE"
                | "FIELD"
                | "FIELDS"
                | "FOLD"
                | "GARDENS"
                | "GARTH"
                | "GATE"
                | "GLADE"
                | "GLEN"
                | "GREEN"
                | "GROVE"
                | "HEATH"
                | "HIGHWAY"
                | "HILL"
                | "LANE"
                | "LEA"
                | "LOAN"
                | "LOOP"
                | "MALL"
                | "MEAD"
                | "MEADOW"
                | "MEADOWS"
                | "MEWS"
                | "MOUNT"
                | "ORCHARD"
                | "PADDOCK"
                | "PARADE"
                | "PARK"
                | "PASSAGE"
                | "PATH"
                | "PIECE"
                | "PLACE"
                | "PLAIN"
                | "PROMENADE"
                | "QUADRANT"
                | "QUAY"
                | "RIDE"
                | "RIDGE"
                | "RISE"
                | "ROAD"
                | "ROUNDABOUT"
                | "ROW"
                | "SIDE"
                | "SPINNEY"
                | "SQUARE"
                | "STEPS"
                | "STREET"
                | "TERRACE"
                | "TRACK"
                | "VALE"
                | "VALLEY"
                | "VIEW"
                | "WALK"
                | "WAY"
                | "WHARF"
                | "WOOD"
                | "WYND"
                | "YARD"
        )
    })
}

/// Returns a name that ends as buildings of several homes do.
pub(super) fn is_building_of_homes(name: &[String]) -> bool {
    name.last().is_some_and(|word| {
        matches!(
            word.as_str(),
            "APARTMENTS"
                | "BUILDING"
                | "BUILDINGS"
                | "COURT"
                | "FLATS"
                | "HEIGHTS"
                | "HOUSE"
                | "LODGE"
                | "LOFTS"
                | "MANSIONS"
                | "MILL"
                | "MILLS"
                | "POINT"
                | "TOWER"
                | "TOWERS"
                | "WORKS"
        )
    })
}

/// Returns whether several homes with their own numbers share a name, so that the name alone is not
/// an address.
pub(super) fn names_a_group(name: &[String]) -> bool {
    is_thoroughfare(name)
        || name.last().is_some_and(|word| {
            matches!(
                word.as_str(),
                "ALMSHOUSES"
                    | "APARTMENTS"
                    | "BUILDINGS"
                    | "BUNGALOWS"
                    | "COTTAGES"
                    | "COURT"
                    | "COURTS"
                    | "FLATS"
                    | "HOUSES"
                    | "MAISONETTES"
                    | "MANSIONS"
                    | "VILLAS"
            )
        })
}

/// Returns whether a name is of something beside the numbered home: "Garage at, 12", "The Annexe,
/// 12", "Plot 12".
pub(super) fn stands_beside(name: &[String]) -> bool {
    let beside = |word: &String| {
        matches!(
            word.as_str(),
            "ADJACENT"
                | "ADJOINING"
                | "AT"
                | "BACK"
                | "BEHIND"
                | "BLOCK"
                | "BUNGALOW"
                | "GARAGE"
                | "GARAGES"
                | "LAND"
                | "LOT"
                | "OF"
                | "OPPOSITE"
                | "PARKING"
                | "PART"
                | "PHASE"
                | "PLOT"
                | "REAR"
                | "SHOP"
                | "SITE"
                | "STABLES"
                | "STORE"
                | "TO"
                | "WORKSHOP"
        )
    };
    let anywhere = |word: &String| matches!(word.as_str(), "ANNEX" | "ANNEXE" | "COACH");
    name.first().is_some_and(beside) || name.last().is_some_and(beside) || name.iter().any(anywhere)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviations_are_sorted_for_the_search_and_none_is_a_word_in_full() {
        assert!(ABBREVIATIONS.is_sorted_by(|a, b| a.0 < b.0));
        assert!(
            ABBREVIATIONS
                .iter()
                .all(|(_, full)| in_full(full).is_none())
        );
    }
}
