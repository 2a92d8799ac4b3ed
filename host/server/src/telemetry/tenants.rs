//! Counters of the tenants that send most, for a service whose operator turned them on.
//!
//! A page shows a bounded number of tenants: those with the most requests since the start. So a
//! series may appear or go, but its counts never fall.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::registry::Registry;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The counts of one tenant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct TenantCounts {
    requests: u64,
    units: u64,
}

/// Counters by tenant. Clones share them.
#[derive(Debug, Clone)]
pub struct TenantMetrics(Arc<TenantCounters>);

#[derive(Debug)]
struct TenantCounters {
    /// Tenants on a page. With none, nothing is counted.
    shown: usize,
    /// The tenants that had a request, each with a key of the state.
    tenants: Mutex<HashMap<String, TenantCounts>>,
}

impl TenantMetrics {
    /// Registers the counters of as many tenants as a page shows.
    pub(super) fn register(registry: &mut Registry, shown: usize) -> TenantMetrics {
        let counters = Arc::new(TenantCounters {
            shown,
            tenants: Mutex::default(),
        });
        if shown > 0 {
            registry.register_collector(Box::new(counters.clone()));
        }
        TenantMetrics(counters)
    }

    /// Counts a request of a tenant.
    pub fn record_request(&self, tenant: &str) {
        self.change(tenant, |counts| counts.requests += 1);
    }

    /// Counts units that a tenant is charged, as [`Metrics::units_charged`] does.
    ///
    /// [`Metrics::units_charged`]: super::metrics::Metrics::units_charged
    pub fn record_units(&self, tenant: &str, units: u64) {
        self.change(tenant, |counts| counts.units += units);
    }

    fn change(&self, tenant: &str, change: impl FnOnce(&mut TenantCounts)) {
        if self.0.shown == 0 {
            return;
        }
        let mut tenants = self.0.tenants();
        match tenants.get_mut(tenant) {
            Some(counts) => change(counts),
            None => change(tenants.entry(tenant.to_owned()).or_default()),
        }
    }
}

impl TenantCounters {
    fn tenants(&self) -> MutexGuard<'_, HashMap<String, TenantCounts>> {
        // Nothing can be left half done in it.
        self.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the tenants with the most requests, in the order of their names.
    fn most(&self) -> Vec<(String, TenantCounts)> {
        let tenants = self.tenants();
        let mut most: Vec<(&String, &TenantCounts)> = tenants.iter().collect();
        most.sort_unstable_by_key(|&(tenant, counts)| (Reverse(counts.requests), tenant));
        most.truncate(self.shown);
        most.sort_unstable_by_key(|&(tenant, _)| tenant);
        let owned = |(tenant, counts): (&String, &TenantCounts)| (tenant.clone(), *counts);
        most.into_iter().map(owned).collect()
    }
}

impl Collector for TenantCounters {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), std::fmt::Error> {
        let most = self.most();
        for (name, help, count) in [
            (
                "tenant_requests",
                "Requests of the tenants that send most to this host",
                (|counts| counts.requests) as fn(TenantCounts) -> u64,
            ),
            (
                "tenant_units_charged",
                "Valuation units charged to the tenants that send most to this host",
                |counts| counts.units,
            ),
        ] {
            let kind = ConstCounter::new(0_u64).metric_type();
            let mut family = encoder.encode_descriptor(name, help, None, kind)?;
            for (tenant, counts) in &most {
                let labels = [("tenant", tenant.as_str())];
                ConstCounter::new(count(*counts)).encode(family.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(registry: &Registry) -> String {
        let mut page = String::new();
        prometheus_client::encoding::text::encode(&mut page, registry).unwrap();
        page
    }

    #[test]
    fn a_page_shows_the_tenants_that_send_most() {
        let mut registry = Registry::with_prefix("domesday");
        let metrics = TenantMetrics::register(&mut registry, 2);
        for (tenant, requests) in [("a", 1), ("b", 3), ("c", 2)] {
            for _ in 0..requests {
                metrics.record_request(tenant);
            }
        }
        metrics.record_units("b", 70);
        let shown = page(&registry);
        for line in [
            r#"domesday_tenant_requests_total{tenant="b"} 3"#,
            r#"domesday_tenant_requests_total{tenant="c"} 2"#,
            r#"domesday_tenant_units_charged_total{tenant="b"} 70"#,
        ] {
            assert!(shown.contains(line), "{line}\n{shown}");
        }
        assert!(!shown.contains(r#"tenant="a""#), "{shown}");
    }

    #[test]
    fn no_tenant_is_counted_unless_the_setting_says_so() {
        let mut registry = Registry::with_prefix("domesday");
        let metrics = TenantMetrics::register(&mut registry, 0);
        metrics.record_request("a");
        assert!(metrics.0.tenants().is_empty());
        assert_eq!(page(&registry), "# EOF\n");
    }
}
