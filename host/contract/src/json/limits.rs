//! The limits of a document.

/// The deepest nesting of objects and arrays. It also bounds the recursion of the parser.
pub const DEPTH_MAX: usize = 32;

/// Members of one object that are kept. No section has a third as many fields, so a dropped member
/// is unknown or repeated, and more errors than are listed come before it.
pub const MEMBERS_MAX: usize = 64;
