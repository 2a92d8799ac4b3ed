//! Archives and workbooks as users and broken downloads spoil them.

use super::Variant;
use super::damage::text_variants;
use std::io::{Cursor, Read, Write};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// A file in an archive: its name and its bytes.
type Member = (String, Vec<u8>);

/// Tables of an archive that a variant has.
const TABLES: usize = 2;

/// Returns an archive of tables in each damaged form: broken off, and with spoiled tables.
pub(super) fn archive_variants(bytes: &[u8]) -> Vec<Variant> {
    let mut variants = broken_off(bytes);
    let mut tables = members(bytes);
    tables
        .retain(|(name, _)| name.to_ascii_lowercase().ends_with(".csv") && name.contains("Data/"));
    tables.truncate(TABLES);
    let mut spoiled: Vec<(String, Vec<Member>)> = Vec::new();
    for (name, content) in tables {
        for (at, variant) in text_variants(&String::from_utf8(content).unwrap())
            .into_iter()
            .enumerate()
        {
            match spoiled.get_mut(at) {
                Some((_, all)) => all.push((name.clone(), variant.content)),
                None => spoiled.push((variant.name, vec![(name.clone(), variant.content)])),
            }
        }
    }
    variants.extend(spoiled.into_iter().map(|(name, tables)| Variant {
        name: format!("tables, {name}"),
        content: zipped(&tables),
    }));
    variants
}

/// Returns a workbook in each damaged form: broken off, and with days that are text.
pub(super) fn workbook_variants(bytes: &[u8]) -> Vec<Variant> {
    let mut variants = broken_off(bytes);
    if bytes.starts_with(b"PK") {
        for (name, style) in [
            ("days as text, day first", "%d/%m/%Y"),
            ("days as text, month first", "%m/%d/%Y"),
        ] {
            let mut parts = members(bytes);
            for (part, content) in &mut parts {
                if part.starts_with("xl/worksheets/sheet") {
                    *content = days_as_text(content, style);
                }
            }
            variants.push(Variant {
                name: name.to_owned(),
                content: zipped(&parts),
            });
        }
    }
    variants
}

/// Returns a file that ends early or begins late.
fn broken_off(bytes: &[u8]) -> Vec<Variant> {
    let half = bytes.len() / 2;
    let variants = [
        ("truncated", &bytes[..bytes.len() - 60]),
        ("first half of the bytes", &bytes[..half]),
        ("second half of the bytes", &bytes[half..]),
    ];
    let variants = variants.into_iter();
    variants
        .map(|(name, content)| Variant {
            name: name.to_owned(),
            content: content.to_vec(),
        })
        .collect()
}

fn members(bytes: &[u8]) -> Vec<Member> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut members = Vec::new();
    for index in 0..archive.len() {
        let mut member = archive.by_index(index).unwrap();
        if member.is_file() {
            let mut content = Vec::new();
            member.read_to_end(&mut content).unwrap();
            members.push((member.name().unwrap().into_owned(), content));
        }
    }
    members
}

fn zipped(members: &[Member]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        zip.start_file(name.as_str(), SimpleFileOptions::default())
            .unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Writes the days of column A of a sheet as text, as a spreadsheet of another locale saves them.
fn days_as_text(sheet: &[u8], style: &str) -> Vec<u8> {
    let text = String::from_utf8(sheet.to_vec()).unwrap();
    let mut restyled = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("<c r=\"A") {
        restyled.push_str(&rest[..at]);
        let tag = rest[at..].find('>').unwrap() + 1;
        // A cell without a value is one element alone. Blank sheets have very many of them.
        let length = match rest[at..at + tag].ends_with("/>") {
            true => tag,
            false => tag + rest[at + tag..].find("</c>").unwrap() + "</c>".len(),
        };
        let cell = &rest[at..at + length];
        restyled.push_str(&day_as_text(cell, style).unwrap_or_else(|| cell.to_owned()));
        rest = &rest[at + length..];
    }
    restyled.push_str(rest);
    restyled.into_bytes()
}

/// Returns a cell of a serial number as one of text.
fn day_as_text(cell: &str, style: &str) -> Option<String> {
    let (_, after) = cell.split_once("<v>")?;
    let (serial, _) = after.split_once("</v>")?;
    let serial: i64 = serial
        .parse()
        .ok()
        .filter(|serial| (20_000..100_000).contains(serial))?;
    let epoch = chrono::NaiveDate::from_ymd_opt(1899, 12, 30)?;
    let day = epoch + chrono::TimeDelta::days(serial);
    let (name, _) = cell.split_once("\"A")?.1.split_once('"')?;
    Some(format!(
        r#"<c r="A{name}" t="str"><v>{}</v></c>"#,
        day.format(style)
    ))
}
