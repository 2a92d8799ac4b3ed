//! Clients that ask for much and read it slowly, or not at all.

use crate::common::client::Client;
use crate::common::demo::{house, house_with};
use crate::common::metrics::{metric, metrics_client};
use crate::common::raw::{connect, head, read};
use crate::common::server::{Server, start};
use crate::denial_of_service::{
    JOBS, LARGEST, MIB, RELEASE, SIMPLE, STANDARD_BATCH, assert_growth, post, survives,
};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The longest time until the first byte of a response: the deadline, and the time that a busy
/// machine takes to write it.
const MAX_FIRST_BYTE: Duration = Duration::from_secs(40);
/// The longest time for which a client may read nothing.
const MAX_IDLE: Duration = Duration::from_secs(30);
/// The bytes that a client reads once, after [`READ_DELAY`]. The service sees progress once a
/// third of the kernel's buffer is read. The progress then extends the client's time by 8 to 20
/// seconds.
const PIECE: usize = 300 << 10;
const READ_DELAY: Duration = Duration::from_secs(25);
const EXTENSION: std::ops::Range<Duration> = Duration::from_secs(7)..Duration::from_secs(24);
/// The longest delay until the test sees the end of a connection.
const MAX_CLOSE_DELAY: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(250);

/// Returns rows whose results are as large as the contract allows: 9 MB.
fn full() -> Vec<Value> {
    let row = house_with(json!({
        "include_comparables": true, "comparables_limit": 10, "include_context_metrics": true
    }));
    vec![row; 2_500]
}

/// Runs a job to its end, and returns the path of its results.
fn results(client: &Client) -> String {
    let job = client.post(JOBS, &json!({"mode": "standard", "requests": full()}));
    assert_eq!(job.status, 202, "{job:?}");
    let job = job.json();
    let started = Instant::now();
    while client.get(job["status_url"].as_str().unwrap()).ok()["status"] != "completed" {
        assert!(started.elapsed() < Duration::from_secs(30));
        std::thread::sleep(TICK);
    }
    job["results_url"].as_str().unwrap().to_owned()
}

/// Connects from an address with a small buffer, which does not grow when something is read.
fn narrow(address: [u8; 4], server: &Server) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(64 << 10).unwrap();
        socket.bind((address, 0).into()).unwrap();
        let stream = socket.connect(server.address).await.unwrap();
        stream.into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(MAX_FIRST_BYTE)).unwrap();
    stream
}

/// Connects, sends a request, and waits for the first byte of the response.
fn send_request(server: &Server, request: &[u8]) -> TcpStream {
    send_request_from([127, 0, 0, 1], server, request)
}

fn send_request_from(address: [u8; 4], server: &Server, request: &[u8]) -> TcpStream {
    let mut stream = narrow(address, server);
    stream.write_all(request).unwrap();
    assert_eq!(stream.peek(&mut [0]).unwrap(), 1);
    stream
}

fn get_request(key: &str, path: &str) -> Vec<u8> {
    let bearer = format!("Bearer {key}");
    head("GET", path, &[("Authorization", &bearer)]).into_bytes()
}

fn post_request(key: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    (post(key, STANDARD_BATCH, body.len()) + &body).into_bytes()
}

/// Returns how many of three simultaneous requests are accepted.
fn free_places(server: &Server, key: &str) -> usize {
    let head = post(key, SIMPLE, 300).replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n");
    let mut open: Vec<TcpStream> = (0..3).map(|_| connect(server.address)).collect();
    let statuses = open.iter_mut().map(|stream| {
        stream.write_all(head.as_bytes()).unwrap();
        read(stream).status
    });
    statuses.filter(|&status| status == 100).count()
}

/// Returns the number of bytes that are still received.
fn rest(mut stream: TcpStream) -> usize {
    let mut all = Vec::new();
    // A reset is an end, too.
    let _ = stream.read_to_end(&mut all);
    all.len()
}

