//! The one path of a valuation, a file a step:
//!
//! [`admit`] (may this request be made of this release) → [`resolve`] (which property, and what is
//! known of it) → [`value`] (what the release says) → [`render`] (what the client is told).
//!
//! A step takes a value and returns a value; nothing reaches back. The host owns identity,
//! precedence and status; the release owns judgement.

pub mod admit;
pub mod context;
pub mod merge;
pub mod render;
pub mod resolve;
pub mod value;
mod vocabulary;
