//! A release that only queries, to measure the cost of the boundary. It makes as many queries as
//! the subject has bedrooms, each for as many sales as it has storeys. For a tenanted home it makes
//! each query in both forms, and fails if the answers differ.

use domesday_sdk::bindings::domesday::valuation1_0_0::evidence::nearby_sales as nearby_sales_as_records;
use domesday_sdk::{
    Evidence, FailureReason, Model, Occupancy, Outcome, PropertyTypes, SalesOrder, SalesQuery,
    Subject, Valuation, release,
};

struct Queries;

release!(Queries);

impl Model for Queries {
    fn value(subject: &Subject, evidence: &dyn Evidence) -> Outcome {
        let mut total = 1.0;
        for _ in 0..subject.size.bedrooms.unwrap_or(0) {
            let query = SalesQuery {
                center: subject.place,
                radius: 5_000,
                since: 0,
                types: PropertyTypes::SEMI_DETACHED,
                standard_only: false,
                floor_area_only: false,
                order: SalesOrder::Nearest,
                limit: subject.size.storeys.unwrap_or(1),
            };
            let answer = evidence.nearby_sales(query);
            if subject.occupancy == Occupancy::Tenanted
                && answer.as_ref().map(|sales| sales.to_vec())
                    != nearby_sales_as_records(query).as_ref().cloned()
            {
                return Outcome::Failed(FailureReason::UnusableEvidence);
            }
            if let Ok(sales) = answer {
                total += sales.iter().map(|sale| sale.price()).sum::<f64>();
            }
        }
        Outcome::Valued(Valuation {
            estimate: total,
            range: None,
            confidence: 0.5,
            comparables: Vec::new(),
            derived: Vec::new(),
            dispersion: None,
            own_sales_share: None,
        })
    }
}
