//! Options of a request, and how a row's, a batch's and the default settings combine.

use std::ops::RangeInclusive;

use crate::error::{Code, ValidationErrors};
use crate::json::values::{ValueError, boolean, integer};
use crate::json::{Section, Shape, Value};
use crate::v3::request::Kind;

pub(super) const DEVELOPMENT_FIELDS: &[&str] = &[
    "include_comparables",
    "comparables_limit",
    "include_context_metrics",
];

pub(super) const FIELDS: &[&str] = &[
    "include_comparables",
    "comparables_limit",
    "include_context_metrics",
    "use_stored_data",
];

/// The allowed numbers of comparables.
pub(super) const COMPARABLES: RangeInclusive<u8> = 0..=10;

/// The default options.
pub(super) const DEFAULTS: Options = Options {
    include_comparables: false,
    comparables_limit: 5,
    include_context_metrics: false,
    use_stored_data: false,
};

/// Options as sent, at one level. An absent one is inherited from the next level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Settings {
    /// True to list comparables.
    pub include_comparables: Option<bool>,
    /// The largest number of comparables, 0 to 10. Zero is a value: a list that is empty.
    pub comparables_limit: Option<u8>,
    /// True to add the location's context.
    pub include_context_metrics: Option<bool>,
    /// True to fill blank fields from stored values.
    pub use_stored_data: Option<bool>,
}

/// Options as they apply to one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// True to list comparables.
    pub include_comparables: bool,
    /// The largest number of comparables, 0 to 10.
    pub comparables_limit: u8,
    /// True to add the location's context.
    pub include_context_metrics: bool,
    /// True to fill blank fields from stored values. The key needs the scope for it.
    pub use_stored_data: bool,
}

/// The depth of detail that a route's results may show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The core response alone, whatever the options.
    Simple,
    /// Comparables and context too, where the options ask for them.
    Standard,
}

/// The sections that a result is rendered with, beyond its core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseSections {
    /// The comparables section with at most this many entries; `None` leaves it out.
    pub comparables: Option<u8>,
    /// The context section.
    pub context: bool,
}

impl Settings {
    /// Returns the options of a row: each setting is the row's, else the batch's, else the default.
    /// A single request is a row without a batch.
    #[must_use]
    pub fn within(self, batch: Self) -> Options {
        Options {
            include_comparables: self
                .include_comparables
                .or(batch.include_comparables)
                .unwrap_or(DEFAULTS.include_comparables),
            comparables_limit: self
                .comparables_limit
                .or(batch.comparables_limit)
                .unwrap_or(DEFAULTS.comparables_limit),
            include_context_metrics: self
                .include_context_metrics
                .or(batch.include_context_metrics)
                .unwrap_or(DEFAULTS.include_context_metrics),
            use_stored_data: self
                .use_stored_data
                .or(batch.use_stored_data)
                .unwrap_or(DEFAULTS.use_stored_data),
        }
    }
}

impl Options {
    /// Returns the sections of a result of a route of this depth.
    #[must_use]
    pub fn sections(self, depth: Depth) -> ResponseSections {
        match depth {
            Depth::Simple => ResponseSections {
                comparables: None,
                context: false,
            },
            Depth::Standard => ResponseSections {
                comparables: if self.include_comparables {
                    Some(self.comparables_limit)
                } else {
                    None
                },
                context: self.include_context_metrics,
            },
        }
    }
}

/// The level of an `options` member, which decides the meaning of null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// Of a single request or of a whole batch: null is an error.
    Shared,
    /// Of a batch's row: null inherits everything, as an absent or empty object does.
    Row,
}

/// Reads the `options` member of a document. `None` where an error was reported.
pub(super) fn read(
    document: &mut Section<'_, '_>,
    errors: &mut ValidationErrors,
    level: Level,
    kind: Kind,
) -> Option<Settings> {
    const NAME: &str = "options";
    let Some(member) = document.take(NAME) else {
        return Some(Settings::default());
    };
    match (&member.value, level) {
        (Value::Null, Level::Row) => Some(Settings::default()),
        (Value::Null, Level::Shared) => {
            let message = "Options must not be null; leave them out or send {}.".to_owned();
            document.report(errors, Code::NullOption, NAME, message);
            None
        }
        (Value::Object(object), _) => {
            let shape = Shape {
                pointer: "/options",
                fields: match kind {
                    Kind::Existing => FIELDS,
                    Kind::Development => DEVELOPMENT_FIELDS,
                },
            };
            settings(Section::new(shape, member.at, object), errors, kind)
        }
        (other, _) => {
            let message = format!("Expected an object, got {}.", other.kind());
            document.report(errors, Code::InvalidValue, NAME, message);
            None
        }
    }
}

