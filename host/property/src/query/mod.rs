//! The questions: one concern a file, each an `impl` block of [`crate::Snapshot`].

pub mod address_list;
mod beyond_border;
mod cell_sales;
pub(crate) mod export;
pub(crate) mod found_sales;
mod index;
pub(crate) mod index_cache;
mod market;
pub(crate) mod nearby;
mod own_sales;
mod resolve;
pub(crate) mod sales_cache;
pub(crate) mod service_area;
mod top_n;
