//! Opens the parts of a server before it takes a request.

use super::job_objects::open_job_objects;
use super::release_source::FetchedReleases;
use crate::commands::target::open_state;
use crate::commands::version;
use anyhow::{Context, anyhow, bail};
use domesday_backup::ledger_key::{LedgerKey, ProofRules};
use domesday_engine::Runtime;
use domesday_engine::config::Allocation;
use domesday_journal::restored_journals;
use domesday_package::{Trust, Verification, VerificationCache};
use domesday_series::catalogue::Family;
use domesday_server::address_provider;
use domesday_server::clock::{Clock, MachineClock, random};
use domesday_server::config::Settings;
use domesday_server::connections::{ConnectionLimits, Connections};
use domesday_server::data_folder::DataFolder;
use domesday_server::http::{self, Tls};
use domesday_server::job_store::JobStore;
use domesday_server::job_store::measured_objects::MeasuredObjects;
use domesday_server::job_store::objects::JobObjects;
use domesday_server::logging::LogLines;
use domesday_server::memory_budget::{MEMORY_BUDGET, MemoryBudget};
use domesday_server::package_proofs::{self, FullProof};
use domesday_server::promotion::{self, PromotedReleases, withdraw_other_packages};
use domesday_server::quota::{CAPACITY, RequestLimiter};
use domesday_server::receipts::{self, MissingPackages, Receipts};
use domesday_server::release_source::ReleaseSource;
use domesday_server::series_releases::{SeriesReleaseError, SeriesReleases};
use domesday_server::service::Service;
use domesday_server::shadow::{Shadows, report};
use domesday_server::telemetry::connections::Listener;
use domesday_server::telemetry::metrics::Metrics;
use domesday_server::telemetry::traces::Traces;
use domesday_state::{LedgerSigner as _, ReleaseKind, State, TimedState};
use domesday_valuation::compile_cache;
use domesday_valuation::release_store::{ReleaseError, ReleaseStore};
use domesday_valuation::worker_pool::WorkerPool;
use std::iter;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Pieces of work that may wait for a thread. More is overload.
const WAITING: usize = 1_024;
const DATA_FOLDER: &str = "the data folder";

/// A service that is ready to take requests.
pub struct OpenedService {
    pub service: Service,
    /// The promoted releases as they were before any was opened, so that a later promotion is
    /// followed.
    pub promoted: PromotedReleases,
    /// The record of the files that this host has proved.
    pub record: Arc<VerificationCache>,
}

