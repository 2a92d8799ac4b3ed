//! A proxy that cuts, delays and repeats, and keeps what reached the host.

use crate::common::seed::SeededRandom;
use crate::common::wire::{Message, read_request, read_response};
use serde_json::Value;
use socket2::SockRef;
use std::fmt;
use std::io::{BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The longest wait for bytes of either side.
const TIMEOUT: Duration = Duration::from_secs(30);
const MAX_DELAY_MS: u64 = 30;

/// The setting of a proxy.
pub struct Plan {
    /// The host behind it.
    pub host: SocketAddr,
    /// The number of cuts after which all requests pass.
    pub cuts: u64,
    /// The file that is made after the last cut.
    pub stop: PathBuf,
}

/// A request that a client sent in full, and what became of it.
pub struct Exchange {
    /// The call of the client, from the first reference or the idempotency key. Queries have none.
    pub call: Option<String>,
    /// The path.
    pub path: String,
    /// The result at the host.
    pub fate: Fate,
}

/// What became of a request at the host.
pub enum Fate {
    /// It was cut on its way there.
    Cut,
    /// The host answered with this status and body, whatever the client got of it.
    Answered(String, Value),
    /// The proxy left before the answer.
    Unread,
}

/// The number of requests by what the proxy did to them.
#[derive(Default, Clone)]
pub struct Counts {
    passed: u64,
    delayed: u64,
    repeated: u64,
    cut_requests: u64,
    cut_responses: u64,
    unread: u64,
}

impl Counts {
    /// Returns the number of cut connections.
    pub fn cuts(&self) -> u64 {
        self.cut_requests + self.cut_responses + self.unread
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{} cuts ({} in a request, {} in a response, {} before one), {} requests delayed, {} \
             repeated, {} untouched",
            self.cuts(),
            self.cut_requests,
            self.cut_responses,
            self.unread,
            self.delayed,
            self.repeated,
            self.passed
        )
    }
}

enum Action {
    Pass,
    Delay(Duration),
    Repeat,
    CutRequest,
    CutResponse,
    Leave,
}

/// A running proxy, which lives as long as the process.
pub struct Cutter {
    /// The address for the client.
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    plan: Plan,
    random: Mutex<SeededRandom>,
    counts: Mutex<Counts>,
    exchanges: Mutex<Vec<Exchange>>,
}

impl Cutter {
    /// Starts a proxy.
    pub fn start(plan: Plan, seed: u64) -> Cutter {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            plan,
            random: Mutex::new(SeededRandom::new(seed)),
            counts: Mutex::default(),
            exchanges: Mutex::default(),
        });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let shared = Arc::clone(&accepting);
                // A connection ends with an error where the client ends it.
                std::thread::spawn(move || drop(shared.serve(&client)));
            }
        });
        Cutter { address, shared }
    }

    /// Returns the number of requests by what was done to them.
    pub fn counts(&self) -> Counts {
        self.shared.counts.lock().unwrap().clone()
    }

    /// Returns the exchanges until now, and forgets them.
    pub fn exchanges(&self) -> Vec<Exchange> {
        std::mem::take(&mut self.shared.exchanges.lock().unwrap())
    }
}

impl Shared {
    /// Serves requests until one is cut.
    fn serve(&self, client: &TcpStream) -> std::io::Result<()> {
        client.set_read_timeout(Some(TIMEOUT))?;
        client.set_nodelay(true)?;
        let mut from = BufReader::new(client);
        while let Some(request) = read_request(&mut from)? {
            let synchronous = request.first_line.contains("value HTTP");
            let action = self.choose(synchronous);
            let (response, cut) = match action {
                Action::CutRequest => {
                    let part = &request.bytes[..self.position(&request.bytes)];
                    let _ = self.connect()?.write_all(part);
                    self.note(&request, Fate::Cut);
                    return self.cut(client);
                }
                Action::Leave => {
                    self.connect()?.write_all(&request.bytes)?;
                    self.note(&request, Fate::Unread);
                    return self.cut(client);
                }
                Action::Delay(time) => {
                    std::thread::sleep(time);
                    (self.ask(&request)?, None)
                }
                Action::Repeat => {
                    self.ask(&request)?;
                    (self.ask(&request)?, None)
                }
                Action::Pass => (self.ask(&request)?, None),
                Action::CutResponse => {
                    let response = self.ask(&request)?;
                    let position = self.position(&response.bytes);
                    (response, Some(position))
                }
            };
            let mut to = client;
            to.write_all(&response.bytes[..cut.unwrap_or(response.bytes.len())])?;
            if cut.is_some() {
                return self.cut(client);
            }
        }
        Ok(())
    }

    fn choose(&self, synchronous: bool) -> Action {
        let mut random = self.random.lock().unwrap();
        let mut counts = self.counts.lock().unwrap();
        if counts.cuts() >= self.plan.cuts {
            counts.passed += 1;
            return Action::Pass;
        }
        let (count, action) = match random.within(0..=99) {
            0..20 => (&mut counts.delayed, {
                Action::Delay(Duration::from_millis(random.within(1..=MAX_DELAY_MS)))
            }),
            20..30 if !synchronous => (&mut counts.repeated, Action::Repeat),
            40..60 => (&mut counts.cut_requests, Action::CutRequest),
            60..92 => (&mut counts.cut_responses, Action::CutResponse),
            92.. => (&mut counts.unread, Action::Leave),
            _ => (&mut counts.passed, Action::Pass),
        };
        *count += 1;
        if counts.cuts() >= self.plan.cuts {
            std::fs::write(&self.plan.stop, "").unwrap();
        }
        action
    }

    /// Returns a random position within some bytes.
    fn position(&self, bytes: &[u8]) -> usize {
        let last = bytes.len() as u64 - 1;
        usize::try_from(self.random.lock().unwrap().within(0..=last)).unwrap()
    }

    fn connect(&self) -> std::io::Result<TcpStream> {
        let host = TcpStream::connect(self.plan.host)?;
        host.set_read_timeout(Some(TIMEOUT))?;
        host.set_nodelay(true)?;
        Ok(host)
    }

    /// Sends a request to the host and returns its answer, which it notes.
    fn ask(&self, request: &Message) -> std::io::Result<Message> {
        let mut host = self.connect()?;
        host.write_all(&request.bytes)?;
        let response = read_response(&mut BufReader::new(host))?.unwrap();
        let status = response.first_line.split(' ').nth(1).unwrap().to_owned();
        let body = serde_json::from_slice(&response.body).unwrap();
        self.note(request, Fate::Answered(status, body));
        Ok(response)
    }

    fn note(&self, request: &Message, fate: Fate) {
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let name = [&body["idempotency_key"], &body["request_reference"]]
            .into_iter()
            .chain([&body["requests"][0]["request_reference"]])
            .find_map(Value::as_str);
        let call = name.and_then(|name| name.split([':', '/']).next());
        self.exchanges.lock().unwrap().push(Exchange {
            call: call.map(str::to_owned),
            path: request.first_line.split(' ').nth(1).unwrap().to_owned(),
            fate,
        });
    }

    /// Ends a connection, half of the time with a reset.
    fn cut(&self, client: &TcpStream) -> std::io::Result<()> {
        if self.random.lock().unwrap().once_in(2) {
            SockRef::from(client).set_linger(Some(Duration::ZERO))?;
        }
        Ok(())
    }
}
