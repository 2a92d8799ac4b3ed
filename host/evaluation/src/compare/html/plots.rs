//! The plots of a comparison.

use crate::compare::comparison::Comparison;
use crate::compare::cost::CostComparison;
use crate::compare::group::Group;
use crate::compare::sides::Sides;
use crate::html::plots::{
    Frame, Mark, NARROW, OTHER, PlotError, RELEASE, Shape, distribution, marks, scatter_plot,
};
use crate::html::tables::short;

type PlotSvg = Result<Option<String>, PlotError>;

fn narrow(axis: &str) -> Frame<'_> {
    Frame {
        axis,
        width: NARROW,
    }
}

fn some(marks_of: &[Mark], shape: Shape, line: Option<f64>, axis: &str) -> PlotSvg {
    match marks_of.is_empty() {
        true => Ok(None),
        false => marks(marks_of, shape, line, narrow(axis)).map(Some),
    }
}

/// Plots the distribution of changes.
pub fn changes(found: &Comparison) -> PlotSvg {
    match found.changes.total() {
        0 => Ok(None),
        _ => distribution(&found.changes, narrow("change of value, %")).map(Some),
    }
}

/// Plots the change of each row against its value.
pub fn by_value(found: &Comparison) -> PlotSvg {
    match found.points.is_empty() {
        true => Ok(None),
        false => scatter_plot(&found.points, narrow("A's value, thousands of pounds")).map(Some),
    }
}

/// Returns the median change of each group.
pub fn by_group(groups: &[&Group]) -> PlotSvg {
    let found: Vec<Mark> = groups
        .iter()
        .filter_map(|group| {
            let change = group.change.as_ref()?;
            Some(Mark {
                label: short(&group.key, group.name.as_deref()),
                value: 100.0 * change.median,
                colour: RELEASE,
                interval: Some([100.0 * change.tenth, 100.0 * change.ninetieth]),
            })
        })
        .collect();
    some(&found, Shape::Changes, Some(0.0), "median change, %")
}

/// Returns two marks for a group, A's and B's.
fn both(label: &str, values: Sides<f64>, intervals: Option<Sides<[f64; 2]>>) -> [Mark; 2] {
    let mark = |name: &str, value, interval, colour| Mark {
        label: format!("{label}: {name}"),
        value,
        colour,
        interval,
    };
    [
        mark("A", values.a, intervals.map(|both| both.a), RELEASE),
        mark("B", values.b, intervals.map(|both| both.b), OTHER),
    ]
}

/// Returns all rows, and each type.
fn groups(found: &Comparison) -> Vec<(String, &Group)> {
    let types = found
        .by("type")
        .into_iter()
        .flat_map(|division| &division.groups);
    let types = types.map(|group| (short(&group.key, None), group));
    std::iter::once(("all".to_owned(), &found.overall))
        .chain(types)
        .collect()
}

/// Plots the coverage of the ranges.
pub fn coverage(found: &Comparison) -> PlotSvg {
    let mut all = Vec::new();
    for (label, group) in groups(found) {
        if let Some(ranges) = &group.ranges {
            let values = ranges.each().map(|ranges| 100.0 * ranges.coverage);
            let ends = |interval: [f64; 2]| interval.map(|end| 100.0 * end);
            let intervals = ranges.each().map(|ranges| ends(ranges.interval));
            all.extend(both(&label, values, Some(intervals)));
        }
    }
    // One line cannot be two promises.
    let nominal = found
        .subject
        .releases
        .each()
        .map(|release| release.nominal_coverage);
    let line = (nominal.a == nominal.b).then_some(100.0 * nominal.a);
    some(&all, Shape::Points, line, "prices in their range, %")
}

/// Plots the median width of the ranges.
pub fn width(found: &Comparison) -> PlotSvg {
    let mut all = Vec::new();
    for (label, group) in groups(found) {
        if let Some(width) = group.width {
            all.extend(both(&label, width.map(|width| 100.0 * width), None));
        }
    }
    some(&all, Shape::Bars, None, "median width, % of the estimate")
}

/// Values by band of confidence.
pub fn confidence(found: &Comparison) -> PlotSvg {
    let mut names: Vec<&str> = Vec::new();
    for crossing in &found.bands {
        for name in [&crossing.a, &crossing.b] {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    names.sort_by_key(|name| {
        ["high", "medium", "low"]
            .iter()
            .position(|known| known == name)
    });
    let rows: usize = found.bands.iter().map(|crossing| crossing.rows).sum();
    let share = |of: &dyn Fn(&Sides<&str>) -> bool| {
        let matching = found.bands.iter().filter(|crossing| {
            of(&Sides {
                a: crossing.a.as_str(),
                b: crossing.b.as_str(),
            })
        });
        let matching: usize = matching.map(|crossing| crossing.rows).sum();
        100.0 * matching as f64 / rows.max(1) as f64
    };
    let all: Vec<Mark> = names
        .iter()
        .flat_map(|name| {
            let values = Sides {
                a: share(&|band| band.a == *name),
                b: share(&|band| band.b == *name),
            };
            both(name, values, None)
        })
        .collect();
    some(&all, Shape::Bars, None, "% of rows that both value")
}

fn spread(cost: &CostComparison, scale: f64, axis: &str) -> PlotSvg {
    let values = cost.spread.map(|spread| spread.median / scale);
    let ends = cost
        .spread
        .map(|spread| [spread.tenth / scale, spread.ninetieth / scale]);
    some(
        &both("median", values, Some(ends)),
        Shape::Amounts,
        None,
        axis,
    )
}

/// Plots the fuel of rows.
pub fn fuel(found: &Comparison) -> PlotSvg {
    match &found.cost {
        Some(cost) => spread(&cost.fuel, 1_000.0, "thousands of units of fuel a row"),
        None => Ok(None),
    }
}

/// Plots the time that rows take.
pub fn time(found: &Comparison) -> PlotSvg {
    match &found.cost {
        Some(cost) => spread(&cost.micros, 1.0, "microseconds a row"),
        None => Ok(None),
    }
}
