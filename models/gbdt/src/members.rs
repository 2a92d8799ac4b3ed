//! The members of one estimate, and what the stack makes of them.

use crate::features::Feature;
use crate::features::evidence::RowEvidence;
use crate::model::{Gbdt, trees_estimate};
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
        let own_sale = row.reference.own_sales_share.unwrap_or(0.0) > 0.0;
        Some(Members {
            log_estimates: [
                row.log_value,
                kriging.unwrap_or(row.log_value),
                libm::log(trees_estimate(model, row)?),
            ],
            weights: stack.weights.of(row.kind).of(own_sale),
            own_sale,
        })
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
