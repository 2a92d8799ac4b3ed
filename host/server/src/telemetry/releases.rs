//! Metrics of the releases that this host serves.

use domesday_state::ReleaseKind;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReleaseLabels {
    kind: &'static str,
    release: String,
}

/// The releases of one kind on this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedRelease {
    /// The kind.
    pub kind: ReleaseKind,
    /// The release that new requests get here.
    pub current: Option<String>,
    /// The release that was promoted last, and whether this host holds it and may serve it.
    pub promoted: Option<(String, bool)>,
}

/// Gauges of the releases.
#[derive(Debug, Default)]
pub struct ReleaseMetrics {
    current: Family<ReleaseLabels, Gauge>,
    promoted_held: Family<ReleaseLabels, Gauge>,
}

impl ReleaseMetrics {
    pub(super) fn register(registry: &mut Registry) -> ReleaseMetrics {
        let metrics = ReleaseMetrics::default();
        registry.register(
            "current_release_info",
            "1 for the release of each kind that new requests get from this host",
            metrics.current.clone(),
        );
        registry.register(
            "promoted_release_held",
            "1 if this host holds the release that was promoted last and the ledger proves the promotion, else 0",
            metrics.promoted_held.clone(),
        );
        metrics
    }

    /// Shows the releases of all kinds, in place of those shown before.
    pub(crate) fn show(&self, releases: &[ServedRelease]) {
        self.current.clear();
        self.promoted_held.clear();
        for served in releases {
            let set = |family: &Family<ReleaseLabels, Gauge>, release: &str, value: bool| {
                let labels = ReleaseLabels {
                    kind: served.kind.as_str(),
                    release: release.to_owned(),
                };
                family.get_or_create(&labels).set(value.into());
            };
            if let Some(release) = &served.current {
                set(&self.current, release, true);
            }
            if let Some((release, held)) = &served.promoted {
                set(&self.promoted_held, release, *held);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promoted_release_that_is_missing_here_is_shown_beside_the_current_one() {
        let mut registry = Registry::with_prefix("domesday");
        let metrics = ReleaseMetrics::register(&mut registry);
        let served = |current: &str, promoted: Option<(&str, bool)>| ServedRelease {
            kind: ReleaseKind::Valuation,
            current: Some(current.to_owned()),
            promoted: promoted.map(|(release, held)| (release.to_owned(), held)),
        };
        metrics.show(&[served("a", Some(("a", true)))]);
        metrics.show(&[served("b", Some(("c", false)))]);
        let mut page = String::new();
        prometheus_client::encoding::text::encode(&mut page, &registry).unwrap();
        for line in [
            r#"domesday_current_release_info{kind="valuation",release="b"} 1"#,
            r#"domesday_promoted_release_held{kind="valuation",release="c"} 0"#,
        ] {
            assert!(page.contains(line), "{line}\n{page}");
        }
        assert!(!page.contains(r#"release="a""#), "{page}");
    }
}
