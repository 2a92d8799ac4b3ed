//! Metrics of promotions. The ledger is the same on all hosts of a state; each host counts the
//! promotions that it made.

use chrono::DateTime;
use domesday_state::{PromotionEntry, ReleaseKind};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabels {
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PromotedLabels {
    kind: String,
    release: String,
}

/// Counters and gauges of the ledger.
#[derive(Debug, Default)]
pub struct PromotionMetrics {
    promotions: Family<KindLabels, Counter>,
    promoted: Family<PromotedLabels, Gauge>,
    checked: Gauge,
    /// The last promotion of each kind that this host could not follow.
    refused: Mutex<BTreeMap<&'static str, RefusedPromotion>>,
    /// The last entry that counts here of each promoted release, by kind. The lock also serialises
    /// readers of the ledger, so that the last one stays.
    counted: Mutex<BTreeMap<String, PromotionEntry>>,
}

/// A promotion that this host could not follow.
#[derive(Debug, Clone)]
pub(crate) struct RefusedPromotion {
    /// The release.
    pub id: String,
    /// The reason.
    pub reason: String,
    /// True if the ledger does not prove the promotion for the package that is here.
    pub unproved: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each change is whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PromotionMetrics {
    pub(super) fn register(registry: &mut Registry) -> PromotionMetrics {
        let metrics = PromotionMetrics::default();
        registry.register(
            "promotions",
            "Promotions that were made through this host",
            metrics.promotions.clone(),
        );
        registry.register_with_unit(
            "release_promoted_timestamp",
            "Time at which the release promoted last was promoted, since 1970",
            Unit::Seconds,
            metrics.promoted.clone(),
        );
        registry.register(
            "current_release_checked",
            "1 if the served valuation release has a trusted check report that passed, or needs none",
            metrics.checked.clone(),
        );
        metrics
    }

    /// Counts a promotion that was made through this host.
    pub fn record(&self, kind: ReleaseKind) {
        let kind = kind.as_str();
        self.promotions.get_or_create(&KindLabels { kind }).inc();
    }

    /// Shows whether the served release has a report that opens the gate.
    pub(crate) fn show_check(&self, checked: bool) {
        self.checked.set(checked.into());
    }

    /// Notes a promotion that this host cannot follow, or that it could follow the last one.
    pub(crate) fn show_refused(&self, kind: ReleaseKind, refused: Option<RefusedPromotion>) {
        let mut all = lock(&self.refused);
        match refused {
            Some(refused) => all.insert(kind.as_str(), refused),
            None => all.remove(kind.as_str()),
        };
    }

    /// Returns why this host could not follow the promotion of a release, if it could not.
    pub(crate) fn refusal(&self, kind: ReleaseKind, id: &str) -> Option<RefusedPromotion> {
        let all = lock(&self.refused);
        let refused = all.get(kind.as_str());
        refused.filter(|refused| refused.id == id).cloned()
    }

    /// Returns whether a promotion was noted as unproved, and is not the served one by now.
    pub(crate) fn is_unproved(&self, kind: ReleaseKind, id: &str, current: Option<&str>) -> bool {
        let is_unproved = |refused: RefusedPromotion| refused.unproved;
        current != Some(id) && self.refusal(kind, id).is_some_and(is_unproved)
    }

    /// Returns the manifest of the promoted release of a kind, as SHA-256. Returns `None` for
    /// another release than when the ledger was shown, or where no entry counts here.
    pub(crate) fn last_manifest(&self, kind: ReleaseKind, id: &str) -> Option<String> {
        let counted = lock(&self.counted);
        let entry = counted.get(kind.as_str());
        let entry = entry.filter(|entry| entry.release_id == id);
        entry.map(|entry| entry.manifest.clone())
    }

    /// Shows the last promotion of each kind in the whole ledger. `counted` has an entry of each
    /// promoted release, the last one that counts here.
    pub(crate) fn show(
        &self,
        ledger: impl Iterator<Item = PromotionEntry>,
        counted: impl Iterator<Item = PromotionEntry>,
    ) {
        let mut shown = lock(&self.counted);
        *shown = counted.map(|entry| (entry.kind.clone(), entry)).collect();
        let last: BTreeMap<_, _> = ledger.map(|entry| (entry.kind.clone(), entry)).collect();
        self.promoted.clear();
        for (kind, entry) in last {
            let Ok(when) = DateTime::parse_from_rfc3339(&entry.when) else {
                continue;
            };
            let release = entry.release_id;
            let labels = PromotedLabels { kind, release };
            self.promoted.get_or_create(&labels).set(when.timestamp());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(kind: &str, release_id: &str) -> PromotionEntry {
        PromotionEntry {
            approved_by: None,
            kind: kind.to_owned(),
            manifest: format!("manifest of {release_id}"),
            reason: None,
            release_id: release_id.to_owned(),
            report: None,
            sequence: 1,
            went_back: false,
            when: "2027-01-15T08:00:00.123Z".to_owned(),
            who: String::new(),
        }
    }

    #[test]
    fn a_promotion_of_this_host_is_counted_and_the_last_of_a_kind_is_shown() {
        let mut registry = Registry::with_prefix("domesday");
        let metrics = PromotionMetrics::register(&mut registry);
        let ledger = [
            entry("valuation", "a"),
            entry("rates", "r"),
            entry("valuation", "b"),
        ];
        metrics.record(ReleaseKind::Valuation);
        metrics.show(ledger[..1].iter().cloned(), ledger[..1].iter().cloned());
        let last_manifest = |id| metrics.last_manifest(ReleaseKind::Valuation, id);
        assert_eq!(last_manifest("a").as_deref(), Some("manifest of a"));
        for _ in 0..2 {
            metrics.show(ledger.iter().cloned(), ledger[2..].iter().cloned());
        }
        assert_eq!(last_manifest("a"), None);
        assert_eq!(last_manifest("b").as_deref(), Some("manifest of b"));
        // The entry of another release, or none, counts here.
        metrics.show(ledger.iter().cloned(), ledger[1..2].iter().cloned());
        assert_eq!(last_manifest("b"), None);
        let mut page = String::new();
        prometheus_client::encoding::text::encode(&mut page, &registry).unwrap();
        for line in [
            r#"domesday_promotions_total{kind="valuation"} 1"#,
            r#"domesday_release_promoted_timestamp_seconds{kind="valuation",release="b"} 1800000000"#,
            r#"domesday_release_promoted_timestamp_seconds{kind="rates",release="r"} 1800000000"#,
        ] {
            assert!(page.contains(line), "{line}\n{page}");
        }
        assert!(!page.contains(r#"release="a""#), "{page}");
    }

    #[test]
    fn an_unproved_promotion_counts_until_it_is_served() {
        let metrics = PromotionMetrics::default();
        let is_unproved = |kind, id, current| metrics.is_unproved(kind, id, Some(current));
        let refused = |unproved| RefusedPromotion {
            id: "r".to_owned(),
            reason: "on purpose".to_owned(),
            unproved,
        };
        assert!(!is_unproved(ReleaseKind::Rates, "r", "q"));
        metrics.show_refused(ReleaseKind::Rates, Some(refused(false)));
        assert!(!is_unproved(ReleaseKind::Rates, "r", "q"));
        metrics.show_refused(ReleaseKind::Rates, Some(refused(true)));
        assert!(is_unproved(ReleaseKind::Rates, "r", "q"));
        assert!(!is_unproved(ReleaseKind::Markets, "r", "q"));
        assert!(!is_unproved(ReleaseKind::Rates, "s", "q"));
        assert!(!is_unproved(ReleaseKind::Rates, "r", "r"));
        let reason = |id| Some(metrics.refusal(ReleaseKind::Rates, id)?.reason);
        assert_eq!(reason("r").as_deref(), Some("on purpose"));
        assert_eq!(reason("s"), None);
        metrics.show_refused(ReleaseKind::Rates, None);
        assert!(!is_unproved(ReleaseKind::Rates, "r", "q"));
    }
}
