//! What operators do to a service: one list of orders, carried out by a running server that is reached
//! over its socket, or by a command on a state that no server has open.
//!
//! `wire.rs` names the orders, `carry_out.rs` does them, `socket.rs` takes them from the socket, and
//! `reach.rs` is the command's side.

pub mod carry_out;
pub mod reach;
pub mod socket;
pub mod wire;

use std::path::{Path, PathBuf};

/// Where a server takes orders: a socket in its data folder.
pub fn socket_path(data: &Path) -> PathBuf {
    data.join("admin.sock")
}
