//! A target without tests. `src/suites.rs` builds it beside the program: cargo unifies the features
//! of dev-dependencies only where a test is built, and would otherwise compile every dependency
//! twice.
