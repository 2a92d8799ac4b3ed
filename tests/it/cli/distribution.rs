//! `scripts/package`: what a person installs, packed from the program under test.
//!
//! `scripts/package --prove` adds what takes minutes: a fresh root file system, lintian, runc.

use crate::common::demo::RELEASE;
use crate::common::packages::host;
use crate::common::program::{ProcessOutput, releases, repository, run, run_command};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// Packing copies and compresses some 150 MB.
const TIMEOUT: Duration = Duration::from_secs(480);

/// Runs a line of bash in a folder.
fn bash(folder: &Path, line: &str) -> ProcessOutput {
    let mut command = Command::new("bash");
    command.current_dir(folder).args(["-euo", "pipefail", "-c"]);
    command.arg(line);
    run_command(command, TIMEOUT)
}

/// Packs the program under test with the files of a tree, a commit and a time that do not depend on
/// git. Each tree uses the tools of this one, if it has them.
fn pack(tree: &Path, before: &str, output: &Path, more: &str) -> ProcessOutput {
    let line = format!(
        "{before} export CARGO_TARGET_DIR=${{CARGO_TARGET_DIR:-'{}/target'}}; \
         SOURCE_DATE_EPOCH=1790000000 DOMESDAY_COMMIT=0123456789ab scripts/package \
         --binary '{}' --output '{}' {more}",
        repository().display(),
        env!("CARGO_BIN_EXE_domesday"),
        output.display()
    );
    bash(tree, &line).ok()
}

/// Clones the repository as its files are now, and adds files that are not in the index.
fn tree_with_strangers(folder: &Path) -> PathBuf {
    let tree = folder.join("tree");
    let line = format!(
        "git clone --quiet --shared --no-checkout . '{0}' && git ls-files -z | tar --create --null \
         --files-from=- | tar --extract --directory='{0}' && git -C '{0}' add --all --force",
        tree.display()
    );
    bash(&repository(), &line).ok();
    for stranger in ["examples/nginx/own.key", "releases/keys/own.pub"] {
        fs::write(tree.join(stranger), "not of this commit").unwrap();
    }
    tree
}

