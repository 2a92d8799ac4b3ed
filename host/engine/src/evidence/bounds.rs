//! The limits of one valuation's queries, as `wit/valuation.wit` states them.

use super::{EvidenceQuery, EvidenceResponse, Refusal, RowWork, SalesQuery};
use crate::clock::RowDeadline;

/// Questions in one valuation.
pub const MAX_QUESTIONS: u32 = 32;
/// Sales over all answers of one valuation.
pub const MAX_SALES: usize = 5_000;
/// Sales in one answer.
pub const MAX_SALES_A_QUESTION: u32 = 500;
/// Sales of the subject itself in one answer.
pub const MAX_OWN_SALES: usize = 50;
/// A search reads every cell of its circle where little is found, so this bounds the host's work.
const MAX_RADIUS_M: u32 = 20_000;

/// Counts the queries of one valuation.
#[derive(Debug)]
pub struct Bounds {
    /// Questions so far, refused ones among them.
    pub questions: u32,
    sales: usize,
    work: RowWork,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            questions: 0,
            sales: 0,
            work: RowWork::of_row(),
        }
    }
}

impl Bounds {
    /// Returns the bounds of a row whose searches end with its time.
    pub(crate) fn until(deadline: RowDeadline) -> Bounds {
        Bounds {
            work: RowWork::of_row_until(deadline),
            ..Bounds::default()
        }
    }

    /// Counts a question and binds it to the row's work, or returns the refusal. `question` is a
    /// refusal already if the interface itself cannot express it.
    ///
    /// # Errors
    /// The refusal in `question`, [`Refusal::InvalidQuestion`] for a question beyond the bounds,
    /// and [`Refusal::TooManyQuestions`] once the row has asked its last one.
    pub fn count_question(
        &mut self,
        question: Result<EvidenceQuery, Refusal>,
    ) -> Result<EvidenceQuery, Refusal> {
        self.questions = self.questions.saturating_add(1);
        match question? {
            EvidenceQuery::NearbySales(query) if !within(&query) => Err(Refusal::InvalidQuestion),
            _ if self.questions > MAX_QUESTIONS => Err(Refusal::TooManyQuestions),
            mut question => {
                self.work.bind(&mut question);
                Ok(question)
            }
        }
    }

    /// Counts an answer. One that would show too many sales is withheld whole, and costs none.
    pub fn release(&mut self, answer: EvidenceResponse) -> EvidenceResponse {
        let count = match &answer {
            EvidenceResponse::Sales(sales) => sales.len(),
            _ => 0,
        };
        match self.release_sales(count) {
            Ok(()) => answer,
            Err(refusal) => EvidenceResponse::Refused(refusal),
        }
    }

    /// Counts the sales of an answer, or returns the refusal where they are too many.
    pub(crate) fn release_sales(&mut self, count: usize) -> Result<(), Refusal> {
        if self.sales + count > MAX_SALES {
            return Err(Refusal::TooManySales);
        }
        self.sales += count;
        Ok(())
    }
}

fn within(query: &SalesQuery) -> bool {
    (1..=MAX_RADIUS_M).contains(&query.radius_m)
        && (1..=MAX_SALES_A_QUESTION).contains(&query.limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::MAX_ROW_WORK;
    use crate::evidence::SalesOrder;
    use crate::subject::GridPoint;
    use domesday_registers::Day;

    fn search(radius_m: u32, limit: u32) -> EvidenceQuery {
        EvidenceQuery::NearbySales(SalesQuery {
            center: GridPoint {
                easting: 1,
                northing: 2,
            },
            radius_m,
            since: Day(0),
            types: Vec::new(),
            standard_only: false,
            floor_area_only: false,
            order: SalesOrder::Nearest,
            limit,
            work: RowWork::default(),
        })
    }

    #[test]
    fn the_searches_of_a_row_carry_its_work_and_no_other_rows() {
        let (mut row, mut other) = (Bounds::default(), Bounds::default());
        let ask = |bounds: &mut Bounds| {
            let Ok(EvidenceQuery::NearbySales(query)) = bounds.count_question(Ok(search(1, 1)))
            else {
                panic!("the search is refused");
            };
            query
        };
        let (first, second, of_other) = (ask(&mut row), ask(&mut row), ask(&mut other));
        first.work.spend(7);
        assert_eq!(second.work.remainder(), MAX_ROW_WORK - 7);
        assert_eq!(of_other.work.remainder(), MAX_ROW_WORK);
        // A replay compares questions, and their records have no work.
        assert_eq!(first, of_other);
        let written = serde_json::to_value(&first).unwrap();
        assert_eq!(written.get("work"), None);
        let read: SalesQuery = serde_json::from_value(written).unwrap();
        assert_eq!((&read, read.work.remainder()), (&first, u64::MAX));
    }

    #[test]
    fn a_search_has_a_radius_and_a_limit_within_bounds() {
        for (radius_m, limit, is_within) in [
            (1, 1, true),
            (MAX_RADIUS_M, MAX_SALES_A_QUESTION, true),
            (0, 1, false),
            (MAX_RADIUS_M + 1, 1, false),
            (1, 0, false),
            (1, MAX_SALES_A_QUESTION + 1, false),
        ] {
            let question = search(radius_m, limit);
            let expected = match is_within {
                true => Ok(question.clone()),
                false => Err(Refusal::InvalidQuestion),
            };
            let found = Bounds::default().count_question(Ok(question));
            assert_eq!(found, expected, "{radius_m} {limit}");
        }
    }

    #[test]
    fn the_thirty_third_question_is_refused() {
        let mut bounds = Bounds::default();
        for _ in 0..MAX_QUESTIONS {
            assert!(bounds.count_question(Ok(EvidenceQuery::OwnSales)).is_ok());
        }
        assert_eq!(
            bounds.count_question(Ok(EvidenceQuery::OwnSales)),
            Err(Refusal::TooManyQuestions)
        );
    }
}
