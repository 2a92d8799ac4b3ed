//! An address provider on this machine, in the shape of the OS Places API, that behaves or
//! misbehaves as a test wishes. Written from the API's published description.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A request to the provider.
#[derive(Debug, Clone, Default)]
pub struct LookupRequest {
    /// Path and query as they came.
    pub target: String,
    /// `postcode` of the query.
    pub postcode: String,
    /// `offset` of the query.
    pub offset: usize,
    /// `maxresults` of the query.
    pub limit: usize,
    /// The header `key`.
    pub key: Option<String>,
    /// The number of requests before it.
    pub number: usize,
}

/// The provider's reaction to a request.
#[derive(Debug, Clone)]
pub enum Reply {
    /// 200 with this document.
    Json(Value),
    /// 200 with this body, whatever it is.
    Text(String),
    /// A status with this `Retry-After`, and a page in HTML as gateways send them.
    Status(u16, Option<String>),
    /// Nothing for this long, and then this.
    Late(Duration, Box<Reply>),
    /// 200, and a body that comes byte by byte with this pause between.
    Dribble(Duration),
    /// Half of a body, and then the end of the connection.
    Half(Value),
    /// The end of the connection.
    Hangup,
    /// A body without an end.
    Endless,
}

type Behaviour = Box<dyn Fn(&LookupRequest) -> Reply + Send + Sync>;

/// A running provider; it is gone when it is dropped.
pub struct Places {
    /// The address that it listens on.
    pub address: SocketAddr,
    behaviour: Arc<Mutex<Arc<Behaviour>>>,
    requests: Arc<Mutex<Vec<LookupRequest>>>,
    max_concurrency: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
}

impl Places {
    /// Starts a provider with this behaviour, at a free port.
    pub fn with_behaviour(
        behaviour: impl Fn(&LookupRequest) -> Reply + Send + Sync + 'static,
    ) -> Places {
        Places::at_address("127.0.0.1:0", behaviour)
    }

