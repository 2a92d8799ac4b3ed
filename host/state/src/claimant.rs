//! The host that claims a job.

use uuid::Uuid;

/// The jobs that a host can work on. It claims no other, since another host may finish what it
/// would have to give back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Claimant {
    /// The releases that it can run, by their ids.
    pub releases: Vec<String>,
    /// True if it reads object storage, where rows may be.
    pub reads_objects: bool,
    /// Jobs that it leaves to other hosts for now.
    pub excluded_jobs: Vec<Uuid>,
}

impl Claimant {
    /// Returns a host that runs these releases, reads object storage and excludes no job.
    pub fn of_releases<I: Into<String>>(releases: impl IntoIterator<Item = I>) -> Claimant {
        Claimant {
            releases: releases.into_iter().map(Into::into).collect(),
            reads_objects: true,
            excluded_jobs: Vec::new(),
        }
    }

    /// Reports whether the host can run a release.
    pub(crate) fn runs(&self, release_id: &str) -> bool {
        self.releases.iter().any(|id| id == release_id)
    }

    /// Reports whether the host leaves a job to others.
    pub(crate) fn excludes(&self, job: Uuid) -> bool {
        self.excluded_jobs.contains(&job)
    }
}
