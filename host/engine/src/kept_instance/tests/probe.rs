//! A guest that answers with all that it observes of its instance, and then does as it is asked.

use crate::component::encode;
use crate::config::Allocation;
use crate::evidence::{
    AreaLevel, EvidenceError, EvidenceQuery, EvidenceResponse, EvidenceSource, IndexSeries,
};
use crate::kept_instance::{KeptInstances, call};
use crate::subject::Subject;
use crate::tests::sandbox::common::subject;
use crate::{Limits, Release, Runtime};
use std::sync::{Arc, LazyLock, Mutex};
use wit_component::{StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// Fuel of a row. To observe takes some ten million.
pub(super) const FUEL: u64 = 30_000_000;
/// Linear memory of a row, bytes.
pub(super) const MEMORY: u64 = 2 << 20;

/// A step of the guest.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Writes a number at an address.
    Write(i32, f64),
    /// Grows the memory by pages.
    Grow(i32),
    Trap,
    LoopForEver,
    /// Sets each global.
    SetGlobals(f64),
    /// Fills a number of bytes with one value.
    Fill(u8, i32),
    /// Writes a passive segment at an address.
    WriteSegment(i32),
    Copy,
    /// Uses up the stack.
    Dig,
    /// Calls an element of the table.
    CallElement(i32),
    /// Returns an address beside the memory.
    AnswerBesideMemory,
    /// Answers with a confidence of two.
    AnswerNonsense,
}

impl Step {
    /// Returns the point of a price index that the guest reads the step from.
    fn point(self) -> (i32, f64) {
        match self {
            Step::Write(address, value) => (address, value),
            Step::Grow(pages) => (-1, pages.into()),
            Step::Trap => (-2, 0.0),
            Step::LoopForEver => (-3, 0.0),
            Step::SetGlobals(value) => (-4, value),
            Step::Fill(byte, count) => (-5, (count << 8 | i32::from(byte)).into()),
            Step::WriteSegment(address) => (-6, address.into()),
            Step::Copy => (-7, 0.0),
            Step::Dig => (-8, 0.0),
            Step::CallElement(element) => (-9, element.into()),
            Step::AnswerBesideMemory => (-100, 0.0),
            Step::AnswerNonsense => (-101, 0.0),
        }
    }
}

/// The steps of one row, as evidence.
pub(super) struct Program(pub(super) Vec<Step>);

impl EvidenceSource for Program {
    fn ask(&self, _: &Subject, _: &EvidenceQuery) -> Result<EvidenceResponse, EvidenceError> {
        let points: Vec<_> = self.0.iter().map(|step| step.point()).collect();
        Ok(EvidenceResponse::Index(Some(IndexSeries {
            level: AreaLevel::Region,
            points: points.into(),
        })))
    }
}

/// The guest's component.
pub(super) static PROBE: LazyLock<Vec<u8>> = LazyLock::new(|| component(include_str!("probe.wat")));

/// Another guest, whose data are fewer and shorter.
pub(super) static SMALL_PROBE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let whole = include_str!("probe.wat");
    let last = r#"(data (i32.const 786424) "\ff\ff\ff\ff\ff\ff\ff\ff")"#;
    assert!(whole.contains(last));
    component(
        &whole
            .replace(last, "")
            .replace("across two pages", "over two"),
    )
});

fn component(text: &str) -> Vec<u8> {
    let mut module = wat::parse_str(text).unwrap();
    let mut resolve = Resolve::default();
    let wit = include_str!("../../../../../wit/valuation.wit");
    let package = resolve.push_str("valuation.wit", wit).unwrap();
    let world = resolve.select_world(&[package], Some("release")).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    encode(&module).unwrap()
}

/// Admits the guest on an engine with this allocator.
pub(super) fn probe(allocation: Allocation) -> Release {
    admit_on(allocation, &PROBE)
}

/// Admits a component on an engine with this allocator.
pub(super) fn admit_on(allocation: Allocation, component: &[u8]) -> Release {
    let runtime = Runtime::new(allocation).unwrap();
    runtime.admit(component, Limits::new(FUEL, MEMORY)).unwrap()
}

/// Returns an engine that keeps instances, of two rows at once, and tracks their writes after their
/// first row. None, with a line that says so, on a kernel that does not tell which pages were
/// written.
pub(super) fn keeping_engine() -> Option<Runtime> {
    engine_with(2, |_| {})
}

/// Returns an engine as on a kernel that tracks no writes.
pub(super) fn engine_without_tracking() -> Option<Runtime> {
    engine_with(2, |kept| kept.tracking = None)
}

/// Returns an engine that keeps instances, of some rows at once.
pub(super) fn engine_with(
    instances: u32,
    change: impl FnOnce(&mut KeptInstances),
) -> Option<Runtime> {
    let Some(mut kept) = KeptInstances::new(instances as usize) else {
        println!("skipped: the kernel is older than Linux 6.7");
        return None;
    };
    kept.tracked_from = 1;
    change(&mut kept);
    let mut runtime = Runtime::new(Allocation::Pooling { instances }).unwrap();
    runtime.kept = Some(Arc::new(kept));
    Some(runtime)
}

/// Admits the guest on an engine that keeps instances.
pub(super) fn keeping_probe() -> Option<Release> {
    keeping_engine().map(|runtime| admit_with_image(&runtime, &PROBE, Limits::new(FUEL, MEMORY)))
}

/// Admits the guest on each kind of engine that keeps instances.
pub(super) fn keeping_probes() -> Vec<Release> {
    let engines = [keeping_engine(), engine_without_tracking()];
    let engines = engines.iter().flatten();
    let limits = Limits::new(FUEL, MEMORY);
    engines
        .map(|one| admit_with_image(one, &PROBE, limits))
        .collect()
}

/// Admits a guest, and values a row. The instance of that row gives the image, and is not kept.
pub(super) fn admit_with_image(runtime: &Runtime, component: &[u8], limits: Limits) -> Release {
    let release = runtime.admit(component, limits).unwrap();
    let row = release.value(&Arc::new(subject(3)), Arc::new(Program(Vec::new())));
    assert!(row.outcome.is_ok(), "{:?}", row.outcome);
    release
}

/// Reads the memory of a release's idle instance, whose writes are tracked.
pub(super) fn read_tracked_memory<T: Send>(
    release: &Release,
    read: impl Fn(&[u8]) -> T + Send + Sync,
) -> T {
    let instances = release.kept.as_ref().unwrap();
    let mut instance = instances.take().unwrap();
    assert!(instance.is_tracked);
    let found = Mutex::new(None);
    call(&instance.reset, &mut instance.store, &|memory| {
        *found.lock().unwrap() = Some(read(memory));
    })
    .unwrap();
    instances.all.idle.add(instances.key, instance);
    found.into_inner().unwrap().unwrap()
}
