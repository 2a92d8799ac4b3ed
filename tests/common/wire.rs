//! A proxy between the clients and a server that mutates what passes, so that a rule about the wire
//! can be broken without a rebuild.
//!
//! `DOMESDAY_WIRE_MUTATION` names one mutation, and every server of a suite then stands behind a
//! proxy that applies it. `scripts/prove-mutations` sets it and demands that the rule's test fails.
//!
//! | Mutation | Effect |
//! |---|---|
//! | `member:NAME` | leaves every member NAME out of JSON responses |
//! | `word:WORD` | misspells every string WORD in JSON responses |
//! | `header:NAME` | removes a header from responses |
//! | `status:FROM:TO` | replaces one status by another |
//! | `field:/POINTER/NAME` | misspells the name of a field in requests |
//!
//! All other bytes pass as they are, since suites also send what no well-behaved client sends.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The variable that names the mutation.
const VARIABLE: &str = "DOMESDAY_WIRE_MUTATION";
/// The largest response that a server gives, with room for its head.
const LONGEST: u64 = 16 << 20;

/// A mutation of requests or responses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mutation {
    /// Leaves a member out of JSON responses.
    Member(String),
    /// Misspells a string of JSON responses.
    Word(String),
    /// Removes a header from responses.
    Header(String),
    /// Replaces a status by another.
    Status(String, String),
    /// Misspells the name of a field in requests.
    Field(String),
}

impl Mutation {
    /// Parses the name of a mutation.
    pub fn parse(name: &str) -> Option<Mutation> {
        let (kind, what) = name.split_once(':')?;
        Some(match kind {
            "member" => Mutation::Member(what.to_owned()),
            "word" => Mutation::Word(what.to_owned()),
            "header" => Mutation::Header(what.to_ascii_lowercase()),
            "status" => {
                let (from, to) = what.split_once(':')?;
                Mutation::Status(from.to_owned(), to.to_owned())
            }
            "field" => Mutation::Field(what.rsplit_once('/')?.1.to_owned()),
            _ => return None,
        })
    }
}

/// Returns the address for clients: the server's own, or a proxy's where a mutation is set.
pub fn in_front_of(server: SocketAddr) -> SocketAddr {
    match std::env::var(VARIABLE) {
        Ok(name) => {
            let mutation = Mutation::parse(&name).unwrap_or_else(|| panic!("{VARIABLE}={name}"));
            proxy(server, mutation)
        }
        Err(_) => server,
    }
}

/// Starts a proxy to a server, which lives as long as the process.
pub fn proxy(server: SocketAddr, mutation: Mutation) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let mutation = Arc::new(mutation);
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let mutation = mutation.clone();
            std::thread::spawn(move || {
                // A server that has ended refuses, which the client then sees as a closed
                // connection.
                if let Ok(server) = TcpStream::connect(server) {
                    relay(client, server, &mutation);
                }
            });
        }
    });
    address
}

/// Relays both directions until each has ended.
fn relay(client: TcpStream, server: TcpStream, mutation: &Mutation) {
    for stream in [&client, &server] {
        stream.set_nodelay(true).unwrap();
    }
    let head_asked = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _ = requests(&client, &server, mutation, &head_asked);
            let _ = server.shutdown(Shutdown::Write);
        });
        let _ = responses(&server, &client, mutation, &head_asked);
        // A server that closes the connection closes both directions.
        let _ = client.shutdown(Shutdown::Both);
    });
}

