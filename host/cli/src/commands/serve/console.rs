//! The listener of the console.

use super::listen::listen;
use anyhow::{Context, bail};
use domesday_property::address_directory::AddressDirectory;
use domesday_server::config::Settings;
use domesday_server::console_sessions::ConsoleSessions;
use domesday_server::service::Service;
use std::net::SocketAddr;
use tokio::net::TcpListener;

/// Listens for the console and gives the service its sessions, where the settings name an address.
/// The demo's console is beside the port of its API, if that port is free.
pub fn open_console(
    settings: &Settings,
    api: SocketAddr,
    demo: bool,
    service: &mut Service,
) -> anyhow::Result<Option<TcpListener>> {
    let tls = settings.tls_certificate.is_some();
    let opened = match settings.console {
        Some(address) => {
            if !tls && !address.ip().is_loopback() {
                bail!(
                    "--console {address} is no loopback address. Give --tls-certificate and --tls-key, or a \
                     loopback address and a tunnel"
                );
            }
            Some(listen(address, "--console")?)
        }
        None => {
            demo_address(settings, api, demo).and_then(|address| listen(address, "--console").ok())
        }
    };
    let Some((listener, address)) = opened else {
        return Ok(None);
    };
    let scheme = if tls { "https" } else { "http" };
    let sessions =
        ConsoleSessions::new(format!("{scheme}://{address}"), format!("{scheme}://{api}"));
    if let Some(path) = &settings.console_addresses {
        sessions.set_addresses(AddressDirectory::open(path).context("--console-addresses")?);
    }
    service.console = Some(sessions);
    Ok(Some(listener))
}

/// Returns the address of the demo's console. A server on any free port has none: its port is not
/// one that a person chose.
fn demo_address(settings: &Settings, api: SocketAddr, demo: bool) -> Option<SocketAddr> {
    let port = api.port().checked_add(1)?;
    (demo && settings.listen.port() != 0).then(|| SocketAddr::new(api.ip(), port))
}
