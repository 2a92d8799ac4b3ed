//! The sales that a release was shown: its comparables are checked and rendered from them.

use super::Sale;
use super::snapshot::evidence_sale;
use crate::subject::Subject;
use domesday_property::FoundSales;

/// The answers with sales of one valuation, in the order of the questions.
#[derive(Clone, Debug, Default)]
pub struct ShownSales(Vec<Answer>);

#[derive(Clone, Debug)]
enum Answer {
    Records(Vec<Sale>),
    Found(FoundSales),
}

impl ShownSales {
    /// Remembers the sales of an answer.
    pub(crate) fn show(&mut self, sales: Vec<Sale>) {
        self.0.push(Answer::Records(sales));
    }

    /// Remembers sales as the snapshot found them. They were unpacked once, so none is damaged.
    pub(crate) fn show_found(&mut self, sales: FoundSales) {
        self.0.push(Answer::Found(sales));
    }

    /// Returns whether the release was shown a sale of this id.
    pub(crate) fn contains(&self, id: u64) -> bool {
        self.0.iter().any(|answer| match answer {
            Answer::Records(sales) => sales.iter().any(|sale| sale.id == id),
            Answer::Found(sales) => sales.contains(id),
        })
    }

    /// Returns the first sale of an id that the release was shown, as this subject sees it.
    pub fn find(&self, subject: &Subject, id: u64) -> Option<Sale> {
        self.0.iter().find_map(|answer| match answer {
            Answer::Records(sales) => sales.iter().find(|sale| sale.id == id).cloned(),
            Answer::Found(sales) => {
                let sale = sales.find(id).ok().flatten()?;
                Some(evidence_sale(subject, sale))
            }
        })
    }
}
