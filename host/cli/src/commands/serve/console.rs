//! The listener of the console.

use super::listen::listen;
use anyhow::{Context, bail};
use domesday_console::tile_archive::TileArchive;
use domesday_property::address_directory::AddressDirectory;
use domesday_server::config::Settings;
use domesday_server::console_origin::ConsoleOrigin;
use domesday_server::console_sessions::ConsoleSessions;
use domesday_server::console_values::ConsoleValues;
use domesday_server::service::Service;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;

/// The listener of the console, or the reason why the demo has none.
pub enum ConsoleListener {
    /// It listens.
    Open(TcpListener),
    /// The demo's port is taken.
    Taken(String),
    /// The console is off.
    Off,
}

/// Listens for the console and gives the service its sessions, where the settings name an address.
/// The demo's console is beside the port of its API, if that port is free.
///
/// # Errors
/// The address may not be used or is taken, or the sessions cannot be kept.
pub fn open_console(
    settings: &Settings,
    api: SocketAddr,
    demo: bool,
    service: &mut Service,
) -> anyhow::Result<ConsoleListener> {
    let tls = settings.tls_certificate.is_some();
    let (listener, address) = match (settings.console, demo_address(settings, api, demo)) {
        (Some(address), _) => {
            check_address(settings, address, tls)?;
            listen(address, "--console")?
        }
        (None, Some(address)) => match listen(address, "--console") {
            Ok(opened) => opened,
            Err(error) => return Ok(ConsoleListener::Taken(error.to_string())),
        },
        (None, None) => {
            if let Some(map) = &settings.console_map {
                bail!(
                    "--console-map {} has no console to draw on. Give --console 127.0.0.1:8081 too",
                    map.display()
                );
            }
            return Ok(ConsoleListener::Off);
        }
    };
    let origin = match &settings.console_origin {
        Some(text) => ConsoleOrigin::parse(text).context("--console-origin")?,
        None => ConsoleOrigin::of_address(address, tls)?,
    };
    if tls && !origin.is_secure() {
        bail!(
            "--console-origin {} has no TLS, but the console has: --tls-certificate is set. Begin it \
             with https://",
            origin.as_str()
        );
    }
    let map = settings.console_map.as_deref();
    let map = map.map(TileArchive::open).transpose();
    service.console_map = map.context("--console-map")?.map(Arc::new);
    let scheme = if tls { "https" } else { "http" };
    let values = ConsoleValues::open(&settings.data, service.state.clone(), service.clock.clone());
    let sessions = ConsoleSessions::new(origin, format!("{scheme}://{api}"))
        .with_values(values.context("cannot open the console's values in the data folder")?);
    if let Some(path) = &settings.console_addresses {
        sessions.set_addresses(AddressDirectory::open(path).context("--console-addresses")?);
    }
    service.console = Some(sessions);
    Ok(ConsoleListener::Open(listener))
}

/// Checks that browsers can reach an address safely and by one name.
fn check_address(settings: &Settings, address: SocketAddr, tls: bool) -> anyhow::Result<()> {
    if !tls && !address.ip().is_loopback() {
        bail!(
            "--console {address} is not a loopback address. Give --tls-certificate and --tls-key, or a \
             loopback address and a tunnel"
        );
    }
    if address.ip().is_unspecified() && settings.console_origin.is_none() {
        bail!(
            "--console {address} stands for every address of this machine, and browsers need one. \
             Give --console-origin https://NAME:{}, as they write it",
            address.port()
        );
    }
    Ok(())
}

/// Returns the address of the demo's console. A server on any free port has none: its port is not
/// one that a person chose.
fn demo_address(settings: &Settings, api: SocketAddr, demo: bool) -> Option<SocketAddr> {
    let port = api.port().checked_add(1)?;
    (demo && settings.listen.port() != 0).then(|| SocketAddr::new(api.ip(), port))
}
