//! An example that does nothing. `src/suites.rs` builds it beside the program. Cargo unifies the
//! features of dev-dependencies only where it builds a test or an example. Otherwise it would
//! compile every dependency twice.

fn main() {}
