//! A server of the demo's release with candidates beside it.

use crate::common::client::Client;
use crate::common::demo::{RELEASE, house};
use crate::common::guest::component;
use crate::common::metrics::metrics_client;
use crate::common::packages::Releases;
use crate::common::program::{ProcessOutput, run};
use crate::common::server::{Server, Start, start};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A release that values each square metre alike, everywhere.
pub const PLAIN: &str = "plain-1";
/// Spins on one bedroom, traps on two, and says 200,000 pounds of all others but some.
pub const MISBEHAVING: &str = "misbehaving-1";
/// The same with so much fuel that one bedroom takes it minutes.
pub const SLOW: &str = "slow-1";
/// [`PLAIN`] for valuation dates of long ago.
pub const BOUND: &str = "bound-1";

/// The options that accept them unsigned.
pub const UNSIGNED: [&str; 8] = [
    "--allow-unsigned",
    PLAIN,
    "--allow-unsigned",
    MISBEHAVING,
    "--allow-unsigned",
    SLOW,
    "--allow-unsigned",
    BOUND,
];

/// The longest wait for background work.
pub const TIMEOUT: Duration = Duration::from_secs(40);

pub fn beside() -> &'static Releases {
    static RELEASES: OnceLock<Releases> = OnceLock::new();
    RELEASES.get_or_init(|| {
        Releases::shared("shadow", |releases| {
            releases.add_snapshot();
            releases.add_demo();
            releases.add(PLAIN, component("guest-plain"));
            releases.add(MISBEHAVING, component("guest-misbehaving"));
            releases.add_changed(SLOW, component("guest-misbehaving"), |body| {
                body.fuel_per_row = 1_000_000_000_000;
            });
            releases.add_changed(BOUND, component("guest-plain"), |body| {
                body.valuation_date.to = body.valuation_date.from;
            });
        })
    })
}

/// A server of the demo's release, its client, and one that reads its metrics.
pub struct ShadowServer {
    pub server: Server,
    pub client: Client,
    pub metrics: Client,
}

pub fn serve(more: &[&str]) -> ShadowServer {
    serve_from(start(), more)
}

/// Does the same from a test's own configuration.
pub fn serve_from(start: Start, more: &[&str]) -> ShadowServer {
    let start = start.releases(beside().path());
    let key = start.key(&["avm:value", "avm:stored-data", "avm:development"]);
    let server = start
        .with(&["--release", RELEASE, "--metrics-listen", "127.0.0.1:0"])
        .with(&UNSIGNED)
        .with(more)
        .go();
    ShadowServer {
        client: server.client(&key),
        metrics: metrics_client(&server),
        server,
    }
}

impl ShadowServer {
    /// Returns a count, or 0 where the page has none of that name.
    pub fn count(&self, name: &str) -> u64 {
        let page = self.metrics.get("/metrics").text;
        let value = page
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.map_or(0, |count| count.parse().unwrap())
    }

    /// Returns the number of rows of a candidate with this outcome.
    pub fn rows(&self, release: &str, outcome: &str) -> u64 {
        self.count(&format!(
            r#"domesday_shadow_rows_total{{release="{release}",outcome="{outcome}"}}"#
        ))
    }

    /// Waits until this many rows of a candidate are in its folder.
    #[track_caller]
    pub fn wait_for_stored(&self, release: &str, rows: usize) {
        let file = self.folder(release).join("pairs.jsonl");
        let began = Instant::now();
        while fs::read_to_string(&file).map_or(0, |text| text.lines().count()) < rows {
            assert!(began.elapsed() < TIMEOUT, "{}", file.display());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns the folder of rows beside the demo's release.
    pub fn folder(&self, release: &str) -> PathBuf {
        self.server.data.join("shadow").join(release).join(RELEASE)
    }

    /// Waits until this many rows were compared.
    #[track_caller]
    pub fn wait_for_compared(&self, release: &str, rows: u64) {
        let began = Instant::now();
        while self.rows(release, "compared") < rows {
            assert!(
                began.elapsed() < TIMEOUT,
                "{}",
                self.metrics.get("/metrics").text
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(self.rows(release, "compared"), rows);
    }

    pub fn command(&self, arguments: &[&str]) -> ProcessOutput {
        let data = self.server.data.display().to_string();
        run([arguments, &["--data", &data]].concat())
    }

    /// Runs the report. Returns its text, its JSON and its page.
    pub fn report(&self, release: &str) -> (String, Value, String) {
        let temporary = tempfile::tempdir().unwrap();
        let (json, page) = (
            temporary.path().join("s.json"),
            temporary.path().join("s.html"),
        );
        let (json_path, page_path) = (json.display().to_string(), page.display().to_string());
        let outputs = ["--json", &json_path, "--report", &page_path];
        let output = self.command(&[&["shadow", "report", release], &outputs[..]].concat());
        let text = fs::read_to_string(json).unwrap_or_else(|_| panic!("{output:?}"));
        let page = fs::read_to_string(page).unwrap();
        (
            output.ok().stdout,
            serde_json::from_str(&text).unwrap(),
            page,
        )
    }
}

/// Bedrooms decide what the misbehaving release does.
pub fn bedrooms(count: u32) -> Value {
    let mut request = house();
    request["size"]["bedrooms"] = count.into();
    request
}
