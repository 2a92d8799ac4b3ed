//! The published versions of `domesday:valuation` never change: releases were built against it.

use domesday_engine::Runtime;
use sha2::{Digest, Sha256};

/// Returns the digest of the interface without its comments and blanks, which may be mended.
fn digest(text: &str, package: &str) -> String {
    let code: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .flat_map(str::chars)
        .filter(|c| !c.is_whitespace())
        .collect();
    assert!(code.starts_with(package), "{package}");
    hex::encode(Sha256::digest(code))
}

#[test]
fn the_published_interface_has_not_changed() {
    for (text, package, published) in [
        (
            include_str!("../../../../wit/valuation.wit"),
            "packagedomesday:valuation@1.0.0;",
            "a4db9fdffe18ab070cfd39e70d4f045aba7cbf37198187f5d4bb223d5435cb62",
        ),
        (
            include_str!("../../../../wit/packed/packed.wit"),
            "packagedomesday:valuation@1.1.0;",
            "413770593dad1ab3725989bb7aa3c723fa247e8927d2eb94642ae68d7d0c7dd3",
        ),
    ] {
        assert_eq!(
            digest(text, package),
            published,
            "{package} a later ability is a new interface or a new world beside this one"
        );
    }
}

#[test]
fn the_engine_names_the_version_of_each_interface() {
    let texts = [
        include_str!("../../../../wit/valuation.wit"),
        include_str!("../../../../wit/packed/packed.wit"),
        include_str!("../../../../wit/inputs/inputs.wit"),
        include_str!("../../../../wit/predictions/predictions.wit"),
    ];
    let stated = texts.map(|text| {
        let line = text.lines().find(|line| line.starts_with("package "));
        line.unwrap()["package ".len()..].trim_end_matches(';')
    });
    assert_eq!(Runtime::INTERFACES, stated);
}
