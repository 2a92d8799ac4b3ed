use super::*;
use crate::connections::few;
use crate::quota::{LimitExceeded, RequestLimiter};
use axum::body::Body;
use domesday_state::{KeyId, Plan, Principal, Scopes};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

fn one_at_once() -> Principal {
    Principal {
        tenant: "one".parse().unwrap(),
        key_id: KeyId::from_bytes([1; 8]),
        scopes: Scopes::all(),
        plan: Plan {
            concurrency: 1,
            ..Plan::default()
        },
        requires_metric_selection: false,
    }
}

/// Returns a connection that may be idle for 200 ms and whose heads may take 100 ms.
async fn connection() -> Connection {
    connection_with_idle_timeout(Duration::from_millis(200)).await
}

/// Returns a connection that may be idle for some time and whose heads may take 100 ms.
async fn connection_with_idle_timeout(idle: Duration) -> Connection {
    let connections = few(idle, Duration::from_millis(100));
    let guard = connections.enter([192, 0, 2, 1].into()).await;
    Connection::new(guard.unwrap())
}

/// Creates a timeout of this length at 6,400 bytes a second.
fn timeout(millis: u64) -> WriteTimeout {
    WriteTimeout {
        time: Duration::from_millis(millis),
        grace: Duration::from_millis(millis / 4),
        rate: 6_400,
    }
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_cut_off() {
    let (ours, theirs) = duplex(64);
    let timeout = timeout(100);
    let mut stream = ClientStream::new(ours, connection().await, timeout);
    let error = stream.write_all(&[0; 4_096]).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    drop(theirs);
}

/// Returns the number of pieces that a client receives when it pauses after each.
async fn pieces_received(pause: u64, pieces: usize) -> Result<usize, io::ErrorKind> {
    let (ours, mut theirs) = duplex(64);
    let mut stream = ClientStream::new(ours, connection().await, timeout(200));
    let reading = tokio::spawn(async move {
        let mut all = 0;
        let mut piece = [0; 64];
        while let Ok(count @ 1..) = theirs.read(&mut piece).await {
            all += count;
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        all / 64
    });
    let result = stream.write_all(&vec![7; 64 * pieces]).await;
    drop(stream);
    result.map_err(|error| error.kind())?;
    Ok(reading.await.unwrap())
}

#[tokio::test]
async fn a_client_that_reads_fast_enough_has_all_of_its_answer() {
    // A piece gives 10 ms back, so this goes on for longer than the timeout.
    assert_eq!(pieces_received(5, 60).await, Ok(60));
    // A slower client has the remaining time.
    assert_eq!(pieces_received(20, 5).await, Ok(5));
}

#[tokio::test]
async fn a_client_that_reads_a_little_now_and_then_is_cut_off_too() {
    assert_eq!(pieces_received(30, 60).await, Err(io::ErrorKind::TimedOut));
}

#[tokio::test]
async fn each_answer_has_the_full_timeout() {
    let (ours, mut theirs) = duplex(64);
    let mut stream = ClientStream::new(ours, connection().await, timeout(200));
    for _ in 0..4 {
        let reading = async {
            tokio::time::sleep(Duration::from_millis(90)).await;
            let mut all = [0; 65];
            theirs.read_exact(&mut all).await.unwrap();
        };
        let writing = async {
            stream.write_all(&[7; 65]).await.unwrap();
            stream.flush().await.unwrap();
        };
        tokio::join!(reading, writing);
    }
}

/// Returns whether a connection makes way within its write timeout while its client reads
/// nothing.
async fn makes_way_unread(has_key: bool) -> bool {
    let limit = Duration::from_secs(5);
    let connections = few(limit, limit);
    let mut guards = Vec::new();
    for client in 1..=4 {
        let guard = connections.enter([192, 0, 2, client].into()).await.unwrap();
        assert!(guard.begin_request());
        guards.push(guard);
    }
    let connection = Connection::new(guards.pop().unwrap());
    assert!(connection.begin_request());
    if has_key {
        connection.set_has_key();
    }
    let (ours, _theirs) = duplex(64);
    let mut stream = ClientStream::new(ours, connection.clone(), timeout(1_000));
    let entering = tokio::spawn({
        let connections = connections.clone();
        async move { connections.enter([192, 0, 2, 9].into()).await.is_some() }
    });
    let writing = async {
        tokio::select! {
            _ = stream.write_all(&[0; 4_096]) => false,
            () = connection.must_close() => true,
        }
    };
    let made_way = writing.await;
    entering.abort();
    made_way
}

#[tokio::test]
async fn an_unread_response_makes_way_for_another_client_unless_its_request_had_a_key() {
    let started = Instant::now();
    assert!(makes_way_unread(false).await);
    let took = started.elapsed().as_millis();
    assert!((240..900).contains(&took), "{took} ms");
    assert!(!makes_way_unread(true).await);
}

#[tokio::test]
async fn a_slot_is_held_until_its_answer_is_written_or_its_connection_is_gone() {
    let limiter = RequestLimiter::new(8);
    let principal = one_at_once();
    let enter = || limiter.arrive(&principal).enter();
    let connection = connection().await;
    let (ours, _theirs) = duplex(64);
    let mut stream = ClientStream::new(ours, connection.clone(), WRITE_TIMEOUT);

    connection.after_flush(enter().unwrap());
    let at_limit = Some(LimitExceeded::Concurrency { limit: 1 });
    assert_eq!(enter().err(), at_limit);
    stream.flush().await.unwrap();
    connection.after_flush(enter().unwrap());
    assert_eq!(enter().err(), at_limit);
    drop((stream, connection));
    assert!(enter().is_ok());
}

/// Sends a byte of a head every 20 ms, for a second. Returns why the connection ends, and when.
async fn trickle_head(
    mut stream: ClientStream<DuplexStream>,
    mut theirs: DuplexStream,
) -> (io::ErrorKind, Duration) {
    let sending = tokio::spawn(async move {
        for _ in 0..50 {
            tokio::time::sleep(Duration::from_millis(20)).await;
            if theirs.write_all(b"x").await.is_err() {
                break;
            }
        }
    });
    let started = Instant::now();
    let mut byte = [0];
    let error = loop {
        if let Err(error) = stream.read_exact(&mut byte).await {
            break error;
        }
    };
    let took = started.elapsed();
    drop(stream);
    sending.await.unwrap();
    (error.kind(), took)
}

#[tokio::test]
async fn a_head_that_trickles_is_cut_off_after_the_head_timeout() {
    let (ours, theirs) = duplex(64);
    let stream = ClientStream::new(ours, connection().await, WRITE_TIMEOUT);
    let (error, took) = trickle_head(stream, theirs).await;
    assert_eq!(error, io::ErrorKind::TimedOut);
    assert!(took < Duration::from_millis(600), "{took:?}");
}

#[tokio::test]
async fn the_head_of_a_second_request_is_cut_off_long_before_the_end_of_the_idle_timeout() {
    let (ours, mut theirs) = duplex(64);
    let connection = connection_with_idle_timeout(Duration::from_secs(5)).await;
    let mut stream = ClientStream::new(ours, connection.clone(), WRITE_TIMEOUT);
    let mut byte = [0];
    theirs.write_all(b"x").await.unwrap();
    stream.read_exact(&mut byte).await.unwrap();
    assert!(connection.begin_request());
    drop(connection.track(Body::empty()));
    stream.flush().await.unwrap();
    // Its timer now waits for the end of the idle timeout.
    let idle = tokio::time::timeout(Duration::from_millis(150), stream.read(&mut byte));
    assert!(idle.await.is_err());
    let (error, took) = trickle_head(stream, theirs).await;
    assert_eq!(error, io::ErrorKind::TimedOut);
    assert!(took < Duration::from_millis(600), "{took:?}");
}

#[tokio::test]
async fn a_connection_ends_quietly_after_the_idle_timeout_and_not_after_that_of_a_head() {
    let (ours, mut theirs) = duplex(64);
    let connection = connection().await;
    let mut stream = ClientStream::new(ours, connection.clone(), WRITE_TIMEOUT);
    let mut byte = [0];
    for pause in [0, 150] {
        tokio::time::sleep(Duration::from_millis(pause)).await;
        theirs.write_all(b"x").await.unwrap();
        stream.read_exact(&mut byte).await.unwrap();
        assert!(connection.begin_request());
        // A request may take longer than either.
        let waiting = tokio::time::timeout(Duration::from_millis(300), stream.read(&mut byte));
        assert!(waiting.await.is_err());
        let body = connection.track(Body::empty());
        // The head of a streamed response is no end of it.
        stream.flush().await.unwrap();
        let waiting = tokio::time::timeout(Duration::from_millis(300), stream.read(&mut byte));
        assert!(waiting.await.is_err());
        drop(body);
        stream.flush().await.unwrap();
    }
    let started = Instant::now();
    assert_eq!(stream.read(&mut byte).await.unwrap(), 0);
    let waited = started.elapsed();
    assert!((190..600).contains(&waited.as_millis()), "{waited:?}");
}
