//! The members of one estimate, and what the stack makes of them.

use crate::features::Feature;
use crate::features::evidence::RowEvidence;
use crate::model::{Gbdt, trees_estimate, trees_own_share};
use crate::stack::{MEMBERS, Stack, Weights, blend};
use domesday_hedonic::build_period::BuildPeriod;
use domesday_hedonic::confidence::score;
use domesday_hedonic::conformal::{Segment, range};
use domesday_hedonic::property_kind::{PropertyKind, age_index};
use domesday_sdk::{BuildStatus, Subject, Valuation};

/// The members' log estimates of one home, and its weights.
pub(crate) struct Members<'a> {
    /// In the order of [`MEMBERS`].
    log_estimates: [f64; MEMBERS.len()],
    weights: &'a Weights,
    own_sale: bool,
    /// The weight of the home's own sales in each member.
    own_shares: Option<[f64; MEMBERS.len()]>,
}

impl<'a> Members<'a> {
    /// Computes the members, or returns `None` if the trees give no price. Where kriging has too
    /// few sales, the reference model stands in for it.
    pub(crate) fn of(
        model: &Gbdt<'_>,
        stack: &'a Stack,
        row: &RowEvidence<'_>,
    ) -> Option<Members<'a>> {
        let kriging = Some(Feature::KrigedLogValue.of(row)).filter(|value| value.is_finite());
        let reference_share = row.reference.own_sales_share;
        let own_sale = reference_share.unwrap_or(0.0) > 0.0;
        let own_shares = reference_share.zip(trees_own_share(model, row));
        Some(Members {
            log_estimates: [
                row.log_value,
                kriging.unwrap_or(row.log_value),
                libm::log(trees_estimate(model, row)?),
            ],
            weights: stack.weights.of(row.kind).of(own_sale),
            own_sale,
            own_shares: own_shares.map(|(reference, trees)| {
                let kriged = kriging.and_then(|_| row.kriged_own_share());
                [reference, kriged.unwrap_or(reference), trees]
            }),
        })
    }

    /// Returns the weight of the home's own sales in the stack's estimate, from 0 to 1.
    pub(crate) fn own_sales_share(&self) -> Option<f64> {
        let shares = self.own_shares?;
        Some(blend(self.weights, &shares).0.clamp(0.0, 1.0))
    }

    /// Returns the members, the home's history and the weights by name, for those who ask what an
    /// estimate is made of.
    pub(crate) fn by_name(&self) -> impl Iterator<Item = (&'static str, f64)> {
        const NAMES: [&str; MEMBERS.len()] = ["member_reference", "member_kriging", "member_trees"];
        const WEIGHTS: [&str; MEMBERS.len()] =
            ["weight_reference", "weight_kriging", "weight_trees"];
        NAMES
            .into_iter()
            .zip(self.log_estimates)
            .chain([("member_own_sale", f64::from(u8::from(self.own_sale)))])
            .chain(WEIGHTS.into_iter().zip(*self.weights))
    }

    /// Returns the stack's estimate in pounds.
    pub(crate) fn estimate(&self) -> f64 {
        libm::exp(blend(self.weights, &self.log_estimates).0)
    }

    /// Sets the confidence of a valuation with this estimate, and its range. Members that disagree
    /// lower the first and widen the second.
    pub(crate) fn set_confidence(
        &self,
        model: &Gbdt<'_>,
        stack: &Stack,
        kind: PropertyKind,
        subject: &Subject,
        valuation: &mut Valuation,
    ) {
        let Some(before) = valuation.dispersion else {
            return;
        };
        let (_, variance) = blend(self.weights, &self.log_estimates);
        let scale = (before * before + stack.disagreement * variance).sqrt();
        valuation.dispersion = Some(scale);
        valuation.confidence = score(&model.reference.confidence, scale);
        let segment = Segment {
            kind,
            confidence: valuation.confidence,
            built: BuildPeriod::of(
                subject.build_status == BuildStatus::NewBuild,
                subject.energy.age_band.and_then(age_index),
            ),
            authority: &subject.authority,
        };
        valuation.range = range(
            model.reference.conformal.as_ref(),
            &model.reference.confidence,
            segment,
            valuation.comparables.len(),
            valuation.estimate,
        );
    }
}
