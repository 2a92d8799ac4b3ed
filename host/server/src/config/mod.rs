//! The settings of `domesday serve`. One struct makes the help, the names in the environment, the
//! keys of the file and the rows of docs/reference/configuration.md.
//!
//! A flag overrides the environment (`DOMESDAY_…`), that before the file (TOML, named by
//! `--config`), and that before the default. To add a setting, add a field here and its row there.
//! A test compares the two.

mod receipts_retention;
mod show;
mod sources;
#[cfg(test)]
mod tests;
mod trusted_proxy;

pub use receipts_retention::ReceiptsRetention;
pub use show::show;
pub use sources::resolve;
pub use trusted_proxy::TrustedProxy;

use domesday_state::HostShare;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

/// The processing deadline of the contract in milliseconds. A service may set a shorter one.
const PROCESSING_DEADLINE_MAX: u32 = 25_000;
/// The longest time that a connection may be idle: a day.
const IDLE_TIMEOUT_MAX: u32 = 86_400;
/// The longest lease of a job in seconds: an hour.
const JOB_LEASE_MAX: u32 = 3_600;
/// The most months for which the entries of used units are kept: a hundred years.
const USAGE_LEDGER_MONTHS_MAX: u32 = 1_200;
/// The longest delay and the longest timeout of a drain: an hour. Orchestrators give 30 seconds.
const DRAIN_MAX: u32 = 3_600;

/// The most tenants that have counters on the page of metrics.
const METRICS_TENANTS_MAX: u32 = 100;

