//! The customers of a suite: tenants whose keys are the same on every server, since their seeds
//! are.

use super::client::Client;
use super::server::Server;
use domesday_state::{
    Accounts, EmbeddedState, KeySeed, NewKey, Plan, Scopes, TenantId, UnixMillis,
};
use domesday_test_shared::once;
use std::collections::BTreeMap;
use std::path::Path;

/// A tenant, its key's scopes, and what differs from a plan without limits.
///
/// The key of `choosing` must name its metrics, and `disabled` is switched off. `narrow` is another
/// key of the tenant of `both`.
pub type Customer = (&'static str, &'static [&'static str], fn(&mut Plan));

/// A suite's server, which lives as long as this.
pub struct Contract {
    pub server: Server,
    pub keys: BTreeMap<String, String>,
}

impl Contract {
    /// Returns a client with the key of one of the customers.
    #[track_caller]
    pub fn customer(&self, name: &str) -> Client {
        self.server.client(&self.keys[name])
    }
}

/// Returns the keys of a suite's customers, by their names.
pub fn keys(suite: &str, customers: &[Customer]) -> BTreeMap<String, String> {
    let folder = once(&format!("keys-{suite}"), |folder| {
        let keys = make_keys(&folder.join("data"), customers);
        let keys = serde_json::to_vec(&keys).unwrap();
        std::fs::write(folder.join("keys.json"), keys).unwrap();
    });
    serde_json::from_slice(&std::fs::read(folder.join("keys.json")).unwrap()).unwrap()
}

/// Makes the customers in an empty state.
pub fn make_keys(data: &Path, customers: &[Customer]) -> BTreeMap<&'static str, String> {
    std::fs::create_dir_all(data).unwrap();
    let state = EmbeddedState::open(&data.join("state.redb")).unwrap();
    let now = UnixMillis(1_700_000_000_000);
    let key = |(at, (name, scopes, differs)): (usize, &Customer)| {
        let tenant = match *name {
            "narrow" => "both".to_owned(),
            name => name.replace('_', "-"),
        };
        let tenant: TenantId = tenant.parse().unwrap();
        if *name != "narrow" {
            let mut plan = Plan::without_limits();
            differs(&mut plan);
            state.create_tenant(&tenant, &plan, now).unwrap();
        }
        let new = NewKey {
            tenant: tenant.clone(),
            label: String::new(),
            scopes: Scopes::parse(*scopes).unwrap(),
            requires_metric_selection: *name == "choosing",
            expires_at: None,
        };
        let seed = KeySeed::new([u8::try_from(at).unwrap() + 1; 40]);
        let new_key = state.create_key(&new, seed, now).unwrap();
        if *name == "disabled" {
            state.set_enabled(&tenant, false).unwrap();
        }
        (*name, new_key.secret.expose().to_owned())
    };
    customers.iter().enumerate().map(key).collect()
}