/// Opens the data folder, the state and the releases that are served.
///
/// # Errors
/// A setting is wrong, or a part cannot be opened. The error names the remedy.
pub fn open_service(
    settings: &Settings,
    trust: &Trust,
    release_source: Option<Arc<FetchedReleases>>,
    threads: usize,
    (log_lines, traces): (LogLines, Option<Traces>),
) -> anyhow::Result<OpenedService> {
    let data = &settings.data;
    compile_cache::own_folder(data, DATA_FOLDER)?;
    let data_folder = Arc::new(
        DataFolder::open(data)
            .with_context(|| format!("cannot open {DATA_FOLDER} {}", data.display()))?,
    );
    let metrics = Arc::new(Metrics::new(usize::try_from(settings.metrics_tenants)?));
    let state: Arc<dyn State> = Arc::new(TimedState::new(
        open_state(data, settings.state.as_deref())?,
        Arc::new(metrics.state.clone()),
    ));
    let objects = open_job_objects(settings)?.map(|objects| {
        let measured = MeasuredObjects::new(objects, metrics.job_objects.clone());
        Arc::new(measured) as Arc<dyn JobObjects>
    });
    let job_store = JobStore::new(state.clone(), objects);
    let ledger_key = Arc::new(LedgerKey::open(data, random()?)?);
    let rules = ProofRules {
        own_key: &ledger_key.public_key(),
        trust,
        known_signers: settings.promotion_second_key,
    };
    let promoted = promotion::proved_releases(&*state, &rules)?;
    let clock: Arc<dyn Clock> = Arc::new(MachineClock);
    let observer = Arc::new(metrics.address_lookup.clone());
    let address_provider =
        address_provider::open(settings, observer, u64::from_le_bytes(random()?))?;
    if let Some(source) = &release_source {
        source.fetch_promoted((&*state, &rules), &promoted, settings.release.as_deref())?;
    }
    let release_source = release_source.map(|source| source as Arc<dyn ReleaseSource>);
    let record = package_proofs::open_record(data, clock.now())
        .context("cannot open the record of proved files in the data folder")?;
    let record = Arc::new(record);
    let verification: Arc<dyn Verification> = match settings.verify {
        true => Arc::new(FullProof::new(record.clone())),
        false => record.clone(),
    };
    let proof = (trust, &verification);
    let promoted_of = |kind: ReleaseKind| {
        let of_kind = promoted.iter().find(|(other, _)| *other == kind);
        let release = of_kind.and_then(|(_, release)| release.as_ref());
        release.map(|release| release.id.as_str())
    };
    let current = settings.release.as_deref();
    let current = current.or_else(|| promoted_of(ReleaseKind::Valuation));
    let releases = open_releases(settings, proof, current, threads, &*clock)?;
    let open = |family, kind| open_family(settings, proof, promoted_of(kind), family);
    let markets = open(Family::Markets, ReleaseKind::Markets)?;
    let rates = open(Family::Rates, ReleaseKind::Rates)?;
    state.begin_cursors(random()?)?;
    let workers = WorkerPool::new(threads, WAITING)?.with_wait_observer(metrics.wait_observer());
    let receipts = Receipts::open(settings, &state, &clock)?;
    let missing_packages = Arc::new(missing_packages(settings, trust));
    let shadows = Shadows::new(
        data.join(report::FOLDER),
        workers.occupancy(),
        clock.clone(),
        metrics.shadow.clone(),
    );
    let service = Service {
        state,
        job_store,
        data_folder,
        releases,
        markets,
        rates,
        address_provider,
        workers,
        shadows,
        limiter: RequestLimiter::new(CAPACITY).with_share(settings.host_share),
        processing_deadline: Duration::from_millis(settings.processing_deadline.into()),
        submitted: Arc::default(),
        memory: MemoryBudget::new(MEMORY_BUDGET),
        connections: Connections::new(
            connection_limits(settings),
            metrics.connections.of(Listener::Service),
        ),
        clock,
        metrics,
        receipts,
        missing_packages,
        traces,
        log_lines,
        ledger_key,
        second_key: settings.promotion_second_key,
        release_source,
        promoting: Mutex::default(),
        console: None,
        console_map: None,
        program: version::PROGRAM,
    };
    withdraw_other_packages(&service, &promoted);
    service.show_promotions();
    Ok(OpenedService {
        service,
        promoted,
        record,
    })
}

/// Finds the packages without which receipts of this host cannot be replayed, and logs each. The
/// journal may be there although receipts are off now, and those of backups beside it.
fn missing_packages(settings: &Settings, trust: &Trust) -> MissingPackages {
    let restored = restored_journals(&settings.data).unwrap_or_else(|error| {
        tracing::error!(%error, "cannot list the journals of backups");
        Vec::new()
    });
    let restored = restored.iter().map(|name| settings.data.join(name));
    let journals: Vec<PathBuf> = iter::once(receipts::folder(settings))
        .chain(restored)
        .collect();
    MissingPackages::find(journals, &settings.releases, trust)
}

/// Time limit for the arrival of a request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

fn count(number: NonZeroU32) -> usize {
    usize::try_from(number.get()).unwrap_or(usize::MAX)
}

fn connection_limits(settings: &Settings) -> ConnectionLimits {
    ConnectionLimits {
        connections: http::bounded_by_files(count(settings.connections)),
        per_address: count(settings.connections_per_address),
        trusted_proxies: (settings.trusted_proxies.iter())
            .map(|proxy| proxy.0)
            .collect(),
        idle_timeout: Duration::from_secs(settings.idle_timeout.into()) + http::IDLE_GRACE,
        head_timeout: HEAD_TIMEOUT,
    }
}

