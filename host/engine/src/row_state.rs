//! The state of one row's store: the subject, its evidence and the row's limits.

use crate::config::{MAX_CORE_INSTANCES, MAX_MEMORIES, MAX_TABLES};
use crate::evidence::{
    AnswerDigests, Bounds, DigestedExchange, EvidenceError, EvidenceQuery, EvidenceResponse,
    EvidenceSource, PackSale, PackedResponse, Refusal, SALE_NUMBERS, Sale, ShownSales, check_past,
};
use crate::subject::Subject;
use crate::wasi::Wasi;
use domesday_property::{FoundSale, PackedPostcode};
use std::sync::Arc;
use wasmtime::{ResourceLimiter, Trap};

/// The home of a row, and where its evidence comes from.
struct Row {
    subject: Arc<Subject>,
    evidence: Arc<dyn EvidenceSource>,
}

/// The state of one row's store.
pub(crate) struct RowState {
    /// The home and the evidence of the row. Between two rows there is none.
    row: Option<Row>,
    memory_limit: usize,
    table_limit: usize,
    pub(crate) bounds: Bounds,
    /// Every sale that the release was shown.
    pub(crate) shown_sales: ShownSales,
    /// The digests of the answers, where somebody wants them.
    digests: Option<AnswerDigests>,
    /// Linear memory at its largest, bytes.
    pub(crate) memory_peak: usize,
    wasi: Option<Wasi>,
}

impl RowState {
    pub(crate) fn new(
        subject: Arc<Subject>,
        evidence: Arc<dyn EvidenceSource>,
        memory_limit: usize,
        table_limit: usize,
        bounds: Bounds,
    ) -> RowState {
        RowState {
            row: Some(Row { subject, evidence }),
            memory_limit,
            table_limit,
            bounds,
            shown_sales: ShownSales::default(),
            digests: None,
            memory_peak: 0,
            wasi: None,
        }
    }

    /// Ends the row, and returns what it left. The store releases the home and its evidence.
    pub(crate) fn end_row(&mut self) -> RowState {
        let idle = RowState {
            row: None,
            memory_limit: self.memory_limit,
            table_limit: self.table_limit,
            bounds: Bounds::default(),
            shown_sales: ShownSales::default(),
            digests: None,
            memory_peak: 0,
            wasi: None,
        };
        std::mem::replace(self, idle)
    }

    /// Digests the answers from now on.
    pub(crate) fn digest_answers(&mut self, pack: PackSale) {
        self.digests = Some(AnswerDigests::new(pack));
    }

    /// Takes the questions with the digests of their answers.
    pub(crate) fn take_digests(&mut self) -> Vec<DigestedExchange> {
        let digests = self.digests.take();
        digests.map_or_else(Vec::new, AnswerDigests::into_exchanges)
    }

    /// Returns the row's WASI, which is created on its first use.
    pub(crate) fn wasi(&mut self) -> &mut Wasi {
        let row = self.row.as_ref();
        let day = row.map_or(0, |row| row.subject.valuation_day.0);
        self.wasi.get_or_insert_with(|| Wasi::new(day))
    }

    /// Answers a question within the row's bounds. An error is the host's, and ends the row.
    pub(crate) fn ask(
        &mut self,
        question: Result<EvidenceQuery, Refusal>,
    ) -> wasmtime::Result<EvidenceResponse> {
        let question = match self.bounds.count_question(question) {
            Ok(question) => question,
            Err(refusal) => return Ok(EvidenceResponse::Refused(refusal)),
        };
        let Row { subject, evidence } = self.row.as_ref().ok_or_else(no_row)?;
        let answer = evidence.ask(subject, &question).map_err(host_error)?;
        if let Some(digests) = &mut self.digests {
            digests.add(question, &answer);
        }
        Ok(self.bounds.release(answer))
    }

