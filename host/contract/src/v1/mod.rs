//! The interface of market statistics and sterling rates: answers and error bodies.
//!
//! The catalogue in `host/series` defines the parameters, the values of words and the fields of
//! observations. This module has the types around them.

pub mod catalogue;
pub mod envelope;
pub mod error;
pub mod release;

mod pairs;
