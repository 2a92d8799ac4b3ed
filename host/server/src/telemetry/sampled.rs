//! Gauges of values that other parts hold in memory, read for each page.

use super::process::whole;
use super::releases::ServedRelease;
use domesday_state::ConnectionPool;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

/// The values of one page.
#[derive(Debug, Clone, Default)]
pub(crate) struct SampledValues {
    pub(crate) ready: bool,
    pub(crate) request_slots: usize,
    pub(crate) request_slots_limit: usize,
    pub(crate) workers_busy: usize,
    pub(crate) workers_room: usize,
    pub(crate) bulk_busy: usize,
    pub(crate) bulk_room: usize,
    pub(crate) memory_reserved: usize,
    pub(crate) memory_budget: usize,
    pub(crate) memory_refusals: u64,
    pub(crate) jobs_paused: bool,
    pub(crate) jobs_damaged: bool,
    pub(crate) state_degraded: bool,
    pub(crate) data_folder_degraded: bool,
    pub(crate) journal_receipts: u64,
    pub(crate) journal_degraded: bool,
    pub(crate) journal_bytes: u64,
    pub(crate) journal_disk_free: Option<u64>,
    pub(crate) journal_snapshots_missing: usize,
    pub(crate) log_lines_dropped: usize,
    pub(crate) releases: Vec<ServedRelease>,
    pub(crate) release_source_degraded: bool,
    pub(crate) pools: Vec<ConnectionPool>,
}

/// The gauges of these values.
#[derive(Default)]
pub(crate) struct SampledGauges {
    ready: Gauge,
    request_slots: Gauge,
    request_slots_limit: Gauge,
    workers_busy: Gauge,
    workers_room: Gauge,
    bulk_busy: Gauge,
    bulk_room: Gauge,
    memory_reserved: Gauge,
    memory_budget: Gauge,
    jobs_paused: Gauge,
    jobs_damaged: Gauge,
    state_degraded: Gauge,
    data_folder_degraded: Gauge,
    journal_receipts: Gauge,
    journal_degraded: Gauge,
    journal_bytes: Gauge,
    journal_disk_free: Gauge,
    journal_snapshots_missing: Gauge,
    release_source_degraded: Gauge,
    /// Set when the certificate is read.
    pub(super) certificate_expiry: Gauge,
    memory_refusals: Counter,
    log_lines_dropped: Counter,
}

impl SampledGauges {
    /// Registers the gauges.
    pub(super) fn register(registry: &mut Registry) -> SampledGauges {
        let gauges = SampledGauges::default();
        for (name, help, gauge) in [
            (
                "ready",
                "1 while the probe of readiness says so",
                &gauges.ready,
            ),
            (
                "request_slots_in_use",
                "Requests that hold a slot",
                &gauges.request_slots,
            ),
            (
                "request_slots_limit",
                "Slots of requests, over all tenants; more are refused",
                &gauges.request_slots_limit,
            ),
            (
                "workers_busy",
                "Pieces of work that wait for a thread or run",
                &gauges.workers_busy,
            ),
            (
                "workers_room",
                "Pieces of work that may wait or run; more are refused",
                &gauges.workers_room,
            ),
            (
                "bulk_workers_busy",
                "Large bodies that wait for a thread or are read",
                &gauges.bulk_busy,
            ),
            (
                "bulk_workers_room",
                "Large bodies that may wait or be read; more are refused",
                &gauges.bulk_room,
            ),
            (
                "memory_reserved_bytes",
                "Bytes reserved for bodies of requests and responses of more than 64 KiB",
                &gauges.memory_reserved,
            ),
            (
                "memory_budget_bytes",
                "Bytes that may be reserved for bodies and responses; more are refused",
                &gauges.memory_budget,
            ),
            (
                "jobs_paused",
                "1 while this host refuses new jobs",
                &gauges.jobs_paused,
            ),
            (
                "jobs_damaged",
                "1 from the moment on that this host found the row of a job damaged",
                &gauges.jobs_damaged,
            ),
            (
                "state_degraded",
                "1 while changes cannot be made durable",
                &gauges.state_degraded,
            ),
            (
                "data_folder_degraded",
                "1 while the data folder cannot be used, so that the host is not ready",
                &gauges.data_folder_degraded,
            ),
            (
                "journal_receipts",
                "Number of the last durable receipt of this host's journal",
                &gauges.journal_receipts,
            ),
            (
                "journal_degraded",
                "1 while no receipt can be kept, so that nothing is valued",
                &gauges.journal_degraded,
            ),
            (
                "journal_snapshots_missing",
                "Releases and snapshots that receipts need for their replay and that are not here",
                &gauges.journal_snapshots_missing,
            ),
            (
                "release_source_degraded",
                "1 while the last look at the source of releases found that it cannot be used",
                &gauges.release_source_degraded,
            ),
        ] {
            registry.register(name, help, gauge.clone());
        }
        gauges.register_with_units(registry);
        gauges.register_counters(registry);
        gauges
    }

