//! A page typed: one shell, one folder, its blocks in order.
//!
//! The shell differs from a reader's:
//!
//! - `domesday` is the program under test, and `cargo run` of one of the repository's programs runs
//!   what the tests were built with.
//! - Ports 8080, 8081, 9464 and 5000 are replaced by free ones, since other servers may use them.
//!   The compared output has the page's numbers.
//! - A block that ends in `domesday serve` is a terminal that stays open. The next block is typed
//!   when the server is ready, and the server ends with the page. Its log is kept out of what other
//!   commands print.
//! - `curl` fails where an answer is an error (its own `--fail`).
//! - The page's own words `in small`, `folder` and `needs` ([`page`](crate::page)).

use crate::checkout;
use crate::expected;
use crate::page::{Block, Page};
use crate::{Problem, command_line};
use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The ports that pages show.
const PORTS: [u16; 4] = [8080, 8081, 9464, 5000];
/// The separator of the outputs of two blocks.
const MARK: char = '\u{1e}';
/// The program, the folders and the environment that pages are typed with.
#[derive(Debug, Clone)]
pub struct World {
    /// The `domesday` program.
    pub program: PathBuf,
    /// The repository's root.
    pub repository: PathBuf,
    /// The releases of a fresh checkout.
    pub releases: PathBuf,
    /// Variables that the shell has, or has not.
    pub environment: Vec<(String, Option<String>)>,
    /// Seconds after which a page is given up.
    pub timeout: u64,
}

/// The result of a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Blocks of commands that were typed.
    pub typed: usize,
    /// Blocks whose output was compared.
    pub compared: usize,
    /// Blocks that were not typed: the line and why.
    pub not_typed: Vec<(usize, String)>,
}

/// A step of a page.
enum Step<'a> {
    Make(&'a Block, &'a str),
    Type(&'a Block, Option<&'a Block>),
}

/// Types a page, and looks at its folder in the end.
///
/// # Errors
/// The first command that fails, or every block that printed something else than the page shows.
pub fn type_page(
    page: &Page,
    world: &World,
    afterwards: &dyn Fn(&Path) -> Option<String>,
) -> Result<Report, Vec<Problem>> {
    let mut report = Report::default();
    let steps = steps(page, &mut report)?;
    if report.typed == 0 {
        return Ok(report);
    }
    let temp_dir = tempfile::tempdir().expect("a folder for the page");
    let folder = temp_dir.path().join("typed");
    let shims = temp_dir.path().join("beside");
    prepare(page, world, &folder, &shims);
    let ports = free_ports();
    let script = script(page, &steps, &ports, &shims);
    let mut command = shell(world, &script, &folder, &shims);
    let output = command
        .output()
        .map_err(|error| vec![page.fault(1, format!("bash could not be started: {error}"))])?;
    let mut printed = String::from_utf8_lossy(&output.stdout).into_owned();
    for (port, free) in ports {
        printed = printed.replace(&format!(":{free}"), &format!(":{port}"));
    }
    judge(
        page,
        &steps,
        &printed,
        output.status.success(),
        &folder,
        &mut report,
    )?;
    match afterwards(&folder) {
        Some(what) => Err(vec![page.fault(1, what)]),
        None => Ok(report),
    }
}

fn steps<'a>(page: &'a Page, report: &mut Report) -> Result<Vec<Step<'a>>, Vec<Problem>> {
    let mut steps = Vec::new();
    let mut faults = Vec::new();
    let mut blocks = page.blocks.iter().peekable();
    while let Some(block) = blocks.next() {
        if let Some(file) = &block.file {
            if Path::new(file).is_absolute() || file.contains("..") {
                faults.push(page.fault(block.line, "a file is made within the page's folder"));
            }
            steps.push(Step::Make(block, file));
        } else if let (true, Some(why)) = (block.is_commands(), &block.not_typed) {
            report.not_typed.push((block.line, why.clone()));
        } else if block.is_commands() {
            let output = blocks
                .next_if(|next| next.file.is_none() && ["text", "json"].contains(&&*next.language));
            report.typed += 1;
            steps.push(Step::Type(block, output));
        }
    }
    if faults.is_empty() {
        Ok(steps)
    } else {
        Err(faults)
    }
}

/// Makes the folder that a page is typed in, and one beside it with the programs.
fn prepare(page: &Page, world: &World, folder: &Path, shims: &Path) {
    let io = "the page's folder is made";
    fs::create_dir(folder).expect(io);
    fs::create_dir(shims).expect(io);
    if !page.empty_folder {
        checkout::copy(&world.repository, folder).expect(io);
        let mut copy = Command::new("cp");
        copy.arg("-r")
            .arg(&world.releases)
            .arg(folder.join("releases"));
        assert!(copy.status().expect(io).success(), "{copy:?}");
        let wrapper = include_str!("cargo.sh")
            .replace("@REPOSITORY@", &world.repository.display().to_string())
            .replace(
                "@BUILT@",
                &world.program.parent().expect(io).display().to_string(),
            )
            .replace("@CARGO@", &real_cargo());
        program(&shims.join("cargo"), &wrapper);
    }
    let wrapper = format!(
        "#!/bin/sh\nexec timeout {} '{}' \"$@\"\n",
        world.timeout,
        world.program.display()
    );
    program(&shims.join("domesday"), &wrapper);
    fs::write(shims.join(".curlrc"), "fail\n").expect(io);
}

