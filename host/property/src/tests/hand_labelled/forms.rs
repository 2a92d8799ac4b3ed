//! The forms in which an honest client might type a row of price paid data.

use domesday_registers::records::PricePaid;

/// A client's two address fields.
pub(crate) struct Request {
    pub(crate) building: String,
    pub(crate) street: String,
}

/// Returns the request of a form; the forms are explained in labels/README.md.
pub(crate) fn request(form: &str, sale: &PricePaid) -> Request {
    let (building, street) = (format_building(sale), sale.street.clone());
    let (building, street) = match form {
        "written" => (building, street),
        "lower" => (building.to_lowercase(), street.to_lowercase()),
        "short" => (title(&building), abbreviate(&title(&street))),
        "swapped" => (swap_parts(sale).to_lowercase(), title(&street)),
        "bare" => (building.replace("FLAT ", ""), title(&street)),
        "spaced" => (
            space_out(&building),
            format!(" {}. ", title(&street).replace(' ', "  ")),
        ),
        "numbered" => (format!("No. {building}"), title(&street)),
        "no_unit" => (sale.paon.clone(), title(&street)),
        "next" => (next(&sale.paon), title(&street)),
        other => panic!("no form is called {other}"),
    };
    Request { building, street }
}

/// Formats the building as "FLAT 3, 12", or "12".
fn format_building(sale: &PricePaid) -> String {
    if sale.saon.is_empty() {
        sale.paon.clone()
    } else {
        format!("{}, {}", sale.saon, sale.paon)
    }
}

/// Puts the number first: "12 flat 3", or "67 mill house" for "MILL HOUSE, 67".
fn swap_parts(sale: &PricePaid) -> String {
    match sale.paon.split_once(", ") {
        _ if !sale.saon.is_empty() => format!("{} {}", sale.paon, sale.saon),
        Some((name, number)) => format!("{number} {name}"),
        None => sale.paon.clone(),
    }
}

/// Spreads the text: "  12 a". Letters stand apart from digits, and ranges have "to".
fn space_out(building: &str) -> String {
    let mut text = String::from("  ");
    for c in building.replace(" - ", " to ").chars() {
        if c.is_alphabetic() && text.ends_with(|last: char| last.is_ascii_digit()) {
            text.push(' ');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

/// Returns the number after the next one, which is as a rule the neighbour's.
fn next(paon: &str) -> String {
    let number: u32 = paon.parse().expect("a row with a plain number");
    (number + 2).to_string()
}

fn title(text: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or(String::new(), |first| {
            first.to_string() + &letters.as_str().to_lowercase()
        })
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Shortens the last word as people do.
fn abbreviate(street: &str) -> String {
    let (start, last) = street.rsplit_once(' ').unwrap_or(("", street));
    let short = match last {
        "Road" => "Rd",
        "Street" => "St",
        "Avenue" => "Ave",
        "Close" => "Cl",
        "Drive" => "Dr",
        "Lane" => "Ln",
        "Crescent" => "Cres",
        "Place" => "Pl",
        "Square" => "Sq",
        "Grove" => "Gro",
        "Gardens" => "Gdns",
        "Court" => "Ct",
        "Terrace" => "Terr",
        other => other,
    };
    format!("{start} {short}")
}
