//! The scopes of a key.

use std::collections::BTreeSet;
use std::fmt;

/// The right to one part of the service, as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Valuation of existing homes, batches and jobs: `avm:value`.
    AvmValue,
    /// Valuation of proposed homes: `avm:development`.
    AvmDevelopment,
    /// Use of stored property data: `avm:stored-data`.
    AvmStoredData,
    /// Market statistics: `markets:read`, or `markets:read:<dataset>` for one dataset.
    MarketsRead,
    /// Sterling rates: `rates:read`, or `rates:read:<dataset>` for one dataset.
    RatesRead,
}

impl Scope {
    /// Every scope there is.
    pub const ALL: [Scope; 5] = [
        Scope::AvmValue,
        Scope::AvmDevelopment,
        Scope::AvmStoredData,
        Scope::MarketsRead,
        Scope::RatesRead,
    ];

    /// Returns the scope as written.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::AvmValue => "avm:value",
            Scope::AvmDevelopment => "avm:development",
            Scope::AvmStoredData => "avm:stored-data",
            Scope::MarketsRead => "markets:read",
            Scope::RatesRead => "rates:read",
        }
    }

    fn has_datasets(self) -> bool {
        matches!(self, Scope::MarketsRead | Scope::RatesRead)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The datasets of a family that a key may read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum DatasetAccess {
    /// None: the key lacks the scope.
    #[default]
    None,
    /// Those named, at least one.
    Only(BTreeSet<String>),
    /// All that there are or will be.
    All,
}

impl DatasetAccess {
    /// Reports whether `dataset` may be read.
    pub fn allows(&self, dataset: &str) -> bool {
        match self {
            DatasetAccess::None => false,
            DatasetAccess::Only(datasets) => datasets.contains(dataset),
            DatasetAccess::All => true,
        }
    }
}

/// The scopes of one key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scopes {
    avm: BTreeSet<Scope>,
    markets: DatasetAccess,
    rates: DatasetAccess,
}

/// The reason why texts are not the scopes of a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// No scope of that name.
    #[error(
        "{text:?} is not a scope; there are avm:value, avm:development, avm:stored-data, markets:read[:<dataset>] and rates:read[:<dataset>]"
    )]
    Unknown {
        /// The text given.
        text: String,
    },
    /// The scope has no datasets to narrow it to.
    #[error("{scope} cannot be narrowed to a dataset")]
    NotNarrowable {
        /// The scope.
        scope: Scope,
    },
    /// Not the name of a dataset.
    #[error("{dataset:?} is not a dataset's name: 1 to 64 of a-z, 0-9 and '_'")]
    Dataset {
        /// The text given.
        dataset: String,
    },
    /// A family both as a whole and by dataset: which of the two is meant?
    #[error("{scope} is given both as a whole and narrowed to datasets")]
    WholeAndNarrowed {
        /// The scope.
        scope: Scope,
    },
    /// No scope at all.
    #[error("a key needs at least one scope")]
    Empty,
}

impl Scopes {
    /// Returns every scope, not narrowed.
    pub fn all() -> Self {
        Scopes {
            avm: Scope::ALL
                .into_iter()
                .filter(|scope| !scope.has_datasets())
                .collect(),
            markets: DatasetAccess::All,
            rates: DatasetAccess::All,
        }
    }

    /// Reads scopes, each as written by an operator. Several scopes of one family allow each
    /// dataset that they name.
    ///
    /// # Errors
    /// [`ScopeError::Empty`] without a scope. Otherwise the first text's problem:
    /// [`ScopeError::Unknown`], [`ScopeError::NotNarrowable`], [`ScopeError::Dataset`] or
    /// [`ScopeError::WholeAndNarrowed`].
    pub fn parse<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Self, ScopeError> {
        let mut scopes = Scopes::default();
        for text in texts {
            scopes.add(text.as_ref())?;
        }
        if scopes == Scopes::default() {
            return Err(ScopeError::Empty);
        }
        Ok(scopes)
    }

    fn add(&mut self, text: &str) -> Result<(), ScopeError> {
        let (scope, dataset) = Scope::ALL
            .into_iter()
            .find_map(|scope| match text.strip_prefix(scope.as_str())? {
                "" => Some((scope, None)),
                rest => Some((scope, Some(rest.strip_prefix(':')?))),
            })
            .ok_or_else(|| ScopeError::Unknown {
                text: text.to_owned(),
            })?;
        let datasets = match scope {
            Scope::MarketsRead => &mut self.markets,
            Scope::RatesRead => &mut self.rates,
            _ if dataset.is_some() => return Err(ScopeError::NotNarrowable { scope }),
            _ => {
                self.avm.insert(scope);
                return Ok(());
            }
        };
        match (dataset, datasets) {
            (None, datasets @ (DatasetAccess::None | DatasetAccess::All)) => {
                *datasets = DatasetAccess::All;
            }
            (Some(dataset), datasets @ DatasetAccess::None) => {
                *datasets = DatasetAccess::Only(BTreeSet::from([dataset_name(dataset)?]));
            }
            (Some(dataset), DatasetAccess::Only(named)) => {
                named.insert(dataset_name(dataset)?);
            }
            _ => return Err(ScopeError::WholeAndNarrowed { scope }),
        }
        Ok(())
    }

