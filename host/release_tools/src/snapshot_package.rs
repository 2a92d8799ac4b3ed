//! The package of a property snapshot: from register files, or from an earlier snapshot and later
//! monthly files.

use crate::build::timestamp;
use chrono::{DateTime, Utc};
use domesday_package::{
    Draft, FilePath, Kind, PackageError, PackageId, PathError, PropertyBody, RegisterFile,
    Sha256Digest, SigningKey, Source, StagingDirectory, Trust, make_readable_directory, open,
    write_signed,
};
use domesday_property::Identity;
use domesday_property::build::{
    self, HomesReport, Inputs, REJECTS_FILE, REPORT_FILE, Report, SNAPSHOT_FILE, UpdateReport,
};
use domesday_registers::{Day, MaxRejected, Progress};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The id, the place, the time and the signer of a package to make.
pub struct SnapshotTarget {
    /// The id of the snapshot. An id is never reused.
    pub id: PackageId,
    /// The folder of releases.
    pub releases: PathBuf,
    /// The time of making. Real registers know no later sale.
    pub created: DateTime<Utc>,
    /// The key to sign with, if any.
    pub key: Option<SigningKey>,
}

/// The register files of a snapshot, and how to read them.
pub struct SnapshotPlan {
    /// The files.
    pub inputs: Inputs,
    /// Memory of the external sort, bytes.
    pub memory_bytes: usize,
    /// True if a snapshot without homes is wanted.
    pub without_homes: bool,
    /// True if every household of the files is invented.
    pub synthetic: bool,
}

/// The reason why there is no package of a snapshot.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotPackageError {
    /// The folder of snapshots cannot be made or written to.
    #[error("cannot create or write to {path}")]
    Io {
        /// The folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The snapshot cannot be built.
    #[error(transparent)]
    Build(#[from] build::BuildError),
    /// The files have no home, and nobody said that none is wanted.
    #[error(
        "snapshot {id} would have no home, so that every address is address_not_found. Give \
         --certificates, --addresses or --sold-addresses, or state --without-homes"
    )]
    NoHomes {
        /// The snapshot.
        id: PackageId,
    },
    /// The snapshot to start from does not open.
    #[error("--from {from} cannot be opened in {folder}")]
    NoEarlier {
        /// The snapshot to start from.
        from: PackageId,
        /// The folder of snapshots.
        folder: PathBuf,
        /// The reason.
        source: Box<PackageError>,
    },
    /// A report of the build has a digest that is none.
    #[error("the report of the build has a malformed digest {digest}")]
    Digest {
        /// The text.
        digest: String,
        /// The reason.
        source: <Sha256Digest as FromStr>::Err,
    },
    /// A manifest cannot state the time of making.
    #[error(transparent)]
    Created(Box<crate::build::BuildError>),
    /// A file of the snapshot has a name that no package may hold.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The package cannot be read, written or signed.
    #[error(transparent)]
    Package(#[from] PackageError),
}

/// Builds a snapshot from register files and writes its package.
///
/// # Errors
/// [`SnapshotPackageError`]. No package is written then.
pub fn build_snapshot(
    target: &SnapshotTarget,
    plan: &SnapshotPlan,
    progress: &mut Progress<'_>,
) -> Result<Report, SnapshotPackageError> {
    let packages_dir = target.packages_dir();
    make_readable_directory(&packages_dir).map_err(io_error(&packages_dir))?;
    target.write_package(|id, built| {
        let report = build::build_within(
            id.as_str(),
            &plan.inputs,
            built,
            plan.memory_bytes,
            target.sales_to(plan.synthetic),
            progress,
        )?;
        check_homes(id, &report.homes, plan.without_homes)?;
        let sources = report
            .files
            .iter()
            .map(|file| (&*file.file, &*file.sha256, file.rows_read));
        let body = describe(id, &report.identity, sources, plan.synthetic)?;
        Ok((body, report))
    })
}

/// Builds a snapshot from an earlier one and later monthly price paid files, and writes its
/// package.
///
/// # Errors
/// As [`build_snapshot`].
pub fn update_snapshot(
    target: &SnapshotTarget,
    from: &PackageId,
    (price_paid, max_rejected): (&[PathBuf], MaxRejected),
    progress: &mut Progress<'_>,
) -> Result<UpdateReport, SnapshotPackageError> {
    let packages_dir = target.packages_dir();
    // An update may start from a snapshot that is not signed yet. Serving it needs a signature.
    let old = open(&packages_dir.join(from.as_str()), &Trust::Unsigned).map_err(|error| {
        SnapshotPackageError::NoEarlier {
            from: from.clone(),
            folder: packages_dir.clone(),
            source: Box::new(error),
        }
    })?;
    let before: PropertyBody = old.body()?;
    let database = old.path(before.database.as_str())?;
    target.write_package(|id, built| {
        let id_text = id.as_str();
        let report = build::update(
            id_text,
            &database,
            price_paid,
            max_rejected,
            target.sales_to(before.synthetic),
            built,
            progress,
        )?;
        let sources = report
            .sources
            .iter()
            .map(|file| (&*file.file, &*file.sha256, file.rows));
        let body = describe(id, &report.identity, sources, before.synthetic)?;
        Ok((body, report))
    })
}

