//! Memories whose first write to each page the kernel notes, so that it finds written pages fast.
//!
//! Without it the kernel looks up for each page that a row has read whether it belongs to a file.
//! That is most of the time of a reset. Linux calls it asynchronous write protection: a write to a
//! protected page takes the protection away, and nothing else happens. So a page that is protected
//! holds what it held when it was protected, and the kernel may lose the protection and no write.
//! `admin-guide/mm/userfaultfd.rst` of Linux describes it.

use super::page_map::{PageMap, WrittenPages};
use super::pages::Pages;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};
use rustix::mm::{UserfaultfdFlags, userfaultfd};
use rustix::param::page_size;

/// The number of the interface, which is the group of its requests too.
const INTERFACE: u8 = 0xAA;
/// Hands over no fault of the kernel itself. A process without privileges may ask for this. An
/// asynchronous descriptor hands over none at all, and writes of the kernel are noted too.
const USER_MODE_ONLY: u32 = 1;
/// A write passes, and takes the protection of its page away. Pages that are not there yet are
/// marked as protected.
const ASYNCHRONOUS: u64 = 1 << 15;
/// The kind of faults that a memory is registered for.
const OF_PROTECTED_PAGES: u64 = 1 << 1;
/// Protects, and does not take protection away.
const PROTECT: u64 = 1;

/// The first request, in the kernel's layout. The kernel answers with all features that it has.
#[repr(C)]
struct Handshake {
    interface: u64,
    features: u64,
    requests: u64,
}

/// A memory and what is done with it, in the kernel's layout.
#[repr(C)]
struct Registration {
    start: u64,
    bytes: u64,
    mode: u64,
    requests: u64,
}

/// A memory and its protection, in the kernel's layout.
#[repr(C)]
struct Protection {
    start: u64,
    bytes: u64,
    mode: u64,
}

/// The requests by their numbers.
const HANDSHAKE: Opcode = opcode::read_write::<Handshake>(INTERFACE, 0x3F);
const REGISTER: Opcode = opcode::read_write::<Registration>(INTERFACE, 0x00);
const SET_PROTECTION: Opcode = opcode::read_write::<Protection>(INTERFACE, 0x06);

/// The kernel's notes of writes to the memories of this process.
pub(super) struct WriteTracking(OwnedFd);

impl WriteTracking {
    /// Opens it, and tries it on two pages. None where the kernel cannot track writes, or a filter
    /// of system calls refuses it, as those of some containers do.
    pub(super) fn open(page_map: &PageMap) -> Option<WriteTracking> {
        let opened = WriteTracking::try_open().and_then(|tracking| {
            let works = tracking.try_on_two_pages(page_map)?;
            works.then_some(tracking).ok_or(Errno::NOTSUP)
        });
        opened
            .inspect_err(|error| tracing::debug!(%error, "the kernel does not track writes"))
            .ok()
    }

    fn try_open() -> Result<WriteTracking, Errno> {
        let flags = UserfaultfdFlags::CLOEXEC | UserfaultfdFlags::from_bits_retain(USER_MODE_ONLY);
        // SAFETY: The descriptor stays in this type, which maps no page by it.
        #[allow(unsafe_code)]
        let kernel = unsafe { userfaultfd(flags) }?;
        let mut handshake = Handshake {
            interface: INTERFACE.into(),
            features: ASYNCHRONOUS,
            requests: 0,
        };
        // SAFETY: The request reads and writes this structure.
        #[allow(unsafe_code)]
        unsafe { ioctl(&kernel, Updater::<HANDSHAKE, _>::new(&mut handshake)) }?;
        // Some kernels accept a feature that they lack.
        if handshake.features & ASYNCHRONOUS == 0 {
            return Err(Errno::NOTSUP);
        }
        Ok(WriteTracking(kernel))
    }

    /// Reports whether the kernel names the one page of two that was written.
    fn try_on_two_pages(&self, page_map: &PageMap) -> Result<bool, Errno> {
        let mut pages = Pages::new(2)?;
        let memory = pages.bytes();
        memory.fill(1);
        self.begin(memory)?;
        let before = page_map.tracked_pages(memory);
        let (_, second) = memory.split_at_mut(page_size());
        second.fill(2);
        let after = page_map.tracked_pages(memory);
        let expected = WrittenPages {
            bytes: page_size()..memory.len(),
            are_zero: false,
        };
        Ok(before == Some(Vec::new()) && after == Some(vec![expected]))
    }

    /// Forgets what was written to a memory of whole pages, and tracks its writes from now on.
    ///
    /// # Errors
    /// The kernel refuses. It may track some pages then.
    pub(super) fn begin(&self, memory: &mut [u8]) -> Result<(), Errno> {
        let (start, bytes) = (memory.as_ptr().addr() as u64, memory.len() as u64);
        let mut registration = Registration {
            start,
            bytes,
            mode: OF_PROTECTED_PAGES,
            requests: 0,
        };
        let mut protection = Protection {
            start,
            bytes,
            mode: PROTECT,
        };
        // SAFETY: The requests read and write these structures. No byte of the memory changes, and
        // each write to it passes as before.
        #[allow(unsafe_code)]
        unsafe {
            ioctl(&self.0, Updater::<REGISTER, _>::new(&mut registration))?;
            ioctl(&self.0, Updater::<SET_PROTECTION, _>::new(&mut protection))
        }
    }
}
