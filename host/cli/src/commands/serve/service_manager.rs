//! Tells a service manager, such as systemd, how far the host is. It waits for the host where it
//! sets `NOTIFY_SOCKET`, and elsewhere nothing is sent.

use sd_notify::NotifyState;

/// Says that the host serves and takes commands.
pub fn notify_ready() {
    notify(&[NotifyState::Ready]);
}

/// Says that the host has begun to stop.
pub fn notify_stopping() {
    notify(&[NotifyState::Stopping]);
}

fn notify(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "cannot tell the service manager");
    }
}
