//! Market statistics and sterling rates: one catalogue of datasets, the packages that hold their
//! observations, the selection of them, and the builders from the publishers' own files.
