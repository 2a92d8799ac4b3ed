//! The dashboard and the alerts of `examples/monitoring` name metrics that exist. Debian's promtool
//! reads the rules, runs their tests, and reads the dashboard's expressions. Without promtool these
//! tests print that they were skipped. Grafana's own models read the dashboard
//! (`tests/peers/grafana`).

use crate::common::program::{repository, run_command};
use crate::common::python::{interpreter, run_to_success};
use domesday_test_documents::page;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const PROGRAM: &str = "promtool";
/// The tests of hours and days take a minute of processor time, and some of a busy machine.
const TIMEOUT: Duration = Duration::from_secs(600);

fn read(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap()
}

fn rules() -> String {
    read("examples/monitoring/rules.yaml")
}

fn dashboard() -> Value {
    serde_json::from_str(&read("examples/monitoring/dashboard.json")).unwrap()
}

fn panels(dashboard: &Value) -> &[Value] {
    dashboard["panels"].as_array().unwrap()
}

fn targets(panel: &Value) -> &[Value] {
    panel["targets"].as_array().map_or(&[][..], Vec::as_slice)
}

/// Returns the expressions of all panels and annotations.
fn expressions(dashboard: &Value) -> Vec<&str> {
    let annotations = dashboard["annotations"]["list"].as_array().unwrap();
    let queries = panels(dashboard).iter().flat_map(targets);
    let queries = queries.chain(annotations);
    queries.map(|it| it["expr"].as_str().unwrap()).collect()
}

/// Returns the metrics that a text names. A recorded ratio, which begins with
/// `domesday:`, is not one.
fn metrics(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("domesday_")).collect()
}

/// Returns the values of all lines `KEY: VALUE` of a YAML file.
fn values<'a>(yaml: &'a str, key: &str) -> Vec<&'a str> {
    let lines = yaml
        .lines()
        .map(|line| line.trim().trim_start_matches("- "));
    let values = lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
    values.collect()
}

#[test]
fn the_dashboard_and_the_rules_name_metrics_that_the_page_describes() {
    let page = read("docs/reference/metrics.md");
    let dashboard = dashboard();
    let (rules, expressions) = (rules(), expressions(&dashboard).join("\n"));
    let parts = ["_bucket", "_sum", "_count"];
    let described = |name: &&str| {
        let bare = parts.iter().find_map(|part| name.strip_suffix(part));
        page.contains(&format!("`{name}`"))
            || bare.is_some_and(|bare| page.contains(&format!("`{bare}`")))
    };
    for text in [&rules, &expressions] {
        let named = metrics(text);
        assert!(named.len() >= 20, "{named:?}");
        let unknown: Vec<&&str> = named.iter().filter(|name| !described(name)).collect();
        assert!(
            unknown.is_empty(),
            "docs/reference/metrics.md lacks {unknown:?}"
        );
    }
}

#[test]
fn the_dashboard_uses_recorded_ratios_that_the_rules_record() {
    let (dashboard, rules) = (dashboard(), rules());
    let recorded: BTreeSet<&str> = values(&rules, "record").into_iter().collect();
    let separator = |c: char| !c.is_ascii_alphanumeric() && c != '_' && c != ':';
    let all = expressions(&dashboard);
    let words = all.iter().flat_map(|it| it.split(separator));
    let used: BTreeSet<&str> = words.filter(|it| it.starts_with("domesday:")).collect();
    assert!(!used.is_empty());
    assert!(used.is_subset(&recorded), "{used:?} of {recorded:?}");
}

