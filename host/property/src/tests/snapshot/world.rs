//! A made-up place, written in the formats of the registers.

use domesday_property::build::{self, BuildError, Inputs, Report};
use domesday_property::{NearbyQuery, Order, PropertyTypes, Snapshot};
use domesday_registers::{Day, MaxRejected, Postcode};
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Returns the few standard sales before a day that are nearest to where the place stands.
pub(crate) fn around(before: Day) -> NearbyQuery {
    NearbyQuery {
        easting: 450_000,
        northing: 300_000,
        radius_m: 500,
        from: Day(0),
        before,
        types: PropertyTypes::RESIDENTIAL,
        limit: 5,
        order: Order::Nearest,
        standard_only: true,
        with_floor_area: false,
        exclude_uprn: None,
    }
}

/// A sale as the price paid file has it.
#[derive(Clone, Debug)]
pub(crate) struct SoldRow {
    pub(crate) id: u32,
    pub(crate) price: u64,
    pub(crate) day: &'static str,
    pub(crate) postcode: String,
    pub(crate) kind: char,
    pub(crate) new: char,
    pub(crate) tenure: char,
    pub(crate) paon: &'static str,
    pub(crate) saon: &'static str,
    pub(crate) street: &'static str,
    pub(crate) category: char,
    pub(crate) change: char,
}

impl Default for SoldRow {
    fn default() -> SoldRow {
        SoldRow {
            id: 1,
            price: 250_000,
            day: "2020-06-15",
            postcode: "ZZ1 1AA".to_owned(),
            kind: 'S',
            new: 'N',
            tenure: 'F',
            paon: "1",
            saon: "",
            street: "ORCHARD WAY",
            category: 'A',
            change: 'A',
        }
    }
}

impl SoldRow {
    pub(crate) fn transaction(&self) -> String {
        format!("{:08X}-0000-4000-8000-000000000000", self.id)
    }

    pub(crate) fn line(&self) -> String {
        let SoldRow {
            price,
            day,
            postcode,
            kind,
            new,
            tenure,
            paon,
            saon,
            street,
            category,
            change,
            ..
        } = self;
        let id = self.transaction();
        format!(
            "\"{{{id}}}\",\"{price}\",\"{day} 00:00\",\"{postcode}\",\"{kind}\",\"{new}\",\"{tenure}\",\"{paon}\",\"{saon}\",\"{street}\",\"\",\"ZEDTOWN\",\"ZED\",\"ZEDSHIRE\",\"{category}\",\"{change}\"\n"
        )
    }
}

/// A certificate as certificates.csv has it.
#[derive(Clone, Debug)]
pub(crate) struct CertificateRow {
    pub(crate) key: u32,
    pub(crate) uprn: &'static str,
    pub(crate) lines: [&'static str; 2],
    pub(crate) postcode: &'static str,
    pub(crate) day: &'static str,
    pub(crate) area: &'static str,
    pub(crate) rooms: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) form: &'static str,
}

impl Default for CertificateRow {
    fn default() -> CertificateRow {
        CertificateRow {
            key: 1,
            uprn: "100000000001",
            lines: ["1 Orchard Way", ""],
            postcode: "ZZ1 1AA",
            day: "2015-03-01",
            area: "84.5",
            rooms: "5",
            kind: "House",
            form: "Semi-Detached",
        }
    }
}

const CERTIFICATES_HEAD: &str = "LMK_KEY,ADDRESS1,ADDRESS2,ADDRESS3,POSTTOWN,POSTCODE,LOCAL_AUTHORITY,LODGEMENT_DATE,INSPECTION_DATE,PROPERTY_TYPE,BUILT_FORM,TOTAL_FLOOR_AREA,NUMBER_HABITABLE_ROOMS,CONSTRUCTION_AGE_BAND,CURRENT_ENERGY_RATING,CURRENT_ENERGY_EFFICIENCY,FLOOR_LEVEL,WALLS_DESCRIPTION,ROOF_DESCRIPTION,FLOOR_DESCRIPTION,WINDOWS_DESCRIPTION,GLAZED_TYPE,TRANSACTION_TYPE,UPRN\n";

