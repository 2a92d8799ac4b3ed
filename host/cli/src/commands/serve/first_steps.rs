//! The steps of a start that may block, between the opening of the service and its first request.
//! A stop ends the wait for them, as a disk or a database may be stuck.

use super::console::{ConsoleListener, open_console};
use anyhow::{Context, bail};
use domesday_backup::remove_abandoned_copies;
use domesday_server::admin::socket::{AdminSocket, SocketFile};
use domesday_server::admin::socket_path;
use domesday_server::config::Settings;
use domesday_server::demo::{self, Account};
use domesday_server::service::Service;
use domesday_server::shadow::ShadowError;
use domesday_valuation::sample_rate::SampleRate;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Looks at the check of the current release, and starts the shadow. Blocks.
///
/// # Errors
/// The shadow of the settings cannot be served.
pub fn check_and_shadow(
    settings: &Settings,
    is_sandbox: bool,
    share: SampleRate,
    service: &Service,
) -> anyhow::Result<()> {
    // The answers of a sandbox are a table's, which no check of a model judges.
    if !is_sandbox {
        service.warn_of_unchecked_release();
    }
    begin_shadow(settings, service, share)
}

/// A service whose address is known, with what belongs to that.
pub struct PreparedService {
    pub service: Arc<Service>,
    /// The file of the demo's key, or of the sandbox's.
    pub demo_key: Option<PathBuf>,
    /// True if the release values the demo's home.
    pub values_demo: bool,
    pub console: ConsoleListener,
    pub socket: (AdminSocket, SocketFile),
}

/// Makes what needs the service's address. Blocks.
///
/// # Errors
/// The demo's key, the console or the socket of commands cannot be made.
pub fn prepare(
    settings: &Settings,
    sandbox: Option<Account>,
    mut service: Service,
    address: SocketAddr,
) -> anyhow::Result<PreparedService> {
    let is_sandbox = sandbox.is_some();
    let demo_key = prepare_demo(settings, sandbox, &service, address)?;
    let has_console = demo_key.is_some() && !is_sandbox;
    let console = open_console(settings, address, has_console, &mut service)?;
    remove_copies(&settings.data);
    let socket = AdminSocket::bind(socket_path(&settings.data))?;
    let values_demo = demo_key.is_some()
        && service.releases.current_problem().is_none()
        && demo::is_valued(service.releases.current());
    Ok(PreparedService {
        service: Arc::new(service),
        demo_key,
        values_demo,
        console,
        socket,
    })
}

/// Removes what killed backups left in the data folder.
fn remove_copies(data: &Path) {
    match remove_abandoned_copies(data) {
        Ok(0) => {}
        Ok(count) => {
            tracing::info!(
                count,
                "removed copies of the state that killed backups left"
            );
        }
        // They hinder nothing.
        Err(error) => tracing::warn!(%error, "cannot remove what killed backups left"),
    }
}

/// Creates the demo's tenant and key, or the sandbox's, and returns the key's file. A database may
/// be other hosts' too, so nothing is made in it that nobody asked for.
fn prepare_demo(
    settings: &Settings,
    sandbox: Option<Account>,
    service: &Service,
    address: SocketAddr,
) -> anyhow::Result<Option<PathBuf>> {
    let is_sandbox = sandbox.is_some();
    let (account, enabled) = match sandbox {
        Some(account) => (account, true),
        None => {
            let enabled = !settings.no_demo && settings.state.is_none();
            (Account::demo(), enabled && address.ip().is_loopback())
        }
    };
    let (state, clock) = (&*service.state, &*service.clock);
    let key = demo::prepare(account, state, clock, &settings.data, enabled)?;
    if key.is_none() && is_sandbox {
        bail!(
            "{} is the data folder of a service. Name another with --data",
            settings.data.display()
        );
    }
    Ok(key)
}

/// Starts the shadow that the settings name.
fn begin_shadow(settings: &Settings, service: &Service, share: SampleRate) -> anyhow::Result<()> {
    let Some(id) = &settings.shadow else {
        return Ok(());
    };
    match service.begin_shadow(id, share) {
        // It was promoted since, which must not keep a service from starting.
        Err(error @ ShadowError::Current(_)) => tracing::warn!(%error, "no shadow"),
        begun => begun.context("--shadow")?,
    }
    Ok(())
}
