//! Administration: one list of commands for operators. A running server executes them over its
//! socket. Without a server, the command line executes them on the state itself.
//!
//! [`protocol`] names the commands, [`service_commands`] and [`state_commands`] execute them,
//! [`socket`] receives them and [`client`] sends them.

pub mod client;
mod command_log;
mod keys;
pub mod problem;
pub mod protocol;
pub(crate) mod service_commands;
pub mod socket;
pub mod state_commands;

use std::path::{Path, PathBuf};

/// Returns the path of the socket, in the data folder, where a server takes commands.
pub fn socket_path(data: &Path) -> PathBuf {
    data.join("admin.sock")
}
