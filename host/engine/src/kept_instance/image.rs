//! The memory of a new instance, which written pages are set back from.

use super::page_map::WrittenPages;
use crate::config::KEEP_RESIDENT_BYTES;
use rustix::param::page_size;

/// The memory of a release's instance before its first row.
///
/// Pages of zeros are not stored.
pub(super) struct MemoryImage {
    pages: Vec<Option<Box<[u8]>>>,
    bytes: usize,
    /// Bytes up to the last page that is not of zeros.
    data: usize,
}

impl MemoryImage {
    /// Copies a memory.
    pub(super) fn of(memory: &[u8]) -> MemoryImage {
        let pages = memory.chunks(page_size()).map(|page| {
            let is_zero = page.iter().all(|byte| *byte == 0);
            (!is_zero).then(|| page.into())
        });
        let pages: Vec<Option<Box<[u8]>>> = pages.collect();
        let last = pages.iter().rposition(Option::is_some);
        MemoryImage {
            data: last.map_or(0, |last| (last + 1) * page_size()),
            pages,
            bytes: memory.len(),
        }
    }

    /// Returns the part of a memory whose writes are worth tracking. It holds the release's data,
    /// which are pages of a file, and what the sandbox itself writes to make a slot ready.
    ///
    /// Elsewhere hardly a page is there that no row wrote, and each tracked one takes time.
    pub(super) fn part_to_track<'a>(&self, memory: &'a mut [u8]) -> &'a mut [u8] {
        let bytes = self.data.max(KEEP_RESIDENT_BYTES).min(memory.len());
        memory.split_at_mut(bytes).0
    }

    /// Reports whether a memory of `bytes` can be set back.
    pub(super) fn is_of_size(&self, bytes: usize) -> bool {
        self.bytes == bytes
    }

    /// Sets written pages of a memory back. False where the memory has another size, or a page
    /// lies beside it.
    pub(super) fn restore(&self, memory: &mut [u8], written: &[WrittenPages]) -> bool {
        if !self.is_of_size(memory.len()) {
            return false;
        }
        for run in written {
            let (first, Some(bytes)) = (run.bytes.start, memory.get_mut(run.bytes.clone())) else {
                return false;
            };
            for (place, page) in bytes.chunks_mut(page_size()).zip(first / page_size()..) {
                match self.pages.get(page) {
                    Some(Some(image)) if image.len() == place.len() => {
                        place.copy_from_slice(image);
                    }
                    // To write zeros over the kernel's page of zeros would take a page.
                    Some(None) if run.are_zero => {}
                    Some(None) => place.fill(0),
                    _ => return false,
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::Range;

    fn run(pages: Range<usize>, are_zero: bool) -> WrittenPages {
        WrittenPages {
            bytes: pages.start * page_size()..pages.end * page_size(),
            are_zero,
        }
    }

    #[test]
    fn written_pages_become_those_of_the_image_and_others_stay() {
        let mut first = vec![0; 4 * page_size()];
        first[page_size() + 7] = 9;
        let image = MemoryImage::of(&first);
        let mut memory = vec![5; first.len()];
        assert!(image.restore(&mut memory, &[run(0..1, false), run(1..2, true)]));
        assert_eq!(memory[..2 * page_size()], first[..2 * page_size()]);
        assert!(memory[2 * page_size()..].iter().all(|byte| *byte == 5));
        assert!(image.restore(&mut memory, &[run(2..4, false)]));
        assert_eq!(memory, first);
    }

    #[test]
    fn the_data_of_a_release_and_what_the_sandbox_writes_are_tracked() {
        let kept = KEEP_RESIDENT_BYTES / page_size();
        let mut memory = vec![0; 3 * KEEP_RESIDENT_BYTES];
        let tracked = |memory: &mut [u8]| {
            let image = MemoryImage::of(memory);
            image.part_to_track(memory).len() / page_size()
        };
        assert_eq!(tracked(&mut memory), kept);
        assert_eq!(tracked(&mut memory[..page_size()]), 1);
        memory[page_size()] = 1;
        assert_eq!(tracked(&mut memory), kept);
        memory[(2 * kept + 5) * page_size() - 1] = 1;
        assert_eq!(tracked(&mut memory), 2 * kept + 5);
    }

    #[test]
    fn a_memory_of_another_size_is_not_set_back() {
        let image = MemoryImage::of(&vec![0; 2 * page_size()]);
        assert!(!image.restore(&mut vec![0; 3 * page_size()], &[]));
        let mut memory = vec![0; 2 * page_size()];
        assert!(!image.restore(&mut memory, &[run(1..3, false)]));
        assert!(image.restore(&mut memory, &[]));
    }
}