#[test]
fn unread_responses_are_aborted_and_free_their_slots() {
    let start = start();
    let key = start.key_with_plan("deaf", &["avm:value"], "concurrency = 3");
    let other = start.key(&["avm:value"]);
    let server = start.go();
    let (client, other) = (server.client(&key), server.client(&other));
    let path = results(&client);
    let batch = post_request(&key, &json!({ "requests": full() }));
    let whole = client.get(&path).text.len();
    assert!((LARGEST / 2..LARGEST).contains(&whole), "{whole}");

    // Two answers of a batch are held as they are, besides what working them out takes.
    assert_growth(&server, &other, 128 * MIB, || {
        let started = Instant::now();
        let deaf = [
            send_request(&server, &batch),
            send_request(&server, &get_request(&key, &path)),
        ];
        let mut slow = send_request(&server, &batch);
        // A busy machine works the three answers out one after the other.
        let slow_start = started.elapsed();
        assert_eq!(client.get(RELEASE).refusal().1, "concurrency_limited");
        // When two places were free, and when all three were.
        let (mut two, mut three) = (None, None);
        let mut taken = false;
        while three.is_none() {
            let since = started.elapsed();
            if since > slow_start + READ_DELAY && !taken {
                slow.read_exact(&mut vec![0; PIECE]).unwrap();
                taken = true;
            }
            let request_start = Instant::now();
            other.post(SIMPLE, &house()).ok();
            assert!(
                request_start.elapsed() < Duration::from_secs(2),
                "others wait"
            );
            assert!(since < MAX_IDLE * 2, "they are never free");
            match free_places(&server, &key) {
                0 => {}
                3 => three = Some(since),
                _ if two.is_none() => two = Some(since),
                _ => {}
            }
            std::thread::sleep(TICK);
        }
        let (two, three) = (two.unwrap_or_default(), three.unwrap_or_default());
        println!("two places were free after {two:?}, three after {three:?}");
        assert!(
            (MAX_IDLE - TICK * 4..MAX_IDLE + MAX_CLOSE_DELAY).contains(&two),
            "{two:?}"
        );
        // What it took gave it some seconds; it would have had thirty if it began anew each time.
        let more = three.saturating_sub(slow_start + MAX_IDLE);
        assert!(EXTENSION.contains(&more), "{more:?}");
        // Nobody takes what has come for the whole.
        for stream in deaf {
            assert!(rest(stream) < whole);
        }
    });
}

/// Returns the status of a response without taking a byte of it.
fn peek_status(stream: &TcpStream) -> String {
    const LINE: usize = "HTTP/1.1 200".len();
    let mut start = [0; LINE];
    while stream.peek(&mut start).unwrap() < LINE {
        std::thread::sleep(TICK);
    }
    String::from_utf8_lossy(&start[LINE - 3..]).into_owned()
}

/// Returns the streams whose response has this status.
fn with_status<'s>(open: &'s [TcpStream], status: &str) -> Vec<&'s TcpStream> {
    let with = open.iter().filter(|stream| peek_status(stream) == status);
    with.collect()
}

/// Sends each of these requests at once, and waits for the first byte of all responses.
fn send_all<'r>(
    server: &Server,
    requests: impl IntoIterator<Item = &'r Vec<u8>>,
) -> Vec<TcpStream> {
    std::thread::scope(|scope| {
        let sending: Vec<_> = requests
            .into_iter()
            .map(|request| scope.spawn(|| send_request(server, request)))
            .collect();
        let sent = sending.into_iter().map(|sending| sending.join().unwrap());
        sent.collect()
    })
}

/// Returns the number of slow readers, more than memory has room for: 64, or in the full tier
/// 1,024.
fn slow_readers() -> usize {
    let readers = std::env::var("DOMESDAY_SLOW_READERS");
    readers.map_or(64, |count| count.parse().unwrap())
}

/// The host has its default settings, and each customer another address.
#[test]
fn a_host_with_slow_readers_of_many_customers_takes_at_most_a_gibibyte() {
    const PLAN: &str = "concurrency = 2000\nrequests_per_second = 1000\nburst = 1000";
    let readers = slow_readers();
    let start = start();
    let customers = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let keys = customers.map(|tenant| start.key_with_plan(tenant, &["avm:value"], PLAN));
    let server = start.go();
    let batches = keys.map(|key| post_request(&key, &json!({ "requests": full() })));
    let (batches, server) = (&batches, &server);
    let open: Vec<TcpStream> = std::thread::scope(|scope| {
        let sending: Vec<_> = (0..readers)
            .map(|number| (number % batches.len(), &batches[number % batches.len()]))
            .map(|(customer, batch)| {
                let address = [127, 0, 2, customer as u8 + 1];
                scope.spawn(move || send_request_from(address, server, batch))
            })
            .collect();
        let sent = sending.into_iter().map(|sending| sending.join().unwrap());
        sent.collect()
    });
    let answered = with_status(&open, "200").len();
    let peak = server.peak();
    println!(
        "counts: {answered} of {readers} slow readers have a response; {} MiB at most",
        peak / MIB
    );
    assert!(answered >= 8, "{answered}");
    assert!(peak <= 1024 * MIB, "{} MiB", peak / MIB);
}