    /// Registers the gauges whose names end with a unit.
    fn register_with_units(&self, registry: &mut Registry) {
        for (name, help, gauge) in [
            (
                "journal",
                "Bytes of the files of this host's receipts",
                &self.journal_bytes,
            ),
            (
                "journal_disk_free",
                "Bytes that are free on the disk of the journal; -1 if unknown or without a journal",
                &self.journal_disk_free,
            ),
        ] {
            registry.register_with_unit(name, help, Unit::Bytes, gauge.clone());
        }
        registry.register_with_unit(
            "tls_certificate_expiry_timestamp",
            "Time at which the certificate in use expires, since 1970; 0 without one",
            Unit::Seconds,
            self.certificate_expiry.clone(),
        );
    }

    /// Registers the counters, whose totals other parts hold.
    fn register_counters(&self, registry: &mut Registry) {
        for (name, help, counter) in [
            (
                "memory_reservations_refused",
                "Requests refused for want of memory for bodies and responses",
                &self.memory_refusals,
            ),
            (
                "log_lines_dropped",
                "Log lines lost because their reader was too slow",
                &self.log_lines_dropped,
            ),
        ] {
            registry.register(name, help, counter.clone());
        }
    }

    /// Shows these values.
    pub(crate) fn show(&self, values: &SampledValues) {
        for (gauge, count) in [
            (&self.request_slots, values.request_slots),
            (&self.request_slots_limit, values.request_slots_limit),
            (&self.workers_busy, values.workers_busy),
            (&self.workers_room, values.workers_room),
            (&self.bulk_busy, values.bulk_busy),
            (&self.bulk_room, values.bulk_room),
            (&self.memory_reserved, values.memory_reserved),
            (&self.memory_budget, values.memory_budget),
            (
                &self.journal_snapshots_missing,
                values.journal_snapshots_missing,
            ),
        ] {
            gauge.set(whole(count));
        }
        for (gauge, is_so) in [
            (&self.ready, values.ready),
            (&self.jobs_paused, values.jobs_paused),
            (&self.jobs_damaged, values.jobs_damaged),
            (&self.state_degraded, values.state_degraded),
            (&self.data_folder_degraded, values.data_folder_degraded),
            (&self.journal_degraded, values.journal_degraded),
            (
                &self.release_source_degraded,
                values.release_source_degraded,
            ),
        ] {
            gauge.set(is_so.into());
        }
        let large = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        self.journal_bytes.set(large(values.journal_bytes));
        let free = values.journal_disk_free.map_or(-1, large);
        self.journal_disk_free.set(free);
        let receipts = i64::try_from(values.journal_receipts).unwrap_or(i64::MAX);
        self.journal_receipts.set(receipts);
        let dropped = u64::try_from(values.log_lines_dropped).unwrap_or(u64::MAX);
        for (counter, total) in [
            (&self.memory_refusals, values.memory_refusals),
            (&self.log_lines_dropped, dropped),
        ] {
            counter.inc_by(total.saturating_sub(counter.get()));
        }
    }
}