#[test]
fn each_panel_has_a_unique_id_and_the_data_source_of_the_variable() {
    let dashboard = dashboard();
    let panels = panels(&dashboard);
    let ids: BTreeSet<u64> = panels.iter().map(|it| it["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len());
    let variables = dashboard["templating"]["list"].as_array().unwrap();
    let kind = |it: &&Value| it["type"] == "datasource" && it["name"] == "datasource";
    assert_eq!(variables.iter().filter(kind).count(), 1);
    let queries = panels.iter().flat_map(targets);
    let annotations = dashboard["annotations"]["list"].as_array().unwrap();
    let others = variables.iter().filter(|it| it["type"] != "datasource");
    let shown = panels.iter().filter(|it| it["type"] != "row");
    for user in queries.chain(annotations).chain(others).chain(shown) {
        assert_eq!(user["datasource"]["uid"], "${datasource}", "{user}");
    }
}

/// Grafana passes over a setting that it does not know, so a misspelt one has no effect and no
/// error.
#[test]
fn grafana_knows_each_setting_of_the_dashboard() {
    let folder = repository().join("tests/peers/grafana");
    let python = interpreter(&folder, Path::new(env!("CARGO_TARGET_TMPDIR")));
    let check = |dashboard: &Path| {
        let mut command = Command::new(&python);
        command
            .arg(folder.join("check_dashboard.py"))
            .arg(dashboard);
        command
    };
    let path = "examples/monitoring/dashboard.json";
    let read_panels = run_to_success(&mut check(&repository().join(path)));
    let printed = String::from_utf8_lossy(&read_panels.stdout);
    assert!(printed.contains(" panels are read"), "{printed}");

    let misspelt = tempfile::NamedTempFile::new().unwrap();
    let text = read(path).replace("\"reduceOptions\"", "\"reduceOption\"");
    std::fs::write(misspelt.path(), text).unwrap();
    let refused = check(misspelt.path()).output().unwrap();
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(
        said.contains("/reduceOption is unknown to Grafana"),
        "{said}"
    );
}

#[test]
fn each_alert_has_a_summary_an_action_a_heading_and_a_test_in_which_it_fires() {
    let rules = rules();
    let alerts = values(&rules, "alert");
    assert!(alerts.len() >= 20, "{alerts:?}");
    for key in ["summary", "action"] {
        assert_eq!(values(&rules, key).len(), alerts.len(), "{key}");
    }
    let path = "docs/how-to/respond-to-alerts.md";
    let links: Vec<String> = alerts
        .iter()
        .map(|alert| format!("{path}#{}", page::anchor(alert)))
        .collect();
    assert_eq!(values(&rules, "runbook"), links);
    let text = read(path);
    let headings: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    assert_eq!(headings, alerts);
    let tests = read("examples/monitoring/rules-test.yaml")
        + &read("examples/monitoring/rules-test-days.yaml");
    let fired = |alert: &str| tests.contains(&format!("{{alertname=\"{alert}\"}}"));
    let untested: Vec<&&str> = alerts.iter().filter(|alert| !fired(alert)).collect();
    assert!(untested.is_empty(), "{untested:?}");
}

#[test]
fn the_page_names_each_alert_that_holds_the_name_of_the_job() {
    let (rules, page) = (rules(), read("examples/monitoring/README.md"));
    let alerts = rules.split("- alert: ").skip(1);
    let named = alerts.filter(|alert| alert.contains("job=\"domesday\""));
    let named: Vec<&str> = named.filter_map(|alert| alert.lines().next()).collect();
    assert!(named.len() >= 4, "{named:?}");
    let start = page.find("The scrape job has to be named").unwrap();
    let paragraph = page[start..].split("\n\n").next().unwrap();
    for alert in named {
        assert!(paragraph.contains(&format!("`{alert}`")), "{alert}");
    }
}

/// Runs promtool in a folder, or prints a line where it is not installed.
fn run_promtool(folder: &Path, arguments: &[&str]) {
    if Command::new(PROGRAM).arg("--version").output().is_err() {
        println!("skipped: {PROGRAM} is not installed (apt-get install prometheus)");
        return;
    }
    let mut command = Command::new(PROGRAM);
    command.current_dir(folder).args(arguments);
    run_command(command, TIMEOUT).ok();
}

#[test]
fn promtool_accepts_the_rules_and_the_configuration() {
    let folder = repository().join("examples/monitoring");
    run_promtool(&folder, &["check", "rules", "rules.yaml"]);
    run_promtool(&folder, &["check", "config", "prometheus.yaml"]);
}

#[test]
fn each_alert_fires_when_it_must_and_not_otherwise() {
    let folder = repository().join("examples/monitoring");
    let tests = ["test", "rules", "rules-test.yaml", "rules-test-days.yaml"];
    run_promtool(&folder, &tests);
}

#[test]
fn promtool_reads_each_expression_of_the_dashboard() {
    let dashboard = dashboard();
    let rules = expressions(&dashboard).into_iter().enumerate();
    let rules: Vec<Value> = rules
        .map(|(at, expression)| {
            let expression = expression.replace("$__rate_interval", "1m");
            json!({ "record": format!("panel:{at}"), "expr": expression })
        })
        .collect();
    // JSON is YAML.
    let file = json!({ "groups": [{ "name": "dashboard", "rules": rules }] });
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("panels.yaml"), file.to_string()).unwrap();
    run_promtool(folder.path(), &["check", "rules", "panels.yaml"]);
}
