//! A file of homes, as spreadsheets write it, and the requests that it becomes.

use crate::home_inputs::required_inputs;
use crate::homes_text::{column_name, date, delimiter, number, unify_line_ends};
use crate::number::whole;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// The kind of a column's cells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CellKind {
    Text,
    Number,
    Date,
}

/// The columns that become inputs: the name, the section of the request, and the kind.
const COLUMNS: [(&str, &str, CellKind); 13] = [
    ("postcode", "property", CellKind::Text),
    ("building_number_or_name", "property", CellKind::Text),
    ("street", "property", CellKind::Text),
    ("uprn", "property", CellKind::Text),
    ("type", "property", CellKind::Text),
    ("subtype", "property", CellKind::Text),
    ("title_tenure", "property", CellKind::Text),
    ("valuation_date", "property", CellKind::Date),
    ("years_remaining", "lease", CellKind::Number),
    ("status", "occupancy", CellKind::Text),
    ("bedrooms", "size", CellKind::Number),
    ("living_rooms", "size", CellKind::Number),
    ("floor_area_m2", "size", CellKind::Number),
];
/// The columns of a size, of which a home needs one.
const SIZES: [&str; 3] = ["floor_area_m2", "bedrooms", "living_rooms"];
/// The most homes of a file.
pub const MOST_HOMES: usize = 100_000;
/// The most jobs that a file becomes. Those of the contract's size have [`MOST_HOMES`].
pub const MOST_JOBS: usize = 40;
/// The most columns of a file.
const MOST_COLUMNS: usize = 1_000;
/// The most cells of a file. In memory a blank cell takes 24 times its size in the file.
const MOST_CELLS: usize = 2_500_000;
/// The column that names a row in the results.
pub const REFERENCE: &str = "request_reference";

/// Returns the names of the columns that become inputs.
pub fn columns() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().map(|(name, ..)| *name)
}

/// A file of homes: the headings as written there, and the cells of each home.
pub struct HomesFile {
    /// The headings.
    pub headings: Vec<String>,
    /// The cells of each home, as many as there are headings.
    pub rows: Vec<Vec<String>>,
}

impl HomesFile {
    /// Reads a file. Commas, semicolons or tabs divide its cells. A line break in a cell is `\n`.
    ///
    /// # Errors
    /// The fault of the file, for the person who sent it.
    pub fn read(text: &str) -> Result<HomesFile, String> {
        let text = unify_line_ends(text);
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .delimiter(delimiter(&text))
            .from_reader(text.as_bytes());
        let headings = reader.headers().map_err(|error| error.to_string())?;
        if headings.len() > MOST_COLUMNS {
            return Err(format!(
                "The file has {} columns. The console takes {} in one file. Leave out those that \
                 you do not need.",
                whole(headings.len()),
                whole(MOST_COLUMNS)
            ));
        }
        let headings: Vec<String> = headings.iter().map(str::to_owned).collect();
        check_headings(&headings)?;
        let most_rows = MOST_HOMES.min(MOST_CELLS / headings.len());
        let (mut rows, mut count) = (Vec::new(), 0);
        for record in reader.records() {
            let record = record.map_err(|error| error.to_string())?;
            // A spreadsheet writes lines without a cell too.
            if record.iter().all(str::is_empty) {
                continue;
            }
            count += 1;
            // A file of short lines would take a hundred times its size.
            if count <= most_rows {
                rows.push(record.iter().map(str::to_owned).collect());
            }
        }
        match count {
            0 => Err(no_home()),
            _ if count <= most_rows => Ok(HomesFile { headings, rows }),
            _ if count > MOST_HOMES => Err(format!(
                "The file has {} homes. The console takes {} in one file.",
                whole(count),
                whole(MOST_HOMES)
            )),
            _ => Err(format!(
                "The file has {} homes of {} columns. The console takes {} cells in one file. \
                 Leave out columns that you do not need, or divide the file.",
                whole(count),
                whole(headings.len()),
                whole(MOST_CELLS)
            )),
        }
    }

