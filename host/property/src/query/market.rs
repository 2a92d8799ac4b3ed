//! Twelve-month figures of an area.

use crate::model::{AreaFigures, AreaLevel};
use crate::snapshot::last_whole_month;
use crate::store::bytes::LAST_DAY;
use crate::store::figures::{self, Window};
use crate::{Snapshot, SnapshotError};
use domesday_registers::Day;
use domesday_registers::codes::PropertyType;

impl Snapshot {
    /// Returns the figures of an area (`LE10`, `LE10 0` or `E07000132`) and a type of dwelling for
    /// twelve months. `None` as type is all four types together. The window ends with the last
    /// whole month before `before`. It ends no later than the last month that the register covers
    /// whole ([`crate::Identity::last_whole_month`]).
    ///
    /// `None` where the window holds no category A sale of this kind, and for a code that has
    /// not the level's form.
    ///
    /// # Errors
    /// Storage failed, or a row is damaged.
    pub fn area_figures(
        &self,
        level: AreaLevel,
        code: &str,
        property_type: Option<PropertyType>,
        before: Day,
    ) -> Result<Option<AreaFigures>, SnapshotError> {
        let Some(latest_sale) = self.facts.latest_sale else {
            return Ok(None);
        };
        let Some(area) = figures::area(level, code) else {
            return Ok(None);
        };
        // The eve of `before` is the last day that can be seen.
        let eve = Day(before.0.saturating_sub(1)).clamp(Day(-1), LAST_DAY);
        let to_month = last_whole_month(eve).min(last_whole_month(Day(latest_sale)));
        let now = self.window(level, area, property_type, to_month)?;
        let earlier = self.window(level, area, property_type, to_month - 12)?;
        if now.count == 0 {
            return Ok(None);
        }
        let median = |twice: u64| (twice != 0).then_some(twice as f64 / 2.0);
        let (median_now, median_then) = (median(now.median_twice), median(earlier.median_twice));
        Ok(Some(AreaFigures {
            to_month,
            sales_count_12m: now.count,
            median_price_gbp: median_now,
            price_per_sqm_gbp: (now.pence_per_sqm != 0)
                .then(|| f64::from(now.pence_per_sqm) / 100.0),
            price_change_12m_pct: median_now
                .zip(median_then)
                .map(|(now, then)| (now / then - 1.0) * 100.0),
        }))
    }

    fn window(
        &self,
        level: AreaLevel,
        area: u64,
        property_type: Option<PropertyType>,
        month: i32,
    ) -> Result<Window, SnapshotError> {
        let (Ok(year), Ok(of_year)) = (
            u64::try_from(1970 + month.div_euclid(12)),
            usize::try_from(month.rem_euclid(12)),
        ) else {
            return Ok(Window::default());
        };
        match self
            .figures
            .get(figures::key(level, area, property_type, year))?
        {
            Some(row) => figures::window(row.value(), of_year)
                .ok_or(SnapshotError::Damaged { table: "figures" }),
            None => Ok(Window::default()),
        }
    }
}
