//! Executes every document. One test a page types its commands, and one test looks for the names on
//! all pages. A new page in `docs/` or `examples/` is tested without a line here. CHANGELOG.md is
//! left out: it names things that were removed. `docs/testing.md` lists the directives of a page.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::program::{domesday, releases, repository, run, run_command};
use domesday_test_documents::cargo::Workspace;
use domesday_test_documents::page::Page;
use domesday_test_documents::program::Command;
use domesday_test_documents::session::{self, World};
use domesday_test_documents::vocabulary::Sources;
use domesday_test_documents::{Problem, cargo, links, program, scripts, vocabulary};
use domesday_test_postgres::shared;
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Seconds that a page may take: the first run of all compiles some dozens of crates, for the
/// machine and for the sandbox.
const TIMEOUT: u64 = 1_200;

fn main() {
    let mut trials = Vec::new();
    let mut pages = Vec::new();
    for name in names() {
        let text = std::fs::read_to_string(repository().join(&name)).unwrap();
        match Page::read(&name, &text) {
            Ok(page) => pages.push(page),
            Err(faults) => trials.push(Trial::test(format!("form::{name}"), || outcome(faults))),
        }
    }
    let pages = Arc::new(pages);
    for number in 0..pages.len() {
        let name = &pages[number].name;
        if pages[number].blocks.iter().any(|block| block.is_commands()) {
            let all = Arc::clone(&pages);
            trials.push(Trial::test(format!("typed::{name}"), move || {
                type_page(&all[number])
            }));
        }
    }
    // Reading the sources and the program's help takes longer than all pages do.
    trials.push(Trial::test("every_page_names_what_exists", move || {
        check_names(&pages)
    }));
    trials.push(Trial::test(
        "every_metric_is_described",
        every_metric_is_described,
    ));
    trials.push(Trial::test(
        "the_compose_file_agrees_with_the_program",
        the_compose_file_agrees_with_the_program,
    ));
    // Pages that take longest are begun first, so that none is left alone in the end.
    trials.sort_by_key(|trial| !trial.name().contains("typed::docs/tutorial/first-release"));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// Returns all pages, as paths from the repository's root.
fn names() -> Vec<String> {
    let mut names = ["README.md", "CONTRIBUTING.md", "SECURITY.md"]
        .map(str::to_owned)
        .to_vec();
    let mut folders = vec![PathBuf::from("docs"), PathBuf::from("examples")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(repository().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let within = folder.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                folders.push(within);
            } else if within.extension().is_some_and(|ending| ending == "md") {
                names.push(within.display().to_string());
            }
        }
    }
    names.sort();
    names
}

fn outcome(faults: Vec<Problem>) -> Result<(), Failed> {
    if faults.is_empty() {
        return Ok(());
    }
    let mut text = String::new();
    for fault in faults {
        let _ = writeln!(text, "{fault}");
    }
    Err(text.into())
}

/// Checks that everything that pages name exists.
fn check_names(pages: &[Page]) -> Result<(), Failed> {
    let repository = repository();
    let (sources, workspace) = (Sources::read(&repository), Workspace::read(&repository));
    let program = Command::read(&|path| {
        let arguments = path.iter().copied().chain(["--help"]);
        run(arguments).ok().stdout
    });
    let mut faults = Vec::new();
    for page in pages {
        faults.extend(links::faults(page, pages, &repository));
        faults.extend(program::faults(page, &program));
        faults.extend(cargo::faults(page, &workspace));
        faults.extend(scripts::faults(page, &repository));
        faults.extend(vocabulary::faults(page, &sources, &program));
    }
    outcome(faults)
}

