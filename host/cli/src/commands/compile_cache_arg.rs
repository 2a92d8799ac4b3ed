//! The folder in which commands that run a release cache its compiled code, if any.

use domesday_engine::Runtime;
use domesday_engine::config::Allocation;
use domesday_valuation::compile_cache::{self, CompileCacheError};
use std::path::PathBuf;

/// Compiled code from one command to the next.
#[derive(Debug, clap::Args)]
pub struct CompiledFolder {
    /// Folder of the compile cache, such as a server's data folder (disabled if unset).
    #[arg(long, env = "DOMESDAY_COMPILED", value_name = "DIR")]
    pub compiled: Option<PathBuf>,
}

impl CompiledFolder {
    /// Creates an engine that stores compiled code in that folder.
    ///
    /// # Errors
    /// [`CompileCacheError`] if the engine cannot be made, or another user can write to the folder.
    pub fn runtime(&self, allocation: Allocation) -> Result<Runtime, CompileCacheError> {
        compile_cache::runtime(allocation, self.compiled.as_deref())
    }
}
