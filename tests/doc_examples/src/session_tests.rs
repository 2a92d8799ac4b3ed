use super::*;

/// Returns a world whose program prints its arguments.
fn world(temp_dir: &Path) -> World {
    let releases = temp_dir.join("releases");
    fs::create_dir(&releases).unwrap();
    let path = temp_dir.join("program");
    program(&path, "#!/bin/sh\necho \"domesday $*\"\n");
    World {
        program: path,
        repository: temp_dir.to_owned(),
        releases,
        environment: Vec::new(),
        timeout: 60,
    }
}

fn page(text: &str) -> Result<Report, Vec<Problem>> {
    let temp_dir = tempfile::tempdir().unwrap();
    let page = Page::read("docs/a.md", text)?;
    type_page(&page, &world(temp_dir.path()), &|_| None)
}

fn message(text: &str) -> String {
    page(text)
        .unwrap_err()
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn a_sound_page_passes() {
    let report = page(
        "A file, `a/b.toml`:\n\n```toml\nport = 8080\n```\n\n<!-- in small: 4000 as 4 -->\n\n```sh\ncat a/b.toml\necho said >&2\n```\n\n```text\nport = 8080\nsaid\n```\n\n\
         ```sh\nn=4000\n```\n\n```sh\ndomesday key list $n\n```\n\n```text\ndomesday key list 4\n```\n\n<!-- not typed: a day -->\n\n```sh\nfalse\n```\n",
    );
    assert_eq!(report.unwrap().compared, 2);
    let report = page(
        "```sh\necho http://127.0.0.1:8080/a\n```\n\n```text\nhttp://127.0.0.1:8080/a\n```\n\n<!-- not typed: a day -->\n\n```sh\nfalse\n```\n",
    );
    let report = report.unwrap();
    assert_eq!((report.typed, report.compared), (1, 1));
    assert_eq!(report.not_typed, [(12, "a day".to_owned())]);
}

#[test]
fn a_failed_command_is_reported_with_its_output() {
    let message = message("```sh\ntrue\n```\n\n```sh\nb=1\ncat missing.txt\necho never\n```\n");
    assert!(
        message.starts_with("docs/a.md:6: these commands failed"),
        "{message}"
    );
    assert!(message.contains("missing.txt: No such file"), "{message}");
    assert!(!message.ends_with("never\n"), "{message}");
}

#[test]
fn other_output_is_named() {
    let message = message("```sh\ndomesday status\n```\n\n```text\ndomesday statues\n```\n");
    assert!(
        message.starts_with("docs/a.md:6: this was not printed: domesday statues"),
        "{message}"
    );
}

#[test]
fn a_page_writes_into_its_copy_and_never_into_the_repository() {
    let temp_dir = tempfile::tempdir().unwrap();
    let world = world(temp_dir.path());
    fs::create_dir(temp_dir.path().join("docs")).unwrap();
    let file = temp_dir.path().join("docs/kept.md");
    fs::write(&file, "kept\n").unwrap();
    let text = "```sh\necho more >>docs/kept.md\necho new >docs/new.md\n```\n\n\
                ```sh\ncat docs/kept.md docs/new.md\n```\n\n```text\nkept\nmore\nnew\n```\n";
    let page = Page::read("docs/a.md", text).unwrap();
    type_page(&page, &world, &|_| None).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "kept\n");
    assert!(!temp_dir.path().join("docs/new.md").exists());
}

#[test]
fn a_folder_is_a_checkout_unless_the_page_says_empty() {
    let text = "```sh\nls\n```\n\n```text\n";
    page(&format!("{text}program\nreleases\n```\n")).unwrap();
    page(&format!("<!-- folder: empty -->\n\n{text}```\n")).unwrap();
}

#[test]
fn nothing_of_the_repository_is_written_over() {
    let message =
        message("A `program.toml` and `releases/../x.toml`:\n\n```toml\n```\n\n```sh\ntrue\n```\n");
    assert!(message.contains("within the page's folder"), "{message}");
}

#[test]
fn a_page_stops_its_processes() {
    let started = std::time::Instant::now();
    page("```sh\nsleep 50 &\n```\n").unwrap();
    assert!(started.elapsed().as_secs() < 20);
}
