//! The example beside the files of the package, which it is installed with.

use crate::config::RefreshConfig;
use crate::part::Part;
use std::path::{Path, PathBuf};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name)
}

/// Returns the values of a name in a unit of systemd.
fn values(unit: &str, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(path(unit)).unwrap();
    let prefix = format!("{name}=");
    let found = text.lines().filter_map(|line| line.strip_prefix(&prefix));
    found.map(str::to_owned).collect()
}

#[test]
fn the_example_fits_the_packages() {
    let round = "examples/refresh/domesday-refresh.service";
    let unit = "packaging/systemd/domesday.service";
    let example = RefreshConfig::read(&path("examples/refresh/refresh.toml")).unwrap();
    let settings = std::fs::read_to_string(path("packaging/domesday.toml")).unwrap();
    let settings: toml::Table = toml::from_str(&settings).unwrap();
    let setting = |name: &str| Path::new(settings[name].as_str().unwrap()).to_owned();
    assert_eq!(example.releases, setting("releases"));
    // It would win over that of the settings.
    if let Some(data) = &example.service.data {
        assert_eq!(*data, setting("data"));
    }
    let config = example.service.config.as_ref().unwrap();
    let command = format!("/usr/bin/domesday serve --config {}", config.display());
    assert_eq!(values(unit, "ExecStart"), [command]);

    // Promotions go over a socket that the service's user alone can open.
    assert_eq!(values(round, "User"), values(unit, "User"));
    let command = "/usr/bin/domesday refresh /etc/domesday/refresh.toml";
    assert_eq!(values(round, "ExecStart"), [command]);

    // Root owns the folder of releases, so the unit grants those of the parts.
    let granted = values(round, "StateDirectory").join(" ");
    for part in Part::ALL {
        let folder = example.releases.join(part.packages_dir());
        let folder = folder.strip_prefix("/var/lib").unwrap().to_str().unwrap();
        let is_granted = granted.split(' ').any(|granted| granted == folder);
        assert!(is_granted, "{folder}: {granted}");
    }
    assert!(!granted.contains("keys"), "{granted}");
}
