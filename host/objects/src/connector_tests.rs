//! Stores whose answers do not end, or write on the terminal.

use super::*;
use crate::Location;
use crate::transfer::Transfer;
use futures_util::TryStreamExt;
use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes after which a store without end gives up.
const ENDLESS: usize = 256 << 20;

/// Starts a store that answers each request with this head, and this piece again and again. Also
/// returns the count of the bytes that were taken.
fn endless_store(head: &'static str, piece: Vec<u8>) -> (Transfer, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let taken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&taken);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(stream, head, &piece, &count);
        }
    });
    let store = AmazonS3Builder::new()
        .with_bucket_name("bucket")
        .with_endpoint(format!("http://{address}"))
        .with_allow_http(true)
        .with_access_key_id("test")
        .with_secret_access_key("test")
        .with_http_connector(Connector)
        .build()
        .unwrap();
    let transfer = Transfer {
        store: Arc::new(store),
        location: Location::parse("s3://bucket").unwrap(),
        limit: Duration::from_secs(60),
    };
    (transfer, taken)
}

fn answer(mut stream: TcpStream, head: &str, piece: &[u8], taken: &AtomicUsize) {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).unwrap_or(0) == 0 {
            return;
        }
        request.push(byte[0]);
    }
    let mut goes_on = stream.write_all(head.as_bytes()).is_ok();
    while goes_on && taken.load(Ordering::Relaxed) < ENDLESS {
        goes_on = stream.write_all(piece).is_ok();
        taken.fetch_add(piece.len(), Ordering::Relaxed);
    }
}

#[tokio::test]
async fn an_endless_refusal_is_cut_off_and_shown_short() {
    let text = "\u{1b}[2Jall is well\u{202e} ".repeat(4096);
    let head = "HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n";
    let (transfer, taken) = endless_store(head, text.into_bytes());
    let refused = transfer.get(&Path::from("manifest.json"), 9).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("403 Forbidden"), "{refused:?}");
    assert!(refused.contains("[2Jall is well"), "{refused:?}");
    assert!(refused.chars().count() < 1_200, "{refused:?}");
    let moves = |c: char| c.is_control() || c == '\u{202e}';
    assert!(!refused.contains(moves), "{refused:?}");
    let taken = taken.load(Ordering::Relaxed);
    assert!(taken < ENDLESS / 4, "{taken} bytes were taken");
}

#[tokio::test]
async fn an_endless_listing_is_cut_off() {
    let head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n<ListBucketResult>";
    let (transfer, taken) = endless_store(head, vec![b' '; 1 << 20]);
    let listing = transfer.store.list(None).try_collect::<Vec<_>>();
    let refused = transfer.within(("listing releases", 0), listing).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("more than 16777216 bytes"), "{refused}");
    let taken = taken.load(Ordering::Relaxed);
    assert!(taken < ENDLESS / 4, "{taken} bytes were taken");
}

#[tokio::test]
async fn an_object_may_be_larger_than_other_answers() {
    let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nLast-Modified: Fri, 01 Jan 2027 00:00:00 GMT\r\n\
        Content-Length: 16777217\r\nConnection: close\r\n\r\n";
    let bytes = LARGEST_ANSWER + 1;
    let (transfer, _) = endless_store(head, vec![0; bytes]);
    let read = transfer.get(&Path::from("object"), bytes as u64).await;
    assert_eq!(read.unwrap().map(|read| read.len()), Some(bytes));
}
