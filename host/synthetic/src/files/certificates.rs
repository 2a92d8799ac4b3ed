//! MHCLG's register of domestic energy certificates, as certificates.csv.

use super::Sink;
use super::areas::REORGANISED;
use crate::draw::Draw;
use crate::dwelling::{Dwelling, Fabric, Form};
use crate::geography::Authority;
use crate::lodgement::{AreaFault, Lodgement, Reason};
use crate::manifest::{Manifest, PlantedFaults};
use crate::market::Kind;
use crate::spelling::{self, Spelling};
use crate::{SyntheticError, names};
use chrono::TimeDelta;
use csv::QuoteStyle;
use std::path::Path;

/// Columns, in the register's order.
const HEADER: [&str; 93] = [
    "LMK_KEY",
    "ADDRESS1",
    "ADDRESS2",
    "ADDRESS3",
    "POSTCODE",
    "BUILDING_REFERENCE_NUMBER",
    "CURRENT_ENERGY_RATING",
    "POTENTIAL_ENERGY_RATING",
    "CURRENT_ENERGY_EFFICIENCY",
    "POTENTIAL_ENERGY_EFFICIENCY",
    "PROPERTY_TYPE",
    "BUILT_FORM",
    "INSPECTION_DATE",
    "LOCAL_AUTHORITY",
    "CONSTITUENCY",
    "COUNTY",
    "LODGEMENT_DATE",
    "TRANSACTION_TYPE",
    "ENVIRONMENT_IMPACT_CURRENT",
    "ENVIRONMENT_IMPACT_POTENTIAL",
    "ENERGY_CONSUMPTION_CURRENT",
    "ENERGY_CONSUMPTION_POTENTIAL",
    "CO2_EMISSIONS_CURRENT",
    "CO2_EMISS_CURR_PER_FLOOR_AREA",
    "CO2_EMISSIONS_POTENTIAL",
    "LIGHTING_COST_CURRENT",
    "LIGHTING_COST_POTENTIAL",
    "HEATING_COST_CURRENT",
    "HEATING_COST_POTENTIAL",
    "HOT_WATER_COST_CURRENT",
    "HOT_WATER_COST_POTENTIAL",
    "TOTAL_FLOOR_AREA",
    "ENERGY_TARIFF",
    "MAINS_GAS_FLAG",
    "FLOOR_LEVEL",
    "FLAT_TOP_STOREY",
    "FLAT_STOREY_COUNT",
    "MAIN_HEATING_CONTROLS",
    "MULTI_GLAZE_PROPORTION",
    "GLAZED_TYPE",
    "GLAZED_AREA",
    "EXTENSION_COUNT",
    "NUMBER_HABITABLE_ROOMS",
    "NUMBER_HEATED_ROOMS",
    "LOW_ENERGY_LIGHTING",
    "NUMBER_OPEN_FIREPLACES",
    "HOTWATER_DESCRIPTION",
    "HOT_WATER_ENERGY_EFF",
    "HOT_WATER_ENV_EFF",
    "FLOOR_DESCRIPTION",
    "FLOOR_ENERGY_EFF",
    "FLOOR_ENV_EFF",
    "WINDOWS_DESCRIPTION",
    "WINDOWS_ENERGY_EFF",
    "WINDOWS_ENV_EFF",
    "WALLS_DESCRIPTION",
    "WALLS_ENERGY_EFF",
    "WALLS_ENV_EFF",
    "SECONDHEAT_DESCRIPTION",
    "SHEATING_ENERGY_EFF",
    "SHEATING_ENV_EFF",
    "ROOF_DESCRIPTION",
    "ROOF_ENERGY_EFF",
    "ROOF_ENV_EFF",
    "MAINHEAT_DESCRIPTION",
    "MAINHEAT_ENERGY_EFF",
    "MAINHEAT_ENV_EFF",
    "MAINHEATCONT_DESCRIPTION",
    "MAINHEATC_ENERGY_EFF",
    "MAINHEATC_ENV_EFF",
    "LIGHTING_DESCRIPTION",
    "LIGHTING_ENERGY_EFF",
    "LIGHTING_ENV_EFF",
    "MAIN_FUEL",
    "WIND_TURBINE_COUNT",
    "HEAT_LOSS_CORRIDOR",
    "UNHEATED_CORRIDOR_LENGTH",
    "FLOOR_HEIGHT",
    "PHOTO_SUPPLY",
    "SOLAR_WATER_HEATING_FLAG",
    "MECHANICAL_VENTILATION",
    "ADDRESS",
    "LOCAL_AUTHORITY_LABEL",
    "CONSTITUENCY_LABEL",
    "POSTTOWN",
    "CONSTRUCTION_AGE_BAND",
    "LODGEMENT_DATETIME",
    "TENURE",
    "FIXED_LIGHTING_OUTLETS_COUNT",
    "LOW_ENERGY_FIXED_LIGHT_COUNT",
    "UPRN",
    "UPRN_SOURCE",
    "REPORT_TYPE",
];

