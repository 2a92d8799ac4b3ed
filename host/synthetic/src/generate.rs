//! Writes a world, authority by authority and street by street. Memory does not grow with its size.

use crate::draw::{Draw, Purpose};
use crate::dwelling::Dwelling;
use crate::files::addresses::Addresses;
use crate::files::certificates::Certificates;
use crate::files::code_point::CodePoint;
use crate::files::price_paid::{Ids, PricePaid};
use crate::files::truth::{RegisterRecords, Truth};
use crate::files::{areas, price_index, readme, rents};
use crate::geography::{self, Authority, Character, HALF_SIDE};
use crate::housing::{self, Site};
use crate::land::Point;
use crate::lodgement::lodgements;
use crate::postcodes::{PostcodeAllocator, Sector};
use crate::sales::{self, Activity};
use crate::street::Place;
use crate::uprn::uprn;
use crate::{Manifest, SyntheticError, World, names, noise, street};
use chrono::Datelike;
use std::borrow::Cow;
use std::path::Path;

/// The stage that writes homes with their addresses, sales and certificates.
const HOMES: &str = "homes and their sales";
/// The stage that writes areas, codes, price indices and rents.
const AREAS: &str = "areas and indices";

/// Writes a world's register files into a folder, which is made if it is not there; files of the
/// same names are replaced.
///
/// `progress` receives the name of the stage, the steps done and the steps in all.
///
/// # Errors
///
/// [`SyntheticError::Parameter`] and [`SyntheticError::AreaFull`] where the world cannot be laid
/// out, otherwise the file that could not be written.
pub fn generate(
    world: &World,
    out: &Path,
    progress: impl FnMut(&str, u64, u64),
) -> Result<Manifest, SyntheticError> {
    generate_as(world, out, Layout::default(), progress)
}

/// The selection of files and their form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Certificates in an archive, as the publisher hands out the whole register; a tenth of the
    /// bytes. The member has the same bytes on every machine, and the archive need not.
    pub zipped_certificates: bool,
    /// The truth beside the registers, which is as large as they are.
    pub truth: bool,
    /// Registers write one home's address in different ways more often than the default world's do,
    /// and under older postcodes: for measuring how they are matched.
    pub address_noise: bool,
}

impl Default for Layout {
    /// Returns the layout of everything in plain files.
    fn default() -> Layout {
        Layout {
            zipped_certificates: false,
            truth: true,
            address_noise: false,
        }
    }
}

/// Writes as [`generate()`] does, with a selection of files.
///
/// # Errors
/// As [`generate()`].
pub fn generate_as(
    world: &World,
    out: &Path,
    layout: Layout,
    mut progress: impl FnMut(&str, u64, u64),
) -> Result<Manifest, SyntheticError> {
    world.check()?;
    std::fs::create_dir_all(out).map_err(|source| SyntheticError::Write {
        path: out.to_owned(),
        source,
    })?;
    let authorities = geography::authorities(world);
    let mut registers = Registers::create(world, out, layout)?;
    let mut book = PostcodeAllocator::default();
    for authority in &authorities {
        build(world, authority, &mut book, &mut registers, &mut progress)?;
    }
    let mut manifest = registers.finish()?;
    progress(AREAS, 0, 2);
    areas::write(out, &authorities, &mut manifest)?;
    progress(AREAS, 1, 2);
    price_index::write(out, world, &authorities, &mut manifest)?;
    rents::write(out, world, &authorities, &mut manifest)?;
    readme::write(out, world, &manifest)?;
    progress(AREAS, 2, 2);
    Ok(manifest)
}

/// A town, or the countryside around it.
struct Town {
    name: String,
    middle: Point,
    /// Sectors that it has so far, and how many it will have.
    sectors: u32,
    of: u32,
}

/// Lays out one authority and registers everything in it.
fn build(
    world: &World,
    authority: &Authority,
    book: &mut PostcodeAllocator,
    registers: &mut Registers<'_>,
    progress: &mut impl FnMut(&str, u64, u64),
) -> Result<(), SyntheticError> {
    let mut builder = AuthorityBuilder::new(world, authority);
    let mut town: Option<Town> = None;
    while builder.homes_left > 0 {
        let new_town = town.as_ref().is_none_or(|town| town.sectors >= town.of);
        if new_town {
            town = Some(builder.town());
        }
        let Some(town) = town.as_mut() else { break };
        let mut sector = book.sector(&authority.area, new_town, world.size.authorities)?;
        let mut ground = builder.ground(town);
        for n in 0..world.size.streets_per_sector {
            if builder.homes_left == 0 {
                break;
            }
            if is_rural(ground.surroundings) && n.is_multiple_of(12) {
                ground.locality = builder.name();
            }
            builder.street(&mut ground, &mut sector, book, registers)?;
            progress(
                HOMES,
                registers.manifest.properties,
                u64::from(world.size.properties),
            );
        }
    }
    Ok(())
}

