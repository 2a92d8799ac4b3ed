//! What the kernel reports of a memory.

use crate::kept_instance::page_map::{MAX_PAGES, PageMap, WrittenPages, keep_pages_small};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use rustix::param::page_size;
use std::ops::Range;

/// Pages of zeros, which nothing else uses.
struct Pages {
    first: *mut u8,
    bytes: usize,
}

impl Pages {
    #[allow(unsafe_code)]
    fn new(count: usize) -> Pages {
        let bytes = count * page_size();
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: The kernel chooses the place.
        let first =
            unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, access, MapFlags::PRIVATE) };
        let first = first.unwrap().cast();
        let mut pages = Pages { first, bytes };
        keep_pages_small(pages.get());
        pages
    }

    #[allow(unsafe_code)]
    fn get(&mut self) -> &mut [u8] {
        // SAFETY: The pages are mapped until `self` is dropped, and are borrowed here alone.
        unsafe { std::slice::from_raw_parts_mut(self.first, self.bytes) }
    }
}

impl Drop for Pages {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: Nothing borrows the pages any more.
        unsafe { munmap(self.first.cast(), self.bytes) }.unwrap();
    }
}

fn run(pages: Range<usize>) -> WrittenPages {
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
    let mut pages = Pages::new(1_000);
    let memory = pages.get();
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
    let mut pages = Pages::new(1_000);
    let memory = pages.get();
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
    let has_swap =
        std::fs::read_to_string("/proc/swaps").is_ok_and(|text| text.lines().count() > 1);
    if !has_swap {
        println!("skipped: this machine has no swap");
        return;
    }
    let Some(page_map) = PageMap::open() else {
        return;
    };
    let mut pages = Pages::new(1_000);
    let memory = pages.get();
    memory[..10 * page_size()].fill(7);
    // SAFETY: The pages have the same bytes after it.
    #[allow(unsafe_code)]
    unsafe {
        madvise(
            memory.as_mut_ptr().cast(),
            10 * page_size(),
            Advice::LinuxPageOut,
        )
    }
    .unwrap();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let swapped = status.lines().find(|line| line.starts_with("VmSwap"));
    assert!(!swapped.unwrap().contains(" 0 kB"), "{swapped:?}");
    assert_eq!(page_map.written_pages(memory), Some(vec![run(0..10)]));
}
