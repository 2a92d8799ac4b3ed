//! Rows as comma-separated values.

/// Writes rows. A cell that a spreadsheet would take for a formula begins with an apostrophe, so
/// that it stays a text.
///
/// # Errors
/// A row cannot be written, which none causes.
pub fn write(rows: impl IntoIterator<Item = Vec<String>>) -> csv::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut writer = csv::WriterBuilder::new()
        .flexible(true)
        .from_writer(&mut text);
    for row in rows {
        writer.write_record(row.into_iter().map(defuse))?;
    }
    writer.flush()?;
    drop(writer);
    Ok(text)
}

/// Puts an apostrophe before a text that a spreadsheet would take for a formula. Numbers stay.
fn defuse(cell: String) -> String {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    match is_formula && cell.parse::<f64>().is_err() {
        true => format!("'{cell}"),
        false => cell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_different_lengths_are_written() {
        let rows = [vec!["a", "b,c"], vec!["=1"]];
        let rows = rows.map(|row| row.into_iter().map(str::to_owned).collect());
        assert_eq!(write(rows).unwrap(), b"a,\"b,c\"\n'=1\n");
    }

    #[test]
    fn a_formula_becomes_a_text_and_a_number_stays() {
        for formula in ["=1+1", "+A1", "-A1", "@SUM(A1)", "\t=1"] {
            assert_eq!(defuse(formula.to_owned()), format!("'{formula}"));
        }
        for other in ["", "-1.5", "+44", "a=b", "QA1 1AF"] {
            assert_eq!(defuse(other.to_owned()), other);
        }
    }
}
