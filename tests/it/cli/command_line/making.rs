//! Making registers, snapshots and the demo, the same bytes each time.

use crate::command_line::bytes_under;
use crate::common::packages::damage;
use crate::common::program::{ProcessOutput, releases, repository, run};
use domesday_test_shared::once;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The registers of a snapshot: the flag and the file of each. A month of changes is another file.
pub(crate) const REGISTERS: [(&str, &str); 7] = [
    ("--price-paid", "price-paid.csv"),
    ("--certificates", "certificates.csv"),
    ("--code-point", "codepo_gb.zip"),
    ("--areas", "SAM_LAD_DEC_2023_UK.csv"),
    (
        "--authority-codes",
        "local-authority-codes-past-and-current.csv",
    ),
    ("--house-price-index", "UK-HPI-full-file.csv"),
    ("--addresses", "addresses.csv"),
];

/// Returns the folder of the made-up registers, written once a run.
pub(crate) fn registers() -> &'static Path {
    static REGISTERS: OnceLock<PathBuf> = OnceLock::new();
    REGISTERS.get_or_init(|| {
        once("registers", |folder| {
            demo_data(folder, "1086").ok();
        })
    })
}

fn demo_data(folder: &Path, seed: &str) -> ProcessOutput {
    run(["demo-data", &folder.display().to_string(), "--seed", seed])
}

fn named_bytes(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = bytes_under(folder)
        .into_iter()
        .map(|(name, bytes)| (name.rsplit('/').next().unwrap().to_owned(), bytes))
        .collect();
    files.sort();
    files
}

#[test]
fn the_same_seed_generates_the_same_bytes() {
    let again = tempfile::tempdir().unwrap();
    demo_data(again.path(), "1086").ok();
    assert!(named_bytes(registers()) == named_bytes(again.path()));
    let other = tempfile::tempdir().unwrap();
    demo_data(other.path(), "1087").ok();
    assert!(named_bytes(registers()) != named_bytes(other.path()));
}

/// Builds the demo's snapshot from the made-up registers, one of which may be replaced.
fn build(packages_dir: &Path, replaced: Option<(&str, &Path)>) -> ProcessOutput {
    build_with(packages_dir, replaced, &[])
}

fn build_with(
    packages_dir: &Path,
    replaced: Option<(&str, &Path)>,
    further: &[&str],
) -> ProcessOutput {
    let mut arguments = vec!["property".to_owned(), "build".to_owned()];
    let change = ("--price-paid", "price-paid-monthly-change.csv");
    for (option, file) in REGISTERS.into_iter().chain([change]) {
        let path = match replaced {
            Some((name, path)) if name == file => path.to_owned(),
            _ => registers().join(file),
        };
        arguments.extend([option.to_owned(), path.display().to_string()]);
    }
    for (option, value) in [
        ("--snapshot-id", "synthetic-2026-09"),
        ("--created", "2026-10-01T00:00:00Z"),
        ("--releases", &packages_dir.display().to_string()),
    ] {
        arguments.extend([option.to_owned(), value.to_owned()]);
    }
    arguments.push("--synthetic".to_owned());
    arguments.extend(further.iter().map(|word| (*word).to_owned()));
    run(arguments)
}

fn manifest(package: &Path) -> Value {
    serde_json::from_slice(&fs::read(package.join("manifest.json")).unwrap()).unwrap()
}

#[test]
fn a_snapshot_built_again_has_the_same_content_and_it_is_the_demos() {
    let packages_dir = tempfile::tempdir().unwrap();
    build(packages_dir.path(), None).ok();
    let package = packages_dir.path().join("property/synthetic-2026-09");
    let (built, published) = (
        manifest(&package),
        manifest(&releases().join("property/synthetic-2026-09")),
    );
    assert_eq!(
        built["body"]["content_digest"],
        published["body"]["content_digest"]
    );
    assert_eq!(built["body"]["counts"], published["body"]["counts"]);
    assert_eq!(built["body"]["sources"], published["body"]["sources"]);
    for file in ["report.json", "rejects.csv"] {
        assert_eq!(built["files"][file], published["files"][file], "{file}");
    }
}

