//! Reading columns of Parquet files by name and type.

use std::fs::File;

use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, UInt32Array};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};

use super::StoreErrorKind;

/// Rows that are decoded at a time.
const BATCH: usize = 1 << 16;

/// One Parquet file, opened.
pub(crate) struct ParquetFile {
    file: File,
    metadata: ArrowReaderMetadata,
}

impl ParquetFile {
    /// Reads the footer.
    pub(crate) fn open(file: File) -> Result<ParquetFile, StoreErrorKind> {
        let metadata = ArrowReaderMetadata::load(&file, Default::default())?;
        Ok(ParquetFile { file, metadata })
    }

    /// Returns the number of rows of each row group.
    pub(crate) fn groups(&self) -> Vec<usize> {
        self.metadata
            .metadata()
            .row_groups()
            .iter()
            .map(|group| usize::try_from(group.num_rows()).unwrap_or(0))
            .collect()
    }

    /// Reads the columns of these names in these row groups, batch by batch, in the order of names.
    pub(crate) fn columns(
        &self,
        groups: Vec<usize>,
        names: &[&'static str],
        mut take: impl FnMut(&[ArrayRef]) -> Result<(), StoreErrorKind>,
    ) -> Result<(), StoreErrorKind> {
        let schema = self.metadata.parquet_schema();
        for &name in names {
            if !schema.columns().iter().any(|column| column.name() == name) {
                return Err(StoreErrorKind::Column(name));
            }
        }
        let mask = ProjectionMask::columns(schema, names.iter().copied());
        let file = self
            .file
            .try_clone()
            .map_err(parquet::errors::ParquetError::from)?;
        let reader =
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
                .with_projection(mask)
                .with_row_groups(groups)
                .with_batch_size(BATCH)
                .build()?;
        for batch in reader {
            let batch = batch.map_err(parquet::errors::ParquetError::from)?;
            let columns: Vec<ArrayRef> = names
                .iter()
                .map(|&name| by_name(&batch, name))
                .collect::<Result<_, _>>()?;
            take(&columns)?;
        }
        Ok(())
    }

    /// Returns all columns of a small file, in one batch of rows.
    pub(crate) fn all(&self, names: &[&'static str]) -> Result<Vec<Vec<ArrayRef>>, StoreErrorKind> {
        let mut batches = Vec::new();
        self.columns((0..self.groups().len()).collect(), names, |columns| {
            batches.push(columns.to_vec());
            Ok(())
        })?;
        Ok(batches)
    }
}

fn by_name(batch: &RecordBatch, name: &'static str) -> Result<ArrayRef, StoreErrorKind> {
    batch
        .column_by_name(name)
        .cloned()
        .ok_or(StoreErrorKind::Column(name))
}

/// Returns a column as the type that it should have.
pub(crate) fn typed_column<'a, T: Array + 'static>(
    column: &'a ArrayRef,
    name: &'static str,
) -> Result<&'a T, StoreErrorKind> {
    column
        .as_any()
        .downcast_ref::<T>()
        .ok_or(StoreErrorKind::Column(name))
}

/// Returns the text in a row, if it is not null.
pub(crate) fn text(column: &StringArray, row: usize) -> Option<&str> {
    column.is_valid(row).then(|| column.value(row))
}

/// Returns the number in a row, if it is not null.
pub(crate) fn number(column: &UInt32Array, row: usize) -> Option<u32> {
    column.is_valid(row).then(|| column.value(row))
}
