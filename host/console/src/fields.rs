//! Fields that a browser sends, in a query or as a form.

/// The fields of a form or a query, in their order. Empty fields are left out.
#[derive(Clone, Debug, Default)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// Parses fields as a browser encodes them.
    pub fn parse(bytes: &[u8]) -> Fields {
        let fields = form_urlencoded::parse(bytes)
            .map(|(name, value)| (name.into_owned(), trim(&value).to_owned()))
            .filter(|(_, value)| !value.is_empty());
        Fields(fields.collect())
    }

    /// Returns the first field of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut fields = self.0.iter();
        fields
            .find(|(field, _)| field == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns the fields in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Adds a field, unless it is empty.
    pub fn add(&mut self, name: &str, value: &str) {
        let value = trim(value);
        if !value.is_empty() {
            self.0.push((name.to_owned(), value.to_owned()));
        }
    }

    /// Sets a field.
    pub fn set(&mut self, name: &str, value: &str) {
        self.remove(name);
        self.0.push((name.to_owned(), value.to_owned()));
    }

    /// Removes a field.
    pub fn remove(&mut self, name: &str) {
        self.0.retain(|(field, _)| field != name);
    }

    /// Returns the fields as a query.
    pub fn query(&self) -> String {
        form_urlencoded::Serializer::new(String::new())
            .extend_pairs(self.iter())
            .finish()
    }
}

/// Returns a value without blanks around it. The tabs of several lines divide cells, also empty
/// ones at the beginning and the end.
fn trim(value: &str) -> &str {
    match value.contains('\n') {
        true => value.trim_matches(['\r', '\n', ' ']),
        false => value.trim(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_cells_around_several_lines_stay() {
        let mut fields = Fields::default();
        fields.add("postcode", " QA1 1AF\t");
        fields.add("homes", "\tpostcode\n1\tQA1 1AF\t\r\n\n");
        assert_eq!(fields.get("postcode"), Some("QA1 1AF"));
        assert_eq!(fields.get("homes"), Some("\tpostcode\n1\tQA1 1AF\t"));
    }

    #[test]
    fn fields_are_read_and_written() {
        let fields = Fields::parse(b"a=1&b=&a=2&c=x+y%26");
        assert_eq!(fields.get("a"), Some("1"));
        assert_eq!(fields.get("b"), None);
        assert_eq!(fields.get("c"), Some("x y&"));
        assert_eq!(fields.query(), "a=1&a=2&c=x+y%26");
    }
}