/// Returns the position of a column. An unknown name does not compile.
const fn column(name: &str) -> usize {
    let name = name.as_bytes();
    let mut at = 0;
    while at < HEADER.len() {
        let other = HEADER[at].as_bytes();
        let mut same = other.len() == name.len();
        let mut byte = 0;
        while same && byte < name.len() {
            same = other[byte] == name[byte];
            byte += 1;
        }
        if same {
            return at;
        }
        at += 1;
    }
    panic!("no such column")
}

/// Share of certificates after which a malformed row of each sort is planted.
const MALFORMED: f64 = 1.0 / 3_000.0;

/// certificates.csv.
pub(crate) struct Certificates {
    sink: Sink,
    cells: Vec<String>,
}

impl Certificates {
    /// Begins the file, or the archive that holds it.
    pub(crate) fn create(folder: &Path, zipped: bool) -> Result<Certificates, SyntheticError> {
        const NAME: &str = "certificates.csv";
        let quotes = QuoteStyle::Necessary;
        let sink = if zipped {
            Sink::create_zipped(folder, "certificates.zip", NAME, quotes, &HEADER)?
        } else {
            Sink::create(folder, NAME, quotes, &HEADER)?
        };
        Ok(Certificates {
            sink,
            cells: vec![String::new(); HEADER.len()],
        })
    }

    /// Writes one certificate, and whatever fault the draw plants beside it.
    /// Gives the spelling of its address. `number` tells the certificates of a home apart.
    pub(crate) fn lodge(
        &mut self,
        authority: &Authority,
        dwelling: &Dwelling,
        lodged: &Lodgement,
        number: usize,
        planted: &mut PlantedFaults,
        draw: &mut Draw,
    ) -> Result<Spelling, SyntheticError> {
        for cell in &mut self.cells {
            cell.clear();
        }
        let spelling = self.identity(authority, dwelling, lodged, number, draw);
        self.dwelling(dwelling, lodged, draw);
        let faults = &mut planted.certificates;
        faults.uprn_missing += u64::from(lodged.without_uprn);
        faults.area_tenfold += u64::from(lodged.area == AreaFault::Tenfold);
        faults.area_missing += u64::from(lodged.area == AreaFault::Missing);
        faults.lodged_after_sale += u64::from(lodged.reason == Reason::LateForSale);
        faults.abbreviated += u64::from(spelling == Spelling::Abbreviated);
        faults.reordered += u64::from(spelling == Spelling::Reordered);
        faults.misspelt += u64::from(spelling == Spelling::Misspelt);
        self.sink.row(&self.cells)?;
        if draw.chance(MALFORMED) {
            faults.bad_date += 1;
            self.cells[const { column("LMK_KEY") }].push('X');
            self.cells[const { column("LODGEMENT_DATE") }] = "2021-13-40".into();
            self.sink.row(&self.cells)?;
        }
        if draw.chance(MALFORMED) {
            faults.wrong_columns += 1;
            self.sink.row(&self.cells[..HEADER.len() - 4])?;
        }
        Ok(spelling)
    }

    fn set(&mut self, at: usize, text: &str) {
        self.cells[at].push_str(text);
    }

