//! The memory of a new instance, which written pages are set back from.

use super::page_map::WrittenPages;
use rustix::param::page_size;

/// The memory of a release's instance before its first row.
///
/// Pages of zeros are not stored.
pub(super) struct MemoryImage {
    pages: Vec<Option<Box<[u8]>>>,
    bytes: usize,
}

impl MemoryImage {
    /// Copies a memory.
    pub(super) fn of(memory: &[u8]) -> MemoryImage {
        let pages = memory.chunks(page_size()).map(|page| {
            let is_zero = page.iter().all(|byte| *byte == 0);
            (!is_zero).then(|| page.into())
        });
        MemoryImage {
            pages: pages.collect(),
            bytes: memory.len(),
        }
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
    fn a_memory_of_another_size_is_not_set_back() {
        let image = MemoryImage::of(&vec![0; 2 * page_size()]);
        assert!(!image.restore(&mut vec![0; 3 * page_size()], &[]));
        let mut memory = vec![0; 2 * page_size()];
        assert!(!image.restore(&mut memory, &[run(1..3, false)]));
        assert!(image.restore(&mut memory, &[]));
    }
}
