//! The sales that a release was shown: its comparables are checked and rendered from them.

use super::Sale;
use super::sale_view::evidence_sale;
use crate::subject::Subject;
use domesday_property::FoundSales;

/// The responses with sales of one valuation, in the order of the queries.
#[derive(Clone, Debug, Default)]
pub struct ShownSales(Vec<ShownResponse>);

/// The sales of one response.
#[derive(Clone, Debug)]
enum ShownResponse {
    Records(Vec<Sale>),
    Found(FoundSales),
}

impl ShownSales {
    /// Remembers the sales of a response.
    pub(crate) fn show(&mut self, sales: Vec<Sale>) {
        self.0.push(ShownResponse::Records(sales));
    }

    /// Remembers sales as the snapshot found them. They were unpacked once, so none is damaged.
    pub(crate) fn show_found(&mut self, sales: FoundSales) {
        self.0.push(ShownResponse::Found(sales));
    }

    /// Returns whether the release was shown a sale of this id.
    pub(crate) fn contains(&self, id: u64) -> bool {
        self.0.iter().any(|response| match response {
            ShownResponse::Records(sales) => sales.iter().any(|sale| sale.id == id),
            ShownResponse::Found(sales) => sales.contains(id),
        })
    }

    /// Returns the first sale of an id that the release was shown, as this subject sees it.
    pub fn find(&self, subject: &Subject, id: u64) -> Option<Sale> {
        self.0.iter().find_map(|response| match response {
            ShownResponse::Records(sales) => sales.iter().find(|sale| sale.id == id).cloned(),
            ShownResponse::Found(sales) => {
                let sale = sales.find(id).ok().flatten()?;
                Some(evidence_sale(subject, sale))
            }
        })
    }
}
