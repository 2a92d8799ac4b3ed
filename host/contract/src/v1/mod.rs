//! The interface of market statistics and sterling rates: answers and error bodies.
//!
//! What can be asked is the catalogue's, in the room of series; so are the values of words and the
//! fields of observations. Here stand the shapes around them.

pub mod catalogue;
pub mod envelope;
pub mod error;
pub mod release;

mod pairs;