/// Copies requests, with the field misspelt where one is to be.
fn requests(
    mut from: &TcpStream,
    mut to: &TcpStream,
    mutation: &Mutation,
    head_asked: &AtomicBool,
) -> std::io::Result<()> {
    let field = match mutation {
        Mutation::Field(name) => Some(format!("\"{name}\"").into_bytes()),
        _ => None,
    };
    let (mut chunk, mut pending) = (vec![0; 64 << 10], Vec::new());
    loop {
        let length = from.read(&mut chunk)?;
        if length == 0 {
            return to.write_all(&pending);
        }
        let bytes = &chunk[..length];
        // A connection carries one request at a time, and a client writes its head at once.
        head_asked.fetch_and(!is_request(bytes), Ordering::SeqCst);
        head_asked.fetch_or(bytes.starts_with(b"HEAD "), Ordering::SeqCst);
        pending.extend_from_slice(bytes);
        let ready = match &field {
            Some(field) => misspell_bytes(&mut pending, field),
            None => pending.len(),
        };
        to.write_all(&pending[..ready])?;
        pending.drain(..ready);
    }
}

fn is_request(bytes: &[u8]) -> bool {
    [&b"GET "[..], b"POST ", b"HEAD ", b"PUT ", b"DELETE "]
        .iter()
        .any(|method| bytes.starts_with(method))
}

/// Misspells every occurrence without a change of length, and returns how many bytes are complete:
/// the end may be the beginning of another occurrence.
fn misspell_bytes(bytes: &mut [u8], quoted: &[u8]) -> usize {
    for at in 0..bytes.len() {
        if bytes[at..].starts_with(quoted) {
            bytes[at + 1] = b'_';
        }
    }
    let split = (1..quoted.len()).find(|length| bytes.ends_with(&quoted[..*length]));
    bytes.len() - split.unwrap_or(0)
}

/// Copies responses, mutated.
fn responses(
    from: &TcpStream,
    mut to: &TcpStream,
    mutation: &Mutation,
    head_asked: &AtomicBool,
) -> std::io::Result<()> {
    let mut from = BufReader::new(from);
    if matches!(mutation, Mutation::Field(_)) {
        std::io::copy(&mut from, &mut to)?;
        return Ok(());
    }
    while let Some(mut head) = Head::read(&mut from)? {
        let body = match head.status() {
            "100" | "204" | "304" => Vec::new(),
            _ if head_asked.load(Ordering::SeqCst) => Vec::new(),
            _ => head.body(&mut from)?,
        };
        let body = mutate(&mut head, body, mutation);
        to.write_all(head.0.as_bytes())?;
        to.write_all(&body)?;
    }
    Ok(())
}

/// A whole request or response.
pub struct Message {
    /// The line of the request, or of the status.
    pub first_line: String,
    /// All bytes, where a streamed body has a length.
    pub bytes: Vec<u8>,
    /// The body.
    pub body: Vec<u8>,
}

/// Reads a request, or nothing where the connection ends first. It asks for a plain response.
///
/// # Errors
/// The connection fails, or the bytes are not HTTP.
pub fn read_request(from: &mut impl BufRead) -> std::io::Result<Option<Message>> {
    read_message(from, |head, from| {
        head.remove("accept-encoding");
        match head.header("content-length") {
            Some(_) => head.body(from),
            None => Ok(Vec::new()),
        }
    })
}

/// Reads a response to a request other than HEAD, or nothing where the connection ends first.
///
/// # Errors
/// The connection fails, or the bytes are not HTTP.
pub fn read_response(from: &mut impl BufRead) -> std::io::Result<Option<Message>> {
    read_message(from, Head::body)
}

fn read_message<R: BufRead>(
    from: &mut R,
    read_body: impl FnOnce(&mut Head, &mut R) -> std::io::Result<Vec<u8>>,
) -> std::io::Result<Option<Message>> {
    let Some(mut head) = Head::read(from)? else {
        return Ok(None);
    };
    let body = read_body(&mut head, from)?;
    let first_line = head.0.lines().next().unwrap_or_default().to_owned();
    let bytes = [head.0.as_bytes(), &body].concat();
    Ok(Some(Message {
        first_line,
        bytes,
        body,
    }))
}

/// A response's head: its lines with their ends.
struct Head(String);

