//! A server for one test, on a free port and with its own state. Dropping it stops it.

use super::client::Client;
use super::log_pipe::LogReader;
use super::packages::Releases;
use super::program::{ProcessOutput, domesday, releases, run};
use super::wire;
use domesday_test_shared::{end_with_run, once, once_while};
use serde_json::{Value, json};
use std::fs::{DirBuilder, File};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Time limit of a start, of an end and of work that is left.
pub(super) const TIMEOUT: Duration = Duration::from_secs(30);
/// The longest delay of a log line.
const MAX_LOG_DELAY: Duration = Duration::from_secs(30);
const UNMETERED: &str = "requests_per_second = 1000000
burst = 1000000
concurrency = 1000000
monthly_units = 1000000000000";
const PAUSE: Duration = Duration::from_millis(5);

/// The settings of a server that is about to start.
pub struct Start {
    /// True for `domesday sandbox`, which has its own releases.
    sandbox: bool,
    releases: PathBuf,
    data: PathBuf,
    listen: String,
    arguments: Vec<String>,
    environment: Vec<(String, PathBuf)>,
    log_reader: Option<LogReader>,
    temp_dir: TempDir,
}

/// A running server.
pub struct Server {
    process: Process,
    /// The address that it listens on, or that of the proxy which mutates the wire.
    pub address: SocketAddr,
    /// The address that it listens on.
    own_address: SocketAddr,
    /// Its data folder.
    pub data: PathBuf,
    /// Its standard output until it was ready.
    pub printed: String,
    log: PathBuf,
    temp_dir: Option<TempDir>,
}

enum Process {
    /// Ended with its [`Server`].
    Own(Child),
    /// Ended with the tests' run.
    Shared(u32),
}

/// Returns the settings of a server of the demo, with the demo's key and an empty state.
pub fn start() -> Start {
    let temp_dir = TempDir::new().unwrap();
    Start {
        sandbox: false,
        releases: releases_without_series(),
        data: temp_dir.path().join("data"),
        listen: "127.0.0.1:0".to_owned(),
        arguments: Vec::new(),
        environment: Vec::new(),
        log_reader: None,
        temp_dir,
    }
}

/// Returns the settings of a sandbox with an empty state.
pub fn start_sandbox() -> Start {
    Start {
        sandbox: true,
        ..start()
    }
}

/// Returns the server of this name, which all tests of a run share. The first test to ask makes it,
/// and it ends with the run.
pub fn shared(name: &str, make: impl FnOnce() -> Server) -> Server {
    let folder = once_while(
        &format!("server-{name}"),
        |folder| TcpStream::connect(Server::from_record(folder).own_address).is_ok(),
        |folder| make().lend(folder),
    );
    Server::from_record(&folder)
}

/// Returns the demo's releases but for markets and rates. To open those takes most of a server's
/// start, since the reader of Parquet is not optimised in tests.
fn releases_without_series() -> PathBuf {
    let releases = Releases::shared("without-series", |releases| {
        releases.add_snapshot();
        releases.add_demo();
    });
    releases.path().to_owned()
}

impl Start {
    /// Serves the demo's markets and rates too.
    pub fn with_series(self) -> Start {
        self.releases(&releases())
    }

    /// Serves these releases.
    pub fn releases(mut self, releases: &Path) -> Start {
        self.releases = releases.to_owned();
        self
    }

    /// Keeps its state there, which outlives the server.
    pub fn data(mut self, data: &Path) -> Start {
        self.data = data.to_owned();
        self
    }

    /// Listens there.
    pub fn listen(mut self, address: &str) -> Start {
        self.listen = address.to_owned();
        self
    }

    /// Adds arguments.
    pub fn with(mut self, arguments: &[&str]) -> Start {
        self.arguments
            .extend(arguments.iter().map(|&argument| argument.to_owned()));
        self
    }