impl SnapshotTarget {
    /// Returns the folder of the package.
    pub fn package_dir(&self) -> PathBuf {
        self.packages_dir().join(self.id.as_str())
    }

    fn packages_dir(&self) -> PathBuf {
        self.releases.join(Kind::Property.as_str())
    }

    /// Returns the last day of which a sale can be known. The present of made-up registers is their
    /// own.
    fn sales_to(&self, synthetic: bool) -> Option<Day> {
        (!synthetic).then(|| Day::from(self.created.date_naive()))
    }

    /// Runs a build in a folder beside the packages, and makes a package of its files.
    fn write_package<R>(
        &self,
        build: impl FnOnce(&PackageId, &Path) -> Result<(PropertyBody, R), SnapshotPackageError>,
    ) -> Result<R, SnapshotPackageError> {
        let packages_dir = self.packages_dir();
        // Its lock keeps it from the start of a host, which removes abandoned ones.
        let work_dir = StagingDirectory::create(&packages_dir, &self.id)?;
        let built = work_dir.path().join("snapshot");
        let (body, report) = build(&self.id, &built)?;
        let created = timestamp(self.created)
            .map_err(|error| SnapshotPackageError::Created(Box::new(error)))?;
        let draft = Draft {
            id: self.id.clone(),
            created,
            body,
            files: files(&built)?,
        };
        write_signed(&packages_dir, draft, self.key.as_ref())?;
        Ok(report)
    }
}

fn io_error(path: &Path) -> impl Fn(io::Error) -> SnapshotPackageError + '_ {
    move |source| SnapshotPackageError::Io {
        path: path.to_owned(),
        source,
    }
}

/// Refuses a snapshot without homes, unless that is wanted.
fn check_homes(
    id: &PackageId,
    homes: &HomesReport,
    without_homes: bool,
) -> Result<(), SnapshotPackageError> {
    match homes.properties {
        0 if !without_homes => Err(SnapshotPackageError::NoHomes { id: id.clone() }),
        _ => Ok(()),
    }
}

fn files(built: &Path) -> Result<BTreeMap<FilePath, Source>, PathError> {
    [SNAPSHOT_FILE, REPORT_FILE, REJECTS_FILE]
        .into_iter()
        .map(|name| Ok((name.parse()?, Source::Path(built.join(name)))))
        .collect()
}

/// Returns the body of a manifest. `sources` has the name, the digest and the rows of each file.
fn describe<'a>(
    id: &PackageId,
    identity: &Identity,
    sources: impl Iterator<Item = (&'a str, &'a str, u64)>,
    synthetic: bool,
) -> Result<PropertyBody, SnapshotPackageError> {
    let rows = identity.rows;
    let counts = [
        ("postcodes", rows.postcodes),
        ("address_keys", rows.address_keys),
        ("properties", rows.properties),
        ("certificates", rows.certificates),
        ("placed_sales", rows.placed_sales),
        ("unplaced_sales", rows.unplaced_sales),
        ("matched_sales", rows.matched_sales),
    ];
    let sources = sources.map(|(name, sha256, rows)| {
        let (name, sha256) = (name.to_owned(), parse_digest(sha256)?);
        Ok(RegisterFile { name, sha256, rows })
    });
    Ok(PropertyBody {
        snapshot_id: id.clone(),
        content_digest: parse_digest(&identity.content_digest)?,
        schema: domesday_property::store::SCHEMA,
        database: SNAPSHOT_FILE.parse()?,
        sources: sources.collect::<Result<_, SnapshotPackageError>>()?,
        synthetic,
        latest_sale: identity.latest_sale.and_then(|day| day.date()),
        counts: counts
            .into_iter()
            .map(|(name, count)| (name.to_owned(), count))
            .collect(),
    })
}