impl CertificateRow {
    pub(crate) fn line(&self) -> String {
        let CertificateRow {
            key,
            uprn,
            lines,
            postcode,
            day,
            area,
            rooms,
            kind,
            form,
        } = self;
        format!(
            "K{key},\"{}\",\"{}\",,Zedtown,{postcode},E07000900,{day},{day},{kind},{form},{area},{rooms},England and Wales: 1967-1975,D,63,,\"Cavity wall, filled cavity\",\"Pitched, 200 mm loft insulation\",\"Solid, no insulation (assumed)\",Fully double glazed,,marketed sale,{uprn}\n",
            lines[0], lines[1]
        )
    }
}

/// Registers of a made-up place, each file as its text.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) price_paid: Vec<String>,
    pub(crate) certificates: Vec<String>,
    pub(crate) addresses: Option<String>,
    pub(crate) open_uprn: Option<String>,
    pub(crate) postcodes: String,
    pub(crate) index: String,
}

impl Default for World {
    fn default() -> World {
        World {
            price_paid: vec![String::new()],
            certificates: vec![CERTIFICATES_HEAD.to_owned()],
            addresses: None,
            open_uprn: None,
            postcodes: [
                place("ZZ1 1AA", 450_100, 300_100, "E92000001", "E07000900"),
                place("ZZ1 1AB", 450_900, 300_100, "E92000001", "E07000900"),
                place("ZZ2 1AA", 470_000, 310_000, "W92000004", "W06000900"),
                place("ZZ9 9ZZ", 350_000, 700_000, "S92000003", "S12000900"),
            ]
            .concat(),
            index: INDEX.to_owned(),
        }
    }
}

const INDEX: &str = "Date,RegionName,AreaCode,Index,DetachedIndex,SemiDetachedIndex,TerracedIndex,FlatIndex\n\
    2020-01-01,Zed,E07000900,100,,101,102,103\n\
    2020-02-01,Zed,E07000900,110,,111,112,113\n\
    2020-01-01,Region Zed,E12000900,90,91,92,93,94\n\
    1968-04-01,England,E92000001,1.5,1.5,1.5,1.5,1.5\n\
    2020-01-01,Wales,W92000004,80,81,82,83,84\n";

/// Returns a line of Code-Point.
pub(crate) fn place(
    postcode: &str,
    easting: i32,
    northing: i32,
    country: &str,
    authority: &str,
) -> String {
    format!(
        "\"{postcode}\",10,{easting},{northing},\"{country}\",\"\",\"\",\"\",\"{authority}\",\"\"\n"
    )
}

impl World {
    /// Returns a world with these price paid files.
    pub(crate) fn with_files(price_paid: Vec<String>) -> World {
        World {
            price_paid,
            ..World::default()
        }
    }

    pub(crate) fn with_sales(sales: &[SoldRow]) -> World {
        World {
            price_paid: vec![sales.iter().map(SoldRow::line).collect()],
            ..World::default()
        }
    }

    pub(crate) fn and_certificates(mut self, lodged: &[CertificateRow]) -> World {
        self.certificates = vec![
            std::iter::once(CERTIFICATES_HEAD.to_owned())
                .chain(lodged.iter().map(CertificateRow::line))
                .collect(),
        ];
        self
    }

    /// Adds the rows of an address file, without its header.
    pub(crate) fn and_addresses(mut self, rows: &str) -> World {
        let head = "uprn,saon,paon,street,locality,town,postcode,easting,northing,classification,country\n";
        self.addresses = Some(format!("{head}{rows}"));
        self
    }

