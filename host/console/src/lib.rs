//! The parts of the console that know no service: data in, data or a drawing out.
//!
//! - [`chart`], [`curve`] and [`timeline`] draw series as SVG, and [`bars`] groups.
//! - [`release_figures`] has the figures and plots of a back-test.
//! - [`estimate_parts`], [`estimate_range`], [`input_origins`], [`nearby_sales`] and
//!   [`price_index`] explain a value.
//! - [`form_token`] masks the token of a form.
//! - [`fields`] and [`home_inputs`] are the form of a home, and [`program_copies`] its programs.
//! - [`homes_file`] and [`homes_text`] read a spreadsheet's file of homes.
//! - [`number`] writes numbers as people read them, and [`message`] messages.
//! - [`series_catalogue`], [`series_form`] and [`series_choice`] choose series, and
//!   [`series_pages`] reads their pages. [`series_chart`], [`series_rows`] and [`series_table`]
//!   show their observations.
//! - [`home_map`] draws a home among its comparables, and [`drift`] a monitor's report.
//! - [`result_rows`] has the rows of a file of results, and [`csv_text`] writes files.
//! - [`recent`] is a map that forgets its oldest entries.
//! - [`reports`] lists and opens the reports of a folder.
//! - [`tile_archive`] reads ranges of a PMTiles file.
//! - [`usage`] sums and lists the units that a tenant used, and [`usage_month`] reads them.
//!
//! The pages, their routes and their sessions are in the server.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

pub mod bars;
pub mod chart;
pub mod confidence;
pub mod csv_text;
pub mod curve;
pub mod drift;
pub mod estimate_parts;
pub mod estimate_range;
pub mod fields;
pub mod form_token;
pub mod home_inputs;
pub mod home_map;
pub mod homes_file;
pub mod homes_text;
pub mod input_origins;
pub mod message;
pub mod nearby_sales;
pub mod number;
pub mod price_index;
pub mod program_copies;
pub mod recent;
pub mod rejections;
pub mod release_figures;
pub mod reports;
pub mod result_rows;
pub mod series_catalogue;
pub mod series_chart;
pub mod series_choice;
pub mod series_form;
pub mod series_pages;
pub mod series_rows;
pub mod series_table;
pub mod tile_archive;
pub mod timeline;
pub mod usage;
pub mod usage_month;
