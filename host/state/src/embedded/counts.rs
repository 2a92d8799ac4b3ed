//! The units that tenants used.

use std::collections::BTreeMap;

use crate::{Month, TenantId};

/// Units used, by tenant and month.
pub(super) type Counts = BTreeMap<(TenantId, Month), u64>;
