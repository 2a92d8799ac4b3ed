//! `domesday:valuation@1.0.0` is published: releases were built against it, and it never changes.

use sha2::{Digest, Sha256};

/// Of the interface without its comments and blanks, which may be mended.
const PUBLISHED: &str = "a4db9fdffe18ab070cfd39e70d4f045aba7cbf37198187f5d4bb223d5435cb62";

#[test]
fn the_published_interface_has_not_changed() {
    let text = include_str!("../../../wit/valuation.wit");
    let code: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .flat_map(str::chars)
        .filter(|c| !c.is_whitespace())
        .collect();
    assert!(code.starts_with("packagedomesday:valuation@1.0.0;"));
    assert_eq!(
        hex::encode(Sha256::digest(code)),
        PUBLISHED,
        "a later ability is a new interface or a new world beside this one"
    );
}
