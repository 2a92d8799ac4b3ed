//! From the publishers' registers to a release of market statistics.
//!
//! The build reads the sales once. Each sale becomes a small seed with its authority (`areas`,
//! `postcodes`) and the data of its home's energy certificate (`certificates`). `sales` settles the
//! seeds by transaction and puts them in order of authority. `metrics` then computes one authority
//! at a time from its sales, its rents (`rents`) and a price index (`index`). So memory grows only
//! with the sales and the observations. Nothing depends on the names of files or on the order in
//! which they are given.
//!
//! docs/reference/market-statistics.md has the formula, inputs, window and threshold of every
//! metric.

mod areas;
mod certificates;
mod coverage;
mod error;
pub mod exclusions;
mod gaps;
mod index;
mod inputs;
mod matches;
mod metrics;
mod month;
mod postcodes;
mod release;
mod rents;
mod report;
mod sales;
mod sources;
mod spans;

use crate::Period;
use crate::build::{Draft, FieldValue, Key, NewObservation};
use crate::catalogue::{Availability, Family, ObservationField, SelectorName};
use crate::store::Area as StoredArea;
use areas::{AreaNumber, Grid};
use domesday_registers::Day;
use index::Indices;
use metrics::{AuthorityData, Inputs as Behind, Line, Point};
use rents::Rents;
use sales::Sales;
use sources::Sources;

pub use coverage::Coverage;
use domesday_registers::Progress;

pub use domesday_registers::sources::{Counts, FileReport};
pub use error::MarketsError;
pub use inputs::Inputs;
pub use month::{Month, Span};
pub use release::{ReleaseDetails, build};
pub use rents::count_rents;
pub use report::{Report, SalesReport};

/// Works out every series of every authority.
///
/// # Errors
/// See [`MarketsError`].
pub fn draft(
    inputs: &Inputs,
    progress: &mut Progress<'_>,
) -> Result<(Draft, Report), MarketsError> {
    let mut sources = Sources::list(inputs, progress)?;
    let grid = areas::read(&mut sources)?;
    let postcodes = postcodes::read(&mut sources, &grid)?;
    let certificates = certificates::read(&mut sources)?;
    let sales = sales::read(&mut sources, &grid, &postcodes, &certificates, inputs)?;
    drop((postcodes, certificates));
    let indices = index::read(&mut sources, &grid)?;
    let rents = rents::read(&mut sources, &grid)?;

    let mut report = Report {
        first_month: sales.first.to_string(),
        core_month: sales.core.to_string(),
        rental_month: rents.latest().map(|month| month.to_string()),
        ..Report::default()
    };
    let mut draft = Draft::new();
    for number in 0..grid.areas().len() {
        sources.tell("metrics", number as u64, grid.areas().len() as u64);
        let Ok(number) = AreaNumber::try_from(number) else {
            break;
        };
        add_area(
            &mut draft,
            number,
            &grid,
            &sales,
            &indices,
            &rents,
            &mut report,
        );
    }
    sources.tell(
        "metrics",
        grid.areas().len() as u64,
        grid.areas().len() as u64,
    );
    let areas = grid.areas().iter().map(|area| StoredArea {
        code: area.code.clone(),
        name: area.name.clone(),
    });
    draft.areas(areas.collect());
    let covered = sales.spans.iter().flatten().map(|span| span.last);
    let results = gaps::Results {
        with_floor_area: sales.report.with_floor_area,
        authorities_with_index: report.index_of.len(),
        rents: rents.latest(),
        last_covered: covered.max().unwrap_or(sales.core),
    };
    gaps::state(&mut draft, inputs, &results);
    report.datasets = draft.summaries(Family::Markets);
    report.sales = sales.report;
    report.files = sources.finish();
    Ok((draft, report))
}

