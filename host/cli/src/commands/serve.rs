//! `domesday serve`.

use super::target::open_state;
use super::trust::trust;
use anyhow::{Context, bail};
use clap::ArgMatches;
use domesday_engine::Runtime;
use domesday_engine::config::Allocation;
use domesday_series::catalogue::Family;
use domesday_server::admin::socket::AdminSocket;
use domesday_server::admin::socket_path;
use domesday_server::body_memory::{BODY_MEMORY_BUDGET, BodyMemory};
use domesday_server::clock::{Clock, MachineClock, random};
use domesday_server::config::{Settings, resolve, show};
use domesday_server::data_folder::DataFolder;
use domesday_server::http::Tls;
use domesday_server::jobs::Jobs;
use domesday_server::logging::{LogLines, start};
use domesday_server::quota::{CAPACITY, RequestLimiter};
use domesday_server::receipts::Receipts;
use domesday_server::sample_rate::SampleRate;
use domesday_server::series_releases::{SeriesReleaseError, SeriesReleases};
use domesday_server::service::Service;
use domesday_server::shadow::{ShadowError, Shadows, report};
use domesday_server::telemetry::traces::Traces;
use domesday_server::{address_provider, demo, http, metrics_page, promotion, telemetry};
use domesday_state::{ReleaseKind, State};
use domesday_valuation::compile_cache;
use domesday_valuation::release_store::{ReleaseError, ReleaseStore};
use domesday_valuation::worker_pool::WorkerPool;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// Pieces of work that may wait for a thread; more is overload.
const WAITING: usize = 1_024;
const DATA_FOLDER: &str = "the data folder";

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
    /// Milliseconds that a request may be worked on; the contract's 25 seconds but for tests.
    #[arg(long, value_name = "MS", default_value_t = 25_000, hide = true)]
    processing_deadline: u64,
}

impl Serve {
    pub fn run(self, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
        let resolved = resolve(&self.settings, matches, self.config.as_deref())?;
        if self.print_config {
            print!("{}", show(&resolved.sources));
            return Ok(ExitCode::SUCCESS);
        }
        let settings = resolved.settings;
        let logging = start(&settings.log)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        let deadline = Duration::from_millis(self.processing_deadline);
        runtime.block_on(serve(settings, deadline, logging.lines.clone()))?;
        Ok(ExitCode::SUCCESS)
    }
}