    /// Starts a provider with this behaviour, at this address.
    pub fn at_address(
        address: &str,
        behaviour: impl Fn(&LookupRequest) -> Reply + Send + Sync + 'static,
    ) -> Places {
        let listener = TcpListener::bind(address).unwrap();
        let places = Places {
            address: listener.local_addr().unwrap(),
            behaviour: Arc::new(Mutex::new(Arc::new(Box::new(behaviour)))),
            requests: Arc::default(),
            max_concurrency: Arc::default(),
            over: Arc::default(),
        };
        let (behaviour, requests) = (places.behaviour.clone(), places.requests.clone());
        let (max_concurrency, over) = (places.max_concurrency.clone(), places.over.clone());
        let busy = Arc::new(AtomicUsize::new(0));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (behaviour, requests) = (behaviour.clone(), requests.clone());
                let (max_concurrency, busy, over) =
                    (max_concurrency.clone(), busy.clone(), over.clone());
                std::thread::spawn(move || {
                    let _ = stream.set_nodelay(true);
                    // A client that goes away early ends this conversation and nothing else.
                    let mut reader = BufReader::new(stream);
                    while !over.load(Ordering::SeqCst) {
                        let Some(mut request) = read_request(&mut reader) else {
                            return;
                        };
                        let now = busy.fetch_add(1, Ordering::SeqCst) + 1;
                        max_concurrency.fetch_max(now, Ordering::SeqCst);
                        {
                            let mut received = lock(&requests);
                            request.number = received.len();
                            received.push(request.clone());
                        }
                        let behaviour = lock(&behaviour).clone();
                        let went_on = reply(reader.get_mut(), &behaviour(&request));
                        busy.fetch_sub(1, Ordering::SeqCst);
                        if !matches!(went_on, Ok(true)) {
                            return;
                        }
                    }
                });
            }
        });
        places
    }

    /// Starts a provider that knows these homes and answers correctly.
    pub fn of(homes: &[Home]) -> Places {
        Places::with_behaviour(listing(homes))
    }

    /// Behaves otherwise from now on.
    pub fn set_behaviour(
        &self,
        behaviour: impl Fn(&LookupRequest) -> Reply + Send + Sync + 'static,
    ) {
        *lock(&self.behaviour) = Arc::new(Box::new(behaviour));
    }

    /// Returns the URL to configure a service with.
    pub fn url(&self) -> String {
        format!("http://{}/search/places/v1", self.address)
    }

    /// Returns the requests that were received so far.
    pub fn requests(&self) -> Vec<LookupRequest> {
        lock(&self.requests).clone()
    }

    /// Returns the highest number of requests that were in work at the same time.
    pub fn max_concurrency(&self) -> usize {
        self.max_concurrency.load(Ordering::SeqCst)
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // Wakes the listener.
        let _ = TcpStream::connect(self.address);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An address as the provider lists it.
#[derive(Debug, Clone)]
pub struct Home {
    /// The postcode.
    pub postcode: String,
    /// `DPA` or `LPI`.
    pub dataset: &'static str,
    /// Its fields.
    pub fields: Value,
}

/// Returns a home in Royal Mail's list, with its number or name and its street.
pub fn home(uprn: u64, postcode: &str, number: &str, street: &str) -> Home {
    Home {
        postcode: postcode.to_owned(),
        dataset: "DPA",
        fields: json!({
            "UPRN": uprn.to_string(),
            "UDPRN": "50000000",
            "ADDRESS": format!("{number}, {street}, MADE-UP TOWN, {postcode}").to_uppercase(),
            "BUILDING_NUMBER": number,
            "THOROUGHFARE_NAME": street.to_uppercase(),
            "POST_TOWN": "MADE-UP TOWN",
            "POSTCODE": postcode,
            "RPC": "1",
            "STATUS": "APPROVED",
            "LOGICAL_STATUS_CODE": "1",
            "CLASSIFICATION_CODE": "RD04",
            "CLASSIFICATION_CODE_DESCRIPTION": "Terraced",
            "LOCAL_CUSTODIAN_CODE": 9999,
            "COUNTRY_CODE": "E",
            "BLPU_STATE_CODE": "2",
            "LANGUAGE": "EN",
            "MATCH": 1.0,
            "MATCH_DESCRIPTION": "EXACT"
        }),
    }
}

impl Home {
    /// Returns the home with these fields set.
    pub fn with(mut self, fields: Value) -> Home {
        for (name, value) in fields.as_object().unwrap() {
            self.fields[name] = value.clone();
        }
        self
    }

    /// Returns the home at this point of the National Grid, in metres.
    pub fn at(self, easting: f64, northing: f64) -> Home {
        self.with(json!({"X_COORDINATE": easting, "Y_COORDINATE": northing}))
    }

    /// Returns the home as the local authority lists it.
    pub fn in_lpi(mut self) -> Home {
        let mut fields = self.fields.clone();
        let take = |fields: &mut Value, name: &str| {
            let taken = fields.as_object_mut().unwrap().remove(name);
            taken.unwrap_or(Value::Null)
        };
        for (from, to) in [
            ("SUB_BUILDING_NAME", "SAO_TEXT"),
            ("BUILDING_NAME", "PAO_TEXT"),
            ("BUILDING_NUMBER", "PAO_START_NUMBER"),
            ("THOROUGHFARE_NAME", "STREET_DESCRIPTION"),
            ("POST_TOWN", "TOWN_NAME"),
            ("POSTCODE", "POSTCODE_LOCATOR"),
        ] {
            let value = take(&mut fields, from);
            if !value.is_null() {
                fields[to] = value;
            }
        }
        fields["LPI_LOGICAL_STATUS_CODE"] = "1".into();
        self.dataset = "LPI";
        self.fields = fields;
        self
    }
}

/// Returns a behaviour that answers correctly, from these homes.
pub fn listing(homes: &[Home]) -> impl Fn(&LookupRequest) -> Reply + Send + Sync + use<> + 'static {
    let mut by_postcode: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for home in homes {
        let results = by_postcode.entry(home.postcode.clone()).or_default();
        results.push(json!({home.dataset: home.fields}));
    }
    move |request| {
        let none = Vec::new();
        let all = by_postcode.get(&request.postcode).unwrap_or(&none);
        Reply::Json(page(all, request))
    }
}