    /// Sets a variable of its environment.
    pub fn environment(mut self, name: &str, value: &Path) -> Start {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Gives it a pipe for its log, with this reader.
    pub fn log_reader(mut self, reader: &LogReader) -> Start {
        self.log_reader = Some(reader.clone());
        self
    }

    /// Returns the folder of the server's state.
    pub fn data_folder(&self) -> &Path {
        &self.data
    }

    /// Makes a key before the server starts, of a tenant whose plan no test reaches.
    pub fn key(&self, scopes: &[&str]) -> String {
        self.key_with_plan("customer", scopes, UNMETERED)
    }

    /// Makes a key of this tenant, which is on this plan (TOML) from now on.
    pub fn key_with_plan(&self, tenant: &str, scopes: &[&str], plan: &str) -> String {
        std::fs::create_dir_all(&self.data).unwrap();
        let file = self.temp_dir.path().join("plan.toml");
        std::fs::write(&file, plan).unwrap();
        let (data, file) = (self.data.display().to_string(), file.display().to_string());
        let mut arguments = vec!["key", "create", "--tenant", tenant, "--data", &data];
        arguments.extend(["--plan", &file]);
        for scope in scopes {
            arguments.extend(["--scope", scope]);
        }
        run(arguments).ok().stdout.trim().to_owned()
    }

    /// Starts the server, and waits until it is ready.
    #[track_caller]
    pub fn go(self) -> Server {
        self.attempt()
            .unwrap_or_else(|ran| panic!("it did not start: {ran:#?}"))
    }

    /// Asserts that the server does not start, and returns its standard error.
    #[track_caller]
    pub fn refused(self) -> String {
        match self.attempt() {
            Ok(server) => panic!("it started: {}", server.printed),
            Err(ran) => ran.refused(),
        }
    }

    fn attempt(self) -> Result<Server, ProcessOutput> {
        if !self.sandbox && self.data == self.temp_dir.path().join("data") {
            copy_compiled(&self.data);
        }
        self.launch()
    }

    fn launch(self) -> Result<Server, ProcessOutput> {
        let (out, log) = (
            self.temp_dir.path().join("out"),
            self.temp_dir.path().join("log"),
        );
        let stderr: Stdio = match &self.log_reader {
            Some(reader) => reader.start(&log).into(),
            None => File::create(&log).unwrap().into(),
        };
        let mut command = domesday();
        match self.sandbox {
            true => command.arg("sandbox"),
            false => command.args(["serve", "--releases"]).arg(&self.releases),
        };
        let mut child = command
            .args(["--listen", &self.listen, "--data"])
            .arg(&self.data)
            .args(&self.arguments)
            // No load balancer has to see that the server stops.
            .env("DOMESDAY_DRAIN_DELAY", "0")
            .envs(self.environment)
            .stdout(File::create(&out).unwrap())
            .stderr(stderr)
            .spawn()
            .unwrap();
        let text = |path: &Path| String::from_utf8(std::fs::read(path).unwrap()).unwrap();
        let started = Instant::now();
        // It logs this line when all that it prints is printed.
        while !text(&log).contains(r#""message":"serving""#) {
            if let Some(status) = child.try_wait().unwrap() {
                return Err(ProcessOutput {
                    code: status.code(),
                    stdout: text(&out),
                    stderr: text(&log),
                });
            }
            if started.elapsed() > TIMEOUT {
                let _ = child.kill();
                let _ = child.wait();
                panic!("it neither started nor refused to: {}", text(&log));
            }
            std::thread::sleep(PAUSE);
        }
        let printed = text(&out);
        let address = printed.lines().next().unwrap();
        let address = address.rsplit("://").next().unwrap();
        let mut address: SocketAddr = address.parse().unwrap();
        if address.ip().is_unspecified() {
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        Ok(Server {
            process: Process::Own(child),
            address: address_of_clients(address, &printed),
            own_address: address,
            data: self.data,
            printed,
            log,
            temp_dir: Some(self.temp_dir),
        })
    }
}

/// Gives a new data folder the demo's compiled code and the secret that it is kept under. The first
/// server of a run compiles for all.
fn copy_compiled(data: &Path) {
    const SECRET: &str = "host.secret";
    const COMPILED: &str = "compiled";
    if data.join(SECRET).exists() {
        return;
    }
    let compiled = once("compiled-demo", |folder| {
        let server = start().data(&folder.join("data")).launch();
        server.unwrap_or_else(|ran| panic!("{ran:#?}")).stop();
    });
    let compiled = compiled.join("data");
    let own = |folder: &Path| DirBuilder::new().mode(0o700).recursive(true).create(folder);
    own(data).unwrap();
    std::fs::copy(compiled.join(SECRET), data.join(SECRET)).unwrap();
    own(&data.join(COMPILED)).unwrap();
    for entry in std::fs::read_dir(compiled.join(COMPILED)).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap();
        std::fs::copy(&path, data.join(COMPILED).join(name)).unwrap();
    }
}

/// Returns the address for the clients of a server. The proxy that mutates the wire speaks no TLS.
fn address_of_clients(server: SocketAddr, printed: &str) -> SocketAddr {
    match printed.contains("http://") {
        true => wire::in_front_of(server),
        false => server,
    }
}

impl Server {
    /// Shares the server with all tests of the run: writes its record into `folder`.
    fn lend(mut self, folder: &Path) {
        let record = json!({
            "process": self.process(),
            "address": self.own_address,
            "data": self.data,
            "printed": self.printed,
            "log": self.log,
        });
        std::fs::write(folder.join("server.json"), record.to_string()).unwrap();
        let temp_dir = self.temp_dir.take().unwrap().keep();
        end_with_run(self.process(), &temp_dir);
        self.process = Process::Shared(self.process());
    }