fn add_area(
    draft: &mut Draft,
    number: AreaNumber,
    grid: &Grid,
    sales: &Sales,
    indices: &Indices,
    rents: &Rents,
    report: &mut Report,
) {
    let area = &grid.areas()[usize::from(number)];
    let months = sales.spans.get(usize::from(number)).copied().flatten();
    let index = months
        .filter(|months| !months.is_empty())
        .and_then(|months| indices.of(area, months));
    if let Some((code, _)) = index {
        report.index_of.insert(area.code.clone(), code.to_owned());
    }
    let authority = AuthorityData {
        number,
        area,
        months,
        sales: of_area(&sales.sales, |sale| sale.area, number),
        deliveries: of_area(&sales.deliveries, |home| home.area, number),
        index,
        rents,
    };
    for line in metrics::all(&authority) {
        add(draft, &area.code, &line, report);
    }
}

/// Returns the part of a sorted list that belongs to an authority.
fn of_area<T>(list: &[T], area: impl Fn(&T) -> AreaNumber, number: AreaNumber) -> &[T] {
    let from = list.partition_point(|one| area(one) < number);
    let upto = list.partition_point(|one| area(one) <= number);
    &list[from..upto]
}

fn add(draft: &mut Draft, area: &str, line: &Line, report: &mut Report) {
    // Both are of the catalogue: `every_line_is_of_the_catalogue` holds the metrics to it.
    let Some(dataset) = Family::Markets.dataset(line.dataset) else {
        return;
    };
    let Some(metric) = dataset.metric(line.metric) else {
        return;
    };
    let mut key = Key::new(dataset, metric).select(SelectorName::Area, area);
    for (name, value) in &line.selectors {
        key = key.select(*name, *value);
    }
    let series = draft.series(key);
    report.series += 1;
    draft.windows(series, line.windows);
    draft.method(series, line.method.clone());
    let mut suppressed = 0;
    for (month, point, behind) in &line.points {
        match point {
            Point::Value(value) => {
                let observation = NewObservation::new(period(*month), *value);
                draft.push(series, with_inputs(observation, line, *behind));
                report.observations += 1;
            }
            Point::Suppressed => suppressed += 1,
            Point::Missing => {}
        }
    }
    report.suppressed += suppressed;
    if suppressed > 0 {
        draft.availability(series, Availability::Suppressed);
    }
}

/// Returns a month as the store counts it, from January of the year 0.
fn period(month: Month) -> Period {
    Period::from_number(month.0 + 12 * 1970)
}

/// Returns the months and days behind a rental observation.
fn with_inputs(mut observation: NewObservation, line: &Line, behind: Behind) -> NewObservation {
    use ObservationField as F;
    let windows = line.windows;
    let bounds =
        |observation: NewObservation, month: Month, window: Option<u32>, fields: [F; 3]| {
            let from = month.plus(1 - i32::try_from(window.unwrap_or(1)).unwrap_or(1));
            let first = Day::first_of_month(from.0);
            let last = Day::first_of_month(month.0 + 1).map(|day| Day(day.0 - 1));
            let days = fields.into_iter().zip([last, first, last]);
            days.filter_map(|(field, day)| Some((field, day?.date()?)))
                .fold(observation, |observation, (field, date)| {
                    observation.date(field, date)
                })
        };
    if let Some(month) = behind.rental {
        let window = windows.rental_window_months.or(windows.window_months);
        let fields = [
            F::RentalObservationMonth,
            F::RentalPeriodStart,
            F::RentalPeriodEnd,
        ];
        observation = bounds(observation, month, window, fields);
    }
    if let Some(month) = behind.capital {
        let window = windows.capital_window_months.or(windows.window_months);
        let fields = [
            F::CapitalObservationMonth,
            F::CapitalPeriodStart,
            F::CapitalPeriodEnd,
        ];
        observation = bounds(observation, month, window, fields);
        if let Some(date) = Day::first_of_month(month.0).and_then(Day::date) {
            // Certificates count that were lodged by the end of the capital window.
            observation = observation.date(F::StructureObservationMonth, date);
        }
    }
    if let (Some(rental), Some(capital)) = (behind.rental, behind.capital) {
        let gap = rental.0 - capital.0;
        observation = observation
            .with(F::InputMonthGap, FieldValue::Integer(gap))
            .with(F::MixedVintage, FieldValue::Boolean(gap != 0));
    }
    observation
}
