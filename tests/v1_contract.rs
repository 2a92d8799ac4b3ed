//! The v1 contract, rule by rule: each test is named after the rule that it holds.
//!
//! `tests/contract/rules-v1.toml` lists the rules, their tests and the break of the code that must
//! turn each test red. Releases with the gaps that the demo's lack stand in [`made`]
//! and [`holed`].
// Helpers of tests are tests, though clippy knows only the functions marked so.
#![allow(clippy::unwrap_used, dead_code)]

#[path = "v1_contract/authentication.rs"]
mod authentication;
#[path = "v1_contract/catalogue.rs"]
mod catalogue;
mod common;
#[path = "v1_contract/datasets.rs"]
mod datasets;
#[path = "v1_contract/envelope.rs"]
mod envelope;
#[path = "v1_contract/holed.rs"]
mod holed;
#[path = "v1_contract/identity.rs"]
mod identity;
#[path = "v1_contract/made.rs"]
mod made;
#[path = "v1_contract/metrics.rs"]
mod metrics;
#[path = "v1_contract/missing.rs"]
mod missing;
#[path = "v1_contract/observations.rs"]
mod observations;
#[path = "v1_contract/series_object.rs"]
mod series_object;
#[path = "v1_contract/shown.rs"]
mod shown;
#[path = "v1_contract/vintages.rs"]
mod vintages;

use common::client::Client;
use common::packages::copy_tree;
use common::program::releases;
use common::raw::Answer;
use common::server::{Server, Start, shared, start};
use domesday_state::{
    Accounts, EmbeddedState, KeySeed, NewKey, Plan, Scopes, TenantId, UnixMillis,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

const RATES: &str = "/v1/rates/series";
const MARKETS: &str = "/v1/markets/series";

/// The demo's releases, which are the current ones of the suite's server.
const DEMO_RATES: &str = "synthetic-rates-2026-09";
const DEMO_MARKETS: &str = "synthetic-markets-2026-10";

const BOTH: &[&str] = &["markets:read", "rates:read"];
const TWO_DATASETS: &[&str] = &["rates:read:bank_rate", "rates:read:ois_spot_curve"];
const VALUATION: &[&str] = &["avm:value", "avm:development", "avm:stored-data"];

/// A tenant, its key's scopes, and what differs from a plan without limits.
type Customer = (&'static str, &'static [&'static str], fn(&mut Plan));

/// The suite's customers. The key of `choosing` must name its metrics.
const CUSTOMERS: &[Customer] = &[
    ("both", BOTH, |_| {}),
    ("other", BOTH, |_| {}),
    ("choosing", BOTH, |_| {}),
    ("markets", &["markets:read"], |_| {}),
    ("rates", &["rates:read"], |_| {}),
    ("two_datasets", TWO_DATASETS, |_| {}),
    ("valuation", VALUATION, |_| {}),
    ("disabled", BOTH, |_| {}),
    ("slow", BOTH, |plan| {
        plan.requests_per_second = 1;
        plan.burst = 2;
    }),
];

/// The suite's server, which lives as long as this.
struct Contract {
    server: Arc<Server>,
}

impl Contract {
    /// A client with the key of one of the customers.
    #[track_caller]
    fn customer(&self, name: &str) -> Client {
        self.server.client(&keys()[name])
    }
}

/// The suite's server: the demo's releases are current, and those of [`made`] stand beside them.
fn contract() -> Contract {
    Contract {
        server: shared(|| service().go()),
    }
}

/// The service, and a client with the key of one of the customers. The service is gone with the last
/// that holds it, so it is handed out with its client.
fn customer(name: &str) -> (Contract, Client) {
    let contract = contract();
    let client = contract.customer(name);
    (contract, client)
}

/// The service, and a client that may read both families.
fn both() -> (Contract, Client) {
    customer("both")
}

/// A server of the demo's releases and those of [`made`], with the suite's customers.
fn service() -> Start {
    let start = start();
    let folder = start.data_folder().with_file_name("releases");
    copy_tree(&releases(), &folder);
    made::all(&folder);
    holed::all(&folder);
    make_keys(start.data_folder());
    let ids = made::IDS.iter().chain(&[holed::MARKETS, holed::RATES]);
    let allowed = ids.flat_map(|id| ["--allow-unsigned", *id]);
    let allowed: Vec<&str> = allowed.collect();
    start.releases(&folder).with(&allowed)
}

/// The customers' keys, which are the same on every server, since their seeds are.
fn keys() -> &'static BTreeMap<&'static str, String> {
    static KEYS: OnceLock<BTreeMap<&'static str, String>> = OnceLock::new();
    KEYS.get_or_init(|| {
        let scratch = tempfile::tempdir().unwrap();
        make_keys(scratch.path())
    })
}

/// Makes the customers in an empty state.
fn make_keys(data: &Path) -> BTreeMap<&'static str, String> {
    std::fs::create_dir_all(data).unwrap();
    let state = EmbeddedState::open(&data.join("state.redb")).unwrap();
    let now = UnixMillis(1_700_000_000_000);
    let key = |(at, (name, scopes, differs)): (usize, &Customer)| {
        let tenant: TenantId = name.replace('_', "-").parse().unwrap();
        let mut plan = Plan::unmetered();
        differs(&mut plan);
        state.create_tenant(&tenant, &plan, now).unwrap();
        let new = NewKey {
            tenant: tenant.clone(),
            label: String::new(),
            scopes: Scopes::parse(*scopes).unwrap(),
            requires_metric_selection: *name == "choosing",
            expires_at: None,
        };
        let seed = KeySeed::new([u8::try_from(at).unwrap() + 1; 40]);
        let made = state.create_key(&new, seed, now).unwrap();
        if *name == "disabled" {
            state.set_enabled(&tenant, false).unwrap();
        }
        (*name, made.secret.expose().to_owned())
    };
    CUSTOMERS.iter().enumerate().map(key).collect()
}

/// Status and code of a refusal.
#[track_caller]
fn refused(answer: &Answer) -> (u16, String) {
    let (status, code, _) = answer.refusal();
    (status, code)
}

/// Asserts that this is refused with this status and code, and that this parameter is at fault.
#[track_caller]
fn assert_refused(answer: &Answer, status: u16, code: &str, field: &str) {
    let expected = (status, code.to_owned(), Some(field.to_owned()));
    assert_eq!(answer.refusal(), expected);
}

fn names(object: &Value) -> Vec<&str> {
    let object = object.as_object().unwrap();
    object.keys().map(String::as_str).collect()
}

fn is_uuid(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| text.parse::<uuid::Uuid>().is_ok())
}
