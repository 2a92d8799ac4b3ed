//! An object store for one test: the few verbs of S3 that the program sends, over objects in
//! memory. It ends with the test's process.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const BUCKET: &str = "/bucket";
/// The longest time for which a stalled store holds a connection.
const STALL: Duration = Duration::from_secs(60);
/// The time between two pieces of an object where the store is slow.
const PACE: Duration = Duration::from_millis(50);

type Objects = Mutex<BTreeMap<String, Vec<u8>>>;

/// A running object store with one bucket.
#[derive(Clone)]
pub struct ObjectStore {
    address: SocketAddr,
    objects: Arc<Objects>,
    stalled: Arc<AtomicBool>,
    /// Bytes of a piece where the store is slow, else 0.
    piece: Arc<AtomicUsize>,
}

/// A request to the store.
struct Request {
    method: String,
    /// The key, without the bucket.
    key: String,
    query: String,
    body: Vec<u8>,
}

impl ObjectStore {
    /// Starts an empty store.
    pub fn start() -> ObjectStore {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let store = ObjectStore {
            address: listener.local_addr().unwrap(),
            objects: Arc::default(),
            stalled: Arc::default(),
            piece: Arc::default(),
        };
        let serving = store.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                std::thread::spawn(move || serving.serve(stream));
            }
        });
        store
    }

    /// Returns the address of a place in the bucket, as settings take it.
    pub fn place(prefix: &str) -> String {
        format!("s3:/{BUCKET}/{prefix}")
    }

    /// Returns the variables that lead the program to this store.
    pub fn environment(&self) -> [(&'static str, String); 4] {
        [
            ("AWS_ENDPOINT_URL", format!("http://{}", self.address)),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
            ("AWS_ACCESS_KEY_ID", "test".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "test".to_owned()),
        ]
    }

    /// Leads a command to this store.
    pub fn lead(&self, command: &mut Command) {
        command.envs(self.environment());
    }

    /// Returns the keys of all objects.
    pub fn keys(&self) -> Vec<String> {
        self.objects.lock().unwrap().keys().cloned().collect()
    }

    /// Changes the objects.
    pub fn change<T>(&self, work: impl FnOnce(&mut BTreeMap<String, Vec<u8>>) -> T) -> T {
        work(&mut self.objects.lock().unwrap())
    }

    /// Takes requests without an answer from now on, or answers again.
    pub fn stall(&self, stalled: bool) {
        self.stalled.store(stalled, Ordering::Relaxed);
    }

    /// Sends at most this many bytes of each object a second from now on.
    pub fn slow_down(&self, bytes_per_second: usize) {
        let pieces = usize::try_from(1_000 / PACE.as_millis()).unwrap();
        let piece = bytes_per_second / pieces;
        self.piece.store(piece.max(1), Ordering::Relaxed);
    }

    fn serve(&self, mut stream: TcpStream) {
        let Some(request) = read(&stream) else { return };
        if self.stalled.load(Ordering::Relaxed) {
            std::thread::sleep(STALL);
            return;
        }
        let (status, body) = self.answer(&request);
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nETag: \"1\"\r\nLast-Modified: Fri, 01 Jan 2027 00:00:00 GMT\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        let _left = stream.write_all(head.as_bytes());
        if request.method == "HEAD" {
            return;
        }
        let piece = self.piece.load(Ordering::Relaxed);
        if piece == 0 {
            let _left = stream.write_all(&body);
            return;
        }
        for part in body.chunks(piece) {
            if stream.write_all(part).is_err() {
                return;
            }
            std::thread::sleep(PACE);
        }
    }

    fn answer(&self, request: &Request) -> (&'static str, Vec<u8>) {
        let mut objects = self.objects.lock().unwrap();
        match (request.method.as_str(), request.key.as_str()) {
            ("GET", "") => ("200 OK", list(&objects, &request.query)),
            ("POST", "") => {
                let body = String::from_utf8_lossy(&request.body).into_owned();
                for key in body.split("<Key>").skip(1) {
                    objects.remove(key.split('<').next().unwrap_or_default());
                }
                ("200 OK", b"<DeleteResult></DeleteResult>".to_vec())
            }
            ("PUT", key) => {
                objects.insert(key.to_owned(), request.body.clone());
                ("200 OK", Vec::new())
            }
            ("GET" | "HEAD", key) => match objects.get(key) {
                Some(bytes) => ("200 OK", bytes.clone()),
                None => (
                    "404 Not Found",
                    b"<Error><Code>NoSuchKey</Code></Error>".to_vec(),
                ),
            },
            _ => ("501 Not Implemented", Vec::new()),
        }
    }
}

/// Reads a request with its body.
fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let mut words = first.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let key = path.strip_prefix(BUCKET)?.trim_start_matches('/');
    Some(Request {
        method,
        key: key.to_owned(),
        query: query.to_owned(),
        body,
    })
}

/// Returns the list of the objects with the query's prefix.
fn list(objects: &BTreeMap<String, Vec<u8>>, query: &str) -> Vec<u8> {
    let pairs = form_urlencoded::parse(query.as_bytes());
    let mut prefixes = pairs.filter(|(name, _)| name == "prefix");
    let prefix = prefixes.next().map(|(_, value)| value.into_owned());
    let prefix = prefix.unwrap_or_default();
    let mut body = "<ListBucketResult>".to_owned();
    for (key, bytes) in objects.iter().filter(|(key, _)| key.starts_with(&prefix)) {
        let size = bytes.len();
        body += &format!(
            "<Contents><Key>{key}</Key><Size>{size}</Size>\
             <LastModified>2027-01-01T00:00:00.000Z</LastModified></Contents>"
        );
    }
    (body + "</ListBucketResult>").into_bytes()
}

/// Puts the files below a folder into a store, under a prefix, as other tools copy them.
pub fn copy_folder(store: &ObjectStore, folder: &Path, prefix: &str) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let key = format!("{prefix}/{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            copy_folder(store, &entry.path(), &key);
        } else {
            let bytes = std::fs::read(entry.path()).unwrap();
            store.change(|objects| objects.insert(key, bytes));
        }
    }
}
