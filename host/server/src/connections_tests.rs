use super::*;
use crate::telemetry::connections::{ConnectionMetrics, Listener};
use std::future::Future;

fn connections(connections: usize, per_address: usize) -> Arc<Connections> {
    let limits = ConnectionLimits {
        connections,
        per_address,
        trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()],
        ..few(Duration::from_secs(75), Duration::from_secs(10))
            .limits()
            .clone()
    };
    Connections::new(limits, ConnectionMetrics::default().of(Listener::Service))
}

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// Returns the output of a future that is ready at once, or nothing.
async fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    timeout(Duration::from_millis(20), future).await.ok()
}

#[tokio::test]
async fn an_address_has_its_share_and_a_trusted_proxy_any_number() {
    let connections = connections(100, 2);
    let mut open = Vec::new();
    for _ in 0..2 {
        let guard = connections.enter(address("192.0.2.1")).await.unwrap();
        assert!(guard.begin_request());
        open.push(guard);
    }
    assert!(connections.enter(address("192.0.2.1")).await.is_none());
    assert!(
        connections
            .enter(address("::ffff:192.0.2.1"))
            .await
            .is_none()
    );
    assert!(connections.enter(address("192.0.2.2")).await.is_some());
    for _ in 0..5 {
        open.push(connections.enter(address("10.1.2.3")).await.unwrap());
    }
    drop(open);
    assert!(connections.enter(address("192.0.2.1")).await.is_some());
}

#[tokio::test]
async fn a_connection_without_a_request_makes_way_for_another_of_its_address() {
    let connections = connections(100, 2);
    let enter = |text| connections.enter(address(text));
    let other = enter("192.0.2.2").await.unwrap();
    let idle = enter("192.0.2.1").await.unwrap();
    assert!(idle.begin_request());
    idle.end_request();
    let new = enter("192.0.2.1").await.unwrap();
    for closing in [new, idle] {
        let entered = enter("192.0.2.1").await.unwrap();
        assert!(entered.begin_request());
        assert!(now(closing.must_close()).await.is_some());
        std::mem::forget(entered);
    }
    assert!(enter("192.0.2.1").await.is_none());
    assert!(now(other.must_close()).await.is_none());
}

#[tokio::test]
async fn a_connection_whose_response_is_unread_makes_way_before_others() {
    let connections = connections(2, 9);
    let idle = connections.enter(address("192.0.2.1")).await.unwrap();
    let unread = connections.enter(address("192.0.2.2")).await.unwrap();
    assert!(unread.begin_request());
    unread.begin_unread();
    unread.end_unread();
    unread.begin_unread();
    assert_eq!(connections.metrics.waiting.get(), 1);
    let entering = connections.enter(address("192.0.2.3"));
    let closed = async {
        unread.must_close().await;
        drop(unread);
    };
    let (entered, closed) = tokio::join!(now(entering), now(closed));
    assert!(closed.is_some());
    assert!(entered.flatten().is_some());
    assert!(now(idle.must_close()).await.is_none());
    assert!(idle.begin_request());
    assert_eq!(connections.metrics.waiting.get(), 0);
}

#[tokio::test]
async fn a_response_that_is_read_again_keeps_its_connection() {
    let connections = connections(1, 9);
    let guard = connections.enter(address("192.0.2.1")).await.unwrap();
    assert!(guard.begin_request());
    guard.begin_unread();
    guard.end_unread();
    let mut entering = Box::pin(connections.enter(address("192.0.2.2")));
    assert!(now(&mut entering).await.is_none());
    assert!(now(guard.must_close()).await.is_none());
    guard.begin_unread();
    assert!(now(&mut entering).await.is_none());
    // It is too late to read on.
    guard.end_unread();
    guard.end_request();
    assert!(!guard.begin_request());
    assert!(now(guard.must_close()).await.is_some());
}

#[tokio::test]
async fn an_ipv6_address_counts_with_its_subscriber() {
    let connections = connections(100, 1);
    let open = connections.enter(address("2001:db8:0:1::1")).await.unwrap();
    assert!(open.begin_request());
    assert!(
        connections
            .enter(address("2001:db8:0:1:ffff::2"))
            .await
            .is_none()
    );
    assert!(
        connections
            .enter(address("2001:db8:0:2::1"))
            .await
            .is_some()
    );
}

