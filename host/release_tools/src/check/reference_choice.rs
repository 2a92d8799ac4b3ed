//! The choice of a release to compare with, where none is named.

use super::CheckError;
use super::engines::reference;
use super::rows::Home;
use domesday_package::{Kind, Trust, ValuationBody, open};
use domesday_registers::Progress;
use domesday_valuation::release_store::{OpenRelease, package_ids};
use std::cmp::Reverse;
use std::path::Path;

/// The release that estimates are compared with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reference {
    /// The newest other release of the folder that knows the homes.
    #[default]
    Newest,
    /// The release of this id.
    Named(String),
    /// None: the comparison is not judged.
    Off,
}

/// A release to compare with.
pub struct ChosenReference {
    /// The release.
    pub release: OpenRelease,
    /// The reason why it was chosen, where nobody named it.
    pub reason: Option<String>,
}

/// The outcome of a search.
pub enum Choice {
    /// A release to compare with.
    Chosen(Box<ChosenReference>),
    /// None, and why.
    Nothing(String),
}

/// Returns the release that the options name, or the newest other one of the folder. `homes` are
/// those that both are to value.
///
/// # Errors
/// [`CheckError`] if the release that is named does not open, or is the candidate itself.
pub fn choose(
    root: &Path,
    candidate: &ValuationBody,
    trust: &Trust,
    (wanted, homes): (&Reference, &[Home]),
    compiled: Option<&Path>,
    progress: &mut Progress<'_>,
) -> Result<Choice, CheckError> {
    match wanted {
        Reference::Off => Ok(Choice::Nothing("--no-reference was given".to_owned())),
        Reference::Named(id) if id == candidate.release_id.as_str() => {
            Err(CheckError::OwnReference(id.clone()))
        }
        Reference::Named(id) => Ok(Choice::Chosen(Box::new(ChosenReference {
            release: reference(root, id, trust, compiled, progress)?,
            reason: None,
        }))),
        Reference::Newest => newest(root, candidate, trust, homes, compiled, progress),
    }
}

/// Looks for the newest other release that opens and whose snapshot holds half of the homes.
fn newest(
    root: &Path,
    candidate: &ValuationBody,
    trust: &Trust,
    homes: &[Home],
    compiled: Option<&Path>,
    progress: &mut Progress<'_>,
) -> Result<Choice, CheckError> {
    let mut others = others(root, candidate, trust)?;
    let (most, mut refused) = (others.len(), Vec::new());
    others.sort_by_cached_key(|other| Reverse(precedence(other, candidate)));
    for other in others {
        let id = other.release_id.as_str();
        match reference(root, id, trust, compiled, progress) {
            Err(error) => refused.push(format!("{id} does not open: {error}")),
            Ok(open) if !knows(&open, homes)? => {
                refused.push(format!(
                    "the snapshot of {id} holds less than half of the homes"
                ));
            }
            Ok(release) => {
                let reason = format!(
                    "nobody named a reference: {id} is the newest of {most} other releases in the folder, effective from {}",
                    other.effective_date
                );
                return Ok(Choice::Chosen(Box::new(ChosenReference {
                    release,
                    reason: Some(reason),
                })));
            }
        }
    }
    let why = match refused.first() {
        None => "there is nothing to compare with: the folder holds no other release that is trusted and values these types and countries".to_owned(),
        Some(first) => format!("no other release can value these homes; {first}"),
    };
    Ok(Choice::Nothing(why))
}

/// Reads the manifests of the other releases that are trusted and value the same types and
/// countries.
///
/// # Errors
/// [`CheckError::Release`] if the folder cannot be read.
fn others(
    root: &Path,
    candidate: &ValuationBody,
    trust: &Trust,
) -> Result<Vec<ValuationBody>, CheckError> {
    let folder = root.join(Kind::Valuation.as_str());
    let own = candidate.release_id.as_str();
    let mut others = Vec::new();
    for id in package_ids(&folder)? {
        // One that is not trusted, or not whole, is no reference.
        let body = (id != own)
            .then(|| open(&folder.join(&id), trust).ok())
            .flatten()
            .and_then(|package| package.body::<ValuationBody>().ok());
        others.extend(body.filter(|other| covers(other, candidate)));
    }
    Ok(others)
}

/// Returns whether a release values every type and country of another.
fn covers(other: &ValuationBody, candidate: &ValuationBody) -> bool {
    let values = |kind| other.property_types.contains(kind);
    let reaches = |country| other.countries.contains(country);
    candidate.property_types.iter().all(values) && candidate.countries.iter().all(reaches)
}

/// Returns a key whose greatest value belongs to the release that came just before the candidate.
/// Those that take effect after it come last.
fn precedence(other: &ValuationBody, candidate: &ValuationBody) -> impl Ord + use<> {
    let before = other.effective_date <= candidate.effective_date;
    (before, other.effective_date, other.release_id.to_string())
}

/// Returns whether the release's snapshot holds at least half of these homes.
///
/// # Errors
/// [`CheckError::Snapshot`] if the snapshot cannot be read.
fn knows(open: &OpenRelease, homes: &[Home]) -> Result<bool, CheckError> {
    let mut known = 0;
    let uprns: Vec<u64> = homes.iter().filter_map(|home| home.subject.uprn).collect();
    for uprn in &uprns {
        known += usize::from(open.snapshot.property(*uprn)?.is_some());
    }
    Ok(2 * known >= uprns.len())
}
