//! The signals that a server answers: SIGTERM and SIGINT end it, SIGHUP has it read its certificate
//! again.

use domesday_server::http::Tls;
use domesday_server::telemetry::metrics::Gauge;
use std::sync::Arc;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// A signal that stops the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    Terminate,
    Interrupt,
}

/// SIGTERM and SIGINT since they are listened for.
pub struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    pub fn listen() -> anyhow::Result<StopSignals> {
        Ok(StopSignals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for the next of them.
    pub async fn next(&mut self) -> StopSignal {
        tokio::select! {
            _ = self.terminate.recv() => StopSignal::Terminate,
            _ = self.interrupt.recv() => StopSignal::Interrupt,
        }
    }
}

/// SIGHUP since it is listened for. One that came before the answer begins is answered then.
pub struct Hangups(Signal);

impl Hangups {
    pub fn listen() -> anyhow::Result<Hangups> {
        Ok(Hangups(signal(SignalKind::hangup())?))
    }

    /// Reads the certificate again at every SIGHUP and shows its expiry, where there is one.
    pub async fn answer(mut self, certificate: Option<(Arc<Tls>, Gauge)>) {
        while self.0.recv().await.is_some() {
            match &certificate {
                Some((tls, expiry)) => reload(tls, expiry).await,
                None => tracing::info!("SIGHUP: there is no certificate to read again"),
            }
        }
    }
}

async fn reload(tls: &Arc<Tls>, expiry: &Gauge) {
    let reading = tls.clone();
    match tokio::task::spawn_blocking(move || reading.reload()).await {
        Ok(Ok(())) => {
            expiry.set(tls.expiry());
            tracing::info!("the certificate was read again");
        }
        Ok(Err(error)) => tracing::error!(%error, "the certificate is kept as it was"),
        Err(error) => tracing::error!(%error, "the certificate is kept as it was"),
    }
}
