//! No row can tell an instance that was set back from a new one.

mod left_as_new;
mod page_map;
mod probe;
mod rows;
mod static_checks;
mod write_tracking;
