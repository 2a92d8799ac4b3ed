//! The promises of the sandbox: it refuses forbidden components, and no guest harms another row.

mod admission;
pub(crate) mod common;
mod compiled_code;
mod demo;
mod evidence;
mod evil;
mod fuel_profile;
#[path = "../../../../../tests/common/guest.rs"]
mod guest;
mod interface_versions;
mod isolation;
mod late_searches;
mod model_inputs;
mod recorded_evidence;
mod replay;
mod wasi;
