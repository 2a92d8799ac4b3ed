//! The permitted dependencies between crates of the workspace, and their integration tests.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The crates that each crate may use. A crate may also use the dependencies of these.
///
/// `docs/architecture.md` says what each crate is for. A crate that is not listed may use nothing
/// of the workspace, so a new crate needs a row here.
const MAY_USE: &[(&str, &[&str])] = &[
    (
        "domesday-cli",
        &[
            "domesday-server",
            "domesday-sandbox",
            "domesday-release-tools",
            "domesday-refresh",
            "domesday-replay",
            "domesday-bench",
            "domesday-objects",
            "domesday-oci",
            "domesday-synthetic",
        ],
    ),
    (
        "domesday-server",
        &[
            "domesday-valuation",
            "domesday-openapi",
            "domesday-state",
            "domesday-journal",
            "domesday-series",
            "domesday-evaluation",
            "domesday-console",
            "domesday-backup",
        ],
    ),
    (
        "domesday-backup",
        &["domesday-valuation", "domesday-state", "domesday-journal"],
    ),
    (
        "domesday-console",
        &["domesday-evaluation", "domesday-state"],
    ),
    (
        "domesday-release-tools",
        &[
            "domesday-valuation",
            "domesday-engine",
            "domesday-property",
            "domesday-evaluation",
            "domesday-package",
        ],
    ),
    ("domesday-refresh", &["domesday-package"]),
    (
        "domesday-replay",
        &["domesday-valuation", "domesday-journal"],
    ),
    (
        "domesday-objects",
        &["domesday-package", "domesday-registers"],
    ),
    ("domesday-oci", &["domesday-package", "domesday-engine"]),
    (
        "domesday-openapi",
        &["domesday-contract", "domesday-series"],
    ),
    ("domesday-sandbox", &["domesday-openapi"]),
    (
        "domesday-valuation",
        &[
            "domesday-engine",
            "domesday-address-lookup",
            "domesday-property",
            "domesday-contract",
            "domesday-package",
            // The header and the outcomes of a comparison serve both release_tools and the shadow.
            "domesday-evaluation",
        ],
    ),
    ("domesday-engine", &["domesday-property"]),
    ("domesday-address-lookup", &["domesday-property"]),
    ("domesday-property", &["domesday-registers"]),
    (
        "domesday-series",
        &["domesday-registers", "domesday-package"],
    ),
    ("domesday-journal", &["domesday-package"]),
    ("domesday-evaluation", &["domesday-registers"]),
    ("domesday-hedonic", &["domesday-sdk"]),
    ("domesday-sandbox-model", &["domesday-sdk"]),
    (
        "domesday-gbdt",
        &["domesday-sdk", "domesday-trees", "domesday-hedonic"],
    ),
];

/// Returns every use of one crate by another, from the output of `cargo metadata`. It leaves out
/// dependencies of tests and of builds, but for models and SDKs, which must not know the host at
/// all.
///
/// # Panics
/// The text is not the document that cargo prints.
pub fn uses(metadata: &Value) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            // Our crates alone have a path. A dependency of the product has no kind.
            let path = dependency["path"].as_str();
            let to_host = path.is_some_and(|path| path.contains("/host/"));
            let is_product = dependency["kind"].is_null();
            if path.is_some() && (is_product || (to_host && outside_the_host(package))) {
                let name = |of: &Value| of["name"].as_str().unwrap_or_default().to_owned();
                found.insert((name(package), name(dependency)));
            }
        }
    }
    found
}

/// Returns true for the package of a model or an SDK.
fn outside_the_host(package: &Value) -> bool {
    let manifest = package["manifest_path"].as_str().unwrap_or_default();
    manifest.contains("/models/") || manifest.contains("/sdk/")
}

/// Returns the crates of `host/` that use `anyhow`, from the output of `cargo metadata`.
///
/// Their errors are types. Commands alone print an error without looking at it.
pub fn untyped(metadata: &Value) -> Vec<String> {
    let ours = metadata["packages"].as_array().into_iter().flatten();
    ours.filter(|package| {
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        let mut dependencies = package["dependencies"].as_array().into_iter().flatten();
        manifest.contains("/host/") && dependencies.any(|dependency| dependency["name"] == "anyhow")
    })
    .filter_map(|package| package["name"].as_str().map(str::to_owned))
    .collect()
}

/// Returns the names of the workspace's integration tests, from the output of `cargo metadata`.
pub fn integration_tests(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let targets = packages.flat_map(|package| package["targets"].as_array().into_iter().flatten());
    targets
        .filter(|target| target["kind"][0] == "test")
        .filter_map(|target| target["name"].as_str().map(str::to_owned))
        .collect()
}

/// Returns the uses that the layout does not allow.
pub fn forbidden(uses: &BTreeSet<(String, String)>) -> Vec<String> {
    let table: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    uses.iter()
        // It holds features of dependencies, and no code.
        .filter(|(_, used)| used != "domesday-workspace-hack")
        .filter(|(user, _)| !user.starts_with("domesday-test-") && !user.starts_with("guest-"))
        .filter(|(user, used)| !reaches(&table, user, used))
        .map(|(user, used)| format!("{user} uses {used}"))
        .collect()
}