#[test]
fn how_much_memory_a_build_may_take_changes_nothing_in_the_snapshot() {
    let packages_dir = tempfile::tempdir().unwrap();
    build_with(packages_dir.path(), None, &["--memory", "4"]).ok();
    assert_eq!(
        manifest(&packages_dir.path().join("property/synthetic-2026-09"))["body"],
        manifest(&releases().join("property/synthetic-2026-09"))["body"]
    );
    let refused = build_with(packages_dir.path(), None, &["--memory", "1"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("1 is not in 4.."), "{refused:?}");
}

#[test]
fn open_uprn_is_read_from_its_flag_and_another_file_there_is_refused_by_name() {
    let packages_dir = tempfile::tempdir().unwrap();
    let points = packages_dir.path().join("osopenuprn_202609.csv");
    let head = "UPRN,X_COORDINATE,Y_COORDINATE,LATITUDE,LONGITUDE\n";
    fs::write(&points, format!("{head}1,450001.00,300001.00,52.1,-1.1\n")).unwrap();
    let points = points.display().to_string();
    let built = build_with(packages_dir.path(), None, &["--open-uprn", &points]).ok();
    let report: Value = serde_json::from_str(&built.stdout).unwrap();
    let files = report["files"].as_array().unwrap();
    let file = files.iter().find(|file| file["register"] == "open_uprn");
    assert_eq!(file.unwrap()["rows_kept"], 1);
    let other = registers().join("price-paid.csv").display().to_string();
    let refusal = build_with(packages_dir.path(), None, &["--open-uprn", &other]).refused();
    assert!(
        refusal.contains("price-paid.csv") && refusal.contains("OS Open UPRN"),
        "{refusal}"
    );
}

#[test]
fn a_lean_country_has_the_same_registers_and_builds_the_same_snapshot() {
    let lean = tempfile::tempdir().unwrap();
    let folder = lean.path().display().to_string();
    run(["demo-data", &folder, "--seed", "1086", "--lean"]).ok();
    assert!(!lean.path().join("truth-sales.csv").exists());
    assert!(!lean.path().join("certificates.csv").exists());
    let packages_dir = tempfile::tempdir().unwrap();
    let certificates = lean.path().join("certificates.zip");
    build(
        packages_dir.path(),
        Some(("certificates.csv", &certificates)),
    )
    .ok();
    assert_eq!(
        manifest(&packages_dir.path().join("property/synthetic-2026-09"))["body"]["content_digest"],
        manifest(&releases().join("property/synthetic-2026-09"))["body"]["content_digest"]
    );
}

/// Building from the complete file and then adding the month gives the same as building from both.
#[test]
fn a_snapshot_is_updated_with_a_month_and_becomes_the_demos() {
    let packages_dir = tempfile::tempdir().unwrap();
    let none = packages_dir.path().join("no-changes.csv");
    let complete = fs::read_to_string(registers().join("price-paid.csv")).unwrap();
    let first = complete.lines().next().unwrap();
    fs::write(&none, format!("{first}\n")).unwrap();
    build(
        packages_dir.path(),
        Some(("price-paid-monthly-change.csv", &none)),
    )
    .ok();
    let update = |id: &str, from: &str, month: &Path| {
        run([
            "property",
            "update",
            "--snapshot-id",
            id,
            "--from",
            from,
            "--price-paid",
            &month.display().to_string(),
            "--created",
            "2026-11-01T00:00:00Z",
            "--releases",
            &packages_dir.path().display().to_string(),
        ])
    };
    let month = registers().join("price-paid-monthly-change.csv");
    let package = |id: &str| manifest(&packages_dir.path().join("property").join(id));
    let before = package("synthetic-2026-09");
    let output = update("synthetic-2026-10", "synthetic-2026-09", &month).ok();
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    for what in ["added", "changed", "deleted"] {
        assert!(report["sales"][what].as_u64() > Some(0), "{what}: {report}");
    }
    let (new, demo) = (
        package("synthetic-2026-10"),
        manifest(&releases().join("property/synthetic-2026-09")),
    );
    assert_eq!(
        new["body"]["content_digest"],
        demo["body"]["content_digest"]
    );
    assert_ne!(
        new["body"]["content_digest"],
        before["body"]["content_digest"]
    );
    assert_eq!(new["body"]["counts"], demo["body"]["counts"]);
    assert_eq!(new["body"]["synthetic"], true);
    assert_eq!(package("synthetic-2026-09"), before, "the old one stays");

    let again = update("synthetic-2026-11", "synthetic-2026-10", &month).refused();
    assert!(
        again.contains("in the order of their latest sales"),
        "{again}"
    );
    let unknown = update("synthetic-2026-11", "synthetic-2020-01", &month).refused();
    assert!(
        unknown.contains("--from synthetic-2020-01 cannot be opened in"),
        "{unknown}"
    );
    let taken = update("synthetic-2026-10", "synthetic-2026-09", &none).refused();
    assert!(
        taken.contains("in the order of their latest sales"),
        "{taken}"
    );
    let certificates = registers().join("certificates.csv");
    let other = update("synthetic-2026-11", "synthetic-2026-10", &certificates).refused();
    assert!(other.contains("certificates.csv"), "{other}");
    let absent = update(
        "synthetic-2026-11",
        "synthetic-2026-10",
        &packages_dir.path().join("no.csv"),
    );
    let absent = absent.refused();
    assert!(absent.contains("no.csv"), "{absent}");
    let packages_dir = packages_dir.path().join("property");
    assert_eq!(
        fs::read_dir(packages_dir).unwrap().count(),
        2,
        "nothing half made"
    );
}

#[test]
fn an_id_that_is_published_is_never_written_over() {
    let packages_dir = tempfile::tempdir().unwrap();
    build(packages_dir.path(), None).ok();
    let manifest_path = packages_dir
        .path()
        .join("property/synthetic-2026-09/manifest.json");
    let before = fs::read(&manifest_path).unwrap();
    let addresses = packages_dir.path().join("addresses.csv");
    let text = fs::read_to_string(registers().join("addresses.csv")).unwrap();
    let fewer: Vec<&str> = text.lines().take(5_000).collect();
    fs::write(&addresses, fewer.join("\n")).unwrap();
    let refusal = build(packages_dir.path(), Some(("addresses.csv", &addresses))).refused();
    assert!(refusal.contains("published already"), "{refusal}");
    assert_eq!(fs::read(&manifest_path).unwrap(), before);
}

#[test]
fn a_damaged_register_is_refused_by_name_and_nothing_is_published() {
    let scratch = tempfile::tempdir().unwrap();
    for (flag, file) in REGISTERS {
        for (damage, bytes) in [
            ("empty", Vec::new()),
            (
                "another format",
                b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj <<>> endobj\n".to_vec(),
            ),
            ("bytes", vec![0; 4096]),
        ] {
            let path = scratch.path().join(file);
            fs::write(&path, bytes).unwrap();
            let refusal = build(scratch.path(), Some((file, &path))).refused();
            assert!(refusal.contains(file), "{file}, {damage}: {refusal}");
        }
        let absent = scratch.path().join("absent").join(file);
        let refusal = build(scratch.path(), Some((file, &absent))).refused();
        let sentence = format!("cannot read {}: No such file", absent.display());
        assert!(refusal.contains(&sentence), "{refusal}");
        assert!(refusal.contains(&format!("; check {flag}")), "{refusal}");
    }
    let packages_dir = fs::read_dir(scratch.path().join("property")).unwrap();
    assert_eq!(packages_dir.count(), 0, "nothing is left behind");
}

#[test]
fn a_zip_with_one_flipped_bit_is_refused_by_name() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("codepo_gb.zip");
    fs::copy(registers().join("codepo_gb.zip"), &path).unwrap();
    damage(&path);
    let refusal = build(scratch.path(), Some(("codepo_gb.zip", &path))).refused();
    assert!(refusal.contains("codepo_gb.zip"), "{refusal}");
}

