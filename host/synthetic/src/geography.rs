//! Invented authorities: names, codes, ground, and how many homes each has.

use crate::draw::{Draw, Purpose};
use crate::land::{self, Point};
use crate::market::{Field, Locale};
use crate::names;
use crate::world::World;

/// The kind of an authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Character {
    /// Towns with countryside around them.
    Usual,
    /// Villages alone, and very few homes.
    Islands,
    /// Blocks of flats and shops, hardly a house, few homes, and dear.
    City,
}

impl Character {
    /// Returns the number of homes that does not depend on the size of the country, unless the
    /// country is very small. `None` for an authority with a share of the homes.
    fn homes(self, world: &World) -> Option<u32> {
        let all = world.size.properties;
        match self {
            Character::Usual => None,
            Character::Islands => Some(1_100.min(all / 500)),
            Character::City => Some(7_700.min(all / 100)),
        }
    }

    /// Returns the character of an authority. The thin ones are the last of England's.
    fn of(world: &World, index: u32) -> Character {
        let english = world.size.authorities - world.size.welsh_authorities;
        let usual = english - world.size.thin_authorities;
        match index.checked_sub(usual) {
            Some(thin) if index < english && thin % 2 == 0 => Character::Islands,
            Some(_) if index < english => Character::City,
            _ => Character::Usual,
        }
    }
}

/// One local authority.
pub(crate) struct Authority {
    pub(crate) index: u32,
    pub(crate) code: String,
    pub(crate) name: String,
    /// A code and name in force until April 2021, where the authority succeeded another.
    pub(crate) former: Option<(String, String)>,
    pub(crate) welsh: bool,
    /// County, upper case.
    pub(crate) county: String,
    /// Code and name of the region, or of Wales.
    pub(crate) region: (String, String),
    pub(crate) centre: Point,
    pub(crate) land_hectares: f64,
    pub(crate) homes: u32,
    pub(crate) character: Character,
    pub(crate) locale: Locale,
    pub(crate) field: Field,
    /// Postcode area.
    pub(crate) area: String,
}

/// Half the side of the square for an authority's streets, in metres.
pub(crate) const HALF_SIDE: f64 = 11_500.0;

/// Returns all authorities of a world, England's first.
pub(crate) fn authorities(world: &World) -> Vec<Authority> {
    let size = &world.size;
    let english = size.authorities - size.welsh_authorities;
    let homes = share_homes(world);
    let ranks = ranks(world);
    let regions = (english / 30).clamp(2, 9);
    (0..size.authorities)
        .map(|index| {
            let welsh = index >= english;
            let mut draw = Draw::new(world.seed, Purpose::Authority, index, 0);
            let (within, of, letter) = if welsh {
                (index - english, size.welsh_authorities, 'W')
            } else {
                (index, english, 'E')
            };
            let squares = land::squares(welsh);
            let square =
                squares[(within as usize * squares.len() / of as usize).min(squares.len() - 1)];
            let name = names::authority(index, welsh);
            let former = (index % 3 == 1).then(|| {
                (
                    format!("{letter}07{:06}", 995_001 + index),
                    format!("{name} District"),
                )
            });
            Authority {
                code: format!("{letter}06{:06}", 990_001 + index),
                former,
                welsh,
                county: names::county(index / 6),
                region: if welsh {
                    ("W92000004".into(), "Wales".into())
                } else {
                    let region = within * regions / english.max(1);
                    (format!("E12{:06}", 990_001 + region), names::region(region))
                },
                centre: square,
                land_hectares: (draw.between(9_000.0, 52_000.0) * 100.0).round() / 100.0,
                homes: homes[index as usize],
                character: Character::of(world, index),
                // Wales is the cheaper half of the country.
                locale: Locale::new(
                    match Character::of(world, index) {
                        Character::City => 1.0,
                        _ if welsh => ranks[index as usize] * 0.5,
                        _ => ranks[index as usize],
                    },
                    &mut draw,
                ),
                field: Field::new(&mut draw),
                area: crate::postcodes::area(index, size.authorities),
                index,
                name,
            }
        })
        .collect()
}

/// Returns the number of homes of each authority: unequal shares that add up to the whole.
fn share_homes(world: &World) -> Vec<u32> {
    let count = world.size.authorities;
    let own = |index| Character::of(world, index).homes(world);
    let weights: Vec<f64> = (0..count)
        .map(|a| match own(a) {
            Some(_) => 0.0,
            None => Draw::new(world.seed, Purpose::Size, a, 0).between(0.6, 1.6),
        })
        .collect();
    let total: f64 = weights.iter().sum();
    let shared = world.size.properties - (0..count).filter_map(own).sum::<u32>();
    let (mut sum, mut given) = (0.0, 0);
    weights
        .iter()
        .zip(0..count)
        .map(|(weight, index)| {
            if let Some(homes) = own(index) {
                return homes;
            }
            sum += weight;
            let upto = (f64::from(shared) * sum / total).round() as u32;
            let own = upto - given;
            given = upto;
            own
        })
        .collect()
}

/// Ranks the authorities by price: even steps, dealt in an order that the seed decides.
fn ranks(world: &World) -> Vec<f64> {
    let count = world.size.authorities as usize;
    let mut order: Vec<usize> = (0..count).collect();
    let mut draw = Draw::new(world.seed, Purpose::Size, u32::MAX, 0);
    for last in (1..count).rev() {
        order.swap(last, draw.below(last + 1));
    }
    order
        .into_iter()
        .map(|place| (place as f64 + 0.5) / count as f64)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Size;

    #[test]
    fn homes_add_up_and_codes_are_valid() {
        let world = World {
            size: Size::national(),
            ..World::demo()
        };
        let all = authorities(&world);
        assert_eq!(all.iter().map(|a| a.homes).sum::<u32>(), 27_000_000);
        assert!(all.iter().all(|a| a.code.len() == 9 && a.homes < 500_000));
        let thin: Vec<(Character, u32)> = all
            .iter()
            .filter(|a| a.character != Character::Usual)
            .map(|a| (a.character, a.homes))
            .collect();
        assert_eq!(
            thin,
            [(Character::Islands, 1_100), (Character::City, 7_700)]
        );
        assert_eq!(
            all.iter()
                .filter(|a| a.welsh && a.code.starts_with('W'))
                .count(),
            22
        );
    }
}
