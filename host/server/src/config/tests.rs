use super::sources::{SettingsError, SourcedSettings};
use super::*;
use clap::{Args, Command, FromArgMatches};
use std::fs;

fn command() -> Command {
    // The tests must not depend on the environment. The black-box suite covers it.
    Settings::augment_args(Command::new("serve")).mut_args(|argument| argument.env(None::<&str>))
}

fn resolve_with(
    arguments: &[&str],
    file: Option<&str>,
) -> Result<SourcedSettings<Settings>, SettingsError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("domesday.toml");
    if let Some(text) = file {
        fs::write(&path, text).unwrap();
    }
    let matches = command()
        .try_get_matches_from(["serve"].iter().chain(arguments))
        .unwrap();
    let settings = Settings::from_arg_matches(&matches).unwrap();
    resolve(&settings, &matches, file.map(|_| path.as_path()))
}

#[test]
fn a_flag_overrides_the_file_and_the_file_the_default() {
    let found = resolve_with(
        &["--listen", "127.0.0.1:1"],
        Some("listen = \"127.0.0.1:2\"\nreleases = \"elsewhere\"\nthreads = 3\nno_demo = true\n"),
    )
    .unwrap();
    assert_eq!(found.settings.listen, "127.0.0.1:1".parse().unwrap());
    assert_eq!(found.settings.releases, PathBuf::from("elsewhere"));
    assert_eq!(found.settings.threads, Some(3));
    assert!(found.settings.no_demo);
    assert_eq!(found.settings.data, PathBuf::from("domesday-data"));
    let text = show(&found.sources);
    assert!(
        text.contains("listen = \"127.0.0.1:1\"  # --listen\n"),
        "{text}"
    );
    assert!(text.contains("domesday.toml\n"), "{text}");
    assert!(
        text.contains("data = \"domesday-data\"  # default\n"),
        "{text}"
    );
}

#[test]
fn an_unknown_setting_is_refused_by_name() {
    for (text, named) in [
        ("lisen = \"127.0.0.1:2\"", "lisen"),
        ("[default]\nlisten = \"127.0.0.1:2\"", "default"),
        ("threads = \"many\"", "threads"),
        ("listen = 8080", "listen"),
        ("listen =", "TOML"),
        ("connections = 0", "connections"),
        ("idle_timeout = 0", "idle_timeout"),
        (
            "trusted_proxies = [\"proxy\"]",
            "neither an address nor a network",
        ),
        ("processing_deadline = 25001", "processing_deadline"),
        ("processing_deadline = 25001", "not in 0..=25000"),
        ("job_lease = 0", "0 is not in 1..=3600"),
        ("usage_ledger_months = 0", "0 is not in 1..=1200"),
        ("job_lease = 4000000", "not in 1..=3600"),
        (
            "receipts_share = -0.5",
            "-0.5 is not a share; set a number from 0 to 1",
        ),
        ("receipts_share = 5", "5 is not a share"),
        ("idle_timeout = 86401", "not in 1..=86400"),
        ("drain_delay = 3601", "not in 0..=3600"),
        ("drain_timeout = 3601", "not in 0..=3600"),
        ("metrics_connections = 0", "metrics_connections"),
    ] {
        let error = resolve_with(&[], Some(text)).err().unwrap().to_string();
        assert!(error.contains(named), "{text}: {error}");
        assert!(error.contains("domesday.toml"), "{error}");
    }
}

#[test]
fn an_error_of_syntax_names_its_place_and_repeats_no_line() {
    for (text, place) in [
        (
            "threads = 3\nstate = \"postgres://me:s3cret@db/domesday\n",
            "line 2, column 42: ",
        ),
        (
            "state = \"\"\nstate = \"postgres://me:s3cret@db/domesday\"\n",
            "line 2, column 1: duplicate key `state`",
        ),
    ] {
        let error = resolve_with(&[], Some(text)).err().unwrap().to_string();
        assert!(error.contains(place), "{error}");
        assert!(!error.contains("s3cret"), "{error}");
    }
}

#[test]
fn a_processing_deadline_is_at_most_25_seconds() {
    let deadline = |arguments: &[&str], file: Option<&str>| {
        let found = resolve_with(arguments, file).unwrap();
        found.settings.processing_deadline
    };
    assert_eq!(deadline(&[], None), 25_000);
    assert_eq!(deadline(&["--processing-deadline", "0"], None), 0);
    assert_eq!(deadline(&[], Some("processing_deadline = 1500")), 1_500);
    let arguments = ["serve", "--processing-deadline", "25001"];
    let error = command().try_get_matches_from(arguments).unwrap_err();
    assert!(error.to_string().contains("25001"), "{error}");
}

#[test]
fn times_that_nobody_means_are_refused_with_the_range() {
    for (flag, value, range) in [
        ("--idle-timeout", "4294967295", "1..=86400"),
        ("--idle-timeout", "0", "1..=86400"),
        ("--drain-delay", "100000000", "0..=3600"),
        ("--drain-timeout", "3601", "0..=3600"),
    ] {
        let error = command()
            .try_get_matches_from(["serve", flag, value])
            .unwrap_err()
            .to_string();
        assert!(error.contains(flag) && error.contains(range), "{error}");
    }
}

/// Renders the table of docs/reference/configuration.md from the settings.
fn table() -> String {
    let mut table = String::from(
        "| Key in the file | Flag | Environment | Default | Meaning |\n|---|---|---|---|---|\n",
    );
    let command = Settings::augment_args(Command::new("serve"));
    for argument in command.get_arguments() {
        let flag = argument.get_long().unwrap();
        let value = match argument.get_action().takes_values() {
            true => format!(" {}", argument.get_value_names().unwrap()[0]),
            false => String::new(),
        };
        let environment = argument.get_env().unwrap().to_str().unwrap();
        let key = argument.get_id().as_str();
        assert_eq!(flag, key.replace('_', "-"));
        assert_eq!(environment, format!("DOMESDAY_{}", key.to_uppercase()));
        let default = match argument.get_default_values() {
            [default, ..] => format!("`{}`", default.to_str().unwrap()),
            [] => String::new(),
        };
        let meaning = argument.get_help().unwrap().to_string();
        // Markdown would read it as a tag.
        let meaning = meaning.replace('<', "&lt;");
        table +=
            &format!("| `{key}` | `--{flag}{value}` | `{environment}` | {default} | {meaning} |\n");
    }
    table
}

#[test]
fn the_documented_table_is_the_settings() {
    let page = include_str!("../../../../docs/reference/configuration.md");
    assert!(
        page.contains(&table()),
        "docs/reference/configuration.md must contain this table:\n\n{}",
        table()
    );
}

#[test]
fn every_setting_has_a_default_or_may_be_absent() {
    assert_eq!(sources::built_in()["listen"], "127.0.0.1:8080");
}
