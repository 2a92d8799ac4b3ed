//! The degradations of a service: what each one is, and what an operator does about it.

use super::Sample;
use crate::service::Service;

/// The share of a limit from which on it counts as reached.
const FULL: f64 = 0.9;

/// A degradation that is present.
#[derive(Clone, Debug)]
pub struct Degradation {
    /// Its kind.
    pub kind: DegradationKind,
    /// The facts.
    pub facts: String,
}

/// The kind of a degradation, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DegradationKind {
    /// The state stores no change.
    State,
    /// The data folder cannot be used.
    DataFolder,
    /// No receipt can be kept.
    Journal,
    /// The queue of the workers is full.
    Workers,
    /// Requests find no memory for their bodies and responses.
    Memory,
    /// Requests fail.
    Errors,
    /// The state does not count the jobs.
    JobCount,
    /// New jobs are refused.
    JobsPaused,
    /// Log lines were lost.
    Log,
}

impl DegradationKind {
    /// All kinds in their order.
    pub const ALL: [DegradationKind; 9] = [
        DegradationKind::State,
        DegradationKind::DataFolder,
        DegradationKind::Journal,
        DegradationKind::Workers,
        DegradationKind::Memory,
        DegradationKind::Errors,
        DegradationKind::JobCount,
        DegradationKind::JobsPaused,
        DegradationKind::Log,
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            DegradationKind::State => "Changes cannot be stored",
            DegradationKind::DataFolder => "The data folder cannot be used",
            DegradationKind::Journal => "No receipt can be kept",
            DegradationKind::Workers => "The workers' queue is full",
            DegradationKind::Memory => "Requests find no memory for bodies and responses",
            DegradationKind::Errors => "Requests fail with 5xx",
            DegradationKind::JobCount => "The state does not count the jobs",
            DegradationKind::JobsPaused => "New jobs are refused",
            DegradationKind::Log => "Log lines were lost",
        }
    }

    /// Returns what an operator does about it.
    pub fn remedy(self) -> &'static str {
        match self {
            DegradationKind::State => {
                "Values and jobs are refused with 503 until the disk or the database answers. Mend \
                 that. A restart mends neither, and the service recovers by itself."
            }
            DegradationKind::DataFolder => {
                "The host is not ready, and values nothing where its state is a file. Put the folder \
                 back, or mend its disk. The service recovers by itself. A restart would begin in an \
                 empty folder."
            }
            DegradationKind::Journal => {
                "Nothing is valued while receipts are on. Put the journal's files back, or mend its \
                 disk. The service recovers by itself."
            }
            DegradationKind::Workers => {
                "Requests get 503 overloaded. Find the tenant in the log, and lower its rate with \
                 domesday tenant plan, or add hosts."
            }
            DegradationKind::Memory => {
                "Large bodies, batches and pages get 503 overloaded. Look in the log for many large \
                 batches, or for clients that read slowly."
            }
            DegradationKind::Errors => {
                "Look in the log for lines with such a status. Each has its request_id and its code."
            }
            DegradationKind::JobCount => {
                "The state took longer than two seconds. Look at its disk or its database."
            }
            DegradationKind::JobsPaused => {
                "An operator paused them, on all hosts. domesday jobs resume takes new jobs again."
            }
            DegradationKind::Log => {
                "Nobody reads the pipe of the log fast enough. Look at the collector of logs."
            }
        }
    }

    /// Returns the heading of the operations guide about it, as an anchor.
    pub fn guide(self) -> &'static str {
        match self {
            DegradationKind::State
            | DegradationKind::DataFolder
            | DegradationKind::Journal
            | DegradationKind::JobCount => "probes",
            DegradationKind::Workers => "metrics",
            DegradationKind::Memory => "memory",
            DegradationKind::JobsPaused => "commands-reach-the-server",
            DegradationKind::Errors | DegradationKind::Log => "logs",
        }
    }
}

/// Returns the degradations of a service at a sample, the worst first. Reads memory alone.
pub(super) fn find(service: &Service, sample: &Sample) -> Vec<Degradation> {
    let journal = service.receipts.as_ref();
    let journal = journal.and_then(|receipts| receipts.status().1);
    let (in_use, capacity) = (service.workers.in_use(), service.workers.capacity());
    let (reserved, budget) = (service.memory.reserved_bytes(), service.memory.budget());
    let responses = sample.responses.as_ref();
    let failed = responses.map_or(0, |responses| responses.failed);
    let lost = service.log_lines.dropped_lines();
    let facts = |kind: DegradationKind| match kind {
        DegradationKind::State => service.state.degradation(),
        DegradationKind::DataFolder => service.data_folder.problem(),
        DegradationKind::Journal => journal.as_ref().map(ToString::to_string),
        DegradationKind::Workers => {
            is_full(in_use, capacity).then(|| format!("{in_use} of {capacity} tasks wait or run"))
        }
        DegradationKind::Memory => memory_facts(sample.memory_refusals, reserved, budget),
        DegradationKind::Errors => {
            (failed > 0).then(|| format!("{failed} responses since the last sample were 5xx"))
        }
        DegradationKind::JobCount => sample
            .jobs
            .is_none()
            .then(|| "The count of jobs did not arrive".to_owned()),
        DegradationKind::JobsPaused => service
            .state
            .jobs_paused()
            .then(|| "Submissions get 503 job_admission_paused".to_owned()),
        DegradationKind::Log => (lost > 0).then(|| format!("{lost} lines since the start")),
    };
    let kinds = DegradationKind::ALL.into_iter();
    kinds
        .filter_map(|kind| facts(kind).map(|facts| Degradation { kind, facts }))
        .collect()
}

/// Returns the facts of refusals for want of memory. One tenant is refused at half of the budget,
/// so the share that is reserved decides nothing.
fn memory_facts(refusals: u64, reserved: usize, budget: usize) -> Option<String> {
    let mebibytes = |bytes: usize| bytes >> 20;
    let (reserved, budget) = (mebibytes(reserved), mebibytes(budget));
    (refusals > 0).then(|| {
        format!(
            "{refusals} requests were refused since the last sample. {reserved} of {budget} MiB are \
             reserved"
        )
    })
}

#[allow(clippy::cast_precision_loss)]
fn is_full(used: usize, limit: usize) -> bool {
    used as f64 >= FULL * limit as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_names_a_heading_of_the_operations_guide() {
        let guide = include_str!("../../../../docs/how-to/operate.md");
        let headings: Vec<String> = guide
            .lines()
            .filter_map(|line| line.strip_prefix("## "))
            .map(|heading| heading.to_lowercase().replace(' ', "-"))
            .collect();
        for kind in DegradationKind::ALL {
            let heading = kind.guide().to_owned();
            assert!(headings.contains(&heading), "{heading}");
        }
    }

    #[test]
    fn memory_is_degraded_once_a_request_is_refused() {
        assert_eq!(memory_facts(0, 96 << 20, 192 << 20), None);
        let facts = memory_facts(3, 96 << 20, 192 << 20).unwrap();
        assert!(facts.starts_with("3 requests"), "{facts}");
        assert!(facts.ends_with("96 of 192 MiB are reserved"), "{facts}");
    }

    #[test]
    fn a_limit_is_reached_at_nine_tenths() {
        assert!(!is_full(89, 100) && is_full(90, 100));
    }
}