/// Types the commands of a page, and compares their output with the page.
fn type_page(page: &Page) -> Result<(), Failed> {
    let mut environment = environment(page);
    for need in &page.needs {
        match need.as_str() {
            "real-data" => match common::downloads::folder(&page.name, "ppd") {
                Some(data) => set(&mut environment, "DOMESDAY_REAL_DATA", &data),
                None => return Ok(()),
            },
            "postgresql" => environment.extend(postgresql()),
            "docker-registry" if !is_installed(need) => {
                println!("skipped: {} needs {need} (Debian: {need})", page.name);
                return Ok(());
            }
            "docker-registry" => {}
            other => return Err(format!("{}: nobody provides {other}", page.name).into()),
        }
    }
    let world = World {
        program: PathBuf::from(env!("CARGO_BIN_EXE_domesday")),
        repository: repository(),
        releases: releases(),
        environment,
        timeout: TIMEOUT,
    };
    let report = match session::type_page(page, &world, &|folder| check_folder(page, folder)) {
        Ok(report) => report,
        Err(faults) => return outcome(faults),
    };
    let (name, not_typed) = (&page.name, report.not_typed.len());
    println!(
        "{name}: {} blocks of commands typed, {} outputs compared, {not_typed} blocks not typed",
        report.typed, report.compared
    );
    for (line, why) in report.not_typed {
        println!("{name}:{line}: not typed: {why}");
    }
    Ok(())
}

/// Returns the environment of a page: no setting of this process, and the reader's own cargo.
fn environment(page: &Page) -> Vec<(String, Option<String>)> {
    let program = domesday();
    let without = program.get_envs().filter(|(_, value)| value.is_none());
    let mut environment: Vec<_> = without
        .map(|(name, _)| (name.to_str().unwrap().to_owned(), None))
        .collect();
    environment.push(("CARGO".to_owned(), None));
    environment.push(("RUSTUP_TOOLCHAIN".to_owned(), None));
    if page.empty_folder {
        // Another folder is another project.
        environment.push(("RUSTFLAGS".to_owned(), None));
    }
    // What one page compiled of other people's crates serves the next page.
    let program = Path::new(env!("CARGO_BIN_EXE_domesday"));
    let target = program.ancestors().nth(2).unwrap();
    set(&mut environment, "CARGO_TARGET_DIR", target);
    set(
        &mut environment,
        "DOMESDAY_SOURCE",
        releases().parent().unwrap(),
    );
    environment
}

fn set(environment: &mut Vec<(String, Option<String>)>, name: &str, value: &Path) {
    environment.push((name.to_owned(), Some(value.display().to_string())));
}

/// Creates a database for the test, and returns its address as the environment variables of
/// PostgreSQL's programs.
fn postgresql() -> Vec<(String, Option<String>)> {
    let address = shared().database();
    let (_, settings) = address.split_once('?').unwrap();
    let settings = settings
        .split('&')
        .filter_map(|setting| setting.split_once('='));
    let named = settings
        .map(|(name, value)| (format!("PG{}", name.to_uppercase()), Some(value.to_owned())));
    named
        .chain([("PGDATABASE".to_owned(), Some("postgres".to_owned()))])
        .collect()
}

/// Reports whether a program is on the search path.
fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Checks a page's folder in the end, beyond what the page shows. Returns the difference.
fn check_folder(page: &Page, folder: &Path) -> Option<String> {
    if page.name != "docs/tutorial/first-release.md" {
        return None;
    }
    // Nothing of the machine that built it is in the component.
    let component = folder.join("releases/valuation/local-price-1/component.wasm");
    let component = std::fs::read(component).unwrap();
    let component = String::from_utf8_lossy(&component);
    let machine = [
        folder.display().to_string(),
        env!("CARGO_MANIFEST_DIR").to_owned(),
    ];
    let path = machine.iter().find(|path| component.contains(*path))?;
    Some(format!("the component tells of {path}"))
}

/// Checks that the page of metrics has each metric that is served.
/// `tests/it/http/operation/metrics.rs` holds the list itself.
fn every_metric_is_described() -> Result<(), Failed> {
    let list = repository()
        .join("tests/it/http/operation/snapshots/http__operation__metrics__metrics.snap");
    let list = std::fs::read_to_string(list).unwrap();
    let page = std::fs::read_to_string(repository().join("docs/reference/metrics.md")).unwrap();
    let names = list.lines().filter(|line| line.starts_with("domesday_"));
    let names = names.map(|line| line.split_whitespace().next().unwrap());
    let endings = ["_bucket", "_sum", "_count"];
    let described = |name: &str| {
        let bare = endings.iter().find_map(|ending| name.strip_suffix(ending));
        page.contains(&format!("`{}`", bare.unwrap_or(name)))
    };
    let missing: Vec<&str> = names.filter(|name| !described(name)).collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(format!("docs/reference/metrics.md leaves out {missing:?}").into())
    }
}

