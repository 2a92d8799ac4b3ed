//! Every error code of both interfaces, with its HTTP status.

use crate::vocabulary::vocabulary;

vocabulary! {
    /// The code of an error: what a client's program branches on.
    pub open enum Code {
        /// No bearer credential.
        MissingCredential = "missing_credential",
        /// A credential that no key matches, or one revoked or expired.
        InvalidCredential = "invalid_credential",
        /// The key lacks the scope that the route or an option needs.
        ScopeRequired = "scope_required",
        /// Access is switched off for this customer, or its plan does not include the request.
        AccessDisabled = "access_disabled",
        /// No such job for this tenant, now.
        JobNotFound = "job_not_found",
        /// No such path.
        RouteNotFound = "route_not_found",
        /// The path exists, but not with this method.
        MethodNotAllowed = "method_not_allowed",
        /// The body did not arrive in time.
        BodyTimeout = "body_timeout",
        /// The idempotency key was used with a different body.
        IdempotencyConflict = "idempotency_conflict",
        /// The idempotency key is past its retention and can create nothing.
        IdempotencyKeyExpired = "idempotency_key_expired",
        /// More rows than the lowest limit that applies.
        TooManyRows = "too_many_rows",
        /// A body larger than the limit.
        BodyTooLarge = "body_too_large",
        /// The answer would be larger than the limit.
        ResponseTooLarge = "response_too_large",
        /// A compressed body.
        CompressedBody = "compressed_body",
        /// A body that does not say that it is JSON.
        UnsupportedMediaType = "unsupported_media_type",
        /// Not JSON.
        InvalidJson = "invalid_json",
        /// A member or query parameter that the contract does not name.
        UnknownField = "unknown_field",
        /// A required field is absent.
        MissingField = "missing_field",
        /// A value of the wrong type, out of range, repeated, or at odds with another.
        InvalidValue = "invalid_value",
        /// A section without a field.
        EmptySection = "empty_section",
        /// An option that is null.
        NullOption = "null_option",
        /// No property answers to the address.
        AddressNotFound = "address_not_found",
        /// Several properties answer to the address.
        AddressAmbiguous = "address_ambiguous",
        /// The address belongs to another UPRN.
        UprnAddressMismatch = "uprn_address_mismatch",
        /// The property is not residential.
        NotResidential = "not_residential",
        /// The property lies outside England and Wales.
        OutsideGeography = "outside_geography",
        /// The valuation date lies outside the release's window.
        ValuationDateOutsideWindow = "valuation_date_outside_window",
        /// A batch or job without rows.
        EmptyRequests = "empty_requests",
        /// More requests than the plan's rate.
        RateLimited = "rate_limited",
        /// More requests at once than the plan's concurrency.
        ConcurrencyLimited = "concurrency_limited",
        /// The plan's queued jobs or stored bytes are taken, or the service has as many requests in
        /// work as it takes.
        CapacityOccupied = "capacity_occupied",
        /// The month's allowance of units is used up.
        MonthlyValuationQuotaExceeded = "monthly_valuation_quota_exceeded",
        /// The service failed.
        Internal = "internal",
        /// The address lookup fails, in the snapshot or at the provider.
        IdentityProviderUnavailable = "identity_provider_unavailable",
        /// New jobs are paused.
        JobAdmissionPaused = "job_admission_paused",
        /// The processing deadline passed before the work was done.
        ProcessingDeadlineExceeded = "processing_deadline_exceeded",
        /// The service has more work than it can take.
        Overloaded = "overloaded",
        /// The release gave no usable answer for this property, and never will.
        ReleaseFailed = "release_failed",
        /// Series: no dataset is named.
        MissingDataset = "missing_dataset",
        /// Series: a required parameter is absent.
        MissingParameter = "missing_parameter",
        /// Series: a parameter that the dataset or the route does not take.
        UnknownParameter = "unknown_parameter",
        /// Series: a parameter given more than once.
        DuplicateParameter = "duplicate_parameter",
        /// Series: a value of the wrong form or out of range.
        InvalidParameter = "invalid_parameter",
        /// Series: no dataset of the family has this name.
        UnknownDataset = "unknown_dataset",
        /// Series: the release has no such local authority.
        UnknownArea = "unknown_area",
        /// Series: a maturity that exists nowhere in the release.
        UnknownNode = "unknown_node",
        /// Series: no such release is retained.
        ReleaseNotFound = "release_not_found",
        /// Series: coverage takes no cursor.
        CursorNotAccepted = "cursor_not_accepted",
        /// Series: a cursor that this service did not give this customer.
        InvalidCursor = "invalid_cursor",
        /// Series: a continuation takes the cursor alone.
        CursorWithSelectors = "cursor_with_selectors",
    }
}