#[tokio::test]
async fn the_connection_that_waited_longest_without_ever_a_request_makes_way_first() {
    let connections = connections(3, 9);
    let known = connections.enter(address("192.0.2.1")).await.unwrap();
    assert!(known.begin_request());
    known.end_request();
    let first = connections.enter(address("192.0.2.2")).await.unwrap();
    let second = connections.enter(address("192.0.2.3")).await.unwrap();
    for closing in [first, second, known] {
        let entering = connections.enter(address("192.0.2.4"));
        let closed = async {
            closing.must_close().await;
            drop(closing);
        };
        let (entered, closed) = tokio::join!(now(entering), now(closed));
        let entered = entered.flatten().unwrap();
        assert!(closed.is_some());
        assert!(entered.begin_request());
        std::mem::forget(entered);
    }
}

#[tokio::test]
async fn a_connection_with_a_request_makes_way_for_nobody_until_its_response_is_written() {
    let connections = connections(1, 9);
    let busy = connections.enter(address("192.0.2.1")).await.unwrap();
    assert!(busy.begin_request());
    let mut entering = Box::pin(connections.enter(address("192.0.2.2")));
    assert!(now(&mut entering).await.is_none());
    assert!(now(busy.must_close()).await.is_none());
    busy.end_request();
    assert!(now(&mut entering).await.is_none());
    assert!(now(busy.must_close()).await.is_some());
    drop(busy);
    assert!(now(entering).await.flatten().is_some());
}

#[tokio::test]
async fn a_connection_is_counted_out_however_it_ends() {
    let connections = connections(4, 4);
    let guards = [
        connections.enter(address("192.0.2.1")).await.unwrap(),
        connections.enter(address("192.0.2.1")).await.unwrap(),
    ];
    assert!(guards[0].begin_request());
    assert_eq!(connections.metrics.open.get(), 2);
    assert_eq!(connections.metrics.waiting.get(), 1);
    drop(guards);
    assert_eq!(connections.metrics.open.get(), 0);
    assert_eq!(connections.metrics.waiting.get(), 0);
    assert!(connections.open().by_address.is_empty());
    assert!(connections.open().waiting.is_empty());
}

#[tokio::test]
async fn idle_connections_make_way_while_few_are_new() {
    let connections = connections(8, 9);
    let mut idle = Vec::new();
    for _ in 0..8 {
        let guard = connections.enter(address("192.0.2.1")).await.unwrap();
        assert!(guard.begin_request());
        guard.end_request();
        idle.push(guard);
    }
    let mut new = Vec::new();
    for _ in 0..2 {
        let entering = connections.enter(address("192.0.2.2"));
        let closing = idle.remove(0);
        let closed = async {
            closing.must_close().await;
            drop(closing);
        };
        let (entered, closed) = tokio::join!(now(entering), now(closed));
        assert!(closed.is_some());
        new.push(entered.flatten().unwrap());
    }
    for guard in &new {
        assert!(now(guard.must_close()).await.is_none());
    }
}

#[tokio::test]
async fn the_end_of_a_drain_moves_to_a_sooner_time_and_never_to_a_later_one() {
    let (connections, hour) = (connections(1, 1), Duration::from_secs(3_600));
    let second = Duration::from_secs(1);
    assert!(now(connections.until_left(hour)).await.is_none());
    connections.drain(hour);
    assert!(now(connections.until_left(hour)).await.is_some());
    let mut ending = Box::pin(connections.until_left(second));
    assert!(now(&mut ending).await.is_none());
    connections.drain(second);
    assert!(now(ending).await.is_some());
    connections.drain(hour);
    assert!(connections.time_left().unwrap() <= second);
}

#[tokio::test]
async fn a_connection_that_makes_way_begins_no_request() {
    let connections = connections(1, 9);
    let closing = connections.enter(address("192.0.2.1")).await.unwrap();
    let mut entering = Box::pin(connections.enter(address("192.0.2.2")));
    assert!(now(&mut entering).await.is_none());
    assert!(connections.must_close());
    assert!(!closing.begin_request());
    drop(closing);
    assert!(now(entering).await.flatten().is_some());
    assert!(!connections.must_close());
}
