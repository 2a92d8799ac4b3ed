//! The report as a table of plain text, for a terminal.

use crate::accuracy::Accuracy;
use crate::baselines::BaselineFigures;
use crate::coverage::{ALL, find_off};
use crate::group::Group;
use crate::ranges::Ranges;
use crate::report::{Header, Report};
use std::fmt::Write;

/// Divisions that a terminal shows; the files have all.
const SHOWN: [&str; 4] = ["type", "confidence", "price", "floor_area"];

/// Returns the summary, many lines.
pub fn summary(report: &Report) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(report, &mut out);
    out
}

fn heading(out: &mut String, subject: &Header) -> std::fmt::Result {
    writeln!(
        out,
        "Back-test of {} on {}, sales of {} to {}",
        subject.release_id, subject.snapshot_id, subject.from, subject.to
    )?;
    writeln!(
        out,
        "{} category A sales, every {} taken, {} lack what a customer must state; evidence lag {} days",
        subject.sales_in_window,
        ordinal(subject.taken_every),
        subject.not_askable,
        subject.evidence_lag_days
    )?;
    if !subject.request.is_stored() {
        writeln!(
            out,
            "Asked about with {}; {} of the sales taken have no floor area on record and are left out",
            subject.request.words(),
            subject.not_stated
        )?;
    }
    writeln!(out)?;
    let warnings = [subject.training_data.warning(), subject.lag_warning()];
    for warning in warnings.into_iter().flatten() {
        writeln!(out, "WARNING: {warning}\n")?;
    }
    Ok(())
}

fn write(report: &Report, out: &mut String) -> std::fmt::Result {
    heading(out, &report.subject)?;
    writeln!(
        out,
        "{:28} {:>7} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6}",
        "",
        "sales",
        "hit%",
        "MdAPE",
        "<=5%",
        "<=10%",
        "<=20%",
        "bias",
        "FSD",
        "COD",
        "PRD",
        "PRB",
        "cover"
    )?;
    line(out, "all", &report.overall)?;
    for division in report
        .divisions
        .iter()
        .filter(|d| SHOWN.contains(&d.by.as_str()))
    {
        writeln!(out, "by {}", division.by.replace('_', " "))?;
        for group in &division.groups {
            line(out, &format!("  {}", group.key), group)?;
        }
    }
    coverage(out, report)?;
    shapes(out, report)?;
    if !report.overall.reasons.is_empty() {
        writeln!(out, "\nNot valued, and why")?;
        for (reason, rows) in &report.overall.reasons {
            writeln!(out, "  {rows:>7} {reason}")?;
        }
    }
    writeln!(
        out,
        "\nBaselines, on the rows that the release and the baseline both value"
    )?;
    writeln!(
        out,
        "{:28} {:>7} {:>6} {:>8} {:>8} {:>8} {:>8} {:>8}  verdict",
        "", "rows", "hit%", "release", "baseline", "rel<=10%", "bas<=10%", "nearer%"
    )?;
    let types = report.by("type").map_or(&[][..], |types| &types.groups);
    for (at, baseline) in report.overall.baselines.iter().enumerate() {
        baseline_line(out, baseline.baseline.words(), baseline)?;
        for group in types {
            if let Some(baseline) = group.baselines.get(at) {
                baseline_line(out, &format!("  {}", group.key), baseline)?;
            }
        }
    }
    if let Some(probe) = &report.leakage_probe {
        let homes: usize = probe.cuts.iter().map(|cut| cut.homes).sum();
        let days: Vec<&str> = probe.cuts.iter().map(|cut| cut.day.as_str()).collect();
        let verdict = match probe.passed {
            true => "passed: another future changed no answer",
            false => {
                "FAILED: another future changed answers, so that no figure above can be relied on"
            }
        };
        writeln!(
            out,
            "\nLeakage probe of {homes} valuations, cut at {}: {verdict}",
            days.join(", ")
        )?;
        for cut in &probe.cuts {
            if let Some(difference) = &cut.first_difference {
                writeln!(
                    out,
                    "  {}: {} of {} differ, the first: {difference}",
                    cut.day, cut.different, cut.homes
                )?;
            }
        }
    }
    Ok(())
}

fn line(out: &mut String, name: &str, group: &Group) -> std::fmt::Result {
    write!(
        out,
        "{name:28} {:>7} {:>6}",
        group.sales,
        share(group.hit_rate)
    )?;
    match &group.accuracy {
        Some(Accuracy {
            mdape,
            within_5,
            within_10,
            within_20,
            median_error,
            fsd,
            cod,
            prd,
            prb,
            ..
        }) => {
            let prb = prb.map_or_else(String::new, |prb| format!("{:+.3}", prb.value));
            let cover = group.ranges.as_ref().map(|ranges| ranges.coverage);
            writeln!(
                out,
                " {:>6.2} {:>6.1} {:>6.1} {:>6.1} {:>+6.2} {fsd:>6.3} {cod:>6.2} {prd:>6.3} {prb:>6} {:>6}",
                100.0 * mdape,
                100.0 * within_5,
                100.0 * within_10,
                100.0 * within_20,
                100.0 * median_error,
                share(cover)
            )
        }
        None => writeln!(out, "   too few to figure ({} valued)", group.valued),
    }
}

