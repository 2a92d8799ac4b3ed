//! What a client can do to harm others, and that it does not.
// Helpers of tests are tests, though clippy knows only the functions marked so.
#![allow(clippy::unwrap_used)]

mod common;