/// Everything that can be set of a service.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Address and port to listen on; port 0 takes any free one.
    #[arg(
        long,
        env = "DOMESDAY_LISTEN",
        default_value = "127.0.0.1:8080",
        value_name = "ADDRESS"
    )]
    pub listen: SocketAddr,
    /// Folder of releases: valuation/<id>, property/<id>, keys/*.pub.
    #[arg(
        long,
        env = "DOMESDAY_RELEASES",
        default_value = "releases",
        value_name = "DIR"
    )]
    pub releases: PathBuf,
    /// Data folder with the service's state.
    #[arg(
        long,
        env = "DOMESDAY_DATA",
        default_value = "domesday-data",
        value_name = "DIR"
    )]
    pub data: PathBuf,
    /// PostgreSQL database for the state, postgres://user@host/name (default: a file in the data
    /// folder).
    #[arg(
        long,
        env = "DOMESDAY_STATE",
        hide_env_values = true,
        value_name = "URL"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Id of the current release (default: the last one promoted, else the latest effective date up
    /// to today).
    #[arg(long, env = "DOMESDAY_RELEASE", value_name = "ID")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<String>,
    /// Serve this package without a trusted signature. Repeatable; separated by commas in the
    /// environment.
    #[arg(
        long,
        env = "DOMESDAY_ALLOW_UNSIGNED",
        value_delimiter = ',',
        value_name = "ID"
    )]
    pub allow_unsigned: Vec<String>,
    /// Read every byte of the packages of all releases before serving, instead of trusting the
    /// record of files that this host has proved.
    #[arg(long, env = "DOMESDAY_VERIFY")]
    pub verify: bool,
    /// Mebibytes a second at which these packages are read again once a day, while it serves.
    #[arg(
        long,
        env = "DOMESDAY_VERIFY_RATE",
        default_value = "50",
        value_name = "MIB"
    )]
    pub verify_rate: NonZeroU32,
    /// Folder of releases, a registry oci://HOST[:PORT]/REPOSITORY, or an object store such as
    /// s3://BUCKET/PREFIX, that promoted releases are fetched from where they are not here.
    #[arg(long, env = "DOMESDAY_RELEASE_SOURCE", value_name = "FOLDER_OR_URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_source: Option<String>,
    /// Promote a valuation release only with a second person's approval.
    #[arg(long, env = "DOMESDAY_PROMOTION_SECOND_KEY")]
    pub promotion_second_key: bool,
    /// Create no demo tenant in an empty state.
    #[arg(long, env = "DOMESDAY_NO_DEMO")]
    pub no_demo: bool,
    /// Number of worker threads that value rows (default: one per core).
    #[arg(long, env = "DOMESDAY_THREADS", value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<usize>,
    /// Number of jobs to run at once (0: none; default: one per two worker threads).
    #[arg(long, env = "DOMESDAY_JOB_RUNNERS", value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_runners: Option<usize>,
    /// Lease of a job in seconds; its host renews it three times in that time.
    #[arg(
        long,
        env = "DOMESDAY_JOB_LEASE",
        default_value_t = 30,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(JOB_LEASE_MAX)),
        value_name = "SECONDS"
    )]
    #[serde(deserialize_with = "in_range::<1, JOB_LEASE_MAX, _>")]
    pub job_lease: u32,
    /// Object store for the large chunks of jobs, such as s3://BUCKET/PREFIX (default: the state
    /// holds them).
    #[arg(long, env = "DOMESDAY_JOB_STORE", value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_store: Option<String>,
    /// Months for which the entries of used units are kept, the current one left out.
    #[arg(
        long,
        env = "DOMESDAY_USAGE_LEDGER_MONTHS",
        default_value_t = 24,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(USAGE_LEDGER_MONTHS_MAX)),
        value_name = "MONTHS"
    )]
    #[serde(deserialize_with = "in_range::<1, USAGE_LEDGER_MONTHS_MAX, _>")]
    pub usage_ledger_months: u32,
    /// Deadline of a single value or a batch in milliseconds, at most 25000.
    #[arg(
        long,
        env = "DOMESDAY_PROCESSING_DEADLINE",
        default_value_t = PROCESSING_DEADLINE_MAX,
        value_parser = clap::value_parser!(u32).range(..=i64::from(PROCESSING_DEADLINE_MAX)),
        value_name = "MS"
    )]
    #[serde(deserialize_with = "in_range::<0, PROCESSING_DEADLINE_MAX, _>")]
    pub processing_deadline: u32,
    /// Seconds that a connection stays open between requests.
    #[arg(
        long,
        env = "DOMESDAY_IDLE_TIMEOUT",
        default_value_t = 75,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(IDLE_TIMEOUT_MAX)),
        value_name = "SECONDS"
    )]
    #[serde(deserialize_with = "in_range::<1, IDLE_TIMEOUT_MAX, _>")]
    pub idle_timeout: u32,
    /// Number of connections at once, no more than file handles allow.
    #[arg(
        long,
        env = "DOMESDAY_CONNECTIONS",
        default_value = "2048",
        value_name = "N"
    )]
    pub connections: NonZeroU32,
    /// Number of this host among the hosts of the state, such as 2/3. It grants this part of each
    /// plan's rate and concurrency.
    #[arg(
        long,
        env = "DOMESDAY_HOST_SHARE",
        default_value_t = HostShare::WHOLE,
        value_name = "NUMBER/HOSTS"
    )]
    pub host_share: HostShare,
    /// Number of connections at once from one address, an IPv6 /64 or an IPv4 address.
    #[arg(
        long,
        env = "DOMESDAY_CONNECTIONS_PER_ADDRESS",
        default_value = "256",
        value_name = "N"
    )]
    pub connections_per_address: NonZeroU32,
    /// Address or network of a load balancer, without a limit per address. Repeatable; separated by
    /// commas in the environment.
    #[arg(
        long,
        env = "DOMESDAY_TRUSTED_PROXIES",
        value_delimiter = ',',
        value_name = "NETWORK"
    )]
    pub trusted_proxies: Vec<TrustedProxy>,
    /// Seconds after SIGTERM in which the service is not ready but accepts requests.
    #[arg(
        long,
        env = "DOMESDAY_DRAIN_DELAY",
        default_value_t = 5,
        value_parser = clap::value_parser!(u32).range(..=i64::from(DRAIN_MAX)),
        value_name = "SECONDS"
    )]
    #[serde(deserialize_with = "in_range::<0, DRAIN_MAX, _>")]
    pub drain_delay: u32,
    /// Seconds after that in which accepted requests may end.
    #[arg(
        long,
        env = "DOMESDAY_DRAIN_TIMEOUT",
        default_value_t = 24,
        value_parser = clap::value_parser!(u32).range(..=i64::from(DRAIN_MAX)),
        value_name = "SECONDS"
    )]
    #[serde(deserialize_with = "in_range::<0, DRAIN_MAX, _>")]
    pub drain_timeout: u32,
    /// Certificate chain for HTTPS (PEM), reloaded on SIGHUP.
    #[arg(long, env = "DOMESDAY_TLS_CERTIFICATE", value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_certificate: Option<PathBuf>,
    /// Private key of the certificate (PEM).
    #[arg(long, env = "DOMESDAY_TLS_KEY", value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_key: Option<PathBuf>,
    /// Address and port of the console, a loopback address unless there is a certificate (default:
    /// the port after --listen for the demo, else disabled).
    #[arg(long, env = "DOMESDAY_CONSOLE", value_name = "ADDRESS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub console: Option<SocketAddr>,
    /// Address directory that the console searches (default: the demo's addresses for the demo,
    /// else none).
    #[arg(long, env = "DOMESDAY_CONSOLE_ADDRESSES", value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub console_addresses: Option<PathBuf>,
    /// Folder of reports that the console lists by release: JSON and HTML of compare, release
    /// monitor and shadow report (disabled if unset).
    #[arg(long, env = "DOMESDAY_CONSOLE_REPORTS", value_name = "DIR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub console_reports: Option<PathBuf>,
    /// Origin of the console as browsers write it, behind a name, a proxy or a tunnel, such as
    /// https://values.example (default: the address of --console).
    #[arg(long, env = "DOMESDAY_CONSOLE_ORIGIN", value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub console_origin: Option<String>,
    /// PMTiles file with the map that the console draws homes on (default: a plain drawing).
    #[arg(long, env = "DOMESDAY_CONSOLE_MAP", value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub console_map: Option<PathBuf>,
    /// Address and port of the Prometheus endpoint /metrics and of the probes (disabled if unset).
    #[arg(long, env = "DOMESDAY_METRICS_LISTEN", value_name = "ADDRESS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics_listen: Option<SocketAddr>,
    /// Number of connections at once to that address.
    #[arg(
        long,
        env = "DOMESDAY_METRICS_CONNECTIONS",
        default_value = "64",
        value_name = "N"
    )]
    pub metrics_connections: NonZeroU32,
    /// Number of connections at once to that address from one client's address.
    #[arg(
        long,
        env = "DOMESDAY_METRICS_PER_ADDRESS",
        default_value = "16",
        value_name = "N"
    )]
    pub metrics_per_address: NonZeroU32,
    /// Number of tenants with separate counters on that page, those with the most requests, at most
    /// 100 (0: none).
    #[arg(
        long,
        env = "DOMESDAY_METRICS_TENANTS",
        default_value_t = 0,
        value_parser = clap::value_parser!(u32).range(..=i64::from(METRICS_TENANTS_MAX)),
        value_name = "N"
    )]
    #[serde(deserialize_with = "in_range::<0, METRICS_TENANTS_MAX, _>")]
    pub metrics_tenants: u32,
    /// OTLP/HTTP endpoint for traces, such as http://127.0.0.1:4318/v1/traces or one of HTTPS
    /// (disabled if unset).
    #[arg(long, env = "DOMESDAY_OTLP_ENDPOINT", value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otlp_endpoint: Option<String>,
    /// PEM file of the authorities to trust for an endpoint of HTTPS (default: the machine's).
    #[arg(long, env = "DOMESDAY_OTLP_CA", value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otlp_ca: Option<PathBuf>,
    /// URL of an address lookup service like the OS Places API (disabled if unset).
    #[arg(long, env = "DOMESDAY_ADDRESS_PROVIDER", value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address_provider: Option<String>,
    /// File with the key of the address lookup service (default: DOMESDAY_ADDRESS_KEY).
    #[arg(long, env = "DOMESDAY_ADDRESS_KEY_FILE", value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address_key_file: Option<PathBuf>,
    /// Valuations that have receipts: off, sampled or all.
    #[arg(
        long,
        env = "DOMESDAY_RECEIPTS",
        default_value = "off",
        value_name = "WHICH"
    )]
    pub receipts: ReceiptsMode,
    /// Share of valuations with a receipt if --receipts is sampled, 0 to 1.
    #[arg(
        long,
        env = "DOMESDAY_RECEIPTS_SHARE",
        default_value_t = 0.01,
        value_parser = parse_share,
        value_name = "SHARE"
    )]
    #[serde(deserialize_with = "read_share")]
    pub receipts_share: f64,
    /// Keep the evidence in every receipt, not in those of a sample alone.
    #[arg(long, env = "DOMESDAY_RECEIPTS_SELF_CONTAINED")]
    pub receipts_self_contained: bool,
    /// Folder of this host's receipt journal (default: `journal` in the data folder).
    #[arg(long, env = "DOMESDAY_JOURNAL", value_name = "DIR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal: Option<PathBuf>,
    /// Age and size beyond which the oldest files of receipts are removed, such as 730d,200GiB
    /// (default: none).
    #[arg(long, env = "DOMESDAY_RECEIPTS_RETENTION", value_name = "LIMITS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipts_retention: Option<ReceiptsRetention>,
    /// Id of a release to run as a shadow of the current one.
    #[arg(long, env = "DOMESDAY_SHADOW", value_name = "ID")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadow: Option<String>,
    /// Share of rows to run the shadow on, above 0 and up to 1.
    #[arg(
        long,
        env = "DOMESDAY_SHADOW_SHARE",
        default_value_t = 0.01,
        value_name = "SHARE"
    )]
    pub shadow_share: f64,
    /// Log level or filter, such as info,domesday=debug.
    #[arg(
        long,
        env = "DOMESDAY_LOG",
        default_value = "info",
        value_name = "FILTER"
    )]
    pub log: String,
}

