//! `domesday serve`.

use super::ReleasesFolder;
use super::key::{Data, open_state};
use super::trust::trust;
use crate::admission::{Admission, CAPACITY};
use crate::clock::{Clock, MachineClock, random};
use crate::demo;
use crate::http;
use crate::jobs::Jobs;
use crate::private_file;
use crate::releases::Shelf;
use crate::service::Service;
use crate::workers::Workers;
use anyhow::{Context, bail};
use domesday_engine::Runtime;
use domesday_engine::cache::Cache;
use domesday_engine::config::Allocation;
use domesday_state::State;
use std::fs;
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// Pieces of work that may wait for a thread; more is overload.
const WAITING: usize = 1_024;

#[derive(Debug, clap::Args)]
pub struct Serve {
    /// Address and port to listen on; port 0 takes any free one.
    #[arg(
        long,
        env = "DOMESDAY_LISTEN",
        default_value = "127.0.0.1:8080",
        value_name = "ADDRESS"
    )]
    listen: SocketAddr,
    #[command(flatten)]
    releases: ReleasesFolder,
    #[command(flatten)]
    data: Data,
    /// The release to serve as current; without it, the one with the latest effective date.
    #[arg(long, env = "DOMESDAY_RELEASE", value_name = "ID")]
    release: Option<String>,
    /// Serve this package although no trusted key signed it. Repeat for several.
    #[arg(long = "allow-unsigned", value_name = "ID")]
    unsigned: Vec<String>,
    /// Make no demo tenant in an empty state.
    #[arg(long)]
    no_demo: bool,
    /// Threads that value; by default one a core.
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Jobs that are worked on at the same time, each on one thread; by default half as many as
    /// there are threads. With 0, jobs are accepted and left to other hosts.
    #[arg(long, value_name = "N")]
    job_runners: Option<usize>,
    /// Milliseconds that a request may be worked on; the contract's 25 seconds but for tests.
    #[arg(long, value_name = "MS", default_value_t = 25_000, hide = true)]
    processing_deadline: u64,
}

impl Serve {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let _logging = crate::logging::start();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        runtime.block_on(self.serve())?;
        Ok(ExitCode::SUCCESS)
    }

    async fn serve(self) -> anyhow::Result<()> {
        let data = &self.data.data;
        own_folder(data)?;
        let state: Arc<dyn State> = Arc::new(open_state(data)?);
        let clock: Arc<dyn Clock> = Arc::new(MachineClock);
        let threads = match self.threads {
            Some(threads) => threads.max(1),
            None => std::thread::available_parallelism()?.get(),
        };
        let engine = engine(data, threads)?;
        let releases = &self.releases.releases;
        let trust = trust(releases, &self.unsigned)?;
        let shelf = Shelf::open(releases, &trust, &engine, self.release.as_deref())
            .context("nothing is served")?;
        let listener = TcpListener::bind(self.listen)
            .await
            .with_context(|| format!("the address {}", self.listen))?;
        let address = listener.local_addr()?;
        let wanted = !self.no_demo && address.ip().is_loopback();
        let demo = demo::prepare(&*state, &*clock, data, wanted)?;
        let release_id = shelf.current().id.clone();
        let workers = Workers::new(threads, WAITING)?;
        let service = Arc::new(Service {
            state,
            releases: shelf,
            workers,
            admission: Admission::new(CAPACITY),
            processing_deadline: Duration::from_millis(self.processing_deadline),
            submitted: Arc::default(),
            body_room: http::body_room(),
            clock,
        });

        let jobs = Jobs::start(&service, self.job_runners.unwrap_or(threads.div_ceil(2)));

        println!("Serving release {release_id} on http://{address}");
        if let Some(key) = demo {
            println!("{}", demo::command_line(&key, address));
        }
        std::io::stdout().flush()?;
        tracing::info!(%address, release_id, "serving");
        let mut terminate = signal(SignalKind::terminate())?;
        let stop = async {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            // Jobs are let go of while requests are still finished.
            jobs.stop();
        };
        http::serve(listener, http::router(service), stop).await;
        jobs.ended().await;
        tracing::info!("stopped");
        Ok(())
    }
}

fn engine(data: &Path, threads: usize) -> anyhow::Result<Runtime> {
    // One slot a thread is in use at a time; the rest are the ones still being cleaned.
    let instances = u32::try_from(threads * 4).unwrap_or(64);
    let secret = host_secret(&data.join("host.secret"))?;
    let cache = Cache::open(&data.join("compiled"), secret)?;
    Ok(Runtime::new(Allocation::Pooling { instances })?.with_cache(cache))
}

/// The secret under which this host keeps compiled code; made at the first start.
fn host_secret(path: &Path) -> anyhow::Result<[u8; 32]> {
    let named = || format!("the host's secret {}", path.display());
    match fs::read(path) {
        Ok(bytes) => match <[u8; 32]>::try_from(bytes.as_slice()) {
            Ok(secret) => Ok(secret),
            Err(_) => bail!(
                "{} must hold 32 bytes; remove it to have a new one made",
                named()
            ),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let secret: [u8; 32] = random().with_context(named)?;
            private_file::write(path, &secret).with_context(named)?;
            Ok(secret)
        }
        Err(error) => Err(error).with_context(named),
    }
}

/// Makes the data folder, or refuses one in which somebody else could put or take files.
fn own_folder(data: &Path) -> anyhow::Result<()> {
    let named = || format!("the data folder {}", data.display());
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(data)
        .with_context(named)?;
    let found = fs::metadata(data).with_context(named)?;
    if found.uid() != rustix::process::geteuid().as_raw() || found.mode() & 0o022 != 0 {
        bail!(
            "{} must belong to this user, and nobody else may write into it",
            named()
        );
    }
    Ok(())
}
