//! The check reports and approvals that were published after their release came to this host.

use super::PromotionError;
use crate::release_source::ReleaseSource;
use domesday_state::ReleaseKind;

/// Runs a promotion. Where the gate refuses the release that is here, it fetches what the source
/// has of its package, and runs the promotion once more. Blocks.
///
/// # Errors
/// As the promotion. A fetch that fails is logged, and the refusal stays.
pub(super) fn promote_with_source<T>(
    source: Option<&dyn ReleaseSource>,
    (kind, id): (ReleaseKind, &str),
    stored_manifest: Option<&str>,
    promote: impl Fn() -> Result<T, PromotionError>,
) -> Result<T, PromotionError> {
    let refusal = match promote() {
        Err(PromotionError::Gate(refusal)) => refusal,
        ended => return ended,
    };
    // The manifest keeps the package here: only its attachments may change.
    let (Some(source), Some(manifest)) = (source, stored_manifest) else {
        return Err(refusal.into());
    };
    match source.fetch(kind, id, Some(manifest)) {
        Ok(()) => promote(),
        Err(error) => {
            tracing::warn!(
                kind = kind.as_str(),
                release_id = id,
                %error,
                "no later report or approval was fetched of a release that the gate refuses"
            );
            Err(refusal.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release_source::Fetch;
    use domesday_package::{GateError, GateErrorKind};
    use std::error::Error;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    /// A source that has the approval of a release, or cannot be reached.
    struct ApprovalSource {
        is_reached: bool,
        fetches: AtomicUsize,
        is_approved: AtomicBool,
    }

    impl ReleaseSource for ApprovalSource {
        fn fetch(
            &self,
            kind: ReleaseKind,
            id: &str,
            manifest: Option<&str>,
        ) -> Result<(), Box<dyn Error + Send + Sync>> {
            assert_eq!(
                (kind, id, manifest),
                (ReleaseKind::Valuation, "homes-1", Some("ab"))
            );
            self.fetches.fetch_add(1, Ordering::Relaxed);
            self.is_approved.store(self.is_reached, Ordering::Relaxed);
            match self.is_reached {
                true => Ok(()),
                false => Err("no answer".into()),
            }
        }

        fn problem(&self) -> Option<String> {
            None
        }

        fn list_fetches(&self) -> Vec<Fetch> {
            Vec::new()
        }
    }

    fn source(is_reached: bool) -> ApprovalSource {
        ApprovalSource {
            is_reached,
            fetches: AtomicUsize::new(0),
            is_approved: AtomicBool::new(false),
        }
    }

    fn refusal() -> PromotionError {
        PromotionError::Gate(Box::new(GateError {
            release: "homes-1".parse().unwrap(),
            kind: Box::new(GateErrorKind::NotApproved),
        }))
    }

    /// Promotes a release that is here without its approval.
    fn promote(
        source: &ApprovalSource,
        manifest: Option<&str>,
    ) -> Result<&'static str, PromotionError> {
        let release = (ReleaseKind::Valuation, "homes-1");
        promote_with_source(Some(source), release, manifest, || {
            match source.is_approved.load(Ordering::Relaxed) {
                true => Ok("promoted"),
                false => Err(refusal()),
            }
        })
    }

    #[test]
    fn an_approval_that_was_published_later_is_fetched_and_judged() {
        let source = source(true);
        assert_eq!(promote(&source, Some("ab")).unwrap(), "promoted");
        assert_eq!(promote(&source, Some("ab")).unwrap(), "promoted");
        assert_eq!(source.fetches.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_refusal_stays_where_nothing_can_be_fetched() {
        let unreachable = source(false);
        for (manifest, fetches) in [(None, 0), (Some("ab"), 1)] {
            let refused = promote(&unreachable, manifest).unwrap_err();
            assert!(matches!(refused, PromotionError::Gate(_)), "{refused}");
            assert_eq!(unreachable.fetches.load(Ordering::Relaxed), fetches);
        }
        let release = (ReleaseKind::Valuation, "homes-1");
        let refused = promote_with_source::<()>(None, release, Some("ab"), || Err(refusal()));
        assert!(matches!(refused, Err(PromotionError::Gate(_))));
    }

    #[test]
    fn another_error_than_a_refusal_of_the_gate_fetches_nothing() {
        let source = source(true);
        let release = (ReleaseKind::Valuation, "homes-1");
        let failed = promote_with_source::<()>(Some(&source), release, Some("ab"), || {
            Err(PromotionError::Reason)
        });
        assert!(matches!(failed, Err(PromotionError::Reason)));
        assert_eq!(source.fetches.load(Ordering::Relaxed), 0);
    }
}