    /// Answers a search for sales within the row's bounds, and remembers the sales. `pack_sale`
    /// gives the numbers of a sale, and `pack_found` those of one that the snapshot found, by the
    /// subject and its postcode. The response is one without sales, such as a refusal.
    pub(crate) fn ask_packed(
        &mut self,
        question: Result<EvidenceQuery, Refusal>,
        pack_sale: impl Fn(&Sale) -> [u64; SALE_NUMBERS],
        pack_found: impl Fn(&Subject, PackedPostcode, &FoundSale<'_>) -> [u64; SALE_NUMBERS],
    ) -> wasmtime::Result<Result<Vec<u64>, EvidenceResponse>> {
        let question = match self.bounds.count_question(question) {
            Ok(question) => question,
            Err(refusal) => return Ok(Err(EvidenceResponse::Refused(refusal))),
        };
        let Row { subject, evidence } = self.row.as_ref().ok_or_else(no_row)?;
        let subject = &**subject;
        let answer = evidence.ask_packed(subject, &question);
        Ok(match answer.map_err(host_error)? {
            PackedResponse::Records(answer) => {
                if let Some(digests) = &mut self.digests {
                    digests.add(question, &answer);
                }
                match self.bounds.release(answer) {
                    EvidenceResponse::Sales(sales) => {
                        let mut numbers = Vec::with_capacity(sales.len() * SALE_NUMBERS);
                        for sale in &sales {
                            numbers.extend_from_slice(&pack_sale(sale));
                        }
                        self.shown_sales.show(sales);
                        Ok(numbers)
                    }
                    other => Err(other),
                }
            }
            PackedResponse::Found(found) => {
                let mut numbers = Vec::with_capacity(found.len() * SALE_NUMBERS);
                let center = PackedPostcode::new(&subject.postcode);
                for sale in found.iter_packed() {
                    let sale = sale.map_err(EvidenceError::from).map_err(host_error)?;
                    let known = sale.certificate().map(|known| known.lodged);
                    check_past(subject, sale.id(), sale.day(), known).map_err(host_error)?;
                    numbers.extend_from_slice(&pack_found(subject, center, &sale));
                }
                if let Some(digests) = &mut self.digests {
                    digests.add_packed(question, &numbers);
                }
                match self.bounds.release_sales(found.len()) {
                    Ok(()) => {
                        self.shown_sales.show_found(found);
                        Ok(numbers)
                    }
                    Err(refusal) => Err(EvidenceResponse::Refused(refusal)),
                }
            }
        })
    }

    /// Remembers sales that the release is shown.
    pub(crate) fn show(&mut self, sales: Vec<Sale>) {
        self.shown_sales.show(sales);
    }
}

/// Returns the error that ends the row. A search that outlived the row's time ends it as the epoch
/// would have done.
fn host_error(error: EvidenceError) -> wasmtime::Error {
    match error {
        EvidenceError::OutOfTime => Trap::Interrupt.into(),
        other => HostError(other.to_string()).into(),
    }
}

/// Returns the error of a guest that asks between two rows, when no guest runs.
fn no_row() -> wasmtime::Error {
    HostError("a guest asked outside of a row".to_owned()).into()
}

/// A failure of the host on its way through the guest.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct HostError(pub(crate) String);

/// A request of the guest for more than its limit.
#[derive(Debug, thiserror::Error)]
#[error("more {what} than {limit}")]
pub(crate) struct LimitReached {
    pub(crate) what: &'static str,
    pub(crate) limit: usize,
}

/// Reports whether a growth goes beyond the maximum that the guest itself declares.
///
/// A maximum of the limit or more does not count, since the limit then decides. The pooling
/// allocator states its own limit as the maximum of every table that declares none.
fn exceeds_declared(desired: usize, maximum: Option<usize>, limit: usize) -> bool {
    maximum.is_some_and(|maximum| maximum < limit && desired > maximum)
}

/// A growth beyond the row's limit ends the row instead of returning -1 to the guest. A growth that
/// the host cannot serve ends the row too.
///
/// A release must never see whether memory is available, or its answers could depend on it. A
/// growth beyond the guest's own maximum returns -1, as it does on every machine.
impl ResourceLimiter for RowState {
    fn instances(&self) -> usize {
        MAX_CORE_INSTANCES as usize
    }

    fn memories(&self) -> usize {
        MAX_MEMORIES as usize
    }

    fn tables(&self) -> usize {
        MAX_TABLES as usize
    }

    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if exceeds_declared(desired, maximum, self.memory_limit) {
            return Ok(false);
        }
        if desired > self.memory_limit {
            return Err(LimitReached {
                what: "memory",
                limit: self.memory_limit,
            }
            .into());
        }
        self.memory_peak = self.memory_peak.max(desired).max(current);
        Ok(true)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(HostError(format!("memory could not be grown: {error}")).into())
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if exceeds_declared(desired, maximum, self.table_limit) {
            return Ok(false);
        }
        if desired > self.table_limit {
            return Err(LimitReached {
                what: "table elements",
                limit: self.table_limit,
            }
            .into());
        }
        Ok(true)
    }

    fn table_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(HostError(format!("a table could not be grown: {error}")).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::classify;
    use crate::tests::sandbox::common::{Nothing, subject};

    #[test]
    fn growth_that_the_host_cannot_serve_is_the_hosts_failure() {
        let mut row = RowState::new(
            Arc::new(subject(3)),
            Arc::new(Nothing),
            1,
            1,
            Bounds::default(),
        );
        let error = || wasmtime::Error::msg("no memory");
        let failed = [
            row.memory_grow_failed(error()),
            row.table_grow_failed(error()),
        ];
        for failed in failed {
            let failure = classify(&failed.unwrap_err(), 1).unwrap();
            assert!(failure.retryable(), "{failure}");
            let text = failure.to_string();
            assert!(text.ends_with("could not be grown: no memory"), "{text}");
        }
    }
}