impl Code {
    /// Returns the HTTP status of a request refused with this code. [`Code::ReleaseFailed`] stands
    /// only within a result, whose request was answered: 200.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::ReleaseFailed => 200,
            Self::UnknownParameter
            | Self::DuplicateParameter
            | Self::CursorNotAccepted
            | Self::CursorWithSelectors => 400,
            Self::MissingCredential | Self::InvalidCredential => 401,
            Self::ScopeRequired | Self::AccessDisabled => 403,
            Self::JobNotFound | Self::RouteNotFound | Self::ReleaseNotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::BodyTimeout => 408,
            Self::IdempotencyConflict | Self::IdempotencyKeyExpired => 409,
            Self::TooManyRows | Self::BodyTooLarge | Self::ResponseTooLarge => 413,
            Self::CompressedBody | Self::UnsupportedMediaType => 415,
            Self::InvalidJson
            | Self::UnknownField
            | Self::MissingField
            | Self::InvalidValue
            | Self::EmptySection
            | Self::NullOption
            | Self::AddressNotFound
            | Self::AddressAmbiguous
            | Self::UprnAddressMismatch
            | Self::NotResidential
            | Self::OutsideGeography
            | Self::ValuationDateOutsideWindow
            | Self::EmptyRequests
            | Self::MissingDataset
            | Self::MissingParameter
            | Self::InvalidParameter
            | Self::UnknownDataset
            | Self::UnknownArea
            | Self::UnknownNode
            | Self::InvalidCursor => 422,
            Self::RateLimited
            | Self::ConcurrencyLimited
            | Self::CapacityOccupied
            | Self::MonthlyValuationQuotaExceeded => 429,
            Self::Internal => 500,
            Self::IdentityProviderUnavailable
            | Self::JobAdmissionPaused
            | Self::ProcessingDeadlineExceeded
            | Self::Overloaded => 503,
        }
    }

    /// Returns whether the same request may succeed later: 429, 500 and 503, but for the month's
    /// allowance, which waiting a moment does not refill.
    #[must_use]
    pub fn retryable(self) -> bool {
        matches!(self.status(), 429 | 500 | 503)
            && !matches!(self, Self::MonthlyValuationQuotaExceeded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::Vocabulary;

    /// The documented table: code, status, retryable.
    const TABLE: &[(&str, u16, bool)] = &[
        ("missing_credential", 401, false),
        ("invalid_credential", 401, false),
        ("scope_required", 403, false),
        ("access_disabled", 403, false),
        ("job_not_found", 404, false),
        ("route_not_found", 404, false),
        ("method_not_allowed", 405, false),
        ("body_timeout", 408, false),
        ("idempotency_conflict", 409, false),
        ("idempotency_key_expired", 409, false),
        ("too_many_rows", 413, false),
        ("body_too_large", 413, false),
        ("response_too_large", 413, false),
        ("compressed_body", 415, false),
        ("unsupported_media_type", 415, false),
        ("invalid_json", 422, false),
        ("unknown_field", 422, false),
        ("missing_field", 422, false),
        ("invalid_value", 422, false),
        ("empty_section", 422, false),
        ("null_option", 422, false),
        ("address_not_found", 422, false),
        ("address_ambiguous", 422, false),
        ("uprn_address_mismatch", 422, false),
        ("not_residential", 422, false),
        ("outside_geography", 422, false),
        ("valuation_date_outside_window", 422, false),
        ("empty_requests", 422, false),
        ("rate_limited", 429, true),
        ("concurrency_limited", 429, true),
        ("capacity_occupied", 429, true),
        ("monthly_valuation_quota_exceeded", 429, false),
        ("internal", 500, true),
        ("identity_provider_unavailable", 503, true),
        ("job_admission_paused", 503, true),
        ("processing_deadline_exceeded", 503, true),
        ("overloaded", 503, true),
        ("release_failed", 200, false),
        ("missing_dataset", 422, false),
        ("missing_parameter", 422, false),
        ("unknown_parameter", 400, false),
        ("duplicate_parameter", 400, false),
        ("invalid_parameter", 422, false),
        ("unknown_dataset", 422, false),
        ("unknown_area", 422, false),
        ("unknown_node", 422, false),
        ("release_not_found", 404, false),
        ("cursor_not_accepted", 400, false),
        ("invalid_cursor", 422, false),
        ("cursor_with_selectors", 400, false),
    ];

    #[test]
    fn every_code_has_the_documented_status_and_retryability() {
        let actual: Vec<_> = Code::ALL
            .iter()
            .map(|&code| (code.code(), code.status(), code.retryable()))
            .collect();
        assert_eq!(actual, TABLE);
    }
}