async fn serve(settings: Settings, deadline: Duration, log_lines: LogLines) -> anyhow::Result<()> {
    let data = &settings.data;
    compile_cache::own_folder(data, DATA_FOLDER)?;
    let data_folder = Arc::new(DataFolder::open(data).context(DATA_FOLDER)?);
    let state: Arc<dyn State> = open_state(data, settings.state.as_deref())?;
    let clock: Arc<dyn Clock> = Arc::new(MachineClock);
    let threads = match settings.threads {
        Some(0) => bail!("--threads must be at least 1"),
        Some(threads) => threads,
        None => std::thread::available_parallelism()?.get(),
    };
    let tls = tls(&settings)?;
    let traces = settings
        .otlp_endpoint
        .as_deref()
        .map(|endpoint| Traces::to(endpoint).with_context(|| format!("--otlp-endpoint {endpoint}")))
        .transpose()?;
    let metrics = telemetry::metrics::Metrics::default();
    let share = SampleRate::new(settings.shadow_share).context("--shadow-share")?;
    let observer = Arc::new(metrics.address_lookup.clone());
    let address_provider =
        address_provider::open(&settings, observer, u64::from_le_bytes(random()?))?;
    let engine = engine(data, threads)?;
    let releases = &settings.releases;
    let trust = trust(releases, &settings.allow_unsigned)?;
    let promoted = promotion::promoted(&*state);
    let last = |what| state.promoted(what);
    let wanted = settings
        .release
        .clone()
        .or_else(|| last(ReleaseKind::Valuation));
    let family = |family, what| {
        SeriesReleases::open(releases, family, trust.clone(), last(what).as_deref())
            .map_err(|error| family_not_served(error, family))
    };
    let markets = family(Family::Markets, ReleaseKind::Markets)?;
    let rates = family(Family::Rates, ReleaseKind::Rates)?;
    let today = clock.utc().date_naive();
    let packages_dir =
        ReleaseStore::open(releases, trust.clone(), engine, wanted.as_deref(), today);
    let packages_dir =
        packages_dir.map_err(|error| not_served(error, settings.release.is_none()))?;
    state.begin_cursors(random()?)?;
    let (listener, address) = listen(settings.listen)?;
    let metrics_listener = match settings.metrics_listen {
        Some(address) => Some(listen(address)?),
        None => None,
    };
    // A database may be other hosts' too, so nothing is made in it that nobody asked for.
    let wanted = !settings.no_demo && settings.state.is_none() && address.ip().is_loopback();
    let demo = demo::prepare(&*state, &*clock, data, wanted)?;
    let release_id = packages_dir.current().id.clone();
    let workers = WorkerPool::new(threads, WAITING)?;
    let receipts = Receipts::open(&settings, &state, &clock)?;
    let socket = AdminSocket::bind(socket_path(data))?;
    let folder = data.join(report::FOLDER);
    let shadows = Shadows::new(
        folder,
        workers.occupancy(),
        clock.clone(),
        metrics.shadow.clone(),
    );
    let service = Arc::new(Service {
        state,
        data_folder,
        releases: packages_dir,
        markets,
        rates,
        address_provider,
        workers,
        shadows,
        limiter: RequestLimiter::new(CAPACITY),
        processing_deadline: deadline,
        submitted: Arc::default(),
        body_memory: BodyMemory::new(BODY_MEMORY_BUDGET),
        clock,
        metrics,
        receipts,
        traces,
        log_lines,
    });

    if let Some(id) = &settings.shadow {
        match service.begin_shadow(id, share) {
            // It was promoted since, which must not keep a service from starting.
            Err(error @ ShadowError::Current(_)) => tracing::warn!(%error, "no shadow"),
            begun => begun.context("--shadow")?,
        }
    }
    let jobs = Jobs::start(
        &service,
        settings.job_runners.unwrap_or(threads.div_ceil(2)),
        Duration::from_secs(settings.job_lease.max(1).into()),
    );

    // Before the log says that it serves, since a reader may end it at once.
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    println!("Serving release {release_id} on {scheme}://{address}");
    if let Some(key) = demo {
        let certificate = settings.tls_certificate.as_deref();
        println!("{}", demo::command_line(&key, address, certificate));
    }
    if let Some((listener, address)) = metrics_listener {
        println!("Showing metrics on http://{address}/metrics");
        let router = metrics_page::router(service.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
    }
    std::io::stdout().flush()?;
    // Aborted at the end, which closes the socket and removes it.
    let orders = tokio::spawn(socket.serve(service.clone()));
    let followed = tokio::spawn(promotion::follow(service.clone(), promoted));
    tokio::spawn(service.data_folder.clone().watch());
    tokio::spawn(telemetry::lateness::watch(service.metrics.late()));
    if let Some(tls) = &tls {
        tokio::spawn(reload(tls.clone(), signal(SignalKind::hangup())?));
    }
    tracing::info!(%address, release_id, "serving");
    let stop = async {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        // Jobs are released while requests are still finished.
        jobs.stop();
    };
    http::serve(listener, tls, http::router(service.clone()), stop).await;
    jobs.ended().await;
    followed.abort();
    orders.abort();
    let _ = orders.await;
    // A database that cannot be reached keeps what was answered; a file of this host's own may not.
    let own_state = settings.state.is_none();
    let trouble = tokio::task::spawn_blocking(move || {
        service.shadows.end();
        if let Some(traces) = &service.traces {
            traces.stop();
        }
        let moved = service.data_folder.check().err();
        let moved = moved.map(|moved| moved.to_string());
        moved.or_else(|| service.trouble().filter(|_| own_state))
    })
    .await?;
    tracing::info!("stopped");
    match trouble {
        Some(trouble) => bail!("stopped in trouble: {trouble}"),
        None => Ok(()),
    }
}

fn listen(address: SocketAddr) -> anyhow::Result<(TcpListener, SocketAddr)> {
    let listener = http::bind(address).with_context(|| format!("the address {address}"))?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// What an operator can do about a release that keeps the service from starting.
fn not_served(error: ReleaseError, promoted: bool) -> anyhow::Error {
    let help = match &error {
        ReleaseError::Unknown { .. } if promoted => {
            "nothing is served: the release that was promoted last is gone; put it back, or name another with --release"
        }
        ReleaseError::Package(_)
        | ReleaseError::OtherSnapshot { .. }
        | ReleaseError::NotAdmitted { .. } => {
            "nothing is served while a package in the releases folder cannot be used; move it away, sign it (`domesday release sign`), or take it unsigned with --allow-unsigned"
        }
        _ => "nothing is served",
    };
    anyhow::Error::from(error).context(help)
}

/// As [`not_served`], for the releases of a family.
fn family_not_served(error: SeriesReleaseError, family: Family) -> anyhow::Error {
    let help = match &error {
        SeriesReleaseError::Unknown { .. } => format!(
            "nothing is served: the release of {family} that was promoted last is gone; put it back, or promote another (`domesday release promote --kind {family} ID`)"
        ),
        _ => format!(
            "nothing is served while a package of {family} in the releases folder cannot be used; move it away, sign it (`domesday release sign --kind {family}`), or take it unsigned with --allow-unsigned"
        ),
    };
    anyhow::Error::from(error).context(help)
}

fn tls(settings: &Settings) -> anyhow::Result<Option<Arc<Tls>>> {
    match (&settings.tls_certificate, &settings.tls_key) {
        (Some(certificate), Some(key)) => {
            let tls = Tls::open(certificate.clone(), key.clone()).context("TLS")?;
            Ok(Some(Arc::new(tls)))
        }
        (None, None) => Ok(None),
        _ => bail!("--tls-certificate and --tls-key go together"),
    }
}

/// Reads the certificate again at every SIGHUP.
async fn reload(tls: Arc<Tls>, mut hangup: tokio::signal::unix::Signal) {
    while hangup.recv().await.is_some() {
        let tls = tls.clone();
        match tokio::task::spawn_blocking(move || tls.reload()).await {
            Ok(Ok(())) => tracing::info!("the certificate was read again"),
            Ok(Err(error)) => tracing::error!(%error, "the certificate is kept as it was"),
            Err(error) => tracing::error!(%error, "the certificate is kept as it was"),
        }
    }
}

fn engine(data: &Path, threads: usize) -> anyhow::Result<Runtime> {
    // One slot a thread is in use at a time; the rest are the ones still being cleaned.
    let instances = u32::try_from(threads * 4).unwrap_or(64);
    let cache = compile_cache::kept(data, DATA_FOLDER)?;
    Ok(Runtime::new(Allocation::Pooling { instances })?.with_cache(cache))
}
