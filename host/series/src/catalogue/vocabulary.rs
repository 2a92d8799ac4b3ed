//! The words of the contract: each list of words is one type.

/// Declares an enum whose variants are written as these words.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[doc = $doc:literal])+ $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[doc = $doc])+ $variant,)+ }

        impl $name {
            /// All of them, in order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// Returns the word in requests, answers and packages.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }

            /// Returns the meaning, a sentence for people.
            pub const fn meaning(self) -> &'static str {
                match self { $($name::$variant => concat!($($doc),+).trim_ascii(),)+ }
            }

            /// Returns every word with its meaning.
            pub fn glossary() -> impl Iterator<Item = (&'static str, &'static str)> {
                Self::ALL.iter().map(|word| (word.as_str(), word.meaning()))
            }

            /// Returns the one that is written as `word`.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some($name::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// Frequency of the observations.
    Frequency {
        /// By calendar month, `YYYY-MM`.
        Monthly = "monthly",
        /// By day, `YYYY-MM-DD`; not every day has an observation.
        Daily = "daily",
    }
}

words! {
    /// Kind of figure that a series holds.
    Basis {
        /// Recorded by its publisher.
        Observed = "observed",
        /// Estimated from records.
        Estimated = "estimated",
        /// Counted from records that are still added to.
        RecordedRevisable = "recorded_revisable",
        /// Read from a fitted curve, or computed from one.
        Indicative = "indicative",
        /// Computed from other series.
        Derived = "derived",
        /// Result of a stated assumption.
        Scenario = "scenario",
    }
}

words! {
    /// The status of one observation.
    Status {
        /// An estimate.
        Estimated = "estimated",
        /// Recorded, and open to revision.
        RecordedRevisable = "recorded_revisable",
        /// Indicative.
        Indicative = "indicative",
        /// Part of a scenario.
        Scenario = "scenario",
    }
}

words! {
    /// Part of a dataset's history that a release holds.
    History {
        /// All observations that were retained.
        RetainedObservations = "retained_observations",
        /// One summary, the latest.
        LatestSummaryPerRelease = "latest_summary_per_release",
        /// One snapshot, as it was saved.
        SavedSnapshotOnly = "saved_snapshot_only",
    }
}

words! {
    /// Availability of a series' observations.
    Availability {
        /// It has.
        Available = "available",
        /// Every value is withheld, since too few records lie behind it.
        Suppressed = "suppressed",
        /// It has none.
        NotAvailable = "not_available",
    }
}

words! {
    /// A selector whose value is a word. Series of a package are ordered by them in this order.
    SelectorName {
        /// The code of a local authority.
        Area = "area",
        /// A type of home.
        PropertyType = "property_type",
        /// A number of bedrooms.
        BedroomGroup = "bedroom_group",
        /// A band of prices.
        PriceBand = "price_band",
        /// A mortgage product.
        MortgageProduct = "mortgage_product",
        /// A scenario.
        Scenario = "scenario",
    }
}

words! {
    /// A numeric dimension of a series.
    Dimension {
        /// Maturity in months.
        TenorMonths = "tenor_months",
        /// Length in years.
        TermYears = "term_years",
        /// Start in months after the snapshot.
        HorizonMonth = "horizon_month",
        /// Loan to value, per cent.
        LtvPct = "ltv_pct",
    }
}

words! {
    /// A field that observations of some datasets carry besides period, status and value.
    ObservationField {
        /// Month of the rent.
        RentalObservationMonth = "rental_observation_month",
        /// Month of the rents' structure by type and size.
        StructureObservationMonth = "structure_observation_month",
        /// Month of the capital value.
        CapitalObservationMonth = "capital_observation_month",
        /// First day of the rental window.
        RentalPeriodStart = "rental_period_start",
        /// Last day of the rental window.
        RentalPeriodEnd = "rental_period_end",
        /// First day of the capital window.
        CapitalPeriodStart = "capital_period_start",
        /// Last day of the capital window.
        CapitalPeriodEnd = "capital_period_end",
        /// Months from the capital month to the rental month.
        InputMonthGap = "input_month_gap",
        /// Marker of inputs of different months.
        MixedVintage = "mixed_vintage",
        /// The day of the curve.
        SnapshotDate = "snapshot_date",
        /// Compounding of the rate.
        Compounding = "compounding",
        /// Day count of the rate.
        DayCount = "day_count",
        /// Meaning of the interval.
        IntervalKind = "interval_kind",
        /// First day of the interval.
        IntervalStartDate = "interval_start_date",
        /// Last day of the interval.
        IntervalEndDate = "interval_end_date",
        /// Start of the interval in months after the snapshot.
        IntervalStartMonth = "interval_start_month",
        /// End of the interval in months after the snapshot.
        IntervalEndMonth = "interval_end_month",
        /// First day of the projected interval.
        ProjectionStartDate = "projection_start_date",
        /// Last day of the projected interval.
        ProjectionEndDate = "projection_end_date",
        /// Start of the projected interval in months after the snapshot.
        ProjectionStartMonth = "projection_start_month",
        /// End of the projected interval in months after the snapshot.
        ProjectionEndMonth = "projection_end_month",
        /// Date of the latest mortgage rate that went in.
        MortgageLatestObservationDate = "mortgage_latest_observation_date",
        /// Date of the latest reversion rate that went in.
        SvrLatestObservationDate = "svr_latest_observation_date",
        /// End of the two-year swap that went in.
        Swap2yEndDate = "swap_2y_end_date",
        /// End of the five-year swap that went in.
        Swap5yEndDate = "swap_5y_end_date",
        /// End of the ten-year swap that went in.
        Swap10yEndDate = "swap_10y_end_date",
        /// Compounding of SONIA in the path.
        SoniaCompounding = "sonia_compounding",
        /// Reference rate of a spread.
        ReferenceBasis = "reference_basis",
        /// The day of the swap that a spread is measured against.
        MatchedSwapAsOfDate = "matched_swap_as_of_date",
    }
}

/// The type of a field's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// A day, `YYYY-MM-DD`.
    Date,
    /// A month, `YYYY-MM`.
    Month,
    /// A whole number.
    Integer,
    /// True or false.
    Boolean,
    /// A word.
    Text,
}

impl ObservationField {
    /// Returns the type of its values.
    pub const fn kind(self) -> FieldKind {
        use ObservationField as F;
        match self {
            F::RentalObservationMonth
            | F::StructureObservationMonth
            | F::CapitalObservationMonth => FieldKind::Month,
            F::RentalPeriodStart
            | F::RentalPeriodEnd
            | F::CapitalPeriodStart
            | F::CapitalPeriodEnd
            | F::SnapshotDate
            | F::IntervalStartDate
            | F::IntervalEndDate
            | F::ProjectionStartDate
            | F::ProjectionEndDate
            | F::MortgageLatestObservationDate
            | F::SvrLatestObservationDate
            | F::Swap2yEndDate
            | F::Swap5yEndDate
            | F::Swap10yEndDate
            | F::MatchedSwapAsOfDate => FieldKind::Date,
            F::InputMonthGap
            | F::IntervalStartMonth
            | F::IntervalEndMonth
            | F::ProjectionStartMonth
            | F::ProjectionEndMonth => FieldKind::Integer,
            F::MixedVintage => FieldKind::Boolean,
            F::Compounding
            | F::DayCount
            | F::IntervalKind
            | F::SoniaCompounding
            | F::ReferenceBasis => FieldKind::Text,
        }
    }
}
