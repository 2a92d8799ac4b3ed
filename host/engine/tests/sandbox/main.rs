//! What the sandbox promises: what may not run is refused, and what runs harms nothing else.
#![allow(clippy::unwrap_used)]

mod a_bad_row_harms_itself_alone;
mod admission_refuses;
mod common;
mod compiled_code;
mod every_version_of_the_interface;
mod evil;
#[path = "../../../../tests/common/guest.rs"]
mod guest;
mod inputs_are_shown;
mod recorded_evidence;
mod wasi;