/// Returns the connections of the listener of the metrics or of the console. They have separate
/// limits, so that clients of the service's listener cannot take them.
pub fn side_connections(
    settings: &Settings,
    metrics: &Metrics,
    listener: Listener,
) -> Arc<Connections> {
    let limits = ConnectionLimits {
        connections: count(settings.metrics_connections),
        per_address: count(settings.metrics_per_address),
        ..connection_limits(settings)
    };
    Connections::new(limits, metrics.connections.of(listener))
}

/// Opens the exporter of traces, where the settings name a collector.
///
/// # Errors
/// The collector's address or authorities cannot be used, or authorities stand without an address.
pub fn open_traces(settings: &Settings) -> anyhow::Result<Option<Traces>> {
    let authorities = settings.otlp_ca.as_deref();
    let Some(endpoint) = settings.otlp_endpoint.as_deref() else {
        return match authorities {
            Some(_) => bail!("--otlp-ca goes with --otlp-endpoint"),
            None => Ok(None),
        };
    };
    let traces = Traces::to(endpoint, authorities);
    // The value may hold credentials, which belong in no log.
    let traces = traces.context("--otlp-endpoint")?;
    Ok(Some(traces))
}

/// Opens the valuation releases. `current` is the setting's release, or else the promoted one.
fn open_releases(
    settings: &Settings,
    (trust, verification): (&Trust, &Arc<dyn Verification>),
    current: Option<&str>,
    threads: usize,
    clock: &dyn Clock,
) -> anyhow::Result<ReleaseStore> {
    let store = ReleaseStore::open(
        &settings.releases,
        (trust.clone(), verification.clone()),
        engine(&settings.data, threads)?,
        current,
        clock.utc().date_naive(),
    );
    let opened = store.and_then(|store| {
        if settings.verify {
            store.open_all()?;
        }
        Ok(store)
    });
    opened.map_err(|error| not_served(error, settings))
}

/// Opens the releases of market statistics or of rates.
fn open_family(
    settings: &Settings,
    (trust, verification): (&Trust, &Arc<dyn Verification>),
    promoted: Option<&str>,
    family: Family,
) -> anyhow::Result<SeriesReleases> {
    let releases = &settings.releases;
    SeriesReleases::open(
        releases,
        family,
        (trust.clone(), verification.clone()),
        promoted,
    )
    .map_err(|error| family_not_served(error, family))
}

fn engine(data: &Path, threads: usize) -> anyhow::Result<Runtime> {
    // One slot a thread is in use at a time. The others are still being cleaned.
    let instances = u32::try_from(threads * 4).unwrap_or(64);
    let cache = compile_cache::open_cache(data, DATA_FOLDER)?;
    let runtime = Runtime::new(Allocation::Pooling { instances })?;
    if let Some(feature) = runtime.find_missing_feature() {
        tracing::info!("{feature}");
    }
    Ok(runtime.with_cache(cache))
}

/// Adds to the error how an operator can mend a release that keeps the service from starting.
fn not_served(error: ReleaseError, settings: &Settings) -> anyhow::Error {
    let help = match &error {
        // Its own sentence says to build one, which a host that fetches its releases does not.
        ReleaseError::Nothing { path } if settings.release_source.is_some() => {
            return anyhow!(
                "nothing is served: {} holds no valuation release, and none is promoted that could be fetched; promote one on another host first, or pull one (`domesday release pull`)",
                path.display()
            );
        }
        ReleaseError::Unknown { .. } if settings.release.is_none() => {
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

/// Does the same as [`not_served`] for the releases of a family.
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

/// Reads the certificate and its key, where the settings name them.
///
/// # Errors
/// The certificate or the key cannot be used, or one stands without the other.
pub fn open_tls(settings: &Settings) -> anyhow::Result<Option<Arc<Tls>>> {
    match (&settings.tls_certificate, &settings.tls_key) {
        (Some(certificate), Some(key)) => {
            let tls = Tls::open(certificate.clone(), key.clone())
                .context("cannot set up TLS with --tls-certificate and --tls-key")?;
            Ok(Some(Arc::new(tls)))
        }
        (None, None) => Ok(None),
        _ => bail!("--tls-certificate and --tls-key go together"),
    }
}
