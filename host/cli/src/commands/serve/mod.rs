//! `domesday serve`.

mod bounded_transfer;
mod close;
mod console;
mod demo_addresses;
mod drain;
mod first_steps;
mod job_objects;
mod listen;
mod open;
mod release_source;
mod service_manager;
pub(super) mod signals;
mod starting;

use crate::commands::trust::trust;
use anyhow::{Context, bail};
use clap::ArgMatches;
use close::{LAST_MOMENT, close, end_time};
use console::ConsoleListener;
use demo_addresses::begin_demo_addresses;
use domesday_console::reports::ReportsFolder;
use domesday_package::{Trust, VerificationCache};
use domesday_server::config::{Settings, resolve, show};
use domesday_server::connections::Connections;
use domesday_server::demo::Account;
use domesday_server::http::{Router, Tls};
use domesday_server::jobs::Jobs;
use domesday_server::logging::{LogLines, start};
use domesday_server::operation_samples::OperationSamples;
use domesday_server::service::Service;
use domesday_server::telemetry::connections::Listener;
use domesday_server::telemetry::traces::Traces;
use domesday_server::{
    console as console_pages, demo, http, metrics_page, package_proofs, promotion, telemetry,
    usage_retention,
};
use domesday_valuation::sample_rate::SampleRate;
use drain::{drain_at_signal, warn_of_long_stop};
use first_steps::{check_and_shadow, prepare};
use listen::listen;
use open::{open_tls, open_traces, side_connections};
use service_manager::notify_ready;
use signals::{Hangups, StopSignals};
use starting::{open_with_probes, run_until_stop};
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

#[derive(Debug, clap::Args)]
pub struct Serve {
    #[command(flatten)]
    settings: Settings,
    /// TOML config file; flags and environment variables override it.
    #[arg(long, env = "DOMESDAY_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print the effective settings with their sources, and exit.
    #[arg(long)]
    print_config: bool,
}

