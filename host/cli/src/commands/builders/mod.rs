//! Commands that make snapshots, series and releases: the feature `builders`.

mod address_directory;
mod backtest;
mod build;
mod check;
mod compare;
mod data;
mod demo_data;
mod monitor;
mod new_release;
mod package_output;
mod profile;
mod property;
mod refresh;
mod sale_days;
mod series;
mod wrong_kind;

pub use backtest::Backtest;
pub use build::Build;
pub use check::Check;
pub use compare::Compare;
pub use data::Data;
pub use demo_data::DemoData;
pub use monitor::Monitor;
pub use new_release::NewRelease;
pub use profile::Profile;
pub use property::Property;
pub use refresh::Refresh;
pub use series::Series;
