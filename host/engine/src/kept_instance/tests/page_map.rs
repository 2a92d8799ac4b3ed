//! What the kernel reports of a memory.

use crate::kept_instance::page_map::{MAX_PAGES, PageMap, WrittenPages};
use crate::kept_instance::pages::Pages;
use rustix::mm::{Advice, madvise};
use rustix::param::page_size;
use std::ops::Range;

pub(super) fn run(pages: Range<usize>) -> WrittenPages {
    WrittenPages {
        bytes: pages.start * page_size()..pages.end * page_size(),
        are_zero: false,
    }
}

#[test]
fn the_map_names_written_pages_and_no_page_that_was_read() {
    let (Some(page_map), page) = (PageMap::open(), page_size()) else {
        return;
    };
    let mut pages = Pages::new(1_000).unwrap();
    let memory = pages.bytes();
    assert_eq!(page_map.written_pages(memory), Some(Vec::new()));
    memory[5 * page] = 1;
    memory[7 * page - 1] = 1;
    memory[999 * page] = 1;
    assert_eq!(std::hint::black_box(&*memory)[20 * page], 0);
    let mut found = page_map.written_pages(memory).unwrap();
    // The kernel's page of zeros stands where a page was read.
    found.retain(|run| !run.are_zero);
    assert_eq!(found, [run(5..7), run(999..1_000)]);
}

#[test]
fn the_map_names_no_more_pages_than_are_set_back() {
    let Some(page_map) = PageMap::open() else {
        return;
    };
    let mut pages = Pages::new(1_000).unwrap();
    let memory = pages.bytes();
    let write = |memory: &mut [u8], count| {
        for page in memory.chunks_mut(page_size()).take(count) {
            page[0] = 1;
        }
    };
    write(memory, MAX_PAGES);
    assert_eq!(
        page_map.written_pages(memory),
        Some(vec![run(0..MAX_PAGES)])
    );
    write(memory, MAX_PAGES + 1);
    assert_eq!(page_map.written_pages(memory), None);
}

/// The page is not present, and the next row would read it.
#[test]
fn the_map_names_a_written_page_in_the_swap() {
    let Some(page_map) = PageMap::open() else {
        return;
    };
    let mut pages = Pages::new(1_000).unwrap();
    let memory = pages.bytes();
    memory[..10 * page_size()].fill(7);
    if move_to_swap(&mut memory[..10 * page_size()]) {
        assert_eq!(page_map.written_pages(memory), Some(vec![run(0..10)]));
    }
}

/// Moves pages to the swap. False, with a line that says so, on a machine without one.
pub(super) fn move_to_swap(pages: &mut [u8]) -> bool {
    let has_swap =
        std::fs::read_to_string("/proc/swaps").is_ok_and(|text| text.lines().count() > 1);
    if !has_swap {
        println!("skipped: this machine has no swap");
        return false;
    }
    // SAFETY: The pages have the same bytes after it.
    #[allow(unsafe_code)]
    unsafe { madvise(pages.as_mut_ptr().cast(), pages.len(), Advice::LinuxPageOut) }.unwrap();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let swapped = status.lines().find(|line| line.starts_with("VmSwap"));
    assert!(!swapped.unwrap().contains(" 0 kB"), "{swapped:?}");
    true
}
