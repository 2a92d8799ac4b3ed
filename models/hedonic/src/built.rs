//! When a home was built, as far as ranges tell homes apart by it.

use crate::parameters::PerBuilt;

/// The first construction band that counts as modern: I, from 1996.
const MODERN_FROM: usize = 8;

/// When a home was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Built {
    /// Sold new.
    New,
    /// Since 1996, and not sold new.
    Modern,
    /// Before.
    Older,
    /// Nobody knows.
    Unknown,
}

impl Built {
    /// That of a home, by whether it is sold new and by its band, of which A is 0.
    pub fn of(sold_new: bool, band: Option<usize>) -> Built {
        match (sold_new, band) {
            (true, _) => Built::New,
            (false, Some(band)) if band >= MODERN_FROM => Built::Modern,
            (false, Some(_)) => Built::Older,
            (false, None) => Built::Unknown,
        }
    }
}

impl<T> PerBuilt<T> {
    /// The value of one.
    pub fn of(&self, built: Built) -> &T {
        match built {
            Built::New => &self.new,
            Built::Modern => &self.modern,
            Built::Older => &self.older,
            Built::Unknown => &self.unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::age_index;
    use domesday_sdk::AgeBand;

    #[test]
    fn a_home_is_modern_from_band_i_on_and_new_whatever_its_band() {
        let of = |sold_new, band| Built::of(sold_new, age_index(band));
        assert_eq!(of(false, AgeBand::H), Built::Older);
        assert_eq!(of(false, AgeBand::I), Built::Modern);
        assert_eq!(of(false, AgeBand::Other), Built::Unknown);
        assert_eq!(of(true, AgeBand::A), Built::New);
    }
}
