//! The grid of 500 m cells that sales are kept by.
//!
//! A block of sales is one cell in one year, so that a query reads only the years it asks for. A
//! block in the densest city stays within tens of kilobytes.

/// Side of a cell in metres.
pub(crate) const SIDE: i32 = 500;
/// Cells from west to east: the National Grid is 700 km wide.
pub(crate) const COLUMNS: i32 = 1_400;
/// Cells from south to north: the National Grid is 1,300 km high.
pub(crate) const ROWS: i32 = 2_600;

/// One cell, or the place of a postcode that has no coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cell {
    /// By column and row.
    Grid(i32, i32),
    /// By packed postcode.
    Unplaced(u64),
}

const UNPLACED: u64 = 1 << 40;

impl Cell {
    /// Returns the cell of a point; `None` off the grid.
    pub(crate) fn of(easting: i32, northing: i32) -> Option<Cell> {
        let (column, row) = (easting.div_euclid(SIDE), northing.div_euclid(SIDE));
        ((0..COLUMNS).contains(&column) && (0..ROWS).contains(&row))
            .then_some(Cell::Grid(column, row))
    }

    /// Returns the key of the block that holds this cell's sales of a year (1970 to 2149).
    pub(crate) fn key(self, year: i32) -> u64 {
        let number = match self {
            Cell::Grid(column, row) => (row as u64) << 16 | column as u64,
            Cell::Unplaced(packed) => UNPLACED | packed,
        };
        number << 16 | year as u64 & 0xFFFF
    }

    /// Reads back [`Cell::key`].
    pub(crate) fn of_key(key: u64) -> (Cell, i32) {
        let (number, year) = (key >> 16, (key & 0xFFFF) as i32);
        if number & UNPLACED != 0 {
            (Cell::Unplaced(number & (UNPLACED - 1)), year)
        } else {
            (
                Cell::Grid((number & 0xFFFF) as i32, (number >> 16 & 0xFFFF) as i32),
                year,
            )
        }
    }

    /// Returns the least easting and northing of the cell, 0 for one without a place.
    pub(crate) fn corner(self) -> (i32, i32) {
        match self {
            Cell::Grid(column, row) => (column * SIDE, row * SIDE),
            Cell::Unplaced(_) => (0, 0),
        }
    }
}

/// The cells with any sale, so that empty cells cost nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct OccupiedCells {
    rows: Vec<Vec<u8>>,
}

impl OccupiedCells {
    /// Bytes of one row of cells.
    pub(crate) const ROW_BYTES: usize = COLUMNS as usize / 8;

    /// Reads a stored row, or returns `None` where it is outside of the grid.
    pub(crate) fn set_row(&mut self, row: u64, bits: &[u8]) -> Option<()> {
        let row = usize::try_from(row)
            .ok()
            .filter(|&row| row < ROWS as usize)?;
        if bits.len() != Self::ROW_BYTES {
            return None;
        }
        if self.rows.len() <= row {
            self.rows.resize(row + 1, Vec::new());
        }
        self.rows[row] = bits.to_vec();
        Some(())
    }

    /// Returns the bits of a row of cells.
    pub(crate) fn row(&self, row: i32) -> Vec<u8> {
        let row = usize::try_from(row).ok().and_then(|row| self.rows.get(row));
        match row {
            Some(bits) if !bits.is_empty() => bits.clone(),
            _ => vec![0; Self::ROW_BYTES],
        }
    }

    /// Returns whether the cell at a column and row, which may be off the grid, holds any sale.
    #[inline]
    pub(crate) fn contains(&self, column: i32, row: i32) -> bool {
        let (Ok(column), Ok(row)) = (usize::try_from(column), usize::try_from(row)) else {
            return false;
        };
        let bits = self.rows.get(row).and_then(|bits| bits.get(column / 8));
        bits.is_some_and(|bits| bits >> (column % 8) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_and_years_of_a_cell_are_neighbours() {
        for cell in [
            Cell::Grid(0, 0),
            Cell::Grid(1_399, 2_599),
            Cell::Unplaced(123_456_789_012),
        ] {
            assert_eq!(Cell::of_key(cell.key(2024)), (cell, 2024));
            assert_eq!(cell.key(2024) + 1, cell.key(2025));
        }
    }

    #[test]
    fn points_off_the_grid_have_no_cell() {
        assert_eq!(Cell::of(-1, 5), None);
        assert_eq!(Cell::of(700_000, 5), None);
        assert_eq!(Cell::of(i32::MAX, i32::MIN), None);
        assert_eq!(Cell::of(499, 500), Some(Cell::Grid(0, 1)));
    }
}