/// Returns the page of these results that a request asks for.
pub fn page(all: &[Value], request: &LookupRequest) -> Value {
    let slice: Vec<&Value> = all
        .iter()
        .skip(request.offset)
        .take(request.limit)
        .collect();
    let mut page = json!({"header": {
        "uri": format!("http://places.example{}", request.target),
        "query": format!("postcode={}", request.postcode),
        "offset": request.offset,
        "totalresults": all.len(),
        "format": "JSON",
        "dataset": "DPA,LPI",
        "lr": "EN,CY",
        "maxresults": request.limit,
        "epoch": "120",
        "lastupdate": "2026-10-01",
        "output_srs": "EPSG:27700"
    }});
    if !slice.is_empty() {
        page["results"] = json!(slice);
    }
    page
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<LookupRequest> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|&read| read > 0)?;
    let target = line.split(' ').nth(1)?.to_owned();
    let mut key = None;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|&read| read > 0)?;
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':')?;
        if name.eq_ignore_ascii_case("key") {
            key = Some(value.trim().to_owned());
        }
    }
    let of = |parameter: &str| {
        let query = target.split('?').nth(1).unwrap_or_default();
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let value = pairs.find(|(name, _)| *name == parameter)?.1;
        Some(value.replace('+', " ").replace("%20", " "))
    };
    Some(LookupRequest {
        postcode: of("postcode").unwrap_or_default(),
        offset: of("offset").and_then(|text| text.parse().ok()).unwrap_or(0),
        limit: of("maxresults")
            .and_then(|text| text.parse().ok())
            .unwrap_or(100),
        key,
        target,
        number: 0,
    })
}

/// Sends a reply, and reports whether the connection goes on.
fn reply(stream: &mut TcpStream, reply: &Reply) -> std::io::Result<bool> {
    match reply {
        Reply::Json(document) => whole(stream, "200 OK", "", &document.to_string()),
        Reply::Text(text) => whole(stream, "200 OK", "", text),
        Reply::Status(status, after) => {
            let after = match after {
                Some(after) => format!("Retry-After: {after}\r\n"),
                None => String::new(),
            };
            let page = "<html><body>Something is not as it should be.</body></html>";
            whole(stream, &format!("{status} X"), &after, page)
        }
        Reply::Late(pause, then) => {
            std::thread::sleep(*pause);
            self::reply(stream, then)
        }
        Reply::Dribble(pause) => {
            head(stream, "200 OK", "", 10_000)?;
            for _ in 0..10_000 {
                stream.write_all(b" ")?;
                std::thread::sleep(*pause);
            }
            Ok(false)
        }
        Reply::Half(document) => {
            let text = document.to_string();
            head(stream, "200 OK", "", text.len())?;
            stream.write_all(&text.as_bytes()[..text.len() / 2])?;
            Ok(false)
        }
        Reply::Hangup => Ok(false),
        Reply::Endless => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")?;
            let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
            // A client that reads it all would never end.
            for _ in 0..10_000 {
                stream.write_all(chunk.as_bytes())?;
            }
            let _ = stream.read(&mut [0]);
            Ok(false)
        }
    }
}

fn whole(stream: &mut TcpStream, status: &str, headers: &str, body: &str) -> std::io::Result<bool> {
    head(stream, status, headers, body.len())?;
    stream.write_all(body.as_bytes())?;
    Ok(true)
}

fn head(stream: &mut TcpStream, status: &str, headers: &str, length: usize) -> std::io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{headers}Content-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes())
}
