//! Addresses in lines, in any division.

use super::super::tests::{finds, lines, misses};

#[test]
fn lines_in_any_division() {
    for division in [
        &["12 High Street", "Barwick", "LEICESTER"][..],
        &["12, High Street,", "Barwick"],
        &["12", "High St", "Barwick", "LEICESTER"],
        &["12 HIGH STREET", "LEICESTER", "ZZ9 9ZZ"],
    ] {
        finds(&lines(division, "LEICESTER"), &[("12", "High Street")]);
    }
    for division in [
        &["Flat 3", "12 High Street", "LEICESTER"][..],
        &["Flat 3, 12 High Street"],
        &["Flat 3 12 High Street"],
        &["12 Flat 3", "High Street"],
        &["3", "12 High Street"],
    ] {
        let keys = lines(division, "LEICESTER");
        finds(&keys, &[("Flat 3, 12", "High Street")]);
        misses(
            &keys,
            &[
                ("12", "High Street"),
                ("3", "High Street"),
                ("Flat 3", "High Street"),
            ],
        );
    }
    for division in [
        &["3 Kings Court", "High Street", "LEICESTER"][..],
        &["Flat 3", "Kings Court", "High Street"],
        &["Flat 3 Kings Court", "High Street"],
        &["3", "Kings Court", "High Street"],
    ] {
        let keys = lines(division, "LEICESTER");
        finds(
            &keys,
            &[
                ("3 Kings Court", "High Street"),
                ("3", "Kings Court"),
                ("Flat 3", "Kings Court"),
            ],
        );
        misses(
            &keys,
            &[("Kings Court", "High Street"), ("3", "High Street")],
        );
    }
    let full = lines(
        &["Flat 3, Kings Court 12 High Street", "LEICESTER"],
        "LEICESTER",
    );
    finds(
        &full,
        &[
            ("Flat 3, 12", "High Street"),
            ("Flat 3, Kings Court", "High Street"),
        ],
    );
    let court = lines(
        &["The Old Sessions Court", "5 Mill Road, ", "Ludbury"],
        "Shireshire",
    );
    finds(
        &court,
        &[
            ("5", "Mill Road"),
            ("The Old Sessions Court, 5", "Mill Road"),
        ],
    );
    finds(
        &lines(&["The Laurels", "5 Mill Road"], ""),
        &[("The Laurels", "Mill Road"), ("5", "Mill Road")],
    );
    finds(
        &lines(&["The Laurels", "Little Snoring", "NORWICH"], "NORWICH"),
        &[("The Laurels", "Little Snoring")],
    );
    finds(
        &lines(&["The Laurels", "NORWICH"], "NORWICH"),
        &[("The Laurels", "Norwich")],
    );
    finds(
        &lines(&["First Floor Flat 5", "9B High Street"], ""),
        &[("First Floor Flat 5, 9b", "High Street")],
    );
    finds(
        &lines(&["Garden Flat 9", "High Street"], ""),
        &[("Garden Flat, 9", "High Street")],
    );
    assert_eq!(lines(&[], "NORWICH"), []);
}

#[test]
fn a_house_and_its_street_without_a_comma() {
    for division in [
        &["Mill House Station Road", "Barwick"][..],
        &["Mill House Station Road, Barwick"],
    ] {
        let keys = lines(division, "LEICESTER");
        finds(&keys, &[("Mill House", "Station Rd")]);
        misses(&keys, &[("Mill", "House Station Road")]);
    }
    // A street may itself be called after a house.
    let keys = lines(&["Rose Cottage", "Manor House Lane"], "LEICESTER");
    finds(&keys, &[("Rose Cottage", "Manor House Lane")]);
    misses(&keys, &[("Manor House", "Lane")]);
    misses(
        &lines(&["Flat 2", "Mill House Station Road"], ""),
        &[("Mill House", "Station Road")],
    );
}

#[test]
fn lines_never_answer_for_another_home() {
    misses(
        &lines(&["D", "12 High Street"], ""),
        &[("12", "High Street")],
    );
    misses(
        &lines(&["Flat 3", "High Street"], ""),
        &[("3", "High Street")],
    );
    misses(
        &lines(&["Annexe", "12 High Street"], ""),
        &[("12", "High Street")],
    );
    misses(
        &lines(&["Plot 12 High Street"], ""),
        &[("12", "High Street")],
    );
    let nested = lines(&["Ground Floor Flat", "Flat 4, 33 High Street"], "");
    misses(
        &nested,
        &[
            ("Ground Floor Flat, 33", "High Street"),
            ("33", "High Street"),
        ],
    );
    let left = lines(&["Left Hand Ground Floor Flat", "74 High Street"], "");
    misses(
        &left,
        &[
            ("Ground Floor Flat, 74", "High Street"),
            ("74", "High Street"),
        ],
    );
}