/// The valuations that have receipts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReceiptsMode {
    /// Of none.
    Off,
    /// Of a share of them, told by their ids.
    Sampled,
    /// Of all.
    All,
}

impl std::str::FromStr for ReceiptsMode {
    type Err = String;

    fn from_str(text: &str) -> Result<ReceiptsMode, String> {
        match text {
            "off" => Ok(ReceiptsMode::Off),
            "sampled" => Ok(ReceiptsMode::Sampled),
            "all" => Ok(ReceiptsMode::All),
            _ => Err("say off, sampled or all".to_owned()),
        }
    }
}

fn parse_share(text: &str) -> Result<f64, String> {
    check_share(text.parse().map_err(|_| "not a number".to_owned())?)
}

/// Reads a share of a file.
fn read_share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    check_share(f64::deserialize(deserializer)?).map_err(D::Error::custom)
}

fn check_share(share: f64) -> Result<f64, String> {
    match (0.0..=1.0).contains(&share) {
        true => Ok(share),
        false => Err(format!("{share} is not a share; set a number from 0 to 1")),
    }
}

/// Reads a number of a file. clap checks the range of a flag alone.
fn in_range<'de, const MIN: u32, const MAX: u32, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<u32, D::Error> {
    let number = u32::deserialize(deserializer)?;
    match (MIN..=MAX).contains(&number) {
        true => Ok(number),
        false => Err(D::Error::custom(format!(
            "{number} is not in {MIN}..={MAX}; set a number in this range"
        ))),
    }
}