    /// Sets the cells of keys, address, place and days.
    fn identity(
        &mut self,
        authority: &Authority,
        dwelling: &Dwelling,
        lodged: &Lodgement,
        number: usize,
        draw: &mut Draw,
    ) -> Spelling {
        let address = &dwelling.address;
        let (lines, spelling) = spelling::lodge(address, draw);
        let town = if lines[0].bytes().any(|b| b.is_ascii_lowercase()) {
            names::title(&address.town)
        } else {
            address.town.clone()
        };
        let whole = lines
            .iter()
            .chain([&town])
            .filter(|line| !line.is_empty())
            .cloned()
            .collect::<Vec<_>>();
        self.set(const { column("ADDRESS") }, &whole.join(", "));
        self.set(
            const { column("LMK_KEY") },
            &format!("SYNTH{:012}{number:03}", dwelling.uprn),
        );
        let [one, two, three] = lines;
        self.set(const { column("ADDRESS1") }, &one);
        self.set(const { column("ADDRESS2") }, &two);
        self.set(const { column("ADDRESS3") }, &three);
        self.set(const { column("POSTTOWN") }, &town);
        self.set(const { column("POSTCODE") }, &address.postcode);
        self.set(
            const { column("BUILDING_REFERENCE_NUMBER") },
            &format!("999{:08}", dwelling.uprn % 100_000_000),
        );
        let now = (&authority.code, &authority.name);
        let (code, name) = match &authority.former {
            Some((code, name)) if lodged.day < REORGANISED => (code, name),
            _ => now,
        };
        self.set(const { column("LOCAL_AUTHORITY") }, code);
        self.set(const { column("LOCAL_AUTHORITY_LABEL") }, name);
        self.set(const { column("COUNTY") }, &names::title(&authority.county));
        let visited = lodged.day - TimeDelta::days(i64::from(draw.whole(0, 12)));
        let hour = draw.whole(8, 19);
        self.set(const { column("INSPECTION_DATE") }, &visited.to_string());
        self.set(const { column("LODGEMENT_DATE") }, &lodged.day.to_string());
        self.set(
            const { column("LODGEMENT_DATETIME") },
            &format!("{} {hour:02}:{:02}:00", lodged.day, draw.below(60)),
        );
        self.set(const { column("TRANSACTION_TYPE") }, lodged.reason.words());
        if !lodged.without_uprn {
            self.set(const { column("UPRN") }, &dwelling.uprn.to_string());
            self.set(
                const { column("UPRN_SOURCE") },
                if draw.chance(0.9) {
                    "Energy Assessor"
                } else {
                    "Address Matched"
                },
            );
        }
        spelling
    }

    /// Sets the cells of form, size, fabric and rating.
    fn dwelling(&mut self, dwelling: &Dwelling, lodged: &Lodgement, draw: &mut Draw) {
        self.area(dwelling, lodged, draw);
        self.form(dwelling, draw);
        self.set(
            const { column("CONSTRUCTION_AGE_BAND") },
            &format!("England and Wales: {}", age_band(dwelling.built)),
        );
        self.rooms(dwelling, lodged);
        self.fabric(&dwelling.fabric);
        self.lodgement(lodged);
    }

    fn area(&mut self, dwelling: &Dwelling, lodged: &Lodgement, draw: &mut Draw) {
        let measured = dwelling.area_on(lodged.day) * (1.0 + draw.normal(0.0, 0.01));
        let area = match lodged.area {
            AreaFault::Sound if draw.chance(0.6) => format!("{measured:.0}"),
            AreaFault::Sound => format!("{measured:.2}"),
            AreaFault::Tenfold => format!("{:.0}", measured * 10.0),
            AreaFault::Missing => String::new(),
        };
        self.set(const { column("TOTAL_FLOOR_AREA") }, &area);
    }

    fn form(&mut self, dwelling: &Dwelling, draw: &mut Draw) {
        let kind = match (dwelling.kind, dwelling.form) {
            (_, Form::Maisonette) => "Maisonette",
            (_, Form::Bungalow) => "Bungalow",
            (Kind::Flat, _) => "Flat",
            _ => "House",
        };
        self.set(const { column("PROPERTY_TYPE") }, kind);
        let form = match (dwelling.kind, dwelling.form) {
            (Kind::Detached, _) => "Detached",
            (Kind::SemiDetached, _) => "Semi-Detached",
            (Kind::Terraced, Form::EndTerrace) => "End-Terrace",
            (Kind::Terraced, _) => "Mid-Terrace",
            _ => draw.pick(&[
                "Semi-Detached",
                "Mid-Terrace",
                "End-Terrace",
                "Detached",
                "Not Recorded",
            ]),
        };
        self.set(const { column("BUILT_FORM") }, form);
        if let Some((storey, of)) = dwelling.storey {
            self.set(const { column("FLOOR_LEVEL") }, &format!("{storey:02}"));
            self.set(
                const { column("FLAT_TOP_STOREY") },
                if storey + 1 >= of { "Y" } else { "N" },
            );
            self.set(const { column("FLAT_STOREY_COUNT") }, &of.to_string());
        }
    }

