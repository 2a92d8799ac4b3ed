//! One slip of the hand in a name.

/// Fewest letters that a slip is looked for in: in shorter names another letter makes another
/// name ("Hill Road", "Mill Road").
const FEWEST: usize = 5;

/// Endings of names that are left as they are; a slip is looked for before them.
const ENDINGS: [&str; 33] = [
    "APARTMENTS",
    "AVENUE",
    "BARN",
    "BUNGALOW",
    "CLOSE",
    "COTTAGE",
    "COURT",
    "CRESCENT",
    "DRIVE",
    "END",
    "FARM",
    "GARDENS",
    "GROVE",
    "HEIGHTS",
    "HILL",
    "HOUSE",
    "LANE",
    "LODGE",
    "MANSIONS",
    "MEWS",
    "PARK",
    "PLACE",
    "POINT",
    "RECTORY",
    "RISE",
    "ROAD",
    "SQUARE",
    "STREET",
    "TERRACE",
    "VIEW",
    "VILLA",
    "WALK",
    "WAY",
];

/// Returns every name one slip away from this one: a letter omitted, inserted or replaced, or two
/// neighbours swapped. The first letter, a common ending and any name with a digit are not changed.
pub(super) fn slips(name: &str) -> Vec<String> {
    if !name.bytes().all(|b| b.is_ascii_uppercase()) {
        return Vec::new();
    }
    let ending = ENDINGS
        .iter()
        .filter(|ending| name.ends_with(*ending))
        .map(|ending| ending.len())
        .max()
        .unwrap_or_default();
    let (stem, ending) = name.split_at(name.len() - ending);
    if stem.len() < FEWEST {
        return Vec::new();
    }
    let stem = stem.as_bytes();
    let mut slips = Vec::new();
    let mut add = |letters: Vec<u8>| {
        let text: String = letters.into_iter().map(char::from).collect();
        slips.push(text + ending);
    };
    for at in 1..stem.len() {
        let mut left_out = stem.to_vec();
        left_out.remove(at);
        add(left_out);
        if at + 1 < stem.len() {
            let mut swapped = stem.to_vec();
            swapped.swap(at, at + 1);
            add(swapped);
        }
        for letter in b'A'..=b'Z' {
            let mut other = stem.to_vec();
            other[at] = letter;
            add(other);
            let mut put_in = stem.to_vec();
            put_in.insert(at, letter);
            add(put_in);
        }
    }
    for letter in b'A'..=b'Z' {
        let mut put_in = stem.to_vec();
        put_in.push(letter);
        add(put_in);
    }
    slips
}