#[test]
fn unread_responses_of_a_customer_take_no_more_than_its_share() {
    let readers = slow_readers();
    let start = start()
        .with(&["--connections-per-address", "2048"])
        .with(&["--metrics-listen", "127.0.0.1:0"]);
    let key = start.key_with_plan("slow", &["avm:value"], "concurrency = 2000");
    let other = start.key(&["avm:value"]);
    let server = start.go();
    let metrics = metrics_client(&server);
    let other = server.client(&other);
    let batch = post_request(&key, &json!({ "requests": full() }));
    // The budget of 256 MiB, and the rows that run and wait, which it does not count.
    assert_growth(&server, &other, 768 * MIB, || {
        let open = send_all(&server, std::iter::repeat_n(&batch, readers));
        let with = |status: &str| with_status(&open, status).len();
        let (answered, refused) = (with("200"), with("503") + with("429"));
        println!("{answered} of {readers} were answered, {refused} refused");
        assert_eq!(answered + refused, readers);
        // Half of the memory for large bodies and responses.
        assert!(
            (8..=(96 << 20) / (LARGEST / 2)).contains(&answered),
            "{answered}"
        );
        // An operator sees the refusals, though half of the memory stays free.
        let counted = metric(&metrics, "domesday_memory_reservations_refused_total");
        assert!(counted > 0.0 && counted <= refused as f64, "{counted}");
        let request_start = Instant::now();
        other.post(SIMPLE, &house()).ok();
        assert!(request_start.elapsed() < Duration::from_secs(2));
        other
            .post(STANDARD_BATCH, &json!({ "requests": full() }))
            .ok();
    });
}

/// Sends batches of each customer until one is refused, and returns those that are answered and
/// unread.
fn fill(server: &Server, batches: [Vec<u8>; 5]) -> Vec<TcpStream> {
    const MOST: usize = 40;
    let fill = |batch: Vec<u8>| {
        let sent = (0..MOST).map(|_| send_request(server, &batch));
        sent.take_while(|stream| peek_status(stream) == "200")
            .collect::<Vec<_>>()
    };
    let fill = &fill;
    std::thread::scope(|scope| {
        let filling = batches.map(|batch| scope.spawn(move || fill(batch)));
        let filled = filling.map(|filling| filling.join().unwrap());
        filled.into_iter().flatten().collect()
    })
}

/// Returns bodies that never end, after ever fewer bytes, so that they take all memory that is
/// left.
fn unfinished_bodies(server: &Server, key: &str) -> Vec<TcpStream> {
    let sizes = (0..=20).rev().map(|power| 1 << power);
    let unfinished = sizes.map(|size: usize| {
        let mut stream = connect(server.address);
        let head = post(key, SIMPLE, LARGEST);
        stream.write_all(head.as_bytes()).unwrap();
        // One that is refused may be closed before all is sent.
        let _sent = stream.write_all(&vec![b' '; size]);
        std::thread::sleep(TICK / 5);
        stream
    });
    unfinished.collect()
}

#[test]
fn unread_responses_refuse_no_single_value() {
    const PLAN: &str = "concurrency = 400\nrequests_per_second = 1000\nburst = 1000";
    let start = start().with(&["--connections-per-address", "2048"]);
    let slow = ["one", "two", "three", "four", "five"];
    let slow = slow.map(|tenant| start.key_with_plan(tenant, &["avm:value"], PLAN));
    let other = start.key(&["avm:value"]);
    let server = start.go();
    let other = server.client(&other);
    let requests = |rows: &[Value]| {
        let body = json!({ "requests": rows });
        slow.each_ref().map(|key| post_request(key, &body))
    };
    // Large responses until one is refused, then smaller ones, then bodies for the rest. The
    // kernel would take those that are much smaller.
    let large = fill(&server, requests(&full()));
    let small = fill(&server, requests(&full()[..400]));
    let _bodies = unfinished_bodies(&server, &slow[0]);
    let (large, small) = (large.len(), small.len());
    println!("{large} large responses and {small} smaller ones are unread");
    for _ in 0..10 {
        other.post(SIMPLE, &house()).ok();
    }
}

#[test]
fn unread_results_of_a_job_are_not_buffered() {
    let server = start().go();
    let client = server.demo();
    let path = results(&client);
    let ask = get_request(&client.key, &path);
    // Held as a whole, they would be nearly 300 MB.
    survives(&server, 48 * MIB, || {
        let deaf: Vec<TcpStream> = (0..32).map(|_| send_request(&server, &ask)).collect();
        std::thread::sleep(TICK * 4);
        let request_start = Instant::now();
        assert_eq!(client.get(&path).status, 200);
        assert!(request_start.elapsed() < Duration::from_secs(10));
        drop(deaf);
    });
}
