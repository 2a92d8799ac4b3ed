//! Binding the addresses that the settings name.

use anyhow::anyhow;
use domesday_server::http;
use std::net::SocketAddr;
use tokio::net::TcpListener;

/// Binds the address that `flag` names. Returns the listener, with the port that it has.
///
/// # Errors
/// The address is taken or may not be bound.
pub fn listen(address: SocketAddr, flag: &str) -> anyhow::Result<(TcpListener, SocketAddr)> {
    let listener = http::bind(address).map_err(|error| {
        anyhow!("cannot listen on {address}: {error}. Free it, or name another with {flag}")
    })?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}
