//! Bounds the size of a batch's response, before any row runs and again when its results are
//! rendered.

use super::row::{ParsedRow, RequestContext};
use domesday_contract::error::{Code, ValidationError};
use domesday_contract::v3::result::{RESPONSE_MAX, reference_size_bound, rejection_size};

/// The envelope of a batch without its results: its id is at most 100 bytes, its numbers ten
/// digits.
const ENVELOPE: usize = 400;

/// Checks that the smallest possible response to these rows may be sent. The size of a row with
/// errors is exact. How much a valuation adds is known only after the release has run.
///
/// Few responses come near to the limit, so a bound that costs next to nothing decides first.
///
/// # Errors
/// `response_too_large`, 413.
pub fn check_response_size(
    rows: &[ParsedRow],
    context: &RequestContext,
) -> Result<(), ValidationError> {
    match smallest_bound(rows, context) {
        bound if bound <= RESPONSE_MAX => Ok(()),
        _ => check(rows.iter().map(|row| smallest(row, context)), Size::Least),
    }
}

/// Returns a bound of the smallest possible response to these rows.
fn smallest_bound(rows: &[ParsedRow], context: &RequestContext) -> usize {
    let bare = rejection_size(&context.release.id, None, &[]);
    rows.iter().fold(ENVELOPE, |bytes, row| {
        let result = match row.request() {
            Ok(_) => bare + reference_size_bound(row.request_reference.as_deref()),
            Err(_) => smallest(row, context),
        };
        bytes + result + 1
    })
}

/// Checks that results of these sizes in bytes may be sent together.
///
/// # Errors
/// `response_too_large`, 413. The message names how many of the first rows fit.
pub fn check_rendered_size(sizes: &[usize]) -> Result<(), ValidationError> {
    check(sizes.iter().copied(), Size::Exact)
}

/// Bytes of a result without a reference, comparables and context: more than any has.
const CORE: usize = 1_900;
/// Bytes of a comparable: more than any has.
const COMPARABLE: usize = 240;
/// Bytes of the context: more than any but one of an authority with a very long name.
const CONTEXT: usize = 480;

/// Returns bytes that suffice for the response to these rows. No response is larger than
/// [`RESPONSE_MAX`].
pub fn expected_response_size(rows: &[ParsedRow], context: &RequestContext) -> usize {
    let results = rows.iter().map(|row| expected_size(row, context));
    results
        .fold(ENVELOPE, usize::saturating_add)
        .min(RESPONSE_MAX)
}

fn expected_size(row: &ParsedRow, context: &RequestContext) -> usize {
    let Ok(request) = row.request() else {
        return smallest(row, context);
    };
    let sections = request.options().sections(context.depth);
    let reference = reference_size_bound(row.request_reference.as_deref());
    let comparables = sections.comparables.map_or(0, usize::from) * COMPARABLE;
    let context = if sections.context { CONTEXT } else { 0 };
    CORE + reference + comparables + context
}

/// The meaning of the sizes of results.
#[derive(Clone, Copy)]
enum Size {
    /// A result has at least this size.
    Least,
    /// A result has this size.
    Exact,
}

fn check(sizes: impl Iterator<Item = usize>, size: Size) -> Result<(), ValidationError> {
    let (mut bytes, mut fitting) = (ENVELOPE, 0_usize);
    for result in sizes {
        // A comma follows each result but the last.
        bytes += result + 1;
        fitting += usize::from(bytes <= RESPONSE_MAX);
    }
    if bytes <= RESPONSE_MAX {
        return Ok(());
    }
    let (takes, most) = match size {
        Size::Least => ("takes at least", "At most the"),
        Size::Exact => ("takes", "The"),
    };
    let message = format!(
        "The answer {takes} {bytes} bytes, and at most {RESPONSE_MAX} are sent. {most} first {fitting} rows fit. Send fewer rows at once, or ask for fewer comparables.",
    );
    Err(ValidationError::new(Code::ResponseTooLarge, message).at("/requests"))
}

/// Returns the fewest bytes of the result of a row. A row without errors takes at least as much as
/// a result with an empty list of them.
fn smallest(row: &ParsedRow, context: &RequestContext) -> usize {
    let errors = row.request().err().unwrap_or_default();
    let reference = row.request_reference.as_deref();
    rejection_size(&context.release.id, reference, errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of rows that a refusal names.
    fn fitting(error: &ValidationError) -> usize {
        let (_, rest) = error.message.split_once(" first ").unwrap();
        rest.split(' ').next().unwrap().parse().unwrap()
    }

    #[test]
    fn a_refusal_names_the_first_rows_that_fit() {
        let half = (RESPONSE_MAX - ENVELOPE) / 2 - 1;
        for (sizes, fit) in [
            (vec![half, half, 1], 2),
            (vec![half, half + 100, 1], 1),
            (vec![RESPONSE_MAX, 1], 0),
        ] {
            let error = check_rendered_size(&sizes).unwrap_err();
            assert_eq!(error.code, Code::ResponseTooLarge);
            assert_eq!(error.field.as_deref(), Some("/requests"));
            assert_eq!(fitting(&error), fit, "{}", error.message);
            assert_eq!(check_rendered_size(&sizes[..fit]), Ok(()));
            assert!(check_rendered_size(&sizes[..=fit]).is_err());
        }
    }
}
