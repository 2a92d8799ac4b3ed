//! Query parameters, from the catalogue.

use crate::route::Field;
use domesday_contract::schema::{SchemaExt, integer, pattern};
use domesday_series::catalogue::{
    Choices, Dataset, Family, Frequency, Presence, Selector, SelectorRule,
};
use domesday_series::select::{DEFAULT_PAGE_SIZE, LARGEST_PAGE, QueryKind};
use serde_json::Value;
use std::collections::BTreeSet;
use utoipa::openapi::Object;
use utoipa::openapi::path::ParameterIn;
use utoipa::openapi::schema::{SchemaType, Type};

/// The longest value of a parameter with a limit, in characters. A cursor is longer.
const LONGEST: usize = 200;
/// The longest id of a release, in characters.
const LONGEST_ID: usize = 100;
/// The form of the id of a release, which is that of a package.
const ID: &str = r"^[a-z0-9](?:\.?[a-z0-9_-])*\.?$";

pub fn markets_series() -> Vec<Field> {
    series(Family::Markets)
}

pub fn rates_series() -> Vec<Field> {
    series(Family::Rates)
}

pub fn markets_coverage() -> Vec<Field> {
    coverage(Family::Markets)
}

pub fn rates_coverage() -> Vec<Field> {
    coverage(Family::Rates)
}

/// Returns the parameters of routes that take a release alone.
pub fn release() -> Vec<Field> {
    vec![release_id()]
}

fn series(family: Family) -> Vec<Field> {
    let mut fields = initial(family, QueryKind::Series);
    fields.push(query(
        "cursor",
        Object::with_type(Type::String),
        "next_cursor of the page before, alone: it keeps selection and release.",
    ));
    fields
}

fn coverage(family: Family) -> Vec<Field> {
    initial(family, QueryKind::Coverage)
}

/// Returns the parameters of an initial request.
fn initial(family: Family, asked: QueryKind) -> Vec<Field> {
    let ids: Vec<Value> = family
        .datasets()
        .iter()
        .map(|dataset| dataset.id.into())
        .collect();
    // A cursor can replace the dataset of series, and coverage takes none.
    let (required, about) = match asked {
        QueryKind::Series => (false, "The dataset; required but beside a cursor."),
        QueryKind::Coverage => (true, "The dataset."),
    };
    let (name, location, _, schema, about) = query("dataset", among(Type::String, ids), about);
    let mut fields = vec![(name, location, required, schema, about)];
    let mut names = BTreeSet::new();
    for selector in family
        .datasets()
        .iter()
        .flat_map(|dataset| dataset.selectors)
    {
        if names.insert(selector.parameter()) {
            fields.push(selection(family, selector));
        }
    }
    let (form, example) = form_of_dates(family);
    fields.push(query(
        "from",
        pattern(form, LONGEST),
        &format!("The first period, {example}; alone, everything from it on."),
    ));
    fields.push(query(
        "to",
        pattern(form, LONGEST),
        &format!(
            "The last period, {example}; alone, everything up to it, which is no as-at lookup."
        ),
    ));
    fields.push(query(
        "metrics",
        pattern("^[a-z0-9_]+(,[a-z0-9_]+)*$", LONGEST),
        "Metrics of the dataset, parted by commas; without it the dataset's default ones.",
    ));
    fields.push(release_id());
    fields.push(page_size(asked));
    fields
}

fn page_size(asked: QueryKind) -> Field {
    const NAME: &str = "page_size";
    match asked {
        QueryKind::Series => {
            let largest = i64::try_from(LARGEST_PAGE).unwrap_or(i64::MAX);
            let mut size = integer(1..=largest);
            size.default = Some(DEFAULT_PAGE_SIZE.into());
            query(NAME, size, "The most observations of a page.")
        }
        // A number is taken too, as clients of the other route have one.
        QueryKind::Coverage => {
            let any = SchemaType::from_iter([Type::Integer, Type::String]);
            query(NAME, Object::with_type(any), "Taken and ignored.")
        }
    }
}

