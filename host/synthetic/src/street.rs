//! The plan of one street: its buildings and their addresses.

mod builder;
mod plot;

use crate::draw::Draw;
use crate::market::Kind;
use builder::Builder;
pub(crate) use plot::Plot;
use std::collections::HashSet;

/// A street without its name and place.
pub(crate) struct Plan {
    pub(crate) plots: Vec<Plot>,
    /// Year in which most of it was built.
    pub(crate) built: i32,
    /// Built as one scheme and sold new.
    pub(crate) scheme: bool,
    /// A hamlet whose houses go by name, without any street.
    pub(crate) nameless: bool,
}

impl Plan {
    /// Cuts the street short after this many homes; gives the number of homes that it has then.
    pub(crate) fn trim(&mut self, homes: usize) -> usize {
        let mut remaining = homes;
        self.plots.retain(|plot| {
            if plot.kind == Kind::Commercial {
                return true;
            }
            let fits = remaining > 0;
            remaining = remaining.saturating_sub(1);
            fits
        });
        homes - remaining
    }
}

/// Manner of a street.
#[derive(Clone, Copy)]
enum Manner {
    Terrace,
    Semis,
    Detached,
    Mixed,
    Blocks,
    Shops,
    Scheme,
    Village,
}

/// The surroundings of a street.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Town,
    /// Mostly villages, with some streets as in towns.
    Countryside,
    Islands,
    City,
}

/// Lays out a street; `last_year` is the last in which anything can have been finished.
pub(crate) fn plan(draw: &mut Draw, place: Place, last_year: i32) -> Plan {
    use Manner::*;
    let manner = match place {
        Place::Islands => Village,
        Place::City => draw.choose_weighted(&[(8.0, Blocks), (2.0, Shops)]),
        Place::Countryside if draw.chance(0.75) => Village,
        Place::Countryside | Place::Town => draw.choose_weighted(&[
            (25.0, Terrace),
            (27.0, Semis),
            (16.0, Detached),
            (6.0, Mixed),
            (9.0, Blocks),
            (5.0, Shops),
            (12.0, Scheme),
        ]),
    };
    let built = match manner {
        Terrace | Shops => draw.whole(1862, 1929),
        Semis => draw.whole(1924, 1975),
        Detached => draw.whole(1955, 1995),
        Mixed => draw.whole(1900, 1990),
        Blocks => draw.whole(1958, 1995),
        Scheme => draw.whole(1995, last_year - 1),
        Village => draw.whole(1780, 1960),
    };
    let nameless = matches!(manner, Village) && draw.chance(0.2);
    let mut street = Builder {
        draw,
        plots: Vec::new(),
    };
    match manner {
        Terrace => street.terrace(),
        Semis => street.houses(
            16,
            44,
            [
                (0.0, Kind::Detached),
                (1.0, Kind::SemiDetached),
                (0.0, Kind::Terraced),
            ],
        ),
        Detached => street.houses(
            8,
            30,
            [
                (0.9, Kind::Detached),
                (0.1, Kind::SemiDetached),
                (0.0, Kind::Terraced),
            ],
        ),
        Mixed => street.houses(
            12,
            40,
            [
                (0.3, Kind::Detached),
                (0.4, Kind::SemiDetached),
                (0.3, Kind::Terraced),
            ],
        ),
        Blocks => street.blocks(),
        Shops => street.shops(),
        Scheme => {
            street.houses(
                12,
                46,
                [
                    (0.4, Kind::Detached),
                    (0.35, Kind::SemiDetached),
                    (0.25, Kind::Terraced),
                ],
            );
            if street.draw.chance(0.35) {
                street.block(1.0);
            }
        }
        Village => street.village(nameless),
    }
    let mut plots = street.plots;
    let mut seen = HashSet::new();
    plots.retain(|plot| seen.insert((plot.saon.clone(), plot.paon.clone())));
    Plan {
        plots,
        built,
        scheme: matches!(manner, Scheme),
        nameless,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Purpose;

    #[test]
    fn no_address_stands_twice_in_a_street() {
        let places = [Place::Countryside, Place::Town, Place::Islands, Place::City];
        let mut city = (0, 0);
        for street in 0..2_000 {
            let mut draw = Draw::new(3, Purpose::Street, 0, street);
            let place = places[street as usize % places.len()];
            let plan = plan(&mut draw, place, 2026);
            if place == Place::City {
                let homes = plan.plots.iter().filter(|p| p.kind != Kind::Commercial);
                let (flats, houses) = homes.partition::<Vec<_>, _>(|p| p.kind == Kind::Flat);
                city = (city.0 + flats.len(), city.1 + houses.len());
            }
            let mut seen = HashSet::new();
            for plot in &plan.plots {
                assert!(
                    seen.insert((plot.saon.clone(), plot.paon.clone())),
                    "street {street}: {plot:?}"
                );
            }
            assert!(!plan.plots.is_empty());
        }
        // A house between the shops is rare.
        assert!(city.0 > 20 * city.1, "{city:?}");
    }
}