/// Returns the only path of a folder whose name ends so.
fn only(folder: &Path, ending: &str) -> PathBuf {
    let paths = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let found: Vec<_> = paths
        .filter(|path| path.to_string_lossy().ends_with(ending))
        .collect();
    let [path] = &found[..] else {
        panic!("{ending}: {found:?}");
    };
    path.clone()
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn the_same_program_is_packed_to_the_same_bytes_and_signed() {
    let temp_dir = tempfile::tempdir().unwrap();
    let folder = temp_dir.path();
    run(["release", "keygen", &folder.join("key").to_string_lossy()]).ok();
    let (first, second) = (folder.join("first"), folder.join("second"));
    let signed = format!("--key '{}/key'", folder.display());
    let packed = pack(&repository(), "", &first, &signed);
    let warning = "and the packages name 0123456789ab\n";
    assert!(packed.stderr.contains(warning), "{}", packed.stderr);
    // Another mask of modes, another folder for temporary files and files that are not of the
    // commit change nothing.
    let tree = match repository().join(".git").exists() {
        true => tree_with_strangers(folder),
        false => repository(),
    };
    let before = format!("umask 077; export TMPDIR='{}';", folder.display());
    pack(&tree, &before, &second, "");
    let sums = fs::read_to_string(first.join("SHA256SUMS")).unwrap();
    assert!(sums.lines().count() >= 6, "{sums}");
    assert_eq!(sums, fs::read_to_string(second.join("SHA256SUMS")).unwrap());

    let list = first.join("SHA256SUMS").display().to_string();
    let key = folder.join("key.pub").display().to_string();
    run(["file", "verify", &list, "--key", &key]).ok();
    bash(&first, "sha256sum --check --strict SHA256SUMS").ok();
    fs::write(&list, sums.replacen(char::is_numeric, "x", 1)).unwrap();
    let refusal = run(["file", "verify", &list, "--key", &key]).refused();
    assert!(refusal.contains("is not what ed25519:"), "{refusal}");

    a_package_holds_what_the_unit_starts(&first);
    a_layout_is_one_image_of_a_user_without_rights_and_one_with_the_demo(&first);
}

fn a_package_holds_what_the_unit_starts(dist: &Path) {
    let deb = only(dist, "_amd64.deb");
    let root = TempDir::new().unwrap();
    let line = format!(
        "dpkg-deb --raw-extract '{}' . && find . -type f -printf '%m %P\\n' | sort",
        deb.display()
    );
    let files = bash(root.path(), &line).ok().stdout;
    for file in [
        "755 usr/bin/domesday",
        "644 etc/domesday/domesday.toml",
        "644 usr/lib/systemd/system/domesday.service",
        "644 usr/lib/sysusers.d/domesday.conf",
        "644 usr/lib/tmpfiles.d/domesday.conf",
        "644 usr/share/man/man1/domesday.1.gz",
        "644 usr/share/man/man1/domesday-serve.1.gz",
        "644 usr/share/man/man1/domesday-release-check.1.gz",
        "644 usr/share/bash-completion/completions/domesday",
        "644 usr/share/zsh/vendor-completions/_domesday",
        "644 usr/share/fish/vendor_completions.d/domesday.fish",
        "644 usr/share/doc/domesday/copyright",
        "644 usr/share/domesday/docs/how-to/respond-to-alerts.md",
        "644 usr/share/domesday/docs/README.md",
        "644 usr/share/domesday/examples/nginx/domesday.conf",
        "644 usr/share/domesday/examples/systemd/fetch-releases.conf",
        "644 DEBIAN/conffiles",
        "755 DEBIAN/postinst",
    ] {
        assert!(files.lines().any(|line| line == file), "{file}: {files}");
    }
    installed_pages_link_to_installed_files(&root.path().join("usr/share/domesday"));
    // An upgrade leaves the folders to the user that writes releases.
    let folders = root.path().join("usr/lib/tmpfiles.d/domesday.conf");
    let folders = fs::read_to_string(folders).unwrap();
    for kind in ["property", "valuation"] {
        let start = format!("d /var/lib/domesday/releases/{kind} ");
        let line = folders.lines().find(|line| line.starts_with(&start));
        assert!(line.unwrap().contains(" :0755 :root "), "{folders}");
    }
    let control = fs::read_to_string(root.path().join("DEBIAN/control")).unwrap();
    assert!(control.contains("Depends: libc6 (>= "), "{control}");
    assert!(!control.contains("@\n"), "{control}");
    // The unit's command reads the settings that the package brings.
    let settings = root.path().join("etc/domesday/domesday.toml");
    let settings = settings.display().to_string();
    let shown = run(["serve", "--config", &settings, "--print-config"]).ok();
    assert!(shown.stdout.contains("no_demo = true"), "{}", shown.stdout);
    let unit =
        fs::read_to_string(root.path().join("usr/lib/systemd/system/domesday.service")).unwrap();
    assert!(
        unit.contains("ExecStart=/usr/bin/domesday serve --config /etc/domesday/domesday.toml\n")
    );
    // Otherwise systemd gives up after five failures in ten seconds.
    assert!(unit.contains("\nStartLimitIntervalSec=0\n"), "{unit}");

    let demo = TempDir::new().unwrap();
    let line = format!(
        "dpkg-deb --extract '{}' . && cat usr/lib/systemd/system/domesday-demo.service",
        only(dist, "_all.deb").display()
    );
    let unit = bash(demo.path(), &line).ok().stdout;
    assert!(unit.contains("--config /usr/share/domesday/demo.toml\n"));
    assert!(unit.contains("StateDirectory=domesday/demo\n") && !unit.contains("Condition"));
    assert!(unit.contains("\nStartLimitIntervalSec=0\n"), "{unit}");
    let releases = demo.path().join("usr/share/domesday/demo");
    let list = run(["release", "list", "--releases", &releases.to_string_lossy()]).ok();
    assert!(!list.stdout.contains("cannot be used"), "{}", list.stdout);
}

fn installed_pages_link_to_installed_files(folder: &Path) {
    let pages = bash(folder, "find . -name '*.md' -type f").ok().stdout;
    let mut dead = Vec::new();
    for page in pages.lines() {
        let text = fs::read_to_string(folder.join(page)).unwrap();
        let beside = folder.join(page).parent().unwrap().to_owned();
        let links = text.split("](").skip(1);
        let paths = links.filter_map(|link| link.split([')', '#']).next());
        let relative = paths.filter(|path| !path.contains([':', ' ', '\n']));
        let missing = relative.filter(|path| !beside.join(path).exists());
        dead.extend(missing.map(|path| format!("{page}: {path}")));
    }
    assert!(dead.is_empty(), "{dead:#?}");
}

fn a_layout_is_one_image_of_a_user_without_rights_and_one_with_the_demo(dist: &Path) {
    let layout = only(dist, ".oci");
    let blobs = layout.join("blobs/sha256");
    let blob = |descriptor: &Value| {
        let digest = descriptor["digest"].as_str().unwrap();
        let path = blobs.join(digest.strip_prefix("sha256:").unwrap());
        let size = fs::metadata(&path).unwrap().len();
        assert_eq!(descriptor["size"], size);
        path
    };
    // Each blob has its digest as its name.
    bash(
        &blobs,
        "sha256sum -- * | while read -r sum name; do [ $sum = $name ]; done",
    )
    .ok();
    assert_eq!(
        json(&layout.join("oci-layout"))["imageLayoutVersion"],
        "1.0.0"
    );
    let index = json(&layout.join("index.json"));
    let images = index["manifests"].as_array().unwrap();
    let tags = images
        .iter()
        .map(|image| image["annotations"]["org.opencontainers.image.ref.name"].as_str());
    let tags: Vec<_> = tags.map(Option::unwrap).collect();
    assert!(tags.len() == 2 && tags[1] == format!("{}-demo", tags[0]));
    for (layers, image) in images.iter().enumerate() {
        let manifest = json(&blob(image));
        let config = json(&blob(&manifest["config"]));
        assert_eq!(config["config"]["User"], "65532:65532");
        assert_eq!(config["config"]["Entrypoint"][0], "/usr/bin/domesday");
        let packed = manifest["layers"].as_array().unwrap();
        assert_eq!(packed.len(), layers + 1);
        let diffs = config["rootfs"]["diff_ids"].as_array().unwrap();
        for (layer, diff) in packed.iter().zip(diffs) {
            let line = format!("gzip -dc '{}' | sha256sum", blob(layer).display());
            let sum = bash(dist, &line).ok().stdout;
            assert_eq!(*diff, format!("sha256:{}", sum.split(' ').next().unwrap()));
        }
        let line = format!("tar -tzf '{}'", blob(&packed[0]).display());
        let names = bash(dist, &line).ok().stdout;
        for name in [
            "usr/bin/domesday",
            "etc/ssl/certs/ca-certificates.crt",
            "lib64/ld-linux-x86-64.so.2",
        ] {
            assert!(names.lines().any(|line| line == name), "{name}: {names}");
        }
    }
}

/// Root pulls, and the service reads as another user.
#[test]
fn a_pulled_release_is_readable_to_all_under_a_narrow_umask() {
    let target = host();
    let line = format!(
        "umask 077; '{}' release pull {RELEASE} '{}' --releases '{}'",
        env!("CARGO_BIN_EXE_domesday"),
        releases().display(),
        target.path().display()
    );
    bash(&repository(), &line).ok();
    let line = "find property valuation -printf '%y %m\\n' | sort -u";
    let modes = bash(target.path(), line).ok().stdout;
    assert_eq!(modes, "d 755\nf 644\n");
}

#[test]
fn the_unit_exposes_at_most_two_of_ten() {
    let unit = repository().join("packaging/systemd/domesday.service");
    let mut command = Command::new("systemd-analyze");
    command.args(["security", "--offline=true", "--threshold=20", "--no-pager"]);
    command.arg(&unit);
    let security = run_command(command, TIMEOUT);
    assert_eq!(security.code, Some(0), "{security:#?}");
    let unit = fs::read_to_string(unit).unwrap();
    for left_out in ["MemoryDenyWriteExecute=", "LimitAS="] {
        let mut lines = unit.lines().filter(|line| line.contains(left_out));
        assert!(lines.all(|line| line.starts_with('#')), "{left_out}");
    }
}

#[test]
fn the_version_names_commit_engine_and_interfaces() {
    let version = run(["--version"]).ok().stdout;
    let names: Vec<_> = version
        .lines()
        .map(|line| line.split("  ").next())
        .collect();
    let expected = [
        concat!("domesday ", env!("CARGO_PKG_VERSION")),
        "commit",
        "engine",
        "release interfaces",
        "HTTP interfaces",
    ];
    assert_eq!(names, expected.map(Some), "{version}");
    assert!(version.contains("wasmtime ") && version.contains("domesday:valuation@1.1.0"));
    // The versions are those of the routes.
    let stated = version.lines().last().unwrap();
    let description: Value = serde_json::from_str(&run(["openapi"]).ok().stdout).unwrap();
    let mut served: Vec<_> = (description["paths"].as_object().unwrap().keys())
        .filter_map(|path| path[1..].split_once('/'))
        .map(|(version, _)| version)
        .collect();
    served.sort_unstable();
    served.dedup();
    assert!(
        stated.ends_with(&format!("  {}", served.join(" "))),
        "{stated} {served:?}"
    );
    assert_eq!(
        run(["-V"]).ok().stdout.trim(),
        concat!("domesday ", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn each_shell_completes_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let script = run(["completions", shell]).ok().stdout;
        assert!(
            script.contains("print-config") && script.contains("keygen"),
            "{shell}"
        );
    }
}

#[test]
fn every_command_has_a_man_page() {
    let temp_dir = tempfile::tempdir().unwrap();
    let folder = temp_dir.path().join("man1");
    run(["man", &folder.to_string_lossy()]).ok();
    let page = fs::read_to_string(folder.join("domesday-serve.1")).unwrap();
    assert!(
        page.contains(r"\-\-print\-config") && page.contains("DOMESDAY_LISTEN"),
        "{page}"
    );
    assert!(folder.join("domesday-series-build-rates.1").exists());
}