    /// Checks that the file has the columns without which every home would be rejected.
    ///
    /// # Errors
    /// The columns that are absent, for the person who sent the file.
    pub fn check_columns(&self) -> Result<(), String> {
        let names: Vec<String> = self.headings.iter().map(|name| column_name(name)).collect();
        let has = |column: &&str| names.iter().any(|name| name == column);
        let mut absent: Vec<&str> = required_inputs().filter(|it| !has(it)).collect();
        if !SIZES.iter().any(has) {
            absent.push("floor_area_m2 or bedrooms");
        }
        match absent.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "No job was made. Each home needs these columns, which the file lacks: {}. \
                 Its first line has {:?}.",
                absent.join(", "),
                self.headings
            )),
        }
    }

    /// Checks that the file becomes no more than [`MOST_JOBS`] jobs of some homes each.
    ///
    /// # Errors
    /// The homes that a file may have, for the person who sent this one.
    pub fn check_jobs(&self, job_rows: usize) -> Result<(), String> {
        let most = MOST_JOBS * job_rows;
        match self.rows.len() <= most {
            true => Ok(()),
            false => Err(format!(
                "No job was made. The file has {} homes. Your jobs may have {} homes each, and the \
                 console makes {MOST_JOBS} jobs of one file. Divide it into files of at most {} \
                 homes.",
                whole(self.rows.len()),
                whole(job_rows),
                whole(most)
            )),
        }
    }

    /// Returns the requests of the file in parts, one for each home. A part is made when it is
    /// taken, since requests take several times the memory of their rows.
    pub fn parts(&self, most: usize, stored_data: bool) -> impl Iterator<Item = Vec<Value>> {
        let names: Vec<String> = self.headings.iter().map(|name| column_name(name)).collect();
        self.rows.chunks(most).map(move |rows| {
            let requests = rows.iter().map(|row| request_of(&names, row, stored_data));
            requests.collect()
        })
    }
}

/// Checks that headings name a column that becomes an input, and none twice.
fn check_headings(headings: &[String]) -> Result<(), String> {
    let names: Vec<String> = headings.iter().map(|name| column_name(name)).collect();
    let mut known = HashSet::new();
    for (heading, name) in headings.iter().zip(&names) {
        if !name.is_empty() && !known.insert(name) {
            return Err(format!(
                "The column {heading:?} stands twice in the file. Leave one of the two out."
            ));
        }
    }
    match names
        .iter()
        .any(|name| columns().any(|known| known == name))
    {
        true => Ok(()),
        false if names.iter().all(String::is_empty) => Err(no_home()),
        false => Err(format!(
            "No column of the file is known: its first line has {headings:?}."
        )),
    }
}

fn no_home() -> String {
    "The file has no home. Give a line of columns, and a line for each home.".to_owned()
}