fn program(path: &Path, text: &str) {
    fs::write(path, text).expect("a program of the page is written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("and made one");
}

/// Returns the path of the reader's cargo: the first of the search path.
fn real_cargo() -> String {
    let found = Command::new("sh").args(["-c", "command -v cargo"]).output();
    let found = found.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    found.unwrap_or_else(|_| "cargo".to_owned())
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").port()
}

/// Returns a free port for each that pages show. The demo's console is beside its API.
fn free_ports() -> [(u16, u16); PORTS.len()] {
    let mut ports = PORTS.map(|port| (port, free_port()));
    let console = |api: u16| api.checked_add(1).filter(|port| is_free(*port));
    for _ in 0..100 {
        match console(ports[0].1) {
            Some(beside) => {
                ports[1].1 = beside;
                break;
            }
            None => ports[0].1 = free_port(),
        }
    }
    ports
}

fn is_free(port: u16) -> bool {
    TcpListener::bind(("127.0.0.1", port)).is_ok()
}

fn script(page: &Page, steps: &[Step<'_>], ports: &[(u16, u16)], shims: &Path) -> String {
    // Whatever fails, what the page started ends with it.
    let mut script = String::from("exec 2>&1\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n");
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Make(block, file) => {
                let _ = write!(
                    script,
                    "if [ -e '{file}' ]; then echo '{file} is there already'; exit 1; fi\n\
                     mkdir -p \"$(dirname '{file}')\"\ncat >'{file}' <<'THE_END_OF_THE_FILE'\n{}THE_END_OF_THE_FILE\n",
                    on(ports, &small(page, &block.text))
                );
            }
            Step::Type(block, _) => {
                let commands = small(page, &block.text);
                let _ = writeln!(script, "printf '{MARK}{number}\\n'");
                match command_line::server(&commands) {
                    Some(server) => {
                        let log = shims.join(format!("server-{number}"));
                        let _ = write!(
                            script,
                            "{before}{serve} >'{log}' 2>'{log}.log' &\n\
                             until curl -s 'http://{address}/readyz' >/dev/null; do\n  \
                             if ! kill -0 $! 2>/dev/null; then cat '{log}' '{log}.log'; exit 1; fi\n  sleep 0.05\ndone\n\
                             cat '{log}'\n",
                            before = on(ports, &server.before),
                            serve = on(ports, &server.command),
                            address = on(ports, &server.address),
                            log = log.display(),
                        );
                    }
                    None => script.push_str(&on(ports, &commands)),
                }
            }
        }
    }
    script
}

/// Replaces the page's large values by the small values that are typed.
fn small(page: &Page, text: &str) -> String {
    let pairs = page.in_small.iter();
    pairs.fold(text.to_owned(), |text, (large, small)| {
        text.replace(large, small)
    })
}

/// Replaces the page's ports by free ports.
fn on(ports: &[(u16, u16)], text: &str) -> String {
    ports.iter().fold(text.to_owned(), |text, (port, free)| {
        text.replace(&format!(":{port}"), &format!(":{free}"))
    })
}

fn shell(world: &World, script: &str, folder: &Path, shims: &Path) -> Command {
    let mut command = Command::new("timeout");
    command
        .args(["--kill-after=10", &world.timeout.to_string()])
        .args(["bash", "-euo", "pipefail", "-c", script])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    for (name, value) in &world.environment {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let path = std::env::var("PATH").unwrap_or_default();
    command
        .env("PATH", format!("{}:{path}", shims.display()))
        .env("CURL_HOME", shims);
    command
}

fn judge(
    page: &Page,
    steps: &[Step<'_>],
    printed: &str,
    ended_well: bool,
    folder: &Path,
    report: &mut Report,
) -> Result<(), Vec<Problem>> {
    let mut faults = Vec::new();
    let mut parts = printed.split(MARK).skip(1).peekable();
    if parts.peek().is_none() && !ended_well {
        return Err(vec![
            page.fault(1, format!("nothing could be typed: {printed}")),
        ]);
    }
    while let Some(part) = parts.next() {
        let (number, part) = part.split_once('\n').unwrap_or((part, ""));
        let step = number
            .parse()
            .ok()
            .and_then(|number: usize| steps.get(number));
        let Some(Step::Type(block, expected_block)) = step else {
            continue;
        };
        let part: String = part
            .lines()
            .filter(|line| !is_log(line))
            .map(|line| format!("{line}\n"))
            .collect();
        if parts.peek().is_none() && !ended_well {
            let what = format!(
                "these commands failed:\n{}They printed:\n{part}",
                block.text
            );
            faults.push(page.fault(block.line, what));
            break;
        }
        let Some(expected_block) = expected_block else {
            continue;
        };
        report.compared += 1;
        let difference = match &*expected_block.language {
            "json" => expected::json(&expected_block.text, &part),
            _ => expected::text(&expected_block.text, &part, folder),
        };
        faults.extend(difference.map(|difference| page.fault(expected_block.line, difference)));
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults)
    }
}

/// Reports whether a line was logged by a server that runs in the background.
fn is_log(line: &str) -> bool {
    line.starts_with("{\"timestamp\":")
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