/// The ground that the streets of one sector lie on.
struct Ground {
    draw: Draw,
    surroundings: Place,
    middle: Point,
    /// Standard deviation of a street's distance from the middle, east and north, in metres.
    reach: f64,
    town: String,
    /// Suburb or village of the next street; empty where there is none.
    locality: String,
}

fn is_rural(surroundings: Place) -> bool {
    matches!(surroundings, Place::Countryside | Place::Islands)
}

/// The state of one authority's layout: the homes left to build, and the numbers used so far.
struct AuthorityBuilder<'a> {
    world: &'a World,
    authority: &'a Authority,
    draw: Draw,
    ids: Ids,
    homes_left: usize,
    sectors: u32,
    streets: u32,
    addresses: u64,
    settlements: u32,
}

impl<'a> AuthorityBuilder<'a> {
    fn new(world: &'a World, authority: &'a Authority) -> AuthorityBuilder<'a> {
        AuthorityBuilder {
            world,
            authority,
            draw: Draw::new(world.seed, Purpose::Town, authority.index, 0),
            ids: Ids::of(authority.index),
            homes_left: authority.homes as usize,
            sectors: 0,
            streets: 0,
            addresses: 0,
            settlements: 0,
        }
    }

    fn name(&mut self) -> String {
        name(self.authority, &mut self.settlements)
    }

    /// Founds a town within reach of the authority's centre.
    fn town(&mut self) -> Town {
        let middle = self.authority.centre.offset(
            self.draw.between(-8_000.0, 8_000.0),
            self.draw.between(-8_000.0, 8_000.0),
        );
        Town {
            name: self.name(),
            middle,
            sectors: 0,
            of: self.draw.whole(2, 7) as u32,
        }
    }

    /// Places the town's next sector.
    fn ground(&mut self, town: &mut Town) -> Ground {
        let (world, authority) = (self.world, self.authority);
        let mut draw = Draw::new(world.seed, Purpose::Sector, authority.index, self.sectors);
        self.sectors += 1;
        let surroundings = match authority.character {
            Character::Islands => Place::Islands,
            Character::City => Place::City,
            Character::Usual if self.sectors.is_multiple_of(5) => Place::Countryside,
            Character::Usual => Place::Town,
        };
        let rural = is_rural(surroundings);
        // Sectors wind outwards from the middle of a town, a golden angle apart; the countryside
        // lies further out.
        let turn = 2.399_963_229_728_653 * f64::from(town.sectors);
        let spread = 55.0 * f64::from(world.size.streets_per_sector).sqrt();
        let away =
            1.4 * spread * f64::from(town.sectors).sqrt() + if rural { 2_500.0 } else { 0.0 };
        let middle = town
            .middle
            .offset(away * libm::cos(turn), away * libm::sin(turn));
        town.sectors += 1;
        let suburb = draw.chance(0.3).then(|| self.name());
        Ground {
            draw,
            surroundings,
            middle,
            reach: if rural { 2.0 * spread } else { spread },
            town: town.name.clone(),
            locality: suburb.unwrap_or_default(),
        }
    }

    /// Builds the sector's next street and registers everything in it.
    fn street(
        &mut self,
        ground: &mut Ground,
        sector: &mut Sector,
        book: &mut PostcodeAllocator,
        registers: &mut Registers<'_>,
    ) -> Result<(), SyntheticError> {
        let (world, authority, number) = (self.world, self.authority, self.streets);
        let stream = |purpose| Draw::new(world.seed, purpose, authority.index, number);
        let mut draw = stream(Purpose::Street);
        let mut plan = street::plan(&mut draw, ground.surroundings, world.through.year());
        let homes = plan.trim(self.homes_left);
        self.homes_left -= homes;
        if !sector.has(plan.plots.len() as u32) {
            *sector = book.sector(&authority.area, false, world.size.authorities)?;
        }
        let (east, north) = (
            ground.draw.normal(0.0, ground.reach),
            ground.draw.normal(0.0, ground.reach),
        );
        let site = Site {
            street: names::street(authority.index, number, authority.welsh),
            locality: ground.locality.clone(),
            town: ground.town.clone(),
            middle: ground
                .middle
                .offset(east, north)
                .within(authority.centre, HALF_SIDE),
        };
        let addresses = &mut self.addresses;
        let (dwellings, units) =
            housing::settle(world, authority, &site, &plan, sector, &mut draw, || {
                *addresses += 1;
                uprn(world.seed, authority.index, *addresses)
            });
        registers.code_point.add(authority, &units)?;
        registers.manifest.postcodes += units.len() as u64;
        let mut faults = stream(Purpose::Fault);
        let mut noise = registers.address_noise.then(|| stream(Purpose::Noise));
        for dwelling in &dwellings {
            let written = RegisterDwelling::of(dwelling, noise.as_mut());
            let draws = (&mut draw, &mut faults);
            registers.enter(authority, dwelling, &written, &mut self.ids, draws)?;
        }
        self.streets += 1;
        Ok(())
    }
}

