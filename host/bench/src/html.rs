//! The report as one page: no network, no script.

use crate::report::{BenchReport, LoadFigures};
use maud::{DOCTYPE, PreEscaped, html};
use plotters::prelude::*;
use std::error::Error;

/// A plot could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("a plot could not be drawn: {0}")]
pub struct PlotError(String);

impl<E: Error + Send + Sync> From<DrawingAreaErrorKind<E>> for PlotError {
    fn from(error: DrawingAreaErrorKind<E>) -> PlotError {
        PlotError(error.to_string())
    }
}

const SIZE: (u32, u32) = (920, 420);
const FONT: (&str, u32) = ("sans-serif", 13);
/// Colours that remain apart for people who see few.
const COLOURS: [RGBColor; 5] = [
    RGBColor(31, 95, 153),
    RGBColor(201, 138, 43),
    RGBColor(73, 129, 82),
    RGBColor(150, 65, 110),
    RGBColor(90, 90, 90),
];
const STYLE: &str = "body{font:16px/1.5 sans-serif;max-width:58rem;margin:2rem auto;padding:0 1rem;\
    color:#1b2430}table{border-collapse:collapse}td,th{padding:.2rem .7rem;text-align:right;\
    border-bottom:1px solid #e3e8ed}svg{width:100%;height:auto}";

/// Returns the page.
///
/// # Errors
/// [`PlotError`] if the plot cannot be drawn.
pub fn page(report: &BenchReport) -> Result<String, PlotError> {
    let plot = plot(report)?;
    let title = format!("What {} does with {}", report.url, report.release_id);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (title) }
                p { "Each connection sends its next request once the last is answered. "
                    (report.processors) " processors here." }
                table {
                    thead { tr {
                        th { "Rows" } th { "Connections" } th { "Values a second" }
                        th { "p50, ms" } th { "p90, ms" } th { "p99, ms" } th { "Longest, ms" }
                        th { "Host, µs a value" } th { "Here, µs a value" }
                    } }
                    tbody { @for load in &report.loads { tr {
                        td { (load.rows) } td { (load.connections) }
                        td { (format!("{:.0}", load.values_per_second)) }
                        td { (format!("{:.2}", load.latency.p50)) }
                        td { (format!("{:.2}", load.latency.p90)) }
                        td { (format!("{:.2}", load.latency.p99)) }
                        td { (format!("{:.2}", load.latency.max)) }
                        td { @match load.host_micros_per_value {
                            Some(micros) => (format!("{micros:.1}")), None => "not stated",
                        } }
                        td { (format!("{:.1}", load.client_micros_per_value)) }
                    } } }
                }
                @for trouble in report.loads.iter().flat_map(LoadFigures::troubles) {
                    p { strong { (trouble) } }
                }
                h2 { "Time by share of requests" }
                (PreEscaped(plot))
            }
        }
    };
    Ok(page.into_string())
}

/// Draws the time of a request by the share of requests that took no longer.
fn plot(report: &BenchReport) -> Result<String, PlotError> {
    let times = || {
        let quantiles = report.loads.iter().flat_map(|load| &load.latency.quantiles);
        quantiles.map(|(_, time)| *time).filter(|time| *time > 0.0)
    };
    let lowest = times().fold(f64::INFINITY, f64::min);
    let highest = times().fold(0.0, f64::max);
    if highest <= 0.0 {
        return Ok(String::new());
    }
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(70)
            .build_cartesian_2d(0.0..1.0, (lowest * 0.8..highest * 1.25).log_scale())?;
        chart
            .configure_mesh()
            .x_desc("share of requests that took no longer")
            .y_desc("milliseconds")
            .label_style(FONT)
            .axis_desc_style(FONT)
            .draw()?;
        for (load, colour) in report.loads.iter().zip(COLOURS.into_iter().cycle()) {
            let points = load.latency.quantiles.iter().copied();
            let name = format!("{} rows, {} connections", load.rows, load.connections);
            chart
                .draw_series(LineSeries::new(points, colour.stroke_width(2)))?
                .label(name)
                .legend(move |(x, y)| {
                    PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2))
                });
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .label_font(FONT)
            .background_style(WHITE)
            .draw()?;
        area.present()?;
    }
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::sample;

    #[test]
    fn the_page_has_the_figures_and_a_line_for_each_load() {
        let page = page(&sample()).unwrap();
        assert!(
            page.contains("hedonic-1") && page.contains("201.2"),
            "{page}"
        );
        assert!(page.contains("2500 rows, 1 connections"), "{page}");
        assert!(page.contains("<polyline"), "{page}");
        assert!(
            !page.contains("http-equiv") && !page.contains("<script"),
            "{page}"
        );
    }
}