#[test]
fn a_register_cut_off_within_a_row_counts_that_row_as_a_reject() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("price-paid.csv");
    let bytes = fs::read(registers().join("price-paid.csv")).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let ran = build(scratch.path(), Some(("price-paid.csv", &path)));
    match ran.code {
        Some(0) => {
            let package = scratch.path().join("property/synthetic-2026-09");
            let rejects = fs::read_to_string(package.join("rejects.csv")).unwrap();
            let last = bytes[..bytes.len() / 2]
                .split(|&byte| byte == b'\n')
                .count();
            let line = format!(",{last},");
            assert!(
                rejects
                    .lines()
                    .any(|row| row.contains("price-paid.csv") && row.contains(&line)),
                "{last}"
            );
        }
        _ => assert!(ran.refused().contains("price-paid.csv")),
    }
}

/// Returns a package's manifest without the component and the table of datasets.
///
/// A published release keeps its bytes, while a component's bytes follow its model's source to the
/// line number. The digest of the fixtures holds its answers. The demo's series were published
/// before every manifest had the table, which follows from their files.
fn content(folder: &Path, package: &str) -> Value {
    let mut manifest = manifest(&folder.join(package));
    for (object, member) in [("files", "component.wasm"), ("body", "datasets")] {
        if let Some(object) = manifest[object].as_object_mut() {
            object.remove(member);
        }
    }
    manifest
}

