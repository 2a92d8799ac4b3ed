//! The pool under load, and after a panic.

use super::*;

#[tokio::test]
async fn a_panic_loses_its_own_work_alone() {
    let workers = WorkerPool::new(1, 4).unwrap();
    assert_eq!(
        workers.run(|| -> u32 { panic!("on purpose") }).await,
        Err(WorkError::Lost)
    );
    assert_eq!(workers.run(|| 7).await, Ok(7));
}

#[tokio::test]
async fn a_peak_of_tasks_is_kept_until_it_is_taken() {
    let workers = WorkerPool::new(1, 4).unwrap();
    let (all_wait, held) = std::sync::mpsc::channel();
    let (first, ..) = tokio::join!(
        workers.run(move || held.recv()),
        workers.run_fair(|| 2),
        workers.run_parallel(|| 3),
        async { all_wait.send(()) }
    );
    assert_eq!(first, Ok(Ok(())));
    assert_eq!(workers.in_use(), 0);
    assert_eq!(workers.take_peak(), 3);
    assert_eq!(workers.take_peak(), 0);
}

#[tokio::test]
async fn parallel_work_runs_on_dedicated_threads() {
    let workers = WorkerPool::new(3, 1).unwrap();
    assert_eq!(workers.threads(), 3);
    let of = || {
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        (rayon::current_num_threads(), name)
    };
    let (threads, name) = workers.run_parallel(of).await.unwrap();
    assert!(threads == 3 && name.starts_with("parallel-"), "{name}");
    let (_, name) = workers.run(of).await.unwrap();
    assert!(name.starts_with("worker-"), "{name}");
    let panicked = workers.run_parallel(|| -> u32 { panic!("on purpose") });
    assert_eq!(panicked.await, Err(WorkError::Lost));
    assert_eq!(workers.run_parallel_fair(|| 7).await, Ok(7));
}

#[tokio::test]
async fn queued_work_finishes_after_the_pool_drops() {
    let workers = WorkerPool::new(1, 9).unwrap();
    let (sender, numbers) = std::sync::mpsc::channel();
    for number in 0..8 {
        let sender = sender.clone();
        workers.enqueue(Box::new(move || {
            std::thread::yield_now();
            let _ = sender.send(number);
        }));
    }
    drop((workers, sender));
    assert_eq!(
        numbers.iter().collect::<Vec<_>>(),
        (0..8).collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn work_behind_requests_sees_that_one_waits() {
    let workers = Arc::new(WorkerPool::new(1, 1).unwrap());
    let (start, started) = std::sync::mpsc::channel::<()>();
    let (behind, waiting) = (workers.clone(), workers.queue_depth().clone());
    let behind = tokio::spawn(async move {
        let work = move || {
            let _ = start.send(());
            let started = std::time::Instant::now();
            while !waiting.is_nonzero() && started.elapsed().as_secs() < 10 {
                std::thread::yield_now();
            }
            waiting.is_nonzero()
        };
        behind.run_low_priority(work).await
    });
    tokio::task::spawn_blocking(move || started.recv())
        .await
        .unwrap()
        .unwrap();
    // The only slot is free all the same.
    assert_eq!(workers.run(|| 7).await, Ok(7));
    assert_eq!(behind.await.unwrap(), Ok(true));
    assert!(!workers.queue_depth().is_nonzero());
    let panicked = workers.run_low_priority(|| -> u32 { panic!("on purpose") });
    assert_eq!(panicked.await, Err(WorkError::Lost));
}

#[tokio::test]
async fn the_wait_of_each_task_of_a_request_is_observed() {
    let (sender, waits) = std::sync::mpsc::channel();
    let workers = WorkerPool::new(1, 2).unwrap();
    let workers = workers.with_wait_observer(Arc::new(move |wait| {
        let _ = sender.send(wait);
    }));
    let busy = Duration::from_millis(50);
    let first = workers.run(move || std::thread::sleep(busy));
    let (first, second) = tokio::join!(first, workers.run(|| ()));
    assert_eq!((first, second), (Ok(()), Ok(())));
    workers.run_low_priority(|| ()).await.unwrap();
    drop(workers);
    let waits: Vec<Duration> = waits.iter().collect();
    assert_eq!(waits.len(), 2, "{waits:?}");
    assert!(waits[0] < busy && waits[1] >= busy / 2, "{waits:?}");
}

#[tokio::test]
async fn large_bodies_delay_no_request() {
    let workers = Arc::new(WorkerPool::new(1, 2).unwrap());
    let mut bodies = Vec::new();
    for _ in 0..2 {
        let (release, released) = std::sync::mpsc::channel::<()>();
        let bulk = workers.clone();
        let parsed = tokio::spawn(async move { bulk.run_bulk(move || released.recv()).await });
        bodies.push((release, parsed));
    }
    while workers.bulk_in_use() < 2 {
        tokio::task::yield_now().await;
    }
    // They take no slot of requests, and no row yields to the one that waits.
    assert_eq!(workers.run(|| 7).await, Ok(7));
    assert!(!workers.queue_depth().is_nonzero());
    assert_eq!(workers.run_bulk(|| 7).await, Err(WorkError::Full));
    for (release, parsed) in bodies {
        release.send(()).unwrap();
        assert_eq!(parsed.await.unwrap(), Ok(Ok(())));
    }
    let panicked = workers.run_bulk(|| -> u32 { panic!("on purpose") });
    assert_eq!(panicked.await, Err(WorkError::Lost));
    assert_eq!(workers.run_bulk(|| 7).await, Ok(7));
}

#[tokio::test]
async fn a_full_queue_refuses_work() {
    let workers = Arc::new(WorkerPool::new(2, 2).unwrap());
    assert_eq!((workers.capacity(), workers.in_use()), (2, 0));
    let (start, started) = std::sync::mpsc::channel::<()>();
    let mut busy = Vec::new();
    for _ in 0..2 {
        let (release, released) = std::sync::mpsc::channel::<()>();
        let (workers, start) = (workers.clone(), start.clone());
        let work = move || {
            let _ = start.send(());
            let _ = released.recv();
        };
        let ran = tokio::spawn(async move { workers.run(work).await });
        busy.push((release, ran));
    }
    tokio::task::spawn_blocking(move || started.iter().take(2).count())
        .await
        .unwrap();
    assert_eq!((workers.capacity(), workers.in_use()), (2, 2));
    assert_eq!(workers.occupancy().in_use(), 2);
    assert_eq!(workers.run(|| 1).await, Err(WorkError::Full));
    for (release, ran) in busy {
        release.send(()).unwrap();
        assert_eq!(ran.await.unwrap(), Ok(()));
    }
    assert_eq!(workers.in_use(), 0);
    assert_eq!(workers.run(|| 1).await, Ok(1));
}
