//! The parts of the console that know no service: data in, data or a drawing out.
//!
//! - [`chart`], [`curve`] and [`timeline`] draw series as SVG.
//! - [`homes_file`] and [`homes_text`] read a spreadsheet's file of homes.
//! - [`number`] writes numbers as people read them.
//! - [`reports`] lists and opens the reports of a folder.
//! - [`tile_archive`] reads ranges of a PMTiles file.
//!
//! The pages, their routes and their sessions are in the server.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

pub mod chart;
pub mod curve;
pub mod homes_file;
pub mod homes_text;
pub mod number;
pub mod reports;
pub mod tile_archive;
pub mod timeline;
