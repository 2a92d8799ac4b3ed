//! The covered months of each authority of the grid.

use super::MarketsError;
use super::areas::Grid;
use super::coverage::Coverage;
use super::month::{Month, Span};

/// The covered months of every authority of the grid, by number; `None` where it has none.
pub(crate) type Spans = Vec<Option<Span>>;

/// Returns the covered months of every authority.
///
/// Without any statement, every authority is covered from `otherwise` to `core`. No month after
/// `core` is covered.
pub(crate) fn spans(
    stated: &[Coverage],
    grid: &Grid,
    otherwise: Month,
    core: Month,
) -> Result<Spans, MarketsError> {
    let count = grid.areas().len();
    if stated.is_empty() {
        let all = Span {
            first: otherwise,
            last: core,
        };
        return Ok(vec![Some(all); count]);
    }
    let mut spans = vec![None; count];
    for coverage in stated {
        let refuse = |reason| MarketsError::Coverage {
            text: format!(
                "{}:{}:{}",
                coverage.area_code, coverage.months.first, coverage.months.last
            ),
            reason,
        };
        let Some(area) = grid.of_whole(&coverage.area_code) else {
            return Err(refuse("the areas files have no authority with this code"));
        };
        let span = &mut spans[usize::from(area)];
        if span.is_some() {
            return Err(refuse("the authority is stated twice"));
        }
        *span = Some(Span {
            first: coverage.months.first,
            last: coverage.months.last.min(core),
        });
    }
    Ok(spans)
}