    fn rooms(&mut self, dwelling: &Dwelling, lodged: &Lodgement) {
        let rooms = dwelling.rooms.to_string();
        self.set(const { column("NUMBER_HABITABLE_ROOMS") }, &rooms);
        self.set(const { column("NUMBER_HEATED_ROOMS") }, &rooms);
        self.set(
            const { column("EXTENSION_COUNT") },
            if dwelling.area_on(lodged.day) > dwelling.area_m2 {
                "1"
            } else {
                "0"
            },
        );
    }

    fn fabric(&mut self, fabric: &Fabric) {
        let reach = (fabric.score + 12).min(95);
        self.set(
            const { column("CURRENT_ENERGY_EFFICIENCY") },
            &fabric.score.to_string(),
        );
        self.set(
            const { column("CURRENT_ENERGY_RATING") },
            rating(fabric.score),
        );
        self.set(
            const { column("POTENTIAL_ENERGY_EFFICIENCY") },
            &reach.to_string(),
        );
        self.set(const { column("POTENTIAL_ENERGY_RATING") }, rating(reach));
        self.set(const { column("WALLS_DESCRIPTION") }, fabric.walls);
        self.set(const { column("ROOF_DESCRIPTION") }, fabric.roof);
        self.set(const { column("FLOOR_DESCRIPTION") }, fabric.floor);
        self.set(const { column("WINDOWS_DESCRIPTION") }, fabric.windows);
        self.set(const { column("GLAZED_TYPE") }, fabric.glazed_type);
        self.set(const { column("GLAZED_AREA") }, "Normal");
        self.set(const { column("MAINHEAT_DESCRIPTION") }, fabric.heating);
        self.set(const { column("MAIN_FUEL") }, fabric.fuel);
        self.set(
            const { column("MAINS_GAS_FLAG") },
            if fabric.gas { "Y" } else { "N" },
        );
    }

    /// Sets the cells that follow from the reason of the lodgement.
    fn lodgement(&mut self, lodged: &Lodgement) {
        let tenure = match lodged.reason {
            Reason::Rental => "Rented (private)",
            Reason::NewDwelling => "Not defined",
            Reason::MarketedSale | Reason::LateForSale => "Owner-occupied",
        };
        self.set(const { column("TENURE") }, tenure);
        self.set(
            const { column("REPORT_TYPE") },
            if lodged.reason == Reason::NewDwelling {
                "101"
            } else {
                "100"
            },
        );
    }

    /// Ends the file.
    pub(crate) fn finish(self, manifest: &mut Manifest) -> Result<(), SyntheticError> {
        self.sink.finish(manifest)
    }
}

/// Returns the register's construction age band of a year, without its country.
fn age_band(built: i32) -> &'static str {
    match built {
        ..=1899 => "before 1900",
        1900..=1929 => "1900-1929",
        1930..=1949 => "1930-1949",
        1950..=1966 => "1950-1966",
        1967..=1975 => "1967-1975",
        1976..=1982 => "1976-1982",
        1983..=1990 => "1983-1990",
        1991..=1995 => "1991-1995",
        1996..=2002 => "1996-2002",
        2003..=2006 => "2003-2006",
        2007..=2011 => "2007-2011",
        _ => "2012 onwards",
    }
}

/// Returns the rating band of an energy score (Standard Assessment Procedure, table 14).
fn rating(score: u32) -> &'static str {
    match score {
        92.. => "A",
        81..=91 => "B",
        69..=80 => "C",
        55..=68 => "D",
        39..=54 => "E",
        21..=38 => "F",
        _ => "G",
    }
}
