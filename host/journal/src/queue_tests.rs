use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::line::tests::about;
use crate::{TenantKey, prepare};

/// Longer than any of these tests waits.
const LONG: Duration = Duration::from_secs(30);

/// Returns a receipt whose text has exactly this many bytes.
fn receipt_of(bytes: usize) -> SealedReceipt {
    let key = TenantKey::new([1; 32]);
    let record = vec![7; bytes / 2];
    let nameless = prepare(&about(""), &key, &record).unwrap().bytes();
    prepare(&about(&"v".repeat(bytes - nameless)), &key, &record).unwrap()
}

/// Waits for receipts whose outcome is not known yet.
fn outcome(queue: &Queue, from: u64, to: u64) -> oneshot::Receiver<Outcome> {
    queue.wait(from, to).unwrap_err()
}

fn count(work: &Work) -> usize {
    match work {
        Work::Group(group) => group.len(),
        Work::Nothing | Work::Closed => 0,
    }
}

#[test]
fn a_group_ends_with_the_receipt_that_fills_it() {
    let queue = Queue::new(10, 8_000);
    for _ in 0..6 {
        assert!(queue.push(receipt_of(2_000)).unwrap().is_ok());
    }
    let _outcome = outcome(&queue, 6, 6);
    assert_eq!(count(&queue.take(LONG)), 4);
    assert_eq!(count(&queue.take(LONG)), 2, "the rest is due at once");
    assert_eq!(count(&queue.take(Duration::ZERO)), 0);
}

#[test]
fn receipts_in_the_hands_of_the_thread_give_it_no_other_turn() {
    let queue = Queue::new(10, 8_000);
    assert!(queue.push(receipt_of(2_000)).unwrap().is_ok());
    let sleep = Duration::from_millis(50);
    assert_eq!(count(&queue.take(sleep)), 1);
    let _outcome = outcome(&queue, 1, 1);
    queue.call_after(1, Box::new(|| ()));
    let begun = Instant::now();
    assert!(matches!(queue.take(sleep), Work::Nothing));
    assert!(begun.elapsed() >= sleep);
}

#[test]
fn a_receipt_alone_does_not_wake_the_thread_until_somebody_waits() {
    let queue = Arc::new(Queue::new(1_000, 8 << 20));
    let is_taken = Arc::new(AtomicBool::new(false));
    let (thread_queue, thread_is_taken) = (queue.clone(), is_taken.clone());
    let thread = std::thread::spawn(move || {
        let work = thread_queue.take(LONG);
        thread_is_taken.store(true, Ordering::SeqCst);
        count(&work)
    });
    for _ in 0..3 {
        assert!(queue.push(receipt_of(2_000)).unwrap().is_ok());
    }
    std::thread::sleep(Duration::from_millis(50));
    assert!(!is_taken.load(Ordering::SeqCst));
    let _outcome = outcome(&queue, 1, 3);
    assert_eq!(thread.join().unwrap(), 3);
}

#[test]
fn many_bytes_are_due_though_nobody_waits() {
    let queue = Queue::new(1_000, 8 << 20);
    let mut pushed = 0;
    while pushed * 4_000 < DUE_BYTES {
        assert!(queue.push(receipt_of(4_000)).unwrap().is_ok());
        pushed += 1;
    }
    let begun = Instant::now();
    assert_eq!(count(&queue.take(LONG)), pushed);
    assert!(begun.elapsed() < LONG);
}

#[test]
fn receipts_that_nobody_waits_for_are_taken_after_the_longest_sleep() {
    let queue = Queue::new(1_000, 8 << 20);
    assert!(queue.push(receipt_of(2_000)).unwrap().is_ok());
    assert_eq!(count(&queue.take(Duration::from_millis(5))), 1);
}

#[tokio::test]
async fn each_who_waits_learns_of_the_failure_of_a_receipt_between_the_tickets() {
    let queue = Queue::new(10, 8 << 20);
    for _ in 0..4 {
        assert!(queue.push(receipt_of(2_000)).unwrap().is_ok());
    }
    let [first, both, last] = [(1, 1), (1, 3), (4, 4)].map(|(from, to)| outcome(&queue, from, to));
    queue.finish(1, Ok(()));
    assert!(first.await.unwrap().is_ok());
    queue.finish(1, Err(JournalError::Closed));
    queue.finish(2, Ok(()));
    assert!(both.await.unwrap().is_err());
    assert!(last.await.unwrap().is_ok());
    // The outcome is known already.
    assert!(queue.wait(1, 2).unwrap().is_err());
    assert!(queue.wait(3, 4).unwrap().is_ok());
}

#[tokio::test]
async fn a_thread_that_ends_ends_every_wait() {
    let queue = Queue::new(10, 8 << 20);
    let ticket = queue.push(receipt_of(2_000)).unwrap().unwrap();
    let outcome = outcome(&queue, ticket, ticket);
    queue.abandon();
    assert!(outcome.await.is_err());
    assert!(queue.push(receipt_of(2_000)).is_err());
}

#[test]
fn a_closed_queue_is_emptied_before_the_thread_ends() {
    let queue = Queue::new(10, 8 << 20);
    assert!(queue.push(receipt_of(2_000)).unwrap().is_ok());
    queue.close();
    assert_eq!(count(&queue.take(LONG)), 1);
    assert!(matches!(queue.take(LONG), Work::Closed));
}

#[test]
fn a_call_is_made_once_its_receipt_is_durable_or_failed_or_is_held_no_longer() {
    let queue = Queue::new(10, 8 << 20);
    let (send, receive) = std::sync::mpsc::channel();
    let call = |name: u64| -> Box<dyn FnOnce() + Send> {
        let send = send.clone();
        Box::new(move || send.send(name).unwrap())
    };
    let called = || receive.try_iter().collect::<Vec<_>>();
    for _ in 0..4 {
        assert!(queue.push(receipt_of(2_000)).unwrap().is_ok());
    }
    for ticket in 1..=4 {
        queue.call_after(ticket, call(ticket));
    }
    assert!(called().is_empty());
    queue.finish(1, Ok(()));
    assert_eq!(called(), [1]);
    queue.finish(1, Err(JournalError::Closed));
    assert_eq!(called(), [2]);
    queue.call_after(2, call(5));
    assert_eq!(called(), [5], "its outcome is known");
    queue.call_now(4);
    assert_eq!(called(), [4], "the call of another goes on");
    queue.call_now(3);
    assert_eq!(called(), [3]);
    queue.call_after(4, call(6));
    queue.abandon();
    assert_eq!(called(), [6]);
    queue.call_after(4, call(7));
    assert_eq!(called(), [7], "nobody would make it later");
}
