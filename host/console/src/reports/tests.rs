use super::*;
use std::os::unix::fs::symlink;

fn folder() -> (tempfile::TempDir, ReportsFolder) {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("reports");
    fs::create_dir(&inside).unwrap();
    fs::write(folder.path().join("secret.html"), "<title>secret</title>").unwrap();
    let reports = ReportsFolder::open(&inside).unwrap();
    (folder, reports)
}

#[test]
fn nothing_outside_of_the_folder_is_read() {
    let (outer, reports) = folder();
    let inside = outer.path().join("reports");
    symlink("../secret.html", inside.join("link.html")).unwrap();
    fs::create_dir(inside.join("folder.html")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        inside.join("pipe.html"),
        rustix::fs::FileType::Fifo,
        Mode::RUSR | Mode::WUSR,
        0,
    )
    .unwrap();
    for name in [
        "../secret.html",
        "..",
        "/etc/passwd",
        "a/../../secret.html",
        ".hidden.html",
    ] {
        assert!(
            matches!(reports.read(name), Err(ReportError::Name { .. })),
            "{name}"
        );
    }
    for name in ["link.html", "folder.html", "pipe.html"] {
        let refused = reports.read(name);
        assert!(
            matches!(refused, Err(ReportError::NotAFile { .. })),
            "{name}: {refused:?}"
        );
    }
    let listing = reports.list().unwrap();
    assert!(listing.reports.is_empty());
    assert_eq!(listing.left_out.len(), 3, "{:?}", listing.left_out);
}

#[test]
fn a_file_over_the_bound_is_refused_with_its_size() {
    let (outer, reports) = folder();
    let large = outer.path().join("reports/large.html");
    File::create(&large)
        .unwrap()
        .set_len(MAX_BYTES + 1)
        .unwrap();
    let refused = reports.read("large.html").unwrap_err().to_string();
    assert!(refused.contains("4194305 bytes"), "{refused}");
    assert!(reports.list().unwrap().left_out[0].contains("4194305 bytes"));
}

#[test]
fn a_file_that_changed_is_read_again() {
    let (outer, reports) = folder();
    let path = outer.path().join("reports/one.html");
    fs::write(&path, "<title>B-1 against A-1</title>").unwrap();
    let release = |reports: &ReportsFolder| reports.list().unwrap().reports[0].release.clone();
    assert_eq!(release(&reports).as_deref(), Some("B-1"));
    fs::write(&path, "<title>Errors of C-22 since it was made</title>").unwrap();
    assert_eq!(release(&reports).as_deref(), Some("C-22"));
}

#[test]
fn json_of_no_report_is_named() {
    let (outer, reports) = folder();
    fs::write(outer.path().join("reports/other.json"), "{\"a\": 1}").unwrap();
    let listing = reports.list().unwrap();
    assert!(
        listing.left_out[0].contains("other.json"),
        "{:?}",
        listing.left_out
    );
}

#[test]
fn files_of_rounds_take_no_place_of_a_report() {
    let (outer, reports) = folder();
    let inside = outer.path().join("reports");
    let compared = inside.join("compare-A-1-B-1.html");
    fs::write(&compared, "<title>B-1 against A-1</title>").unwrap();
    // The rounds are later than the comparison.
    let before = File::options().write(true).open(&compared).unwrap();
    before.set_modified(std::time::UNIX_EPOCH).unwrap();
    fs::write(inside.join("refresh-record.json"), "{}").unwrap();
    for round in 0..=MOST {
        let name = format!("refresh-20270501T000000{round:03}Z.json");
        fs::write(inside.join(name), "{}").unwrap();
    }
    let listing = reports.list().unwrap();
    let listed: Vec<_> = listing.reports.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(listed, ["compare-A-1-B-1.html"]);
    assert!(listing.left_out.is_empty(), "{:?}", listing.left_out);
}
