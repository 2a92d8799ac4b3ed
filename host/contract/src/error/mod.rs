//! Error codes, validation errors and the body that carries them.

mod body;
mod code;
mod validation_error;

pub use body::ErrorBody;
pub use code::Code;
pub use validation_error::{ERRORS_LISTED, ValidationError, ValidationErrors, quote, sanitize};
