//! The judgement of ranges: whether they hold the share of prices that they promise, for all sales
//! and group by group.
//!
//! Sales of one postcode miss together. So the rules count the independent sales that say as much
//! as a group's, and not its rows.

use crate::binomial::{LEVEL, find_refuted, interval, p_value};
use crate::group::Group;
use crate::ranges::Ranges;
use crate::report::Report;

/// The largest distance from nominal of a group of [`MANY`] ranges or more. A test would refute
/// distances that no customer notices.
pub const POINTS: f64 = 0.03;
/// Ranges from which a group may be [`POINTS`] from nominal. If they say as much as so many
/// independent ones, it may be no farther. Otherwise a test must refute it besides.
pub const MANY: usize = 1_000;
/// Independent ranges from which all sales together are tested. A coverage of 60 instead of 80 % is
/// then found with a probability of 0.86.
pub const LEAST_OF_ALL: usize = 48;
/// Independent ranges from which a group is tested. Fewer refute only the grossest error, and each
/// group more costs the others power.
pub const LEAST: usize = 60;
/// Postcodes from which a group is judged. How much homes of a postcode resemble each other is
/// estimated from the misses of each. Two blocks with one miss each look like sales apart.
pub const LEAST_POSTCODES: usize = 10;
/// Not judged. Groups by price depend on the misses: dear homes lie above their ranges and cheap
/// ones below, whatever the release does.
const BY_PRICE: &str = "price";
/// The division name of the group of all sales.
pub const ALL: &str = "sales";

/// The rule that a group is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// At most [`POINTS`] from nominal.
    Points,
    /// Not refuted by the exact test, alone. [`MANY`] ranges must be far off besides.
    Test,
    /// The same after Holm's correction.
    Holm,
}

/// One group's ranges.
#[derive(Clone, Debug)]
pub struct GroupCoverage<'a> {
    /// The attribute that divides the sales; [`ALL`] for all.
    pub by: &'a str,
    /// The group.
    pub group: &'a Group,
    /// Its ranges.
    pub ranges: &'a Ranges,
    /// Independent ranges that say as much about the share.
    pub effective: usize,
    /// The 95 % interval of the share.
    pub interval: [f64; 2],
    /// The p-value of the nominal share.
    pub p_value: f64,
    /// The rule; `None` where the group is too small to judge.
    pub rule: Option<Rule>,
    /// True unless the ranges fail.
    pub holds: bool,
}

/// Judges all sales, and each group of the report that is large enough. Groups by price are left
/// out.
pub fn judge(report: &Report) -> Vec<GroupCoverage<'_>> {
    let nominal = report.subject.nominal_coverage;
    let divided = report
        .divisions
        .iter()
        .filter(|division| division.by != BY_PRICE)
        .flat_map(|division| {
            let groups = division.groups.iter();
            groups.map(|group| (division.by.as_str(), group))
        });
    let mut all: Vec<GroupCoverage<'_>> = std::iter::once((ALL, &report.overall))
        .chain(divided)
        .filter_map(|(by, group)| group_coverage(by, group, nominal))
        .collect();
    correct(&mut all);
    all
}

/// Returns the groups whose ranges fail, all sales first.
pub fn find_off(report: &Report) -> Vec<GroupCoverage<'_>> {
    let judged = judge(report).into_iter();
    judged.filter(|group| !group.holds).collect()
}

