//! A baseline, and whether the release beats it on the same rows.

use crate::LEAST_ROWS;
use crate::accuracy::{Accuracy, Pair, nearer};
use crate::number::{count, round};
use crate::row::{Baseline, Row};
use serde::{Deserialize, Serialize};

/// The figures of a baseline on a group's rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineFigures {
    /// The baseline.
    #[serde(rename = "floor")]
    pub baseline: Baseline,
    /// Sales that it has a value for.
    pub valued: usize,
    /// Share of all sales that it has a value for; absent for a small group.
    pub hit_rate: Option<f64>,
    /// Over all that it values; absent below [`LEAST_ROWS`].
    pub accuracy: Option<Accuracy>,
    /// The release and the baseline on the rows that both value; absent below [`LEAST_ROWS`].
    pub like_for_like: Option<LikeForLike>,
    /// The verdict.
    pub verdict: Verdict,
}

/// Two rules on the same rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LikeForLike {
    /// The release.
    pub release: Accuracy,
    /// The baseline.
    #[serde(rename = "floor")]
    pub baseline: Accuracy,
    /// Share of the rows on which the release was nearer to the price; half of those where both
    /// were equally near count.
    pub release_nearer: f64,
    /// The 95 % interval of that share, from the rows that differ. If it contains one half, the
    /// sample does not decide.
    pub nearer_interval: [f64; 2],
}

/// The result of a comparison with a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The release's median absolute error is the smaller, on the same rows.
    Beaten,
    /// It is not.
    NotBeaten,
    /// Fewer than [`LEAST_ROWS`] rows that both value.
    TooFew,
}

impl BaselineFigures {
    /// Returns the verdict as text. It says narrowly where the share of rows on which the release
    /// was nearer does not differ from one half.
    pub fn words(&self) -> &'static str {
        let narrow = self
            .like_for_like
            .as_ref()
            .is_some_and(|both| both.nearer_interval[0] <= 0.5 && 0.5 <= both.nearer_interval[1]);
        match (self.verdict, narrow) {
            (Verdict::Beaten, false) => "beaten",
            (Verdict::Beaten, true) => "beaten, narrowly",
            (Verdict::NotBeaten, false) => "NOT beaten",
            (Verdict::NotBeaten, true) => "not beaten, narrowly",
            (Verdict::TooFew, _) => "too few",
        }
    }

    /// Returns the baseline at index `at` of [`Baseline::ALL`], on these rows.
    pub fn of(at: usize, rows: &[&Row]) -> Option<BaselineFigures> {
        let baseline = *Baseline::ALL.get(at)?;
        let mut alone = Vec::new();
        let (mut release, mut same) = (Vec::new(), Vec::new());
        for row in rows {
            let Some(value) = row.baselines.get(at).copied().flatten() else {
                continue;
            };
            let pair = |estimate| Pair {
                price: row.price,
                estimate,
            };
            alone.push(pair(value));
            if let Some(estimate) = row.estimate() {
                release.push(pair(estimate));
                same.push(pair(value));
            }
        }
        let enough = |pairs: &[Pair]| pairs.len() >= LEAST_ROWS;
        let like_for_like = enough(&same)
            .then(|| LikeForLike::of(&release, &same))
            .flatten();
        Some(BaselineFigures {
            baseline,
            valued: alone.len(),
            hit_rate: (rows.len() >= LEAST_ROWS)
                .then(|| round(count(alone.len()) / count(rows.len()))),
            accuracy: enough(&alone).then(|| Accuracy::of(&alone)).flatten(),
            verdict: match &like_for_like {
                None => Verdict::TooFew,
                Some(both) if both.release.mdape < both.baseline.mdape => Verdict::Beaten,
                Some(_) => Verdict::NotBeaten,
            },
            like_for_like,
        })
    }
}

impl LikeForLike {
    /// Compares both rules on the same rows, given in the same order.
    fn of(release: &[Pair], baseline: &[Pair]) -> Option<LikeForLike> {
        let (release_nearer, nearer_interval) = nearer(release, baseline, None)?;
        Some(LikeForLike {
            release: Accuracy::of(release)?,
            baseline: Accuracy::of(baseline)?,
            release_nearer,
            nearer_interval,
        })
    }
}