#[test]
fn the_demo_is_made_again_and_answers_byte_for_byte() {
    let temp_dir = tempfile::tempdir().unwrap();
    let output = Command::new(repository().join("scripts/make-demo"))
        .arg(temp_dir.path())
        .arg(env!("CARGO_BIN_EXE_domesday"))
        .env_remove("DOMESDAY_RELEASES")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    for package in [
        "property/synthetic-2026-09",
        "valuation/synthetic-hedonic-2027-05",
        "markets/synthetic-markets-2026-10",
        "rates/synthetic-rates-2026-10",
    ] {
        assert_eq!(
            content(temp_dir.path(), package),
            content(&releases(), package),
            "{package}"
        );
    }
}

#[test]
fn invented_rates_build_a_labelled_release() {
    let folder = tempfile::tempdir().unwrap();
    let sources = folder.path().join("sources").display().to_string();
    let packages_dir = folder.path().join("releases").display().to_string();
    run(["demo-data", &sources, "--rates"]).ok();
    let (mut database, mut curves) = (Vec::new(), Vec::new());
    for (name, _) in named_bytes(Path::new(&sources)) {
        let path = format!("{sources}/{name}");
        if name.contains("curve") || name.contains("inflation") {
            curves.push(path);
        } else {
            database.push(path);
        }
    }
    let build = |id: &str, database: &[String]| {
        let mut arguments = [
            "series",
            "build",
            "rates",
            "--release-id",
            id,
            "--synthetic",
        ]
        .map(str::to_owned)
        .to_vec();
        arguments.extend(["--releases".to_owned(), packages_dir.clone()]);
        arguments.push("--bank-csv".to_owned());
        arguments.extend_from_slice(database);
        arguments.push("--curves".to_owned());
        arguments.extend_from_slice(&curves);
        run(arguments)
    };
    build("rates-1", &database).ok();
    let manifest = fs::read(format!("{packages_dir}/rates/rates-1/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(manifest["body"]["synthetic"], true);
    assert_eq!(manifest["body"]["sources"].as_array().unwrap().len(), 11);
    // The same files again are the same package.
    build("rates-1", &database).ok();
    // A file that contradicts itself is named, and nothing is written.
    let bad = folder.path().join("bad.csv");
    fs::write(&bad, "DATE,IUDBEDR\n18 Dec 2025,3.75\n18 Dec 2025,4\n").unwrap();
    let refusal = build("rates-2", &[bad.display().to_string()]).refused();
    assert!(
        refusal.contains("bad.csv, line 3, column IUDBEDR"),
        "{refusal}"
    );
    assert!(!Path::new(&packages_dir).join("rates/rates-2").exists());
}
