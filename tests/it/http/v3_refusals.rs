//! Refusals: their status, code and pointer, and the order of the checks.
//!
//! The bodies are snapshots, so that a review shows each change of a message.

mod access;
mod bodies;
mod documents;
mod order;

use crate::common::client::Client;
use crate::common::raw::{HttpResponse, head};
use crate::common::server::{Server, Start, shared, start};
use domesday_state::{
    Accounts, EmbeddedState, KeySeed, NewKey, Plan, Scopes, TenantId, UnixMillis,
};
use std::sync::OnceLock;

const SIMPLE: &str = "/v3/simple-value";
const STANDARD: &str = "/v3/value";
/// The largest body, bytes.
const LARGEST: usize = 9_500_000;
const JSON: (&str, &str) = ("Content-Type", "application/json");

/// Keys of one customer each, made before the server starts.
struct Keys {
    value: String,
    stored: String,
    development: String,
    markets: String,
    disabled: String,
    expired: String,
}

/// Returns the suite's keys. They are the same for every server, since their seeds are.
fn keys() -> &'static Keys {
    static KEYS: OnceLock<Keys> = OnceLock::new();
    KEYS.get_or_init(|| {
        let scratch = tempfile::tempdir().unwrap();
        make_keys(scratch.path())
    })
}

fn make_keys(data: &std::path::Path) -> Keys {
    std::fs::create_dir_all(data).unwrap();
    let state = EmbeddedState::open(&data.join("state.redb")).unwrap();
    let now = UnixMillis(1_700_000_000_000);
    let mut seed = 0;
    let mut key = |tenant: &str, scopes: &[&str], expires_at: Option<UnixMillis>| {
        let tenant: TenantId = tenant.parse().unwrap();
        if !state.tenants().unwrap().iter().any(|t| t.id == tenant) {
            // Its tests run at the same time, and another suite tests plans.
            let plan = Plan::without_limits();
            state.create_tenant(&tenant, &plan, now).unwrap();
        }
        let new = NewKey {
            tenant,
            label: String::new(),
            scopes: Scopes::parse(scopes).unwrap(),
            requires_metric_selection: false,
            expires_at,
        };
        seed += 1;
        let new_key = state
            .create_key(&new, KeySeed::new([seed; 40]), now)
            .unwrap();
        new_key.secret.expose().to_owned()
    };
    let keys = Keys {
        value: key("value", &["avm:value"], None),
        stored: key("stored", &["avm:value", "avm:stored-data"], None),
        development: key("development", &["avm:development"], None),
        markets: key("markets", &["markets:read", "rates:read"], None),
        disabled: key("disabled", &["avm:value"], None),
        expired: key("expired", &["avm:value"], Some(UnixMillis(now.0 + 1))),
    };
    state
        .set_enabled(&"disabled".parse().unwrap(), false)
        .unwrap();
    keys
}

/// Returns the suite's server, which the caller keeps alive, and a client that may value.
fn service() -> (Server, Client) {
    fn make() -> Server {
        let start: Start = start().with_series();
        make_keys(start.data_folder());
        start.go()
    }
    let server = shared("v3_refusals", make);
    let client = server.client(&keys().value);
    (server, client)
}

/// Renders the status, the headers that a client acts on, and the body of a refusal.
fn render(answer: &HttpResponse) -> String {
    let mut text = format!("{}\n", answer.status);
    for name in ["www-authenticate", "allow", "retry-after", "connection"] {
        let value = answer.header(name);
        if let Some(value) = value.filter(|value| *value != "keep-alive") {
            text += &format!("{name}: {value}\n");
        }
    }
    assert_eq!(answer.header("content-type"), Some("application/json"));
    text + &serde_json::to_string_pretty(&answer.json()).unwrap()
}

/// Returns the head of a request with this key, which is sent as bytes.
fn with_key<'a>(key: &str, headers: &[(&'a str, &'a str)], method: &str, path: &str) -> String {
    let bearer = format!("Bearer {key}");
    let mut all = vec![("Authorization", bearer.as_str())];
    all.extend_from_slice(headers);
    head(method, path, &all)
}