/// Returns whether a report's group is one of these.
pub fn is_off(off: &[GroupCoverage<'_>], group: &Group) -> bool {
    off.iter().any(|found| std::ptr::eq(found.group, group))
}

/// Returns the independent ranges that these are worth, for the power of a test. Clusters whose
/// homes are alike count one each, while the share's variance has one fewer.
pub fn count_independent(ranges: &Ranges) -> usize {
    (ranges.effective_rows + 1).min(ranges.rows)
}

/// Returns the p-value of the nominal share by the exact test of the independent ranges.
pub fn coverage_p_value(ranges: &Ranges) -> f64 {
    let (effective, held) = effective_counts(ranges);
    p_value(held, effective, ranges.nominal)
}

/// Returns the independent ranges that say as much about the share, and how many of them hold the
/// price.
fn effective_counts(ranges: &Ranges) -> (usize, usize) {
    let effective = ranges.effective_rows.clamp(1, ranges.rows);
    let held = ((ranges.coverage * effective as f64).round() as usize).min(effective);
    (effective, held)
}

/// Sets the result of each group that is judged by the corrected test.
fn correct(all: &mut [GroupCoverage<'_>]) {
    let tested = |group: &GroupCoverage<'_>| group.rule == Some(Rule::Holm);
    let p_values: Vec<f64> = all
        .iter()
        .filter(|group| tested(group))
        .map(|group| group.p_value)
        .collect();
    let refutations = find_refuted(&p_values);
    let held = all.iter_mut().filter(|group| tested(group));
    for (group, refuted) in held.zip(refutations) {
        group.holds = !refuted || is_near(group.ranges);
    }
}

fn group_coverage<'a>(by: &'a str, group: &'a Group, nominal: f64) -> Option<GroupCoverage<'a>> {
    let ranges = group.ranges.as_ref()?;
    let (effective, held) = effective_counts(ranges);
    let p_value = p_value(held, effective, nominal);
    let postcodes = group.intervals.as_ref().map(|known| known.postcodes);
    let (rule, holds) = match count_independent(ranges) {
        _ if postcodes.is_some_and(|known| known < LEAST_POSTCODES) => (None, true),
        MANY.. => (Some(Rule::Points), is_near(ranges)),
        LEAST_OF_ALL.. if by == ALL => {
            let holds = p_value > 1.0 - LEVEL || is_near(ranges);
            (Some(Rule::Test), holds)
        }
        LEAST.. if by != ALL => (Some(Rule::Holm), true),
        _ => (None, true),
    };
    Some(GroupCoverage {
        by,
        group,
        ranges,
        effective,
        // The exact one of many rows costs time, and differs by nothing that is printed.
        interval: if effective < MANY {
            interval(held, effective)
        } else {
            ranges.interval
        },
        p_value,
        rule,
        holds,
    })
}

/// Returns whether many ranges are so near to nominal that no customer notices.
fn is_near(ranges: &Ranges) -> bool {
    let off = (ranges.coverage - ranges.nominal).abs();
    ranges.rows >= MANY && off <= POINTS + 1e-9
}

impl GroupCoverage<'_> {
    /// Returns the group's name, or else its key.
    pub fn name(&self) -> &str {
        self.group.name.as_deref().unwrap_or(&self.group.key)
    }

    /// Returns the reason why the ranges fail, or nothing where they hold.
    pub fn reason(&self) -> &'static str {
        match self.rule {
            _ if self.holds => "",
            Some(Rule::Points) => "more than 3 points from nominal",
            Some(Rule::Test) => "refuted by an exact test",
            _ => "refuted by an exact test, corrected by Holm for all groups",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Row;
    use crate::testing::{report, row};

    /// Returns so many sales, of which `held_of_ten` in ten lie in their range. `block` tells the
    /// postcode of a sale.
    fn rows(count: usize, held_of_ten: usize, block: impl Fn(usize) -> usize) -> Vec<Row> {
        (0..count)
            .map(|at| {
                let held = block(at) % 10 < held_of_ten;
                Row {
                    postcode: format!("ZZ1 {}", block(at)),
                    ..row(1_000.0, if held { 1_000.0 } else { 3_000.0 })
                }
            })
            .collect()
    }

    /// Returns the independent ranges of all sales, the rule, and whether they hold.
    fn all_sales(rows: &[Row]) -> (usize, Option<Rule>, bool) {
        let report = report(rows);
        let judged = judge(&report);
        assert_eq!(judged[0].by, ALL);
        let independent = count_independent(judged[0].ranges);
        (independent, judged[0].rule, judged[0].holds)
    }

    #[test]
    fn a_block_whose_homes_miss_together_counts_as_one_sale() {
        let apart = all_sales(&rows(1_200, 8, |at| at));
        assert_eq!(apart, (1_200, Some(Rule::Points), true));
        let blocks = all_sales(&rows(1_200, 8, |at| at / 20));
        assert_eq!(blocks, (60, Some(Rule::Test), true));
        let few = all_sales(&rows(1_200, 8, |at| at / 60));
        assert_eq!(few, (20, None, true));
    }

    #[test]
    fn one_block_whose_ranges_all_hold_fails_no_release() {
        // Sixty draws of 80 % all hold in one case of 650,000. One block is one draw.
        let block = all_sales(&rows(60, 10, |_| 0));
        assert_eq!(block, (2, None, true));
        let apart = all_sales(&rows(60, 10, |at| at));
        assert_eq!(apart, (60, Some(Rule::Test), false));
    }

    #[test]
    fn few_blocks_with_one_miss_each_are_not_judged() {
        // One range of thirty misses in each block, where one of five is to miss.
        let of_blocks = |blocks: usize| {
            let all: Vec<Row> = (0..30 * blocks)
                .map(|at| Row {
                    postcode: format!("ZZ1 {}", at / 30),
                    ..row(1_000.0, if at % 30 == 0 { 3_000.0 } else { 1_000.0 })
                })
                .collect();
            all_sales(&all)
        };
        assert_eq!(of_blocks(2), (60, None, true));
        assert_eq!(of_blocks(LEAST_POSTCODES - 1), (270, None, true));
        assert_eq!(of_blocks(LEAST_POSTCODES), (300, Some(Rule::Test), false));
    }

    #[test]
    fn many_sales_that_are_worth_few_must_be_far_off_and_refuted() {
        // Ten points off: 1,200 sales apart are refuted, and sixty blocks might be so by chance.
        let apart = all_sales(&rows(1_200, 7, |at| at));
        assert_eq!(apart, (1_200, Some(Rule::Points), false));
        let blocks = all_sales(&rows(1_200, 7, |at| at / 20));
        assert_eq!(blocks, (60, Some(Rule::Test), true));
        let far = all_sales(&rows(1_200, 6, |at| at / 20));
        assert_eq!(far, (60, Some(Rule::Test), false));
    }
}