/// Returns the request of a row. The API names what it cannot read.
fn request_of(names: &[String], row: &[String], stored_data: bool) -> Value {
    let mut request = Map::new();
    for section in ["property", "occupancy", "size"] {
        request.insert(section.to_owned(), json!({}));
    }
    for (name, text) in names.iter().zip(row).filter(|(_, text)| !text.is_empty()) {
        if name == REFERENCE {
            request.insert(name.clone(), text.as_str().into());
            continue;
        }
        let Some((_, section, kind)) = COLUMNS.iter().find(|(known, ..)| known == name) else {
            continue;
        };
        let value = match kind {
            CellKind::Text => Value::from(text.as_str()),
            CellKind::Date => Value::from(date(text)),
            CellKind::Number => number(text),
        };
        let section = request.entry(*section).or_insert_with(|| json!({}));
        if let Value::Object(section) = section {
            section.insert(name.clone(), value);
        }
    }
    let options = json!({"use_stored_data": stored_data});
    request.insert("options".to_owned(), options);
    Value::Object(request)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(text: &str) -> Vec<Value> {
        let homes = HomesFile::read(text).unwrap();
        homes.parts(1, true).flatten().collect()
    }

    #[test]
    fn a_file_becomes_requests() {
        let text = "postcode,type,bedrooms,request_reference\nQA1 1AF, S ,3,a\nQA1 1AG,D,many,\n";
        let requests = requests(text);
        assert_eq!(
            requests[0],
            json!({
                "property": {"postcode": "QA1 1AF", "type": "S"}, "occupancy": {}, "size": {"bedrooms": 3},
                "request_reference": "a", "options": {"use_stored_data": true},
            })
        );
        assert_eq!(requests[1]["size"], json!({"bedrooms": "many"}));
    }

    #[test]
    fn a_spreadsheets_file_becomes_the_same_requests() {
        let plain = requests("postcode,bedrooms,valuation_date\nQA1 1AF,3,2026-10-15\n");
        for text in [
            "Postcode;BEDROOMS;Valuation date;loan_id\r\nQA1 1AF;3.0;15/10/2026;\"a;b\"\r\n;;;\r\n",
            "POSTCODE\tbedrooms\tvaluation_date\nQA1 1AF\t3\t2026-10-15\n",
        ] {
            assert_eq!(requests(text), plain, "{text}");
        }
    }

    #[test]
    fn a_line_break_in_a_cell_is_the_same_after_a_browser_sent_it_again() {
        let file = "postcode,street,request_reference\nQA1 1AF,\"Badger\nYard\",\"a\n\nb\"\n";
        let first = requests(file);
        assert_eq!(first[0]["property"]["street"], "Badger\nYard");
        for line_end in ["\r\n", "\r"] {
            assert_eq!(requests(&file.replace('\n', line_end)), first);
        }
    }

    #[test]
    fn a_file_of_the_python_client_has_every_column() {
        let example = include_str!("../../../examples/python/homes.csv");
        let homes = HomesFile::read(example).unwrap();
        homes.check_columns().unwrap();
        let request = &homes.parts(10, true).next().unwrap()[0];
        assert_eq!(request["occupancy"]["status"], "owner_occupied");
        assert_eq!(request["request_reference"], "house");
    }

    #[test]
    fn a_file_of_too_many_homes_is_counted_and_refused() {
        let file = |homes: usize| format!("postcode\n{}", "a\n".repeat(homes));
        let homes = HomesFile::read(&file(MOST_HOMES)).unwrap();
        assert_eq!(homes.parts(2_500, true).count(), MOST_HOMES / 2_500);
        let refused = HomesFile::read(&file(MOST_HOMES + 2)).err().unwrap();
        assert!(
            refused.starts_with("The file has 100,002 homes."),
            "{refused}"
        );
    }

    #[test]
    fn a_file_of_too_many_columns_is_refused_before_its_homes_are_read() {
        let file = |columns: usize| {
            let own: Vec<String> = (1..columns).map(|at| format!("own {at}")).collect();
            // The line of the home has too few cells, which is another error.
            format!("postcode,{}\na,b\n", own.join(","))
        };
        let refused = |columns| HomesFile::read(&file(columns)).err().unwrap();
        let wide = refused(MOST_COLUMNS + 1);
        assert!(wide.starts_with("The file has 1,001 columns."), "{wide}");
        assert!(!refused(MOST_COLUMNS).contains("1,000 columns"));
    }

    #[test]
    fn a_file_of_too_many_cells_is_refused() {
        let file = |homes: usize| {
            let blank = ",".repeat(499);
            let home = format!("a{blank}\n");
            format!("postcode{blank}\n{}", home.repeat(homes))
        };
        let most = MOST_CELLS / 500;
        assert_eq!(HomesFile::read(&file(most)).unwrap().rows.len(), most);
        let refused = HomesFile::read(&file(most + 1)).err().unwrap();
        let words = "The file has 5,001 homes of 500 columns. The console takes 2,500,000 cells";
        assert!(refused.starts_with(words), "{refused}");
    }

    #[test]
    fn a_file_of_more_jobs_than_are_made_is_refused_with_the_homes_of_one() {
        let file = |homes: usize| format!("postcode\n{}", "a\n".repeat(homes));
        let check = |homes, job_rows| HomesFile::read(&file(homes)).unwrap().check_jobs(job_rows);
        assert_eq!(check(MOST_HOMES, 2_500), Ok(()));
        assert_eq!(check(20_000, 500), Ok(()));
        let refused = check(20_001, 500).unwrap_err();
        assert!(refused.contains("at most 20,000 homes"), "{refused}");
    }

    #[test]
    fn absent_columns_are_named() {
        let homes = HomesFile::read("postcode,type,loan\nQA1 1AF,S,7\n").unwrap();
        let problem = homes.check_columns().unwrap_err();
        for named in ["street", "status", "floor_area_m2 or bedrooms", "\"loan\""] {
            assert!(problem.contains(named), "{problem}");
        }
        assert!(!problem.contains("postcode,"), "{problem}");
    }

    #[test]
    fn a_file_that_is_none_is_refused() {
        let refused = |text: &str| HomesFile::read(text).err().unwrap();
        assert!(refused("colour\nred\n").contains("\"colour\""));
        assert!(refused("postcode\n").contains("no home"));
        assert!(refused("").contains("no home"));
        assert!(refused("postcode,type\nQA1 1AF\n").contains("2 fields"));
        let twice = refused("postcode,loan_id,Postcode\na,b,c\n");
        assert!(twice.contains("\"Postcode\" stands twice"), "{twice}");
    }
}
