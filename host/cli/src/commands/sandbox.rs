//! `domesday sandbox`.

use super::serve::{SandboxParts, run_server};
use anyhow::{Context, bail};
use domesday_package::{PublicKey, Trust, TrustList};
use domesday_sandbox::{packages, stub};
use domesday_server::clock::{Clock, MachineClock};
use domesday_server::config::Settings;
use domesday_server::demo::Account;
use domesday_state::{Plan, Scope, Scopes};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

/// Id of the tenant. The demo's has another, so that `domesday serve` gives this key no more
/// scopes.
const TENANT: &str = "sandbox";
/// The folder of the packages in the data folder. A service's releases often lie in `releases`.
const RELEASES: &str = "sandbox-releases";
/// The scopes of valuations. The sandbox has neither statistics nor rates.
const SCOPES: [Scope; 3] = [Scope::AvmValue, Scope::AvmDevelopment, Scope::AvmStoredData];

#[derive(Debug, clap::Args)]
pub struct Sandbox {
    /// Address and port to listen on; port 0 takes any free one.
    #[arg(long, default_value = "127.0.0.1:8090", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// Data folder with the sandbox's state and releases.
    #[arg(long, default_value = "domesday-sandbox", value_name = "DIR")]
    data: PathBuf,
    /// Accept an address that other machines reach, without HTTPS.
    #[arg(long)]
    allow_remote: bool,
    /// Print the cases and the faults as JSON, and exit.
    #[arg(long)]
    list: bool,
}

impl Sandbox {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        if self.list {
            println!("{}", serde_json::to_string_pretty(&stub::list()?)?);
            return Ok(ExitCode::SUCCESS);
        }
        if !self.allow_remote && !self.listen.ip().is_loopback() {
            bail!(
                "--listen {} is not a loopback address, and the sandbox has no HTTPS. Name a loopback \
                 address, or give --allow-remote",
                self.listen
            );
        }
        let releases = self.data.join(RELEASES);
        packages::unpack(&releases).with_context(|| {
            format!("cannot write the sandbox's releases {}", releases.display())
        })?;
        let settings = Settings {
            listen: self.listen,
            releases,
            data: self.data,
            release: Some(packages::RELEASE.to_owned()),
            // No load balancer has to see that it stops.
            drain_delay: 0,
            ..Settings::built_in()?
        };
        let mut trusted = TrustList::new();
        let (key, comment) = packages::PUBLIC_KEY.split_once(' ').unwrap_or_default();
        trusted.add(key.parse::<PublicKey>()?, comment.trim());
        let sandbox = SandboxParts {
            trust: Trust::Required(trusted),
            account: Account {
                tenant: TENANT,
                plan: plan(),
                scopes: Scopes::parse(SCOPES.map(Scope::as_str))?,
            },
            stub: |service| Ok(stub::in_front_of(service, || MachineClock.utc())?),
            about,
        };
        run_server(settings, Some(sandbox))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns a plan that a suite of tests does not reach. Its limits are asked for as faults.
fn plan() -> Plan {
    Plan {
        requests_per_second: 500,
        burst: 2_000,
        concurrency: 64,
        monthly_units: 1_000_000,
        queued_jobs: 100,
        ..Plan::default()
    }
}

fn about(address: SocketAddr) -> String {
    format!(
        "The cases and the faults: http://{address}/sandbox, explained in docs/reference/sandbox.md"
    )
}