fn parse_digest(digest: &str) -> Result<Sha256Digest, SnapshotPackageError> {
    digest
        .parse()
        .map_err(|source| SnapshotPackageError::Digest {
            digest: digest.to_owned(),
            source,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::NaiveDate;
    use domesday_package::remove_abandoned_staging;
    use domesday_property::RowCounts;
    use domesday_registers::Day;
    use std::fs;
    use tempfile::TempDir;

    /// Returns the folder of releases, with an empty one for snapshots, and a target in it.
    fn empty_target() -> (TempDir, SnapshotTarget) {
        let releases = tempfile::tempdir().unwrap();
        let target = SnapshotTarget {
            id: "homes-1".parse().unwrap(),
            releases: releases.path().to_owned(),
            created: "2026-11-01T10:30:00Z".parse().unwrap(),
            key: Some(SigningKey::from_seed([7; 32])),
        };
        fs::create_dir(target.packages_dir()).unwrap();
        (releases, target)
    }

    fn identity() -> Identity {
        Identity {
            snapshot_id: "homes-1".to_owned(),
            content_digest: "ab".repeat(32),
            latest_sale: NaiveDate::from_ymd_opt(2026, 9, 30).map(Day::from),
            last_whole_month: None,
            rows: RowCounts {
                properties: 2,
                matched_sales: 3,
                ..RowCounts::default()
            },
        }
    }

    fn count_entries(target: &SnapshotTarget) -> usize {
        fs::read_dir(target.packages_dir()).unwrap().count()
    }

    #[test]
    fn a_package_is_signed_and_says_what_its_snapshot_was_built_from() {
        let (_releases, target) = empty_target();
        let digest = "cd".repeat(32);
        let report = target.write_package(|id, built| {
            fs::create_dir(built).unwrap();
            for name in [SNAPSHOT_FILE, REPORT_FILE, REJECTS_FILE] {
                fs::write(built.join(name), name).unwrap();
            }
            let sources = [("pp.csv", &*digest, 5)].into_iter();
            Ok((describe(id, &identity(), sources, true)?, "report"))
        });
        assert_eq!(report.unwrap(), "report");
        let package = open(&target.package_dir(), &Trust::Unsigned).unwrap();
        let signer = target.key.as_ref().unwrap().public();
        assert_eq!(package.signer(), Some(&signer));
        assert_eq!(package.bytes(REPORT_FILE).unwrap(), REPORT_FILE.as_bytes());
        let body: PropertyBody = package.body().unwrap();
        assert_eq!(body.sources[0].name, "pp.csv");
        assert_eq!(body.sources[0].sha256.to_string(), digest);
        assert_eq!(body.sources[0].rows, 5);
        assert_eq!(body.content_digest.to_string(), "ab".repeat(32));
        assert_eq!(body.latest_sale.unwrap().to_string(), "2026-09-30");
        assert_eq!(
            (body.counts["properties"], body.counts["matched_sales"]),
            (2, 3)
        );
        assert_eq!((body.counts.len(), body.synthetic), (7, true));
        assert_eq!(count_entries(&target), 1);
    }

    #[test]
    fn a_host_that_starts_meanwhile_leaves_the_files_of_a_build() {
        let (_releases, target) = empty_target();
        let failed: Result<(), _> = target.write_package(|id, built| {
            fs::create_dir(built).unwrap();
            let removed = remove_abandoned_staging(&target.packages_dir()).unwrap();
            assert_eq!((removed, built.is_dir()), (0, true));
            Err(SnapshotPackageError::NoHomes { id: id.clone() })
        });
        assert!(matches!(failed, Err(SnapshotPackageError::NoHomes { .. })));
    }

    #[test]
    fn a_build_that_fails_leaves_no_files() {
        let (_releases, target) = empty_target();
        let failed: Result<(), _> = target.write_package(|id, built| {
            fs::create_dir(built).unwrap();
            Err(SnapshotPackageError::NoHomes { id: id.clone() })
        });
        assert!(matches!(failed, Err(SnapshotPackageError::NoHomes { .. })));
        assert_eq!(count_entries(&target), 0);
    }

    #[test]
    fn a_snapshot_has_a_home_unless_none_is_wanted() {
        let id = "homes-1".parse().unwrap();
        let mut homes = HomesReport::default();
        let refused = check_homes(&id, &homes, false).unwrap_err().to_string();
        assert!(refused.starts_with("snapshot homes-1 would have no home"));
        check_homes(&id, &homes, true).unwrap();
        homes.properties = 1;
        check_homes(&id, &homes, false).unwrap();
    }

    #[test]
    fn an_update_names_the_snapshot_that_is_not_there() {
        let (_releases, target) = empty_target();
        let from = "homes-0".parse().unwrap();
        let files = (&[][..], MaxRejected::default());
        let refused = update_snapshot(&target, &from, files, &mut |_, _, _| ()).unwrap_err();
        let folder = target.packages_dir();
        let expected = format!("--from homes-0 cannot be opened in {}", folder.display());
        assert_eq!(refused.to_string(), expected);
        assert_eq!(count_entries(&target), 0);
    }

    #[test]
    fn a_malformed_digest_of_a_report_is_refused() {
        let id = "homes-1".parse().unwrap();
        let sources = [("pp.csv", "cd", 5)].into_iter();
        let refused = describe(&id, &identity(), sources, false).unwrap_err();
        assert!(refused.to_string().ends_with("a malformed digest cd"));
    }
}
