//! The build periods that ranges distinguish.

use crate::parameters::PerBuildPeriod;

/// Index of the first modern construction band: I, from 1996.
const MODERN_FROM: usize = 8;

/// A build period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildPeriod {
    /// Sold new.
    New,
    /// From 1996, and not sold new.
    Modern,
    /// Before 1996.
    Older,
    /// Unknown.
    Unknown,
}

impl BuildPeriod {
    /// Returns the build period of a home. `band` is the index of its construction band, A being 0.
    pub fn of(sold_new: bool, band: Option<usize>) -> BuildPeriod {
        match (sold_new, band) {
            (true, _) => BuildPeriod::New,
            (false, Some(band)) if band >= MODERN_FROM => BuildPeriod::Modern,
            (false, Some(_)) => BuildPeriod::Older,
            (false, None) => BuildPeriod::Unknown,
        }
    }
}

impl<T> PerBuildPeriod<T> {
    /// Returns the value of one build period.
    pub fn of(&self, built: BuildPeriod) -> &T {
        match built {
            BuildPeriod::New => &self.new,
            BuildPeriod::Modern => &self.modern,
            BuildPeriod::Older => &self.older,
            BuildPeriod::Unknown => &self.unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::property_kind::age_index;
    use domesday_sdk::AgeBand;

    #[test]
    fn a_home_is_modern_from_band_i_on_and_new_whatever_its_band() {
        let of = |sold_new, band| BuildPeriod::of(sold_new, age_index(band));
        assert_eq!(of(false, AgeBand::H), BuildPeriod::Older);
        assert_eq!(of(false, AgeBand::I), BuildPeriod::Modern);
        assert_eq!(of(false, AgeBand::Other), BuildPeriod::Unknown);
        assert_eq!(of(true, AgeBand::A), BuildPeriod::New);
    }
}
