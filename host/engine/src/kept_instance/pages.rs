//! Pages of memory that are mapped for themselves, and their size.

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use rustix::param::page_size;

/// Pages of zeros at first, which nothing else uses.
pub(super) struct Pages {
    first: *mut u8,
    bytes: usize,
}

impl Pages {
    /// Maps pages.
    ///
    /// # Errors
    /// The kernel has no memory for them.
    pub(super) fn new(count: usize) -> Result<Pages, Errno> {
        let bytes = count * page_size();
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: The kernel chooses the place, where nothing was mapped.
        #[allow(unsafe_code)]
        let first =
            unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, access, MapFlags::PRIVATE) }?;
        let first = first.cast();
        let mut pages = Pages { first, bytes };
        keep_pages_small(pages.bytes());
        Ok(pages)
    }

    /// Returns their bytes.
    pub(super) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: The pages are mapped until `self` is dropped, and are borrowed here alone.
        #[allow(unsafe_code)]
        unsafe {
            std::slice::from_raw_parts_mut(self.first, self.bytes)
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: Nothing borrows the pages any more.
        #[allow(unsafe_code)]
        let unmapped = unsafe { munmap(self.first.cast(), self.bytes) };
        if let Err(error) = unmapped {
            tracing::warn!(%error, "cannot unmap pages of memory");
        }
    }
}

/// Asks the kernel for pages of the usual size. Of a huge page it reports 512 as written.
pub(super) fn keep_pages_small(memory: &mut [u8]) {
    let advice = Advice::LinuxNoHugepage;
    // SAFETY: The advice changes no byte of the memory, which is borrowed for the call.
    #[allow(unsafe_code)]
    let advised = unsafe { madvise(memory.as_mut_ptr().cast(), memory.len(), advice) };
    if let Err(error) = advised {
        // A kernel without huge pages refuses it.
        tracing::debug!(%error, "the kernel takes no advice on huge pages");
    }
}
