use super::*;
use crate::connections::few;
use axum::body::Bytes;
use axum::routing::post;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

/// The time for responses, and for the end of the connection after them.
const MOMENT: Duration = Duration::from_millis(200);

/// Sends bytes to a service that refuses every request but those of `/read`, whose body it reads.
/// Returns what each response states of the connection, and whether the connection was closed.
async fn converse_with(requests: &str) -> (Vec<String>, bool) {
    let limit = Duration::from_secs(30);
    let guard = few(limit, limit).enter([192, 0, 2, 1].into()).await;
    let (_open, phase) = watch::channel(Phase::Open);
    let router = Router::new()
        .route("/read", post(|_: Bytes| async {}))
        .fallback(|| async { StatusCode::UNAUTHORIZED });
    let (ours, mut theirs) = duplex(1 << 20);
    theirs.write_all(requests.as_bytes()).await.unwrap();
    tokio::spawn(converse(
        ours,
        Connection::new(guard.unwrap()),
        router,
        phase,
    ));
    let mut received = Vec::new();
    let reading = timeout(MOMENT, theirs.read_to_end(&mut received)).await;
    let received = String::from_utf8(received).unwrap();
    let lines = received.lines();
    let stated = lines.filter_map(|line| line.strip_prefix("connection: "));
    (stated.map(str::to_owned).collect(), reading.is_ok())
}

#[tokio::test]
async fn a_response_before_the_end_of_its_request_states_that_the_connection_closes() {
    let sized =
        |path: &str, body: &str| format!("POST {path} HTTP/1.1\r\nContent-Length: 5\r\n\r\n{body}");
    let chunked = |path: &str| {
        let head = format!("POST {path} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
        head + "2\r\nab\r\n3\r\ncde\r\n1\r\nf\r\n0\r\n\r\n"
    };
    let expecting = "POST / HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
    let plain = "GET / HTTP/1.1\r\n\r\n";
    let keep = "keep-alive";
    for (requests, stated) in [
        (sized("/", ""), ["close"].as_slice()),
        (sized("/", "ab"), &["close"]),
        (expecting.to_owned(), &["close"]),
        (chunked("/"), &["close"]),
        (sized("/", "abcde"), &[keep]),
        (sized("/read", "abcde"), &[keep]),
        (chunked("/read"), &[keep]),
        (plain.to_owned(), &[keep]),
        (format!("{plain}POST / HT"), &[keep]),
        (sized("/", "abcde") + &chunked("/read") + plain, &[keep; 3]),
        (sized("/", "abcde") + &sized("/", "ab"), &[keep, "close"]),
    ] {
        let (found, closed) = converse_with(&requests).await;
        assert_eq!(found, stated, "{requests}");
        assert_eq!(closed, stated.contains(&"close"), "{requests}");
    }
}
