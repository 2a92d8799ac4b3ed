//! The one path of a valuation, a file a step:
//!
//! [`admit`] (may this request be made of this release) → [`resolve`] (and [`look_up`], where somebody else is to be asked) and [`merge`], or [`site`] for a
//! proposed property (which one, and what is known of it) → [`market`] (does the release value such at
//! all) → [`value`] (what the release says) → [`render`] (what the client is told). [`extent`] foresees how large an answer may become. [`row`] puts them together for one row, and [`batch`] many
//! rows.
//!
//! A step takes a value and returns a value; nothing reaches back. The host owns identity,
//! precedence and status; the release owns judgement.

pub mod admit;
pub mod batch;
pub mod context;
pub mod extent;
mod grid;
pub mod look_up;
pub mod market;
pub mod merge;
pub mod render;
pub mod resolve;
pub mod row;
mod shared;
pub mod site;
pub mod value;
mod vocabulary;