/// Returns the next name of a settlement; a large authority begins again after 64.
fn name(authority: &Authority, settlements: &mut u32) -> String {
    *settlements += 1;
    names::settlement(authority.index, (*settlements - 1) % 65, authority.welsh)
}

/// A dwelling as each register writes it.
struct RegisterDwelling<'d> {
    address_file: Cow<'d, Dwelling>,
    certificates: Cow<'d, Dwelling>,
    price_paid: Cow<'d, Dwelling>,
}

impl<'d> RegisterDwelling<'d> {
    fn of(dwelling: &'d Dwelling, mut noise: Option<&mut Draw>) -> RegisterDwelling<'d> {
        let mut write = || match &mut noise {
            Some(draw) => noise::vary_address(dwelling, draw),
            None => Cow::Borrowed(dwelling),
        };
        let (address_file, certificates, price_paid) = (write(), write(), write());
        RegisterDwelling {
            address_file,
            certificates,
            price_paid,
        }
    }
}

/// Every file that grows street by street.
struct Registers<'a> {
    world: &'a World,
    address_noise: bool,
    activity: Activity,
    price_paid: PricePaid,
    certificates: Certificates,
    addresses: Addresses,
    code_point: CodePoint,
    truth: Option<Truth>,
    manifest: Manifest,
}

impl Registers<'_> {
    fn create<'a>(
        world: &'a World,
        out: &Path,
        layout: Layout,
    ) -> Result<Registers<'a>, SyntheticError> {
        Ok(Registers {
            world,
            address_noise: layout.address_noise,
            activity: Activity::new(world),
            price_paid: PricePaid::create(out)?,
            certificates: Certificates::create(out, layout.zipped_certificates)?,
            addresses: Addresses::create(out)?,
            code_point: CodePoint::create(out)?,
            truth: layout.truth.then(|| Truth::create(out)).transpose()?,
            manifest: Manifest::default(),
        })
    }

    /// Simulates the years of one dwelling and writes its records. `life` draws the events,
    /// `faults` the errors of the registers.
    fn enter(
        &mut self,
        authority: &Authority,
        dwelling: &Dwelling,
        written: &RegisterDwelling<'_>,
        ids: &mut Ids,
        (life, faults): (&mut Draw, &mut Draw),
    ) -> Result<(), SyntheticError> {
        let manifest = &mut self.manifest;
        let (sales, condition) = sales::history(dwelling, &authority.locale, &self.activity, life);
        let lodged = if dwelling.residential() {
            lodgements(self.world, dwelling, &sales, life)
        } else {
            Vec::new()
        };
        let mut spelling = None;
        for (number, lodgement) in lodged.iter().enumerate() {
            let planted = &mut manifest.planted;
            spelling = Some(self.certificates.lodge(
                authority,
                &written.certificates,
                lodgement,
                number,
                planted,
                faults,
            )?);
        }
        let in_address_file = self.addresses.write(
            self.world,
            authority,
            &written.address_file,
            &mut manifest.planted,
            faults,
        )?;
        for sale in &sales {
            let planted = &mut manifest.planted;
            let (id, standing) = self.price_paid.register(
                self.world,
                authority,
                &written.price_paid,
                sale,
                ids,
                planted,
                faults,
            )?;
            if let Some(truth) = &mut self.truth {
                truth.sale(&id, dwelling, sale, standing, &lodged)?;
            }
        }
        let registered = RegisterRecords {
            lodgements: &lodged,
            spelling,
            in_address_file,
        };
        if let Some(truth) = &mut self.truth {
            truth.property(self.world, authority, dwelling, condition, &registered)?;
        }
        manifest.sales += sales.len() as u64;
        manifest.certificates += lodged.len() as u64;
        if dwelling.residential() {
            manifest.properties += 1;
            manifest.planted.certificates.homes_without += u64::from(lodged.is_empty());
        } else {
            manifest.premises += 1;
        }
        Ok(())
    }

    fn finish(self) -> Result<Manifest, SyntheticError> {
        let mut manifest = self.manifest;
        self.price_paid.finish(&mut manifest)?;
        self.certificates.finish(&mut manifest)?;
        self.addresses.finish(&mut manifest)?;
        self.code_point.finish(&mut manifest)?;
        if let Some(truth) = self.truth {
            truth.finish(&mut manifest)?;
        }
        Ok(manifest)
    }
}