/// Checks the settings, ports and grace period of the compose file with the program, and its user
/// and folders with the image.
fn the_compose_file_agrees_with_the_program() -> Result<(), Failed> {
    let path = repository().join("examples/compose/compose.yaml");
    let file = std::fs::read_to_string(path).unwrap();
    let pairs = file.lines().filter_map(|line| line.trim().split_once(": "));
    let pairs: Vec<(&str, &str)> = pairs.collect();
    let value = |name: &str| pairs.iter().find(|(of, _)| *of == name).unwrap().1;
    let settings = pairs
        .iter()
        .filter(|(name, _)| name.starts_with("DOMESDAY_"));
    let settings: Vec<(&str, String)> = settings
        .map(|(name, value)| (*name, value.replace("${POSTGRES_PASSWORD}", "secret")))
        .collect();

    let words: Vec<String> = serde_json::from_str(value("command")).unwrap();
    let mut program = domesday();
    program.args(&words).arg("--print-config");
    for (name, value) in &settings {
        program.env(name, value);
    }
    let config = run_command(program, common::program::TIMEOUT).ok().stdout;

    let mut faults = Vec::new();
    for (name, _) in &settings {
        let source = format!("  # {name}");
        if !config.lines().any(|line| line.ends_with(&source)) {
            faults.push(format!("the program does not read {name}"));
        }
    }
    for name in ["DOMESDAY_RELEASES", "DOMESDAY_DATA"] {
        if !file.contains(&format!(":{}", value(name))) {
            faults.push(format!("no volume is mounted at {name}"));
        }
    }
    let layout = repository().join("packaging/oci_layout.py");
    let layout = std::fs::read_to_string(layout).unwrap();
    let user = layout.lines().find_map(|line| line.strip_prefix("USER = "));
    let user = user.unwrap();
    if value("user") != format!("\"{user}:{user}\"") {
        faults.push(format!("the image's user is {user}"));
    }
    for (name, is_written) in [("DOMESDAY_RELEASES", false), ("DOMESDAY_DATA", true)] {
        let owner = if is_written { "USER" } else { "0" };
        let folder = value(name).trim_start_matches('/');
        if !layout.contains(&format!("\"{folder}\": ({owner}, ")) {
            faults.push(format!("the image has no folder {folder} of {owner}"));
        }
    }
    let published = file.lines().filter_map(|line| {
        let mapping = line.trim().strip_prefix("- \"")?.strip_suffix('"')?;
        mapping.rsplit_once(':').map(|(_, port)| port)
    });
    let listened = settings.iter().filter(|(name, _)| name.ends_with("LISTEN"));
    let listened = listened.filter_map(|(_, address)| Some(address.rsplit_once(':')?.1));
    let (published, listened): (BTreeSet<&str>, BTreeSet<&str>) =
        (published.collect(), listened.collect());
    if published != listened {
        faults.push(format!(
            "ports {published:?}, but it listens on {listened:?}"
        ));
    }
    let seconds = |name: &str| -> u32 {
        let setting = format!("{name} = ");
        let found = config.lines().find_map(|line| line.strip_prefix(&setting));
        found.unwrap().split(' ').next().unwrap().parse().unwrap()
    };
    let grace: u32 = value("stop_grace_period")
        .trim_end_matches('s')
        .parse()
        .unwrap();
    if grace <= seconds("drain_delay") + seconds("drain_timeout") {
        faults.push("stop_grace_period ends before the drain".to_owned());
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(format!("examples/compose/compose.yaml: {}", faults.join("; ")).into())
    }
}