/// Returns the uses that the diagram in a text of Markdown allows, as names of packages.
///
/// An arrow stands between a crate and a list of others. A crate without an arrow may use nothing.
pub fn diagram(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let package = |name: &str| format!("domesday-{}", name.replace('_', "-"));
    let block = text.split("```").find(|block| block.contains(" → "));
    let mut allowed = BTreeMap::new();
    for line in block.unwrap_or_default().lines() {
        // Columns are two spaces apart. A name and its arrow are one column.
        let parts: Vec<&str> = line.split(" → ").collect();
        for pair in parts.windows(2) {
            let [before, after] = pair else { continue };
            let user = before.trim_end().rsplit("  ").next().unwrap_or_default();
            let used = after.split("  ").next().unwrap_or_default();
            let used = used.split(',').map(|name| package(name.trim())).collect();
            allowed.insert(package(user.trim()), used);
        }
    }
    allowed
}

fn reaches(table: &BTreeMap<&str, &[&str]>, from: &str, to: &str) -> bool {
    let next = table.get(from).copied().unwrap_or_default();
    next.contains(&to) || next.iter().any(|next| reaches(table, next, to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn metadata() -> Value {
        let output = Command::new(env!("CARGO"))
            .args([
                "metadata",
                "--no-deps",
                "--offline",
                "--format-version",
                "1",
            ])
            .current_dir(crate::repository())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    #[test]
    fn no_crate_uses_another_that_the_layout_does_not_allow() {
        let uses = uses(&metadata());
        assert!(uses.len() > 30, "{uses:?}");
        assert_eq!(forbidden(&uses), Vec::<String>::new());
    }

    #[test]
    fn a_model_that_tests_with_the_host_is_found() {
        let package = |folder: &str| {
            serde_json::json!({"name": "domesday-hedonic", "manifest_path": format!("/p/{folder}/Cargo.toml"),
                "dependencies": [{"name": "domesday-engine", "kind": "dev", "path": "/p/host/engine"}]})
        };
        let found = |folder| forbidden(&uses(&serde_json::json!({"packages": [package(folder)]})));
        assert_eq!(
            found("models/hedonic"),
            ["domesday-hedonic uses domesday-engine"]
        );
        assert!(found("host/hedonic").is_empty());
    }

    #[test]
    fn errors_are_types_but_in_commands() {
        assert_eq!(untyped(&metadata()), ["domesday-cli"]);
    }

    /// Each is linked separately: `docs/decisions/0044-one-test-binary-a-crate.md`.
    #[test]
    fn the_workspace_has_five_integration_tests_at_most() {
        let found = integration_tests(&metadata());
        assert!((1..=5).contains(&found.len()), "{found:?}");
    }

    #[test]
    fn integration_tests_are_named_and_other_targets_are_not() {
        let metadata = serde_json::json!({"packages": [
            {"targets": [{"name": "a", "kind": ["lib"]}, {"name": "b", "kind": ["test"]}]},
            {"targets": [{"name": "c", "kind": ["example"]}, {"name": "d", "kind": ["test"]}]},
        ]});
        assert_eq!(integration_tests(&metadata), ["b", "d"]);
    }

    #[test]
    fn the_diagram_of_the_architecture_allows_what_the_table_allows() {
        let page = crate::repository().join("docs/architecture.md");
        let drawn = diagram(&std::fs::read_to_string(page).unwrap());
        let drawn: BTreeMap<&str, Vec<&str>> = drawn
            .iter()
            .map(|(user, used)| (&**user, used.iter().map(String::as_str).collect()))
            .collect();
        let drawn = drawn
            .iter()
            .map(|(user, used)| (*user, &used[..]))
            .collect();
        let table: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
        let models = [
            "domesday-hedonic",
            "domesday-gbdt",
            "domesday-sandbox-model",
        ];
        let host = |name: &str| !models.contains(&name);
        let names: BTreeSet<&str> = MAY_USE
            .iter()
            .flat_map(|(user, used)| used.iter().chain([user]).copied())
            .filter(|name| host(name) && !name.ends_with("-sdk") && !name.ends_with("-trees"))
            .collect();
        assert_eq!(names.len(), 24, "{names:?}");
        for user in &names {
            for used in &names {
                let allowed = reaches(&table, user, used);
                // The program may use every crate, which its line says without an arrow.
                let shown = match *user {
                    "domesday-cli" => used != user,
                    user => reaches(&drawn, user, used),
                };
                assert_eq!(shown, allowed, "{user} uses {used}");
            }
        }
    }

    #[test]
    fn a_use_that_is_not_allowed_is_named() {
        let both = |user: &str, used: &str| (user.to_owned(), used.to_owned());
        let uses = [
            both("domesday-valuation", "domesday-server"),
            both("domesday-server", "domesday-cli"),
            both("domesday-server", "domesday-release-tools"),
            both("domesday-hedonic", "domesday-engine"),
            both("domesday-nobody-knows", "domesday-state"),
            // Allowed by way of another.
            both("domesday-server", "domesday-registers"),
        ];
        let found = forbidden(&BTreeSet::from(uses));
        assert_eq!(found.len(), 5, "{found:?}");
        assert!(!found.iter().any(|use_| use_.contains("registers")));
    }
}
