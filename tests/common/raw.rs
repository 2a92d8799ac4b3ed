//! Requests written byte by byte, for what a well-behaved client cannot be made to send.

use serde_json::Value;
use socket2::{Domain, Type};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A server's response.
#[derive(Debug)]
pub struct HttpResponse {
    /// The status.
    pub status: u16,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub text: String,
}

impl HttpResponse {
    /// Returns the value of a header, and asserts that it occurs at most once.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(n, _)| n == name);
        let (_, value) = values.next()?;
        assert!(values.next().is_none(), "{name} is given twice: {self:?}");
        Some(value)
    }

    /// Parses the body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Asserts that the status is 200, and returns the body.
    #[track_caller]
    pub fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        self.json()
    }

    /// Returns status, code and pointer of a refusal.
    #[track_caller]
    pub fn refusal(&self) -> (u16, String, Option<String>) {
        let error = &self.json()["error"];
        let text = |name: &str| error[name].as_str().map(str::to_owned);
        (self.status, text("code").unwrap(), text("field"))
    }
}

/// Connects.
pub fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    let timeout = Some(Duration::from_secs(20));
    stream.set_read_timeout(timeout).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Connects from another address of this machine, as another client would.
///
/// # Errors
/// The system has no such address, or the server refuses the connection.
pub fn connect_from(address: [u8; 4], server: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = socket2::Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&SocketAddr::from((address, 0)).into())?;
    socket.connect(&server.into())?;
    Ok(socket.into())
}

/// Sends these bytes on a new connection, and reads one answer.
pub fn send(address: SocketAddr, request: &[u8]) -> HttpResponse {
    let mut stream = connect(address);
    stream.write_all(request).unwrap();
    read(&mut stream)
}

/// Returns a request's head: a line, headers and the empty line that ends them.
pub fn head(method: &str, path: &str, headers: &[(&str, &str)]) -> String {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: test\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head + "\r\n"
}

/// Reads one answer.
pub fn read(stream: &mut impl Read) -> HttpResponse {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece).unwrap();
        let so_far = String::from_utf8_lossy(&bytes);
        assert!(count > 0, "the connection ended within a head: {so_far:?}");
        bytes.extend_from_slice(&piece[..count]);
    };
    let mut body = bytes.split_off(end);
    let head = String::from_utf8(bytes).unwrap();
    let mut lines = head.trim_end().split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap();
    let headers: Vec<(String, String)> = lines
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(0, |(_, length)| length.parse().unwrap());
    let had = body.len();
    body.resize(length, 0);
    if length > had {
        stream.read_exact(&mut body[had..]).unwrap();
    }
    HttpResponse {
        status: status.parse().unwrap(),
        headers,
        text: String::from_utf8(body).unwrap(),
    }
}
