//! The comparison as plain text, for a terminal.

use super::comparison::Comparison;
use super::header::Source;
use crate::report::TrainingData;
use std::fmt::Write;

/// Returns the summary, many lines.
pub fn summary(found: &Comparison) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(found, &mut out);
    out
}

fn write(found: &Comparison, out: &mut String) -> std::fmt::Result {
    let releases = &found.subject.releases;
    writeln!(
        out,
        "A {}  B {}",
        releases.a.release_id, releases.b.release_id
    )?;
    writeln!(out, "{}", found.subject.rows_in_words())?;
    let has_prices = matches!(found.subject.rows, Source::Sales { .. });
    for (name, release) in [("A", &releases.a), ("B", &releases.b)] {
        if has_prices && release.training_data == TrainingData::Nothing {
            let words = release.training_data.words();
            writeln!(out, "{name} was trained on {words}.")?;
        }
    }
    for warning in &found.warnings {
        writeln!(out, "WARNING: {warning}")?;
    }
    writeln!(out)?;
    for sentence in &found.verdict {
        writeln!(out, "{sentence}")?;
    }
    writeln!(
        out,
        "\n{:24} {:>7} {:>6} {:>7} {:>8} {:>8} {:>8} {:>7}",
        "", "rows", "flips", "both", "median%", "10th%", "90th%", ">5%"
    )?;
    let types = found
        .by("type")
        .into_iter()
        .flat_map(|division| &division.groups);
    for group in std::iter::once(&found.overall).chain(types) {
        write!(out, "{:24} {:>7} {:>6}", group.key, group.rows, group.flips)?;
        match &group.change {
            Some(change) => writeln!(
                out,
                " {:>7} {:>+8.2} {:>+8.2} {:>+8.2} {:>7.1}",
                change.rows,
                100.0 * change.median,
                100.0 * change.tenth,
                100.0 * change.ninetieth,
                100.0 * change.over_5
            )?,
            None => writeln!(out, " {:>7}", 0)?,
        }
    }
    Ok(())
}
