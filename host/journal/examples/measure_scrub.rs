//! Measures how fast a journal is followed line by line, and how long one takes to open.
//!
//! ```sh
//! cargo run --release --package domesday-journal --example measure_scrub -- 1000
//! ```
//!
//! The argument is the size of the journal in megabytes.

#![allow(unused_crate_dependencies)]

use domesday_journal::{Expectations, Journal, ReceiptHeader, TenantKey, prepare, verify};
use domesday_package::Sha256Digest;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes of a record, sealed as some 12 kB of text: a receipt of the demo's release.
const RECORD: usize = 8_700;
/// Receipts that wait together.
const BURST: usize = 500;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let megabytes: u64 = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => 300,
    };
    let folder = tempfile::tempdir()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    runtime.block_on(write(folder.path(), megabytes << 20))?;
    let (bytes, files) = size(folder.path())?;

    let began = Instant::now();
    let proof = verify(folder.path(), &Expectations::default(), |_| {})?;
    let took = began.elapsed();
    println!(
        "{} receipts of {} bytes in {files} files: {:.0} MB/s ({took:.2?})",
        proof.last,
        bytes / proof.last.max(1),
        bytes as f64 / 1e6 / took.as_secs_f64()
    );

    let began = Instant::now();
    let journal = open(folder.path())?;
    println!("opened in {:.2?}", began.elapsed());
    // The thread that follows the earlier files has its share of the machine now.
    std::thread::sleep(Duration::from_secs(1));
    journal.check_writable()?;
    Ok(())
}

fn open(folder: &Path) -> Result<Journal, Box<dyn std::error::Error>> {
    Ok(Journal::open(folder, [9; 32], Arc::new(|| 0))?)
}

async fn write(folder: &Path, bytes: u64) -> Result<(), Box<dyn std::error::Error>> {
    let (journal, key) = (open(folder)?, TenantKey::new([1; 32]));
    let record: Vec<_> = (0..RECORD).map(|at| (at % 251) as u8).collect();
    let about = ReceiptHeader {
        at: 1_700_000_000_000,
        tenant: "acme".to_owned(),
        release_id: "r-1".to_owned(),
        package: Sha256Digest::of(b"package"),
        snapshot: Sha256Digest::of(b"snapshot"),
        engine: "an engine".to_owned(),
        execution_id: "e".to_owned(),
        valuation_id: "v".to_owned(),
        form: 1,
    };
    while size(folder)?.0 < bytes {
        let receipt = prepare(&about, &key, &record)?;
        let first = journal.append(receipt.clone())?;
        let mut last = first;
        for _ in 1..BURST {
            last = journal.append(receipt.clone())?;
        }
        journal.wait_until_durable(first, last).await?;
    }
    Ok(())
}

/// Returns the bytes of all receipts, and the number of their files.
fn size(folder: &Path) -> std::io::Result<(u64, usize)> {
    let (mut bytes, mut files) = (0, 0);
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry
            .file_name()
            .to_string_lossy()
            .starts_with(domesday_journal::FILE_PREFIX)
        {
            bytes += entry.metadata()?.len();
            files += 1;
        }
    }
    Ok((bytes, files))
}