fn settings(
    mut section: Section<'_, '_>,
    errors: &mut ValidationErrors,
    kind: Kind,
) -> Option<Settings> {
    let earlier = errors.count();
    let settings = Settings {
        include_comparables: setting(&mut section, errors, "include_comparables", boolean),
        comparables_limit: setting(
            &mut section,
            errors,
            "comparables_limit",
            integer(COMPARABLES),
        ),
        include_context_metrics: setting(&mut section, errors, "include_context_metrics", boolean),
        use_stored_data: match kind {
            Kind::Existing => setting(&mut section, errors, "use_stored_data", boolean),
            Kind::Development => None,
        },
    };
    section.finish(errors);
    (errors.count() == earlier).then_some(settings)
}

/// Reads one option. Null is an error: a client inherits an option by leaving it out.
fn setting<'v, 'a, T>(
    section: &mut Section<'v, 'a>,
    errors: &mut ValidationErrors,
    name: &'static str,
    read: impl FnOnce(&'v Value<'a>) -> Result<T, ValueError>,
) -> Option<T> {
    if section.take(name)?.value == Value::Null {
        let message = "An option must not be null; leave it out to inherit it.".to_owned();
        section.report(errors, Code::NullOption, name, message);
        return None;
    }
    section.optional(errors, name, read)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Settings = Settings {
        include_comparables: None,
        comparables_limit: None,
        include_context_metrics: None,
        use_stored_data: None,
    };

    #[test]
    fn nothing_sent_gives_the_documented_defaults() {
        let options = NONE.within(NONE);
        assert_eq!(
            options,
            Options {
                include_comparables: false,
                comparables_limit: 5,
                include_context_metrics: false,
                use_stored_data: false,
            }
        );
    }

    #[test]
    fn each_setting_is_resolved_for_itself() {
        let batch = Settings {
            include_comparables: Some(true),
            comparables_limit: Some(7),
            use_stored_data: Some(true),
            ..NONE
        };
        let row = Settings {
            include_context_metrics: Some(true),
            use_stored_data: Some(false),
            ..NONE
        };
        let sections = row.within(batch).sections(Depth::Standard);
        assert_eq!(
            sections,
            ResponseSections {
                comparables: Some(7),
                context: true
            }
        );
        assert!(!row.within(batch).use_stored_data);
        assert!(NONE.within(batch).use_stored_data);
    }

    #[test]
    fn a_row_limit_of_zero_is_a_value() {
        let batch = Settings {
            include_comparables: Some(true),
            comparables_limit: Some(7),
            ..NONE
        };
        let row = Settings {
            comparables_limit: Some(0),
            ..NONE
        };
        let sections = row.within(batch).sections(Depth::Standard);
        assert_eq!(sections.comparables, Some(0));
    }

    #[test]
    fn a_row_can_decline_comparables_and_keep_the_rest() {
        let batch = Settings {
            include_comparables: Some(true),
            include_context_metrics: Some(true),
            ..NONE
        };
        let row = Settings {
            include_comparables: Some(false),
            ..NONE
        };
        let sections = row.within(batch).sections(Depth::Standard);
        assert_eq!(
            sections,
            ResponseSections {
                comparables: None,
                context: true
            }
        );
    }

    #[test]
    fn simple_routes_show_the_core_alone() {
        let all = Settings {
            include_comparables: Some(true),
            comparables_limit: Some(10),
            include_context_metrics: Some(true),
            use_stored_data: Some(true),
        };
        let sections = all.within(NONE).sections(Depth::Simple);
        assert_eq!(
            sections,
            ResponseSections {
                comparables: None,
                context: false
            }
        );
    }
}
