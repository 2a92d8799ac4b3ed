//! Invented names, composed by a grammar.
//!
//! A stride coprime to its length walks each list of names. Neighbours sound different, and no two
//! of the first 65 settlements of any authorities share a name. Streets of one authority repeat
//! after some eleven thousand, as real names do from town to town.

/// Stems of place names; none is a stem of the gazetteer.
const STEMS: [&str; 60] = [
    "QUILL", "AMBEL", "THRIM", "WEXEL", "DORNIC", "FENWEL", "OSPIN", "CAWDLE", "MERROL", "TASSEL",
    "BRANDEL", "HOLVER", "PINNOCK", "SORREN", "GALLEN", "LUDDEN", "NORREL", "VELLER", "YARNEL",
    "CINDREL", "ROSKEL", "TUMBEL", "HAZZEL", "WINDREL", "KESTREN", "BOSKEN", "DAPPEL", "ERNEL",
    "FIRREL", "GRIMBEL", "HUSKEN", "INKLE", "JASPEL", "KINDREL", "LARKEL", "MOTTEL", "NETTEN",
    "OAKREL", "PUDDEN", "QUARREL", "RIDDEL", "SADDEN", "TREFFEL", "UMBREL", "VARREN", "WATTEL",
    "YOLDEN", "ZELDEN", "BARREL", "CORREN", "DUNNEL", "EDDREL", "FALLEX", "GORREN", "HEDDEL",
    "IVREL", "JUNNEL", "KELDREN", "LINNEL", "MAZZEN",
];

const ENDINGS: [&str; 20] = [
    "FORD", "WICK", "MERE", "COMBE", "STOW", "DEN", "HURST", "THORPE", "BECK", "MINSTER", "BRIDGE",
    "LEIGH", "WORTH", "GATE", "FIELD", "MOUTH", "HOLME", "STEAD", "BOURNE", "TON",
];

const MANNERS: [&str; 18] = [
    "", "GREAT ", "LITTLE ", "UPPER ", "LOWER ", "NORTH ", "SOUTH ", "EAST ", "WEST ", "OLD ",
    "NETHER ", "HIGH ", "LONG ", "MARKET ", "CHAPEL ", "TEMPLE ", "ABBOTS ", "KINGS ",
];

const WELSH: [&str; 9] = [
    "LLAN", "ABER", "PENTRE", "TRE", "CAER", "PONT ", "NANT ", "GLYN", "MAES ",
];

/// Returns the name of the `k`-th settlement of an authority, upper case; `k` below 65.
pub(crate) fn settlement(authority: u32, k: u32, welsh: bool) -> String {
    let all = (STEMS.len() * ENDINGS.len() * MANNERS.len()) as u64;
    let n = ((u64::from(authority) * 65 + u64::from(k)) * 7_919 % all) as usize;
    let stem = STEMS[n % STEMS.len()];
    let ending = ENDINGS[n / STEMS.len() % ENDINGS.len()];
    let manner = n / STEMS.len() / ENDINGS.len();
    if welsh {
        // The stem and ending that follow keep it unlike any place in Wales.
        format!(
            "{}{stem}{}",
            WELSH[manner % WELSH.len()],
            &ending[..ending.len().min(4)]
        )
    } else {
        format!("{}{stem}{ending}", MANNERS[manner])
    }
}

/// Returns the name of an authority, in title case.
pub(crate) fn authority(index: u32, welsh: bool) -> String {
    let stem = title(STEMS[(index as usize * 7 + 3) % STEMS.len()]);
    let form = index as usize / STEMS.len();
    if welsh {
        return ["Sir ", "Dyffryn ", "Bro ", "Glannau ", "Ynys ", "Cwm "][form % 6].to_owned()
            + &stem;
    }
    match form {
        0 => format!("{stem}shire Vale"),
        1 => format!("North {stem}shire"),
        2 => format!("{stem} and Marches"),
        3 => format!("{stem} Forest"),
        4 => format!("South {stem}shire"),
        _ => format!("{stem} Coast"),
    }
}

/// Returns the name of a county, upper case.
pub(crate) fn county(index: u32) -> String {
    format!("{}SHIRE", STEMS[(index as usize * 11 + 5) % STEMS.len()])
}

/// Returns the name of an English region, in title case.
pub(crate) fn region(index: u32) -> String {
    const REGIONS: [&str; 9] = [
        "Northmark",
        "Middlemark",
        "Westmark",
        "Eastmark",
        "Southmark",
        "Farmark",
        "Highmark",
        "Lowmark",
        "Seamark",
    ];
    REGIONS[index as usize % REGIONS.len()].to_owned()
}

