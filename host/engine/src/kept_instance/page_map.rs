//! The pages of a memory that were written since they were mapped, as Linux reports them.
//!
//! The request is `PAGEMAP_SCAN` of Linux 6.7 and later, described in the manual page of that name.

use super::pages::Pages;
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, ioctl, opcode};
use rustix::param::page_size;
use std::ffi::c_void;
use std::fs::File;
use std::ops::Range;

/// The most pages that are set back. A memory with more written pages is not kept.
pub(super) const MAX_PAGES: usize = 256;
/// The most runs of pages that one request returns.
const MAX_RUNS: usize = 256;

/// Categories of a page, as the kernel numbers them.
const IS_WRITTEN: u64 = 1 << 1;
const IS_FILE: u64 = 1 << 2;
const IS_PRESENT: u64 = 1 << 3;
const IS_SWAPPED: u64 = 1 << 4;
const IS_ZERO_PAGE: u64 = 1 << 5;

/// The argument of the request, in the kernel's layout.
#[repr(C)]
#[derive(Default)]
struct ScanArgument {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    regions: u64,
    region_count: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

/// A run of pages of one category, in the kernel's layout: addresses of its first byte and after
/// its last.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Region {
    start: u64,
    end: u64,
    categories: u64,
}

/// Pages of a memory that no longer are what was mapped there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WrittenPages {
    /// Their bytes in the memory, whole pages.
    pub(super) bytes: Range<usize>,
    /// True where they are the kernel's page of zeros. A memory that maps zeros was then only read.
    pub(super) are_zero: bool,
}

/// The page map of this process.
pub(super) struct PageMap(File);

impl PageMap {
    /// Opens the page map, and tries it on two pages. None where the kernel does not answer such
    /// requests, or does not name the written page.
    ///
    /// The manual defines the mark of a write for tracked memories alone, and later kernels may
    /// give it to no other. A reset by their answers would leave what a row wrote.
    ///
    /// A process that forks would go on reading its parent's map. This one never forks without
    /// becoming another program.
    pub(super) fn open() -> Option<PageMap> {
        let map = PageMap(File::open("/proc/self/pagemap").ok()?);
        let mut pages = Pages::new(2).ok()?;
        let memory = pages.bytes();
        memory[page_size()] = 1;
        let expected = WrittenPages {
            bytes: page_size()..memory.len(),
            are_zero: false,
        };
        (map.written_pages(memory)? == [expected]).then_some(map)
    }

    /// Returns the pages of a memory that were written, in order. None where there are more than
    /// [`MAX_PAGES`], or they lie in very many places, or the kernel does not answer.
    ///
    /// A page that is out in the swap was written, although it is not present.
    pub(super) fn written_pages(&self, memory: &[u8]) -> Option<Vec<WrittenPages>> {
        let asked = ScanArgument {
            // Written, and not a page of the file that a release's data is mapped from.
            category_inverted: IS_FILE,
            category_mask: IS_WRITTEN | IS_FILE,
            category_anyof_mask: IS_PRESENT | IS_SWAPPED,
            return_mask: IS_ZERO_PAGE,
            ..ScanArgument::default()
        };
        self.scan(memory, asked)
    }

    /// Returns the pages of a memory that were written since its tracking began, as
    /// [`PageMap::written_pages`] does. Where a part is not tracked, each page that is there counts
    /// as written.
    ///
    /// The kernel need not look up what each page belongs to, which takes longer than the rest.
    pub(super) fn tracked_pages(&self, memory: &[u8]) -> Option<Vec<WrittenPages>> {
        let asked = ScanArgument {
            category_mask: IS_WRITTEN,
            category_anyof_mask: IS_PRESENT | IS_SWAPPED,
            return_mask: IS_ZERO_PAGE,
            ..ScanArgument::default()
        };
        self.scan(memory, asked)
    }

    /// Asks for the pages of a memory that have the categories of an argument.
    fn scan(&self, memory: &[u8], asked: ScanArgument) -> Option<Vec<WrittenPages>> {
        let mut regions = [Region::default(); MAX_RUNS];
        // The kernel wants an address of a page, also for no page at all.
        let first = if memory.is_empty() {
            0
        } else {
            memory.as_ptr().addr()
        };
        let mut scan = Scan(ScanArgument {
            size: size_of::<ScanArgument>() as u64,
            start: first as u64,
            end: (first + memory.len()) as u64,
            regions: regions.as_mut_ptr().expose_provenance() as u64,
            region_count: regions.len() as u64,
            ..asked
        });
        // SAFETY: The request writes its argument and `regions`, which both outlive it, and no
        // more than `region_count` of them. It changes no page, since `flags` is zero.
        #[allow(unsafe_code)]
        let found = unsafe { ioctl(&self.0, &mut scan) }.ok()?;
        if scan.0.walk_end != scan.0.end {
            return None;
        }
        let inside = |address: u64| usize::try_from(address).ok()?.checked_sub(first);
        let runs = regions.get(..found)?.iter().map(|region| {
            let bytes = inside(region.start)?..inside(region.end)?;
            let are_zero = region.categories & IS_ZERO_PAGE != 0;
            Some(WrittenPages { bytes, are_zero })
        });
        let runs = runs.collect::<Option<Vec<_>>>()?;
        // A row may read much of a memory of zeros.
        let written = runs.iter().filter(|run| !run.are_zero);
        let bytes: usize = written.map(|run| run.bytes.len()).sum();
        (bytes <= MAX_PAGES * page_size()).then_some(runs)
    }
}

/// One request. Its output is the number of regions.
struct Scan(ScanArgument);

// SAFETY: The opcode is that of the request, whose argument is a `ScanArgument`. The output is
// what the call returned.
#[allow(unsafe_code)]
unsafe impl Ioctl for &mut Scan {
    type Output = usize;

    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        opcode::read_write::<ScanArgument>(b'f', 16)
    }

    fn as_ptr(&mut self) -> *mut c_void {
        (&raw mut self.0).cast()
    }

    unsafe fn output_from_ptr(found: IoctlOutput, _: *mut c_void) -> rustix::io::Result<usize> {
        usize::try_from(found).map_err(|_| rustix::io::Errno::INVAL)
    }
}
