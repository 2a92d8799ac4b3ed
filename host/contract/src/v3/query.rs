//! Query strings, read by the same walk as bodies.

use std::borrow::Cow;

use crate::error::{ValidationError, ValidationErrors};
use crate::json::{MEMBERS_MAX, Member, Object, Section, Shape, Value};

/// Checks that a query has no parameter.
///
/// # Errors
/// Every parameter of the query.
pub fn read_none<'q>(
    parameters: impl IntoIterator<Item = (&'q str, &'q str)>,
) -> Result<(), Vec<ValidationError>> {
    let object = object(parameters);
    let mut errors = ValidationErrors::default();
    let shape = Shape {
        pointer: "",
        fields: &[],
    };
    Section::new(shape, 0, &object).finish(&mut errors);
    if errors.count() == 0 {
        Ok(())
    } else {
        Err(errors.into_listed())
    }
}

/// Converts decoded parameters to the members of an object, all of them strings.
pub(super) fn object<'q>(parameters: impl IntoIterator<Item = (&'q str, &'q str)>) -> Object<'q> {
    let mut object = Object::default();
    for (at, (name, value)) in parameters.into_iter().enumerate() {
        if at == MEMBERS_MAX {
            object.truncated = true;
            break;
        }
        object.members.push(Member {
            name: Cow::Borrowed(name),
            value: Value::String(Cow::Borrowed(value)),
            at,
        });
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;
    use crate::v3::coverage::CoverageQuery;

    fn errors(parameters: &[(&str, &str)]) -> Vec<(Code, String)> {
        CoverageQuery::read(parameters.iter().copied())
            .unwrap_err()
            .into_iter()
            .map(|error| (error.code, error.field.unwrap().into_owned()))
            .collect()
    }

    #[test]
    fn a_sound_query_is_read() {
        let query = CoverageQuery::read([("uprn", "42"), ("postcode", "rg301aa")]).unwrap();
        assert_eq!(query.postcode.as_str(), "RG30 1AA");
        assert_eq!(query.uprn.map(|uprn| uprn.get()), Some(42));
    }

    #[test]
    fn every_fault_of_a_query_is_reported() {
        assert_eq!(
            errors(&[("uprn", "x"), ("a/b", ""), ("uprn", "1")]),
            [
                (Code::MissingField, "/postcode".to_owned()),
                (Code::InvalidValue, "/uprn".to_owned()),
                (Code::UnknownField, "/a~1b".to_owned()),
                (Code::InvalidValue, "/uprn".to_owned()),
            ]
        );
        assert_eq!(
            errors(&[("postcode", "RG30 1AA"), ("verbose", "1")]),
            [(Code::UnknownField, "/verbose".to_owned())]
        );
    }

    #[test]
    fn a_route_without_parameters_takes_none() {
        assert!(read_none([]).is_ok());
        let errors = read_none([("verbose", "1")]).unwrap_err();
        assert_eq!(errors[0].field.as_deref(), Some("/verbose"));
    }
}
