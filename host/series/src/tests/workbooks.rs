//! Yield-curve workbooks in the Bank's layout, small and invented, with what real ones have and
//! what they should not have.

use domesday_series::build::markets::count_rents;
use domesday_series::build::rates::{CurveKind, CurveSide, Inputs, PublishedRates, read};
use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A cell of a sheet.
#[derive(Clone)]
pub(super) enum Cell {
    Blank,
    Text(&'static str),
    Number(f64),
    /// A number shown as a date.
    Day(u32),
    Error,
}
use Cell::{Blank, Day, Error, Number, Text};

/// 2025-10-01 as a spreadsheet's serial number.
const FIRST: u32 = 45_931;
/// Days by which the serial numbers of the two date systems differ.
const TO_1904: u32 = 1_462;

/// Returns a sheet of this title and these maturities in years, with these rows below.
fn sheet(title: &'static str, years: &[f64], rows: Vec<Vec<Cell>>) -> Vec<Vec<Cell>> {
    let mut maturities = vec![Text("years:")];
    maturities.extend(years.iter().map(|years| Number(*years)));
    let mut all = vec![
        vec![Blank, Text(title)],
        vec![],
        vec![Text("Maturity")],
        maturities,
    ];
    all.extend(rows);
    all
}

fn column(at: usize) -> char {
    char::from(b'A' + u8::try_from(at).unwrap())
}

/// Returns a workbook of these sheets.
fn workbook(sheets: &[(&str, Vec<Vec<Cell>>)]) -> Vec<u8> {
    workbook_with("", sheets)
}

/// Returns a workbook of these sheets whose days count from 1904.
fn workbook_from_1904(sheets: &[(&str, Vec<Vec<Cell>>)]) -> Vec<u8> {
    workbook_with(r#"<workbookPr date1904="1"/>"#, sheets)
}

/// Returns a workbook of these settings and sheets.
fn workbook_with(settings: &str, sheets: &[(&str, Vec<Vec<Cell>>)]) -> Vec<u8> {
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    const REL: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
    let (mut names, mut relations, mut parts) = (String::new(), String::new(), Vec::new());
    for (number, (name, rows)) in (1..).zip(sheets) {
        write!(
            names,
            r#"<sheet name="{name}" sheetId="{number}" r:id="r{number}"/>"#
        )
        .unwrap();
        write!(relations, r#"<Relationship Id="r{number}" Type="{REL}/worksheet" Target="worksheets/sheet{number}.xml"/>"#).unwrap();
        let mut data = String::new();
        for (row, cells) in (1..).zip(rows) {
            write!(data, r#"<row r="{row}">"#).unwrap();
            for (at, cell) in cells.iter().enumerate() {
                let place = format!("{}{row}", column(at));
                match cell {
                    Blank => Ok(()),
                    Text(text) => write!(data, r#"<c r="{place}" t="str"><v>{text}</v></c>"#),
                    Number(number) => write!(data, r#"<c r="{place}"><v>{number}</v></c>"#),
                    Day(day) => write!(data, r#"<c r="{place}" s="1"><v>{day}</v></c>"#),
                    Error => write!(data, r#"<c r="{place}" t="e"><v>#VALUE!</v></c>"#),
                }
                .unwrap();
            }
            data.push_str("</row>");
        }
        parts.push((
            format!("xl/worksheets/sheet{number}.xml"),
            format!(r#"<worksheet xmlns="{MAIN}"><sheetData>{data}</sheetData></worksheet>"#),
        ));
    }
    parts.extend([
        ("[Content_Types].xml".to_owned(), format!(r#"<Types xmlns="{PACKAGE}/content-types"/>"#)),
        ("_rels/.rels".to_owned(), format!(r#"<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" Type="{REL}/officeDocument" Target="xl/workbook.xml"/></Relationships>"#)),
        ("xl/workbook.xml".to_owned(), format!(r#"<workbook xmlns="{MAIN}" xmlns:r="{REL}">{settings}<sheets>{names}</sheets></workbook>"#)),
        ("xl/_rels/workbook.xml.rels".to_owned(), format!(r#"<Relationships xmlns="{PACKAGE}/relationships">{relations}<Relationship Id="s" Type="{REL}/styles" Target="styles.xml"/></Relationships>"#)),
        ("xl/styles.xml".to_owned(), format!(r#"<styleSheet xmlns="{MAIN}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>"#)),
    ]);
    zip_archive(
        &parts
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_bytes()))
            .collect::<Vec<_>>(),
    )
}

pub(super) fn zip_archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

pub(super) fn reading(files: &[(&str, Vec<u8>)]) -> Result<PublishedRates, String> {
    let folder = tempfile::tempdir().unwrap();
    let mut inputs = Inputs::default();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        inputs.curves.push(path);
    }
    read(&inputs, &mut |_, _, _| ()).map_err(|error| error.to_string())
}

/// Returns one sheet "4. spot curve" of the OIS curve with these rows.
pub(super) fn spot(rows: Vec<Vec<Cell>>) -> Vec<u8> {
    workbook(&[(
        "4. spot curve",
        sheet("UK OIS spot curve", &[0.5, 1.0], rows),
    )])
}

/// Returns day, maturity in months and rate of every node of the OIS spot curve.
fn nodes(published: &PublishedRates) -> Vec<(String, u32, f64)> {
    let curve = &published.curves[&(CurveKind::Ois, CurveSide::Spot)];
    let days = curve.iter();
    days.flat_map(|(day, nodes)| nodes.iter().map(|(m, r)| (day.to_string(), *m, *r)))
        .collect()
}

#[test]
fn holidays_blank_cells_and_trailing_rows_are_no_observations() {
    let file = spot(vec![
        vec![Error, Number(9.9)],
        vec![Day(FIRST), Number(3.9), Number(3.8)],
        vec![Day(FIRST + 1), Text(""), Text("")],
        vec![Day(FIRST + 2), Text(""), Number(3.7)],
        vec![],
        vec![Blank, Text(" "), Blank],
    ]);
    let published = reading(&[("ois.xlsx", file)]).unwrap();
    let expected = [
        ("2025-10-01", 6, 3.9),
        ("2025-10-01", 12, 3.8),
        ("2025-10-03", 12, 3.7),
    ];
    assert_eq!(
        nodes(&published),
        expected.map(|(day, m, r)| (day.to_owned(), m, r))
    );
    let warned: Vec<_> = published
        .warnings
        .iter()
        .map(|w| w.location.to_string())
        .collect();
    assert_eq!(warned, [r#"ois.xlsx, sheet "4. spot curve", A5"#]);
}

#[test]
fn the_short_end_fills_missing_half_years() {
    let row = |rates: &[f64]| {
        let mut row = vec![Day(FIRST)];
        row.extend(rates.iter().map(|rate| Number(*rate)));
        row
    };
    let book = |short: f64| {
        workbook(&[
            ("info", vec![]),
            (
                "3. spot, short end",
                sheet(
                    "UK OIS spot curve, short end",
                    &[0.08333333, 0.49999998],
                    vec![row(&[4.0, short])],
                ),
            ),
            (
                "4.  spot curve",
                sheet("UK OIS spot curve", &[0.5, 1.0], vec![row(&[3.9, 3.8])]),
            ),
        ])
    };
    let published = reading(&[("ois.xlsx", book(3.900_000_01))]).unwrap();
    let found: Vec<_> = nodes(&published)
        .into_iter()
        .map(|(_, m, r)| (m, r))
        .collect();
    assert_eq!(found, [(1, 4.0), (6, 3.9), (12, 3.8)]);
    let error = reading(&[("ois.xlsx", book(3.95))]).unwrap_err();
    assert!(
        error.contains(r#"sheet "3. spot, short end", C5: 3.95 contradicts 3.9"#),
        "{error}"
    );
}

/// Both workbooks have both sheets, as those of a month and of a year that overlap.
#[test]
fn a_restated_rate_contradicts_the_one_of_another_workbook() {
    let sheets = |half_year: Option<f64>, short: f64| {
        let row = |rate| vec![Day(FIRST), Number(rate)];
        let long = half_year.map(|rate| {
            let rows = vec![row(rate)];
            ("4. spot curve", sheet("UK OIS spot curve", &[0.5], rows))
        });
        let title = "UK OIS spot curve, short end";
        let short = sheet(title, &[0.49999998], vec![row(short)]);
        let all: Vec<_> = [("3. spot, short end", short)]
            .into_iter()
            .chain(long)
            .collect();
        workbook(&all)
    };
    let of_two = |second| {
        let first = sheets(Some(3.9), 3.900_05);
        reading(&[("a.xlsx", first), ("b.xlsx", second)])
    };
    let same = of_two(sheets(Some(3.9), 3.899_95)).unwrap();
    assert_eq!(nodes(&same), [("2025-10-01".to_owned(), 6, 3.9)]);
    for (second, at) in [
        (sheets(Some(3.900_05), 3.9), r#"sheet "4. spot curve", B5"#),
        (sheets(None, 3.900_05), r#"sheet "3. spot, short end", B5"#),
    ] {
        let error = of_two(second).unwrap_err();
        let expected = "3.90005 contradicts 3.9 in a.xlsx. Leave one of them out";
        assert_eq!(error, format!("b.xlsx, {at}: {expected}"));
    }
}

#[test]
fn short_ends_of_two_workbooks_differ_by_no_more_than_their_computation() {
    let book = |rate| {
        let title = "UK OIS spot curve, short end";
        let rows = vec![vec![Day(FIRST), Number(rate)]];
        workbook(&[("3. spot, short end", sheet(title, &[0.08333333], rows))])
    };
    let of_two = |first, second| reading(&[("a.xlsx", book(first)), ("b.xlsx", book(second))]);
    for (first, second) in [(4.0, 4.000_000_2), (4.000_000_2, 4.0)] {
        let published = of_two(first, second).unwrap();
        assert_eq!(nodes(&published), [("2025-10-01".to_owned(), 1, 4.0)]);
    }
    let error = of_two(4.0, 4.000_01).unwrap_err();
    assert!(error.contains("4.00001 contradicts 4 in a.xlsx"), "{error}");
}

#[test]
fn days_count_from_1904_where_the_workbook_says_so() {
    let rows = vec![
        vec![Day(FIRST - TO_1904), Number(3.9)],
        // A number that is not shown as a date.
        vec![Number(f64::from(FIRST + 1 - TO_1904)), Number(3.8)],
    ];
    let sheets = [("4. spot curve", sheet("UK OIS spot curve", &[0.5], rows))];
    let published = reading(&[("ois.xlsx", workbook_from_1904(&sheets))]).unwrap();
    let expected = [("2025-10-01", 3.9), ("2025-10-02", 3.8)];
    assert_eq!(
        nodes(&published),
        expected.map(|(day, rate)| (day.to_owned(), 6, rate))
    );

    let headings = [
        "Time period",
        "Area code",
        "Rental price",
        "Rental price one bed",
        "Rental price two bed",
        "Rental price three bed",
        "Rental price four or more bed",
    ];
    let mut rents = vec![Day(FIRST - TO_1904), Text("E06990001")];
    rents.extend([950.0, 700.0, 900.0, 1100.0, 1200.0].map(Number));
    let table = vec![headings.map(Text).to_vec(), rents];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rents.xlsx");
    std::fs::write(&path, workbook_from_1904(&[("Table 1", table)])).unwrap();
    // A month of rents begins with its first day, which another date system would not give.
    assert_eq!(count_rents(&path).unwrap(), (5, 0));
}

#[test]
fn an_archive_gives_every_workbook_in_it() {
    let old = workbook(&[(
        "2. spot curve",
        sheet(
            "UK OIS spot curve",
            &[0.5],
            vec![vec![Day(FIRST), Number(1.0)]],
        ),
    )]);
    let new = spot(vec![vec![Day(FIRST + 1), Number(2.0)]]);
    let archive = zip_archive(&[
        ("OIS 2009.xlsx", &old),
        ("OIS 2025.xlsx", &new),
        ("read me.txt", b""),
    ]);
    let published = reading(&[("latest.zip", archive)]).unwrap();
    assert_eq!(nodes(&published).len(), 2);
    assert_eq!(published.sources.len(), 1);
    assert_eq!(published.sources[0].name, "latest.zip");
}

#[test]
fn faults_in_a_workbook_name_file_sheet_and_cell() {
    let good = || vec![Day(FIRST), Number(3.9)];
    let bad = |rows| reading(&[("ois.xlsx", spot(rows))]).unwrap_err();
    let titled = |title, years: &[f64]| {
        let file = workbook(&[("4. spot curve", sheet(title, years, vec![good()]))]);
        reading(&[("ois.xlsx", file)]).unwrap_err()
    };
    let twice = [
        ("a.xlsx", spot(vec![good()])),
        ("b.xlsx", spot(vec![vec![Day(FIRST), Number(4.0)]])),
    ];
    let all = [
        bad(vec![good(), vec![Day(FIRST + 1), Text("n/a")]]),
        bad(vec![good(), vec![Day(FIRST + 1), Number(1.0), Error]]),
        bad(vec![good(), vec![Blank, Number(1.0)]]),
        bad(vec![good(), vec![Text("1 Oct"), Number(1.0)]]),
        bad(vec![vec![
            Day(FIRST),
            Number(1.0),
            Number(1.0),
            Number(1.0),
        ]]),
        titled("UK OIS forward curve", &[0.5]),
        titled("UK spot curve", &[0.5]),
        titled("UK OIS spot curve", &[0.51]),
        reading(&[("ois.xlsx", workbook(&[("Sheet1", vec![])]))]).unwrap_err(),
        reading(&twice).unwrap_err(),
        reading(&[("none.zip", zip_archive(&[("a.txt", b"")]))]).unwrap_err(),
        reading(&[("curve.csv", b"my_curve,1\n".to_vec())]).unwrap_err(),
        reading(&[("curve.csv", b"ois_spot_curve,1.5\n".to_vec())]).unwrap_err(),
    ];
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn a_curve_input_without_a_rate_is_refused() {
    let header = || b"ois_spot_curve,6,12\n".to_vec();
    let blank = [header(), b"2025-10-01,,\n".to_vec()].concat();
    let no_day = spot(vec![vec![Day(FIRST), Text(""), Text("")]]);
    for (name, bytes) in [
        ("header.csv", header()),
        ("blank.csv", blank),
        ("ois.xlsx", no_day.clone()),
        ("latest.zip", zip_archive(&[("OIS 2025.xlsx", &no_day)])),
    ] {
        let error = reading(&[(name, bytes)]).unwrap_err();
        let expected = "holds no rate of a curve. Download it again, or leave it out";
        assert_eq!(error, format!("{name}: {expected}"));
    }
    // One workbook of an archive may be empty.
    let full = spot(vec![vec![Day(FIRST), Number(3.9)]]);
    let archive = zip_archive(&[("a.xlsx", &no_day), ("b.xlsx", &full)]);
    assert_eq!(
        nodes(&reading(&[("latest.zip", archive)]).unwrap()).len(),
        1
    );
}

/// A table is for curves from elsewhere than the Bank, so the manifest must not name the Bank.
#[test]
fn a_curve_table_has_no_stated_publisher() {
    let table = b"ois_spot_curve,6\n2025-10-01,3.9\n".to_vec();
    let book = spot(vec![vec![Day(FIRST), Number(3.9)]]);
    let archive = zip_archive(&[("OIS 2025.xlsx", &book)]);
    let files = [
        ("ois.csv", table),
        ("ois.xlsx", book),
        ("latest.zip", archive),
    ];
    let published = reading(&files).unwrap();
    let terms = published.sources.iter();
    let terms: Vec<_> = terms
        .map(|source| (source.publisher.as_str(), source.licence.as_str()))
        .collect();
    let bank = ("Bank of England", "Bank of England terms of use");
    let unstated = ("publisher not stated", "licence not stated");
    assert_eq!(terms, [unstated, bank, bank]);
}

#[test]
fn a_curve_table_is_read_like_a_workbook() {
    let table = b"ois_spot_curve,6,12\n2025-10-01,3.9,3.8\n2025-10-03,,3.7\n".to_vec();
    let published = reading(&[("ois.csv", table)]).unwrap();
    assert_eq!(nodes(&published).len(), 3);
    let ragged = b"ois_spot_curve,6,12\n2025-10-01,3.9\n".to_vec();
    let error = reading(&[("ois.csv", ragged)]).unwrap_err().to_string();
    assert_eq!(
        error,
        "ois.csv, line 2: the row has 2 cells and the table 3 columns. Leave the cell of a missing \
         value blank"
    );
}