    /// Returns the server that [`Server::lend`] wrote down.
    fn from_record(folder: &Path) -> Server {
        let record = std::fs::read(folder.join("server.json")).unwrap();
        let record: Value = serde_json::from_slice(&record).unwrap();
        let text = |name: &str| record[name].as_str().unwrap().to_owned();
        let own_address = text("address").parse().unwrap();
        Server {
            process: Process::Shared(record["process"].as_u64().unwrap().try_into().unwrap()),
            address: address_of_clients(own_address, &text("printed")),
            own_address,
            data: text("data").into(),
            printed: text("printed"),
            log: text("log").into(),
            temp_dir: None,
        }
    }

    pub fn process(&self) -> u32 {
        match &self.process {
            Process::Own(child) => child.id(),
            Process::Shared(process) => *process,
        }
    }

    /// Returns a client with the demo's key.
    pub fn demo(&self) -> Client {
        let key = std::fs::read_to_string(self.data.join("demo.key")).unwrap();
        self.client(key.trim())
    }

    /// Returns a client with the sandbox's key.
    pub fn sandbox(&self) -> Client {
        let key = std::fs::read_to_string(self.data.join("sandbox.key")).unwrap();
        self.client(key.trim())
    }

    /// Returns a client with this key.
    pub fn client(&self, key: &str) -> Client {
        Client::new(self.address, key)
    }

    /// Returns the server's log so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Waits for a log line that satisfies a condition, and returns it.
    #[track_caller]
    pub fn await_log(&self, condition: impl Fn(&Value) -> bool) -> Value {
        let started = Instant::now();
        loop {
            let log = self.log();
            let mut lines = log
                .lines()
                .filter_map(|line| serde_json::from_str(line).ok());
            if let Some(line) = lines.find(|line| condition(line)) {
                return line;
            }
            assert!(started.elapsed() < MAX_LOG_DELAY, "no such line was logged");
            std::thread::sleep(PAUSE);
        }
    }

    /// Asks it to stop.
    pub fn terminate(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: rustix::process::Signal) {
        let id = i32::try_from(self.process()).unwrap();
        let id = rustix::process::Pid::from_raw(id).unwrap();
        rustix::process::kill_process(id, signal).unwrap();
    }

    /// Waits until it has ended: how, and all that it logged.
    pub fn await_end(mut self) -> (ExitStatus, String) {
        let started = Instant::now();
        let Process::Own(child) = &mut self.process else {
            panic!("no test ends a server that others use");
        };
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return (status, self.log());
            }
            assert!(started.elapsed() < TIMEOUT, "it does not end");
            std::thread::sleep(PAUSE);
        }
    }

    /// Stops it cleanly.
    #[track_caller]
    pub fn stop(self) -> String {
        self.terminate();
        let (status, log) = self.await_end();
        assert!(status.success(), "{status}: {log}");
        log
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Process::Own(child) = &mut self.process {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
        drop(self.temp_dir.take());
    }
}