    /// Adds coordinates of UPRNs.
    pub(crate) fn and_open_uprn(mut self, rows: &str) -> World {
        let head = "UPRN,X_COORDINATE,Y_COORDINATE,LATITUDE,LONGITUDE\n";
        self.open_uprn = Some(format!("{head}{rows}"));
        self
    }

    /// Writes the files into a folder.
    pub(crate) fn write(&self, folder: &Path) -> Inputs {
        let file = |name: String, text: &str| -> PathBuf {
            let path = folder.join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let code_point = folder.join("codepo_gb.zip");
        let mut zip = zip::ZipWriter::new(std::fs::File::create(&code_point).unwrap());
        zip.start_file("Data/CSV/zz.csv", zip::write::SimpleFileOptions::default())
            .unwrap();
        zip.write_all(self.postcodes.as_bytes()).unwrap();
        zip.finish().unwrap();
        let filled = |files: &[String]| {
            files
                .iter()
                .filter(|text| !text.is_empty())
                .cloned()
                .collect::<Vec<_>>()
        };
        Inputs {
            price_paid: (0..)
                .zip(filled(&self.price_paid))
                .map(|(n, text)| file(format!("pp-{n}.csv"), &text))
                .collect(),
            certificates: (0..)
                .zip(filled(&self.certificates))
                // A world without certificates gives no file.
                .filter(|(_, text)| text.lines().count() > 1)
                .map(|(n, text)| file(format!("certificates-{n}.csv"), &text))
                .collect(),
            code_point,
            areas: vec![file(
                "areas.csv".into(),
                "LAD23CD,LAD23NM,AREALHECT\nE07000899,Old Zed,1000.5\nW06000900,Zedwales,2000\n",
            )],
            code_map: file(
                "codes.csv".into(),
                "LADCD,LADNM,LADCD_ACTIVE,LADNM_ACTIVE,RGNCD,RGNNM,CTRYCD,CTRYNM\n\
                 E07000899,Old Zed,E07000900,Zed,E12000900,Region Zed,E92000001,England\n\
                 E07000900,Zed,E07000900,Zed,E12000900,Region Zed,E92000001,England\n\
                 W06000900,Zedwales,W06000900,Zedwales,,,W92000004,Wales\n",
            ),
            price_index: vec![file("index.csv".into(), &self.index)],
            addresses: self
                .addresses
                .iter()
                .map(|text| file("addresses.csv".into(), text))
                .collect(),
            sold_addresses: Vec::new(),
            open_uprn: self
                .open_uprn
                .iter()
                .map(|text| file("osopenuprn.csv".into(), text))
                .collect(),
            by_rules: true,
            max_rejected: MaxRejected::ANY,
        }
    }

    pub(crate) fn try_build(&self) -> Result<Built, BuildError> {
        let folder = tempfile::tempdir().unwrap();
        let inputs = self.write(folder.path());
        let directory = folder.path().join("snapshot");
        let report = build::build("test", &inputs, &directory, &mut |_, _, _| {})?;
        Ok(Built {
            _folder: folder,
            inputs,
            directory,
            report,
        })
    }

    pub(crate) fn build(&self) -> Built {
        self.try_build().unwrap()
    }
}

/// A snapshot directory, gone when dropped.
pub(crate) struct Built {
    _folder: TempDir,
    pub(crate) inputs: Inputs,
    pub(crate) directory: PathBuf,
    pub(crate) report: Report,
}

impl Built {
    pub(crate) fn file(&self) -> PathBuf {
        self.directory.join(build::SNAPSHOT_FILE)
    }

    pub(crate) fn open(&self) -> Snapshot {
        Snapshot::open(&self.file()).unwrap()
    }

    pub(crate) fn rejects(&self) -> String {
        std::fs::read_to_string(self.directory.join(build::REJECTS_FILE)).unwrap()
    }
}

pub(crate) fn day(text: &str) -> Day {
    Day::parse_iso(text).unwrap()
}

pub(crate) fn postcode(text: &str) -> Postcode {
    Postcode::parse(text).unwrap()
}