/// Tells the coverage of all ranges, and each group whose ranges fail. `release check` judges by
/// the same rules.
fn coverage(out: &mut String, report: &Report) -> std::fmt::Result {
    let Some(all) = &report.overall.ranges else {
        return Ok(());
    };
    let nominal = 100.0 * all.nominal;
    writeln!(
        out,
        "\nRanges, of which {nominal:.0} % are to hold the price"
    )?;
    coverage_line(out, "all types", all)?;
    for off in find_off(report) {
        let name = match off.by {
            ALL => "  all: OFF".to_owned(),
            by => format!("  {} {}: OFF", by.replace('_', " "), off.name()),
        };
        coverage_line(out, &name, off.ranges)?;
    }
    Ok(())
}

fn coverage_line(out: &mut String, name: &str, ranges: &Ranges) -> std::fmt::Result {
    let [low, high] = ranges.interval.map(|end| 100.0 * end);
    writeln!(
        out,
        "{name:28} {:>7} {:>6.1} %, 95 %: {low:.1} to {high:.1}, as {} independent sales",
        ranges.rows,
        100.0 * ranges.coverage,
        ranges.effective_rows
    )
}

/// Compares requests of other shapes with stored data, on the same sales.
fn shapes(out: &mut String, report: &Report) -> std::fmt::Result {
    if report.shapes.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\nOther requests, each beside stored data on the sales that both value\n{:28} {:>7} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6}",
        "", "rows", "MdAPE", "stored", "bias", "stored", "cover", "stored"
    )?;
    for found in &report.shapes {
        let name = found.shape.words();
        let (Some(ours), Some(stored)) = (&found.accuracy, &found.stored_accuracy) else {
            writeln!(out, "{name:28} {:>7}   too few to figure", found.valued)?;
            continue;
        };
        let cover = |ranges: &Option<Ranges>| share(ranges.as_ref().map(|it| it.coverage));
        writeln!(
            out,
            "{name:28} {:>7} {:>6.2} {:>6.2} {:>+6.2} {:>+6.2} {:>6} {:>6}",
            ours.rows,
            100.0 * ours.mdape,
            100.0 * stored.mdape,
            100.0 * ours.median_error,
            100.0 * stored.median_error,
            cover(&found.ranges),
            cover(&found.stored_ranges)
        )?;
    }
    Ok(())
}

fn baseline_line(out: &mut String, name: &str, figures: &BaselineFigures) -> std::fmt::Result {
    let hit = share(figures.hit_rate);
    match &figures.like_for_like {
        Some(both) => writeln!(
            out,
            "{name:28} {:>7} {hit:>6} {:>8.2} {:>8.2} {:>8.1} {:>8.1} {:>8.1}  {}",
            both.release.rows,
            100.0 * both.release.mdape,
            100.0 * both.baseline.mdape,
            100.0 * both.release.within_10,
            100.0 * both.baseline.within_10,
            100.0 * both.release_nearer,
            figures.words()
        ),
        None => writeln!(
            out,
            "{name:28} {:>7} {hit:>6}   too few rows to compare",
            figures.valued
        ),
    }
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.1}", 100.0 * share))
}

fn ordinal(every: usize) -> String {
    match every {
        1 => "one".to_owned(),
        n => format!("{n}th"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Row;
    use crate::testing::{report, row};
    use domesday_registers::codes::PropertyType;

    /// Returns a thousand sales of a type in as many postcodes. The ranges of some hold the price.
    fn sales(property_type: PropertyType, in_range: usize) -> Vec<Row> {
        let sale = |at: usize| Row {
            property_type,
            postcode: format!("ZZ{at}"),
            ..row(200_000.0, if at < in_range { 200_000.0 } else { 300_000.0 })
        };
        (0..1_000).map(sale).collect()
    }

    #[test]
    fn a_type_whose_ranges_fail_is_named_below_a_whole_whose_ranges_hold() {
        let mut rows = sales(PropertyType::Flat, 700);
        rows.extend(sales(PropertyType::Detached, 900));
        let text = summary(&report(&rows));
        let line = |name: &str| text.lines().find(|line| line.starts_with(name));
        let [whole, flats] = ["all types ", "  type flat: OFF "].map(line);
        assert!(
            whole.is_some_and(|line| line.contains(" 2000   80.0 %")),
            "{text}"
        );
        assert!(
            flats.is_some_and(|line| line.contains(" 1000   70.0 %")),
            "{text}"
        );
        assert!(
            text.contains("  type detached: OFF") && !text.contains("all: OFF"),
            "{text}"
        );
    }
}