const FIRST: [&str; 40] = [
    "AMBER", "ALDER", "BADGER", "BARLEY", "BEACON", "BELL", "BRAMBLE", "CANAL", "CHERRY", "CLOVER",
    "COPPER", "CURLEW", "DAIRY", "ELDER", "FALCON", "FERN", "FOUNDRY", "FURNACE", "GRANARY",
    "HAREBELL", "HERON", "HOLLY", "IVY", "KILN", "LANTERN", "LARK", "MALT", "MEADOW", "MILL",
    "ORCHARD", "OTTER", "PLOVER", "QUARRY", "ROPE", "SADDLER", "SILVER", "TANNER", "THISTLE",
    "WEAVER", "WILLOW",
];

const SECOND: [&str; 20] = [
    "", "WHARF ", "BANK ", "CROFT ", "END ", "HILL ", "GATE ", "WELL ", "CROSS ", "BROOK ",
    "YARD ", "FIELD ", "MOOR ", "STILE ", "TOWER ", "POND ", "ASH ", "OAK ", "STONE ", "LEY ",
];

/// Words that end a street's name, with the abbreviation that careless hands write.
pub(crate) const WAYS: [(&str, &str); 14] = [
    ("STREET", "ST"),
    ("ROAD", "RD"),
    ("LANE", "LN"),
    ("AVENUE", "AVE"),
    ("CLOSE", "CL"),
    ("DRIVE", "DR"),
    ("CRESCENT", "CRES"),
    ("GARDENS", "GDNS"),
    ("TERRACE", "TERR"),
    ("PLACE", "PL"),
    ("GROVE", "GR"),
    ("COURT", "CT"),
    ("SQUARE", "SQ"),
    ("PARK", "PK"),
];

/// Returns the name of the `k`-th street of an authority, upper case.
pub(crate) fn street(authority: u32, k: u32, welsh: bool) -> String {
    let all = (FIRST.len() * SECOND.len() * WAYS.len()) as u64;
    let n = ((u64::from(authority) * 1_013 + u64::from(k)) * 3_001 % all) as usize;
    let first = FIRST[n % FIRST.len()];
    let second = SECOND[n / FIRST.len() % SECOND.len()];
    let (way, _) = WAYS[n / FIRST.len() / SECOND.len()];
    if welsh && n.is_multiple_of(5) {
        format!("{} {second}{first}", ["FFORDD", "HEOL", "STRYD"][n % 3])
    } else {
        format!("{first} {second}{way}")
    }
}

/// Returns the name of a block of flats, upper case.
pub(crate) fn block(n: usize) -> String {
    format!(
        "{} {}",
        FIRST[n * 7 % FIRST.len()],
        ["COURT", "HOUSE", "LODGE", "POINT", "MANSIONS", "HEIGHTS"][n % 6]
    )
}

/// Returns the name of a house, upper case.
pub(crate) fn house(n: usize) -> String {
    const KINDS: [&str; 10] = [
        "COTTAGE", "HOUSE", "BARN", "FARM", "LODGE", "VILLA", "END", "VIEW", "RECTORY", "BUNGALOW",
    ];
    format!(
        "{} {}",
        FIRST[n % FIRST.len()],
        KINDS[n / FIRST.len() % KINDS.len()]
    )
}

/// Converts upper case to title case, word by word.
pub(crate) fn title(upper: &str) -> String {
    let mut after_letter = false;
    upper
        .chars()
        .map(|c| {
            let out = if after_letter {
                c.to_ascii_lowercase()
            } else {
                c
            };
            // "12A" keeps its letter, "ST MARY'S" does not gain one.
            after_letter = c.is_ascii_alphanumeric() || c == '\'';
            if c.is_ascii_digit() {
                after_letter = false;
            }
            out
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_settlements_or_authorities_share_a_name() {
        let mut seen = HashSet::new();
        for a in 0..318 {
            for k in 0..65 {
                let name = settlement(a, k, a >= 296);
                assert!(seen.insert(name.clone()), "{name}");
            }
        }
        let names: HashSet<String> = (0..318).map(|a| authority(a, a >= 296)).collect();
        assert_eq!(names.len(), 318);
    }

    #[test]
    fn streets_of_one_authority_differ() {
        let names: HashSet<String> = (0..4_000).map(|k| street(17, k, false)).collect();
        assert_eq!(names.len(), 4_000);
    }

    #[test]
    fn title_case_keeps_unit_letters() {
        assert_eq!(
            title("FLAT 2, 12A AMBER WHARF LANE"),
            "Flat 2, 12A Amber Wharf Lane"
        );
    }
}
