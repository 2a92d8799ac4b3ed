//! A table of the certificate facts of each sale, for those who re-derive the figures.

use super::MarketsError;
use super::certificates::CertificateMeasures;
use domesday_registers::records::PricePaid;
use std::path::{Path, PathBuf};

/// Columns: file, transaction, floor area in hundredths of a square metre with the day of its
/// certificate, habitable rooms likewise.
const HEADER: [&str; 6] = [
    "file",
    "transaction_id",
    "floor_area_hundredths_m2",
    "floor_area_lodged",
    "habitable_rooms",
    "rooms_lodged",
];

/// The table, as a file being written.
pub(super) struct Matches {
    path: PathBuf,
    csv: csv::Writer<std::fs::File>,
}

impl Matches {
    pub(super) fn create(path: &Path) -> Result<Matches, MarketsError> {
        let failed = |error: csv::Error| csv_error(path, error);
        let mut csv = csv::Writer::from_path(path).map_err(failed)?;
        csv.write_record(HEADER).map_err(failed)?;
        Ok(Matches {
            path: path.to_owned(),
            csv,
        })
    }

    /// Adds a sale with any fact.
    pub(super) fn add(
        &mut self,
        file: &str,
        sale: &PricePaid,
        measured: CertificateMeasures,
    ) -> Result<(), MarketsError> {
        if measured == CertificateMeasures::default() {
            return Ok(());
        }
        let [mut area, mut area_day, mut rooms, mut rooms_day] = [const { String::new() }; 4];
        if let Some((hundredths, day)) = measured.floor_area {
            (area, area_day) = (hundredths.to_string(), day.to_string());
        }
        if let Some((count, day)) = measured.rooms {
            (rooms, rooms_day) = (count.to_string(), day.to_string());
        }
        let cells = [
            file,
            &sale.transaction_id,
            &area,
            &area_day,
            &rooms,
            &rooms_day,
        ];
        self.csv
            .write_record(cells)
            .map_err(|error| csv_error(&self.path, error))
    }

    pub(super) fn finish(mut self) -> Result<(), MarketsError> {
        self.csv.flush().map_err(MarketsError::io(&self.path))
    }
}

fn csv_error(path: &Path, error: csv::Error) -> MarketsError {
    MarketsError::Io {
        path: path.to_owned(),
        source: std::io::Error::other(error),
    }
}
