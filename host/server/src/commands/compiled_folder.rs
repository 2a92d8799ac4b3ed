//! Where commands that run a release keep its compiled code, if anywhere.

use crate::compiled;
use domesday_engine::Runtime;
use domesday_engine::config::Allocation;
use std::path::PathBuf;

/// Compiled code from one command to the next.
#[derive(Debug, clap::Args)]
pub struct CompiledFolder {
    /// Keep compiled code in this folder of your own, and use what an earlier command or a server kept there; a server's data
    /// folder will do. Without it a release is compiled each time.
    #[arg(long, env = "DOMESDAY_COMPILED", value_name = "DIR")]
    pub compiled: Option<PathBuf>,
}

impl CompiledFolder {
    /// An engine that keeps compiled code there.
    ///
    /// # Errors
    /// Where the engine cannot be made, or somebody else could put files into the folder.
    pub fn runtime(&self, allocation: Allocation) -> anyhow::Result<Runtime> {
        compiled::runtime(allocation, self.compiled.as_deref())
    }
}