/// Describes a selector, over all datasets of the family that take it.
fn selection(family: Family, selector: &Selector) -> Field {
    let name = selector.parameter();
    let takers: Vec<(&Dataset, &Selector)> = family
        .datasets()
        .iter()
        .filter_map(|dataset| Some((dataset, dataset.selector(name)?)))
        .collect();
    let dataset_list = |presence: fn(Presence) -> bool| {
        let ids: Vec<String> = takers
            .iter()
            .filter(|(_, selector)| presence(selector.presence))
            .map(|(dataset, _)| format!("`{}`", dataset.id))
            .collect();
        ids.join(", ")
    };
    let mut about = describe(selector);
    let (required, optional) = (
        dataset_list(|presence| presence == Presence::Required),
        dataset_list(|presence| presence != Presence::Required),
    );
    if !required.is_empty() {
        about.push_str(&format!(" Required by {required}."));
    }
    if !optional.is_empty() {
        about.push_str(&format!(" Optional for {optional}."));
    }
    query(name, values(&takers), &about)
}

fn describe(selector: &Selector) -> String {
    match (selector.rule, selector.presence) {
        (SelectorRule::Area | SelectorRule::Choice(_), Presence::Default(value)) => {
            format!("{} Without it, `{value}`.", selector.name.meaning())
        }
        (SelectorRule::Area | SelectorRule::Choice(_), _) => selector.name.meaning().to_owned(),
        (SelectorRule::Node(dimension) | SelectorRule::Term(dimension, _), _) => {
            format!("{} Without it, all.", dimension.meaning())
        }
        (SelectorRule::AtLeast(_), _) => "The first horizon, months after the snapshot.".to_owned(),
        (SelectorRule::AtMost(_), _) => "The last horizon, months after the snapshot.".to_owned(),
    }
}

/// Describes every value that one of the datasets takes.
fn values(takers: &[(&Dataset, &Selector)]) -> Object {
    let mut words: Vec<Value> = Vec::new();
    for (_, selector) in takers {
        let more: Vec<Value> = match selector.rule {
            SelectorRule::Area => return pattern("^[EW][0-9]{8}$", 9),
            SelectorRule::Choice(Choices::PriceBands) => return pattern("^[a-z0-9_]+$", LONGEST),
            SelectorRule::Node(_) => return integer(0..=i64::from(u32::MAX)),
            SelectorRule::AtLeast(last) | SelectorRule::AtMost(last) => return integer(0..=last),
            SelectorRule::Choice(Choices::Fixed(of)) => {
                of.iter().map(|&word| word.into()).collect()
            }
            SelectorRule::Term(_, of) => of.iter().map(|&term| term.into()).collect(),
        };
        for value in more {
            if !words.contains(&value) {
                words.push(value);
            }
        }
    }
    let kind = match words.first() {
        Some(Value::Number(_)) => Type::Integer,
        _ => Type::String,
    };
    among(kind, words)
}

fn among(kind: Type, values: Vec<Value>) -> Object {
    let mut schema = Object::with_type(kind);
    schema.enum_values = Some(values);
    schema
}

/// Returns the format of the family's periods, as a pattern and as text.
fn form_of_dates(family: Family) -> (&'static str, &'static str) {
    let daily = |dataset: &Dataset| dataset.frequency == Frequency::Daily;
    match family.datasets().iter().any(daily) {
        false => ("^[0-9]{4}-[0-9]{2}$", "YYYY-MM"),
        true => (
            "^[0-9]{4}-[0-9]{2}(-[0-9]{2})?$",
            "YYYY-MM-DD for daily datasets and YYYY-MM for monthly ones",
        ),
    }
}

fn release_id() -> Field {
    query(
        "release_id",
        pattern(ID, LONGEST_ID),
        "Exactly this retained release; without it, the current one.",
    )
}

fn query(name: &'static str, schema: Object, about: &str) -> Field {
    let schema = schema.describe("");
    (
        name,
        ParameterIn::Query,
        false,
        schema,
        about.to_owned().into(),
    )
}
