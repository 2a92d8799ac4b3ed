//! What the kernel reports of a memory whose writes it tracks.

use super::page_map::{move_to_swap, run};
use crate::kept_instance::page_map::{MAX_PAGES, PageMap};
use crate::kept_instance::pages::Pages;
use crate::kept_instance::write_tracking::WriteTracking;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap};
use rustix::param::page_size;
use std::hint::black_box;
use std::io::Write;

/// Returns what the kernel offers. None, with a line that says so, where it tracks no writes.
pub(super) fn open() -> Option<(PageMap, WriteTracking)> {
    let found = PageMap::open().and_then(|map| {
        let tracking = WriteTracking::open(&map)?;
        Some((map, tracking))
    });
    if found.is_none() {
        println!("skipped: the kernel tracks no writes, or this process may not ask for it");
    }
    found
}

#[test]
fn a_tracked_memory_names_the_pages_that_were_written_since_and_no_other() {
    let (Some((page_map, tracking)), page) = (open(), page_size()) else {
        return;
    };
    let mut pages = Pages::new(1_000).unwrap();
    let memory = pages.bytes();
    memory[..3 * page].fill(1);
    tracking.begin(memory).unwrap();
    assert_eq!(page_map.tracked_pages(memory), Some(Vec::new()));
    assert_eq!(black_box(&*memory)[2 * page], 1);
    assert_eq!(black_box(&*memory)[20 * page], 0);
    memory[2 * page] = 2;
    memory[5 * page] = 1;
    memory[7 * page - 1] = 1;
    memory[999 * page] = 1;
    let written = vec![run(2..3), run(5..7), run(999..1_000)];
    assert_eq!(page_map.tracked_pages(memory), Some(written));
    assert_eq!(memory[2 * page..][..2], [2, 1]);
    tracking.begin(memory).unwrap();
    assert_eq!(page_map.tracked_pages(memory), Some(Vec::new()));
}

/// Returns a memory whose first pages are those of a file of threes, as a release's data are.
fn pages_of_a_file(count: usize, of_file: usize) -> Pages {
    let bytes = of_file * page_size();
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&vec![3; bytes]).unwrap();
    let mut pages = Pages::new(count).unwrap();
    let access = ProtFlags::READ | ProtFlags::WRITE;
    let flags = MapFlags::PRIVATE | MapFlags::FIXED;
    let first = pages.bytes()[..bytes].as_mut_ptr().cast();
    // SAFETY: The pages are mapped and stay so, and nothing else uses the file.
    #[allow(unsafe_code)]
    unsafe { mmap(first, bytes, access, flags, &file, 0) }.unwrap();
    pages
}

fn sum(memory: &[u8]) -> usize {
    black_box(memory)
        .iter()
        .map(|byte| usize::from(*byte))
        .sum()
}

#[test]
fn a_tracked_memory_names_the_written_pages_of_a_file() {
    let (Some((page_map, tracking)), page) = (open(), page_size()) else {
        return;
    };
    let mut pages = pages_of_a_file(100, 40);
    let memory = pages.bytes();
    memory[9 * page] = 1;
    tracking.begin(memory).unwrap();
    assert_eq!(sum(memory), 3 * 40 * page - 2);
    assert_eq!(page_map.tracked_pages(memory), Some(Vec::new()));
    memory[9 * page] = 3;
    memory[39 * page] = 1;
    memory[40 * page] = 1;
    let written = vec![run(9..10), run(39..41)];
    assert_eq!(page_map.tracked_pages(memory), Some(written));
}

/// wasmtime clears the slot of a memory so for the next instance, which looks at its whole memory.
#[test]
fn a_memory_that_was_tracked_and_cleared_names_what_was_written_afterwards() {
    let (Some((page_map, tracking)), page) = (open(), page_size()) else {
        return;
    };
    let mut pages = pages_of_a_file(100, 40);
    let memory = pages.bytes();
    for number in [0, 9, 39, 40, 60] {
        memory[number * page] = 1;
    }
    tracking.begin(memory).unwrap();
    memory[9 * page] = 2;
    // SAFETY: Nothing borrows the pages, which hold other bytes afterwards.
    #[allow(unsafe_code)]
    unsafe {
        madvise(
            memory.as_mut_ptr().cast(),
            memory.len(),
            Advice::LinuxDontNeed,
        )
    }
    .unwrap();
    assert_eq!(sum(memory), 3 * 40 * page);
    memory[39 * page] = 4;
    memory[60 * page] = 4;
    memory[99 * page] = 4;
    let mut found = page_map.written_pages(memory).unwrap();
    found.retain(|run| !run.are_zero);
    assert_eq!(found, [run(39..40), run(60..61), run(99..100)]);
}

#[test]
fn each_page_of_a_memory_whose_writes_are_not_tracked_counts_as_written() {
    let Some((page_map, tracking)) = open() else {
        return;
    };
    let mut pages = Pages::new(100).unwrap();
    let memory = pages.bytes();
    memory[10 * page_size()..60 * page_size()].fill(1);
    assert_eq!(page_map.tracked_pages(memory), Some(vec![run(10..60)]));
    tracking.begin(&mut memory[..50 * page_size()]).unwrap();
    assert_eq!(page_map.tracked_pages(memory), Some(vec![run(50..60)]));
}

#[test]
fn a_tracked_memory_names_no_more_pages_than_are_set_back() {
    let Some((page_map, tracking)) = open() else {
        return;
    };
    let mut pages = Pages::new(1_000).unwrap();
    let memory = pages.bytes();
    tracking.begin(memory).unwrap();
    memory[..MAX_PAGES * page_size()].fill(1);
    let most = vec![run(0..MAX_PAGES)];
    assert_eq!(page_map.tracked_pages(memory), Some(most));
    memory[MAX_PAGES * page_size()] = 1;
    assert_eq!(page_map.tracked_pages(memory), None);
}

#[test]
fn a_tracked_memory_names_a_written_page_in_the_swap() {
    let Some((page_map, tracking)) = open() else {
        return;
    };
    let mut pages = Pages::new(1_000).unwrap();
    let memory = pages.bytes();
    memory[..20 * page_size()].fill(7);
    tracking.begin(memory).unwrap();
    memory[..10 * page_size()].fill(8);
    if move_to_swap(&mut memory[..20 * page_size()]) {
        assert_eq!(page_map.tracked_pages(memory), Some(vec![run(0..10)]));
    }
}