impl Head {
    /// Reads one, or nothing where the connection ends first.
    fn read(from: &mut impl BufRead) -> std::io::Result<Option<Head>> {
        let mut text = Vec::new();
        while !text.ends_with(b"\r\n\r\n") {
            if from.by_ref().take(LONGEST).read_until(b'\n', &mut text)? == 0 {
                return Ok(None);
            }
        }
        Ok(Some(Head(String::from_utf8_lossy(&text).into_owned())))
    }

    fn status(&self) -> &str {
        self.0.split(' ').nth(1).unwrap_or_default()
    }

    fn header(&self, header: &str) -> Option<&str> {
        let headers = self.0.lines().filter_map(|line| line.split_once(':'));
        headers
            .filter(|(name, _)| name.eq_ignore_ascii_case(header))
            .map(|(_, value)| value.trim())
            .next()
    }

    fn remove(&mut self, header: &str) {
        let is_other = |line: &&str| {
            let name = line.split_once(':').map(|(name, _)| name);
            !name.is_some_and(|name| name.eq_ignore_ascii_case(header))
        };
        self.0 = self.0.split_inclusive('\n').filter(is_other).collect();
    }

    /// States the length of the body in place of its framing.
    fn set_length(&mut self, length: usize) {
        self.remove("transfer-encoding");
        self.remove("content-length");
        let end = self.0.len() - 2;
        self.0
            .insert_str(end, &format!("content-length: {length}\r\n"));
    }

    fn body(&mut self, from: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
        let mut body = Vec::new();
        if let Some(length) = self.header("content-length") {
            body.resize(length.parse().unwrap(), 0);
            from.read_exact(&mut body)?;
        } else if self.header("transfer-encoding") == Some("chunked") {
            body = chunks(from)?;
            self.set_length(body.len());
        } else {
            from.take(LONGEST).read_to_end(&mut body)?;
        }
        Ok(body)
    }
}

/// Reads a streamed body to its last chunk.
fn chunks(from: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        from.by_ref().take(LONGEST).read_line(&mut line)?;
        let size = usize::from_str_radix(line.trim(), 16).map_err(std::io::Error::other)?;
        let start = body.len();
        // Each chunk has the end of a line behind it, the last one too.
        body.resize(start + size + 2, 0);
        from.read_exact(&mut body[start..])?;
        body.truncate(start + size);
        if size == 0 {
            return Ok(body);
        }
    }
}

/// Applies a mutation of responses, and returns the body.
fn mutate(head: &mut Head, body: Vec<u8>, mutation: &Mutation) -> Vec<u8> {
    match mutation {
        Mutation::Header(name) => head.remove(name),
        Mutation::Status(from, to) if head.status() == from => {
            head.0 = head.0.replacen(from, to, 1);
        }
        Mutation::Member(name) => return mutate_json(head, body, |value| drop_member(value, name)),
        Mutation::Word(word) => return mutate_json(head, body, |value| misspell(value, word)),
        Mutation::Status(..) | Mutation::Field(_) => {}
    }
    body
}

fn mutate_json(head: &mut Head, body: Vec<u8>, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let Ok(before) = serde_json::from_slice::<Value>(&body) else {
        return body;
    };
    let mut after = before.clone();
    change(&mut after);
    if after == before {
        return body;
    }
    let body = after.to_string().into_bytes();
    head.set_length(body.len());
    body
}

fn drop_member(value: &mut Value, name: &str) {
    if let Value::Object(members) = value {
        members.remove(name);
    }
    each(value, |value| drop_member(value, name));
}

fn misspell(value: &mut Value, word: &str) {
    if value == word {
        *value = "misspelt".into();
    }
    each(value, |value| misspell(value, word));
}

fn each(value: &mut Value, change: impl FnMut(&mut Value)) {
    match value {
        Value::Object(members) => members.values_mut().for_each(change),
        Value::Array(values) => values.iter_mut().for_each(change),
        _ => {}
    }
}