    /// Reports whether the key has `scope`; for a family of datasets, at least one of them.
    pub fn has(&self, scope: Scope) -> bool {
        match scope {
            Scope::MarketsRead => self.markets != DatasetAccess::None,
            Scope::RatesRead => self.rates != DatasetAccess::None,
            _ => self.avm.contains(&scope),
        }
    }

    /// Returns the market datasets that the key may read.
    pub fn markets(&self) -> &DatasetAccess {
        &self.markets
    }

    /// Returns the rates datasets that the key may read.
    pub fn rates(&self) -> &DatasetAccess {
        &self.rates
    }

    /// Returns the scopes as written, in a fixed order; [`Scopes::parse`] reads them back.
    pub fn texts(&self) -> Vec<String> {
        let mut texts: Vec<String> = self.avm.iter().map(Scope::to_string).collect();
        for (scope, datasets) in [
            (Scope::MarketsRead, &self.markets),
            (Scope::RatesRead, &self.rates),
        ] {
            match datasets {
                DatasetAccess::None => {}
                DatasetAccess::All => texts.push(scope.to_string()),
                DatasetAccess::Only(named) => {
                    texts.extend(named.iter().map(|dataset| format!("{scope}:{dataset}")));
                }
            }
        }
        texts
    }
}

/// Parses a dataset's name. It checks the form alone: the releases decide which datasets exist.
fn dataset_name(text: &str) -> Result<String, ScopeError> {
    let good = (1..=64).contains(&text.len())
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    good.then(|| text.to_owned())
        .ok_or_else(|| ScopeError::Dataset {
            dataset: text.to_owned(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn scopes_are_read_as_written() {
        let scopes = Scopes::parse([
            "rates:read:bank_rate",
            "avm:value",
            "rates:read:sonia_overnight",
        ])
        .unwrap();
        assert!(scopes.has(Scope::AvmValue) && scopes.has(Scope::RatesRead));
        assert!(!scopes.has(Scope::AvmDevelopment) && !scopes.has(Scope::MarketsRead));
        assert!(scopes.rates().allows("bank_rate"));
        assert!(!scopes.rates().allows("ois_spot_curve"));
        assert!(!scopes.markets().allows("price_bands"));
        assert!(Scopes::all().markets().allows("price_bands"));
        assert!(Scope::ALL.into_iter().all(|scope| Scopes::all().has(scope)));
        assert_eq!(
            Scopes::all().texts(),
            [
                "avm:value",
                "avm:development",
                "avm:stored-data",
                "markets:read",
                "rates:read"
            ]
        );
    }

    #[test]
    fn invalid_scopes_are_named() {
        let unknown = |text: &str| ScopeError::Unknown { text: text.into() };
        let dataset = |text: &str| ScopeError::Dataset {
            dataset: text.into(),
        };
        let markets = Scope::MarketsRead;
        let cases: [(&[&str], ScopeError); 9] = [
            (&["avm:values"], unknown("avm:values")),
            (&["AVM:value"], unknown("AVM:value")),
            (&[""], unknown("")),
            (
                &["avm:value:x"],
                ScopeError::NotNarrowable {
                    scope: Scope::AvmValue,
                },
            ),
            (&["markets:read:"], dataset("")),
            (&["markets:read:a", "markets:read:B"], dataset("B")),
            (
                &["markets:read", "markets:read:a"],
                ScopeError::WholeAndNarrowed { scope: markets },
            ),
            (
                &["markets:read:a", "markets:read"],
                ScopeError::WholeAndNarrowed { scope: markets },
            ),
            (&[], ScopeError::Empty),
        ];
        for (texts, error) in cases {
            assert_eq!(Scopes::parse(texts), Err(error), "{texts:?}");
        }
    }

    proptest! {
        #[test]
        fn texts_are_read_back(avm in prop::sample::subsequence(vec!["avm:value", "avm:development", "avm:stored-data"], 0..=3),
            markets in prop::collection::vec("[a-z0-9_]{1,8}", 0..4), whole in any::<bool>()) {
            let mut texts: Vec<String> = avm.iter().map(|text| (*text).to_owned()).collect();
            texts.extend(markets.iter().map(|dataset| format!("markets:read:{dataset}")));
            if whole || texts.is_empty() {
                texts.push("rates:read".to_owned());
            }
            let scopes = Scopes::parse(&texts).unwrap();
            prop_assert_eq!(Scopes::parse(scopes.texts()), Ok(scopes));
        }
    }
}
