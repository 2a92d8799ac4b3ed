//! What is said when something is refused: codes, faults and the body that carries them.

mod body;
mod code;
mod fault;

pub use body::ErrorBody;
pub use code::Code;
pub use fault::{FAULTS_LISTED, Fault, Faults, harmless, shown};