impl Serve {
    pub fn run(self, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
        let resolved = resolve(&self.settings, matches, self.config.as_deref())?;
        if self.print_config {
            print!("{}", show(&resolved.sources));
            return Ok(ExitCode::SUCCESS);
        }
        run_server(resolved.settings, None)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The parts of a sandbox's server that stand in place of a service's.
pub struct SandboxParts {
    /// The key of the sandbox's packages.
    pub trust: Trust,
    /// The tenant that a start creates.
    pub account: Account,
    /// Puts the stub in front of the routes.
    pub stub: fn(Router) -> anyhow::Result<Router>,
    /// The address of the list of cases, for a person to read.
    pub about: fn(SocketAddr) -> String,
}

/// Runs a server until the process receives SIGTERM or SIGINT.
///
/// # Errors
/// The settings contradict each other, something that they name cannot be opened, or the server
/// fails.
pub fn run_server(settings: Settings, sandbox: Option<SandboxParts>) -> anyhow::Result<()> {
    let traces = open_traces(&settings)?;
    let logging = start(&settings.log, traces.as_ref())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let served = runtime.block_on(serve(settings, sandbox, logging.lines.clone(), traces));
    // A thread may still wait for a disk that does not answer. It was waited for.
    runtime.shutdown_timeout(LAST_MOMENT);
    served
}

/// Serves until the process receives SIGTERM or SIGINT.
async fn serve(
    settings: Settings,
    sandbox: Option<SandboxParts>,
    log_lines: LogLines,
    traces: Option<Traces>,
) -> anyhow::Result<()> {
    // First, since a SIGHUP ends a process that does not listen for it.
    let hangups = Hangups::listen()?;
    let threads = thread_count(&settings)?;
    let tls = open_tls(&settings)?;
    let reports = open_reports(&settings)?;
    let shadow_share = SampleRate::new(settings.shadow_share).context("--shadow-share")?;
    let trust = match &sandbox {
        Some(sandbox) => sandbox.trust.clone(),
        None => trust(&settings.releases, &settings.allow_unsigned)?,
    };
    // Before a fetch, so that a stop can end it.
    let mut signals = StopSignals::listen()?;
    let (settings, telemetry) = (Arc::new(settings), (log_lines, traces));
    let (of_start, is_sandbox) = (settings.clone(), sandbox.is_some());
    let begin =
        move |service: &Service| check_and_shadow(&of_start, is_sandbox, shadow_share, service);
    let opening = open_with_probes(&settings, trust, threads, telemetry, &mut signals, begin);
    let Some(started) = opening.await? else {
        return Ok(());
    };
    let (opened, probes, release_source) = (started.opened, started.probes, started.release_source);
    let (service, promoted) = (opened.service, opened.promoted);
    let (listener, address) = listen(settings.listen, "--listen")?;
    let account = sandbox.as_ref().map(|sandbox| sandbox.account.clone());
    let of_start = settings.clone();
    let preparing = move || prepare(&of_start, account, service, address);
    let Some(prepared) = run_until_stop(&mut signals, preparing).await? else {
        return Ok(());
    };
    let (service, demo) = (prepared.service, (prepared.demo_key, prepared.values_demo));
    let (console, (socket, socket_file)) = (prepared.console, prepared.socket);
    let jobs = Jobs::start(
        &service,
        settings.job_runners.unwrap_or(threads.div_ceil(2)),
        Duration::from_secs(settings.job_lease.into()),
    );

    let release_id = service.releases.current().id.clone();
    announce(&settings, &service, address, demo);
    if let Some(sandbox) = &sandbox {
        println!("{}", (sandbox.about)(address));
    }
    let metrics_listener = match probes {
        Some((probes, address)) => Some((probes.end().await?, address)),
        None => None,
    };
    let metrics = metrics_listener.map(|(listener, address)| {
        println!("Showing metrics on http://{address}/metrics");
        let connections = side_connections(&settings, &service.metrics, Listener::Metrics);
        let router = metrics_page::router(service.clone());
        let watching = tokio::spawn(metrics_page::watch_jobs(service.clone()));
        let side = SideServer::start(listener, None, connections, router);
        (side, watching)
    });
    let (metrics, watching) = metrics.unzip();
    let console = show_console(console, &settings, &service, tls.clone(), reports);
    let (console, sampling) = console.unzip();
    std::io::stdout().flush()?;
    let commands = tokio::spawn(socket.serve(service.clone()));
    let follower = tokio::spawn(promotion::follow(service.clone(), promoted));
    let source_watch = release_source
        .clone()
        .map(|source| tokio::spawn(source.watch()));
    tokio::spawn(service.data_folder.clone().watch());
    tokio::spawn(service.missing_packages.clone().watch());
    let months = settings.usage_ledger_months;
    let retention = tokio::spawn(usage_retention::run(service.clone(), months));
    let proving = prove_packages(&settings, &service, opened.record);
    tokio::spawn(telemetry::lateness::watch(
        service.metrics.scheduling_delay(),
    ));
    watch_certificate(&service, tls.as_ref(), hangups);
    tracing::info!(%address, release_id, "serving");
    notify_ready();
    warn_of_long_stop(&settings);
    let drain_timeout = Duration::from_secs(settings.drain_timeout.into());
    let stop = drain_at_signal(
        &settings,
        (&*service, &jobs),
        release_source.as_deref(),
        signals,
    );
    let (connections, router) = (service.connections.clone(), http::router(service.clone()));
    let router = match sandbox {
        Some(sandbox) => (sandbox.stub)(router)?,
        None => router,
    };
    http::serve(listener, tls, connections, router, stop, drain_timeout).await;
    let background = [follower, commands, retention, proving];
    let watches = watching.into_iter().chain(sampling).chain(source_watch);
    for task in background.into_iter().chain(watches) {
        task.abort();
    }
    let no_side_servers = async {
        for side in metrics.into_iter().chain(console) {
            side.stop().await;
        }
    };
    tokio::join!(jobs.wait_for_stop(end_time(&service)), no_side_servers);
    close(service, socket_file, settings.state.is_none()).await
}

/// Keeps the record of what the start proved, and proves all packages again behind the requests. A
/// start that read every byte did so just now.
fn prove_packages(
    settings: &Settings,
    service: &Arc<Service>,
    record: Arc<VerificationCache>,
) -> JoinHandle<()> {
    let (service, rate) = (service.clone(), settings.verify_rate.get());
    let first = match settings.verify {
        true => package_proofs::INTERVAL,
        false => package_proofs::QUIET_START,
    };
    tokio::spawn(async move {
        package_proofs::save(record.clone()).await;
        package_proofs::run(service, record, rate, first).await;
    })
}

/// Shows when the certificate expires, and answers each SIGHUP from the start on.
fn watch_certificate(service: &Service, tls: Option<&Arc<Tls>>, hangups: Hangups) {
    let certificate = tls.map(|tls| {
        let expiry = service.metrics.certificate_expiry();
        expiry.set(tls.expiry());
        (tls.clone(), expiry)
    });
    tokio::spawn(hangups.answer(certificate));
}

/// Opens the folder of reports that the console shows, if there is one.
fn open_reports(settings: &Settings) -> anyhow::Result<Option<ReportsFolder>> {
    let folder = settings.console_reports.as_deref();
    let reports = folder.map(ReportsFolder::open).transpose();
    reports.context("--console-reports")
}

/// Prints where the console is, or why the demo has none, and serves it.
fn show_console(
    console: ConsoleListener,
    settings: &Settings,
    service: &Arc<Service>,
    tls: Option<Arc<Tls>>,
    reports: Option<ReportsFolder>,
) -> Option<(SideServer, JoinHandle<()>)> {
    let listener = match console {
        ConsoleListener::Open(listener) => listener,
        ConsoleListener::Taken(problem) => {
            println!("Showing no console: {problem}");
            return None;
        }
        ConsoleListener::Off => return None,
    };
    if let Some(sessions) = &service.console {
        println!(
            "Showing the console on {}; `domesday console login` opens it",
            sessions.origin().as_str()
        );
    }
    begin_demo_addresses(service);
    let connections = side_connections(settings, &service.metrics, Listener::Console);
    let samples = Arc::<OperationSamples>::default();
    let router = console_pages::router(service.clone(), samples.clone(), reports);
    let values = service.console.as_ref();
    let values = values.and_then(|sessions| sessions.values().cloned());
    let sampling = samples.watch(service.clone());
    let watching = tokio::spawn(async move {
        match values {
            Some(values) => {
                tokio::join!(sampling, values.watch());
            }
            None => sampling.await,
        }
    });
    Some((
        SideServer::start(listener, tls, connections, router),
        watching,
    ))
}

/// The server of the metrics and the probes, or of the console, until the rest has stopped.
struct SideServer {
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl SideServer {
    fn start(
        listener: TcpListener,
        tls: Option<Arc<Tls>>,
        connections: Arc<Connections>,
        router: Router,
    ) -> SideServer {
        let (stop, stopped) = oneshot::channel();
        let stopped = async {
            let _ = stopped.await;
        };
        let serving = http::serve(listener, tls, connections, router, stopped, LAST_MOMENT);
        SideServer {
            stop,
            serving: tokio::spawn(serving),
        }
    }

    async fn stop(self) {
        drop(self.stop);
        let _ = self.serving.await;
    }
}

/// Returns the number of worker threads: the setting, or one for each core.
fn thread_count(settings: &Settings) -> anyhow::Result<usize> {
    match settings.threads {
        Some(0) => bail!("--threads must be at least 1"),
        Some(threads) => Ok(threads),
        None => Ok(std::thread::available_parallelism()?.get()),
    }
}

/// Prints where the service is, and a command that values a home.
fn announce(
    settings: &Settings,
    service: &Service,
    address: SocketAddr,
    (demo_key, values_demo): (Option<PathBuf>, bool),
) {
    let release = service.releases.current();
    let certificate = settings.tls_certificate.as_deref();
    let scheme = if certificate.is_some() {
        "https"
    } else {
        "http"
    };
    if service.releases.current_problem().is_some() {
        println!(
            "Serving no values, since release {} is withdrawn (`domesday status`), on {scheme}://{address}",
            release.id
        );
        return;
    }
    println!("Serving release {} on {scheme}://{address}", release.id);
    match demo_key {
        Some(key) if values_demo => {
            println!("{}", demo::command_line(&key, address, certificate));
        }
        // No line that fails: another release may know none of the demo's homes.
        Some(key) => println!("The demo's key is in {}", key.display()),
        None => {}
    }
}
