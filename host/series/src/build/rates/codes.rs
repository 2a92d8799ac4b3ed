//! The series of the Bank's database that are read, by their codes.

/// One series of the database.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    /// Its code, the column's header.
    pub code: &'static str,
    /// The series.
    pub series: DatabaseSeries,
    /// Words of its title in lower case, for files with titles.
    pub title: &'static [&'static str],
}

/// A series of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DatabaseSeries {
    /// Bank Rate.
    BankRate,
    /// SONIA.
    Sonia,
    /// The SONIA compounded index.
    SoniaIndex,
    /// A mortgage product of this id.
    Mortgage(&'static str),
}

const fn mortgage(
    code: &'static str,
    product: &'static str,
    title: &'static [&'static str],
) -> Code {
    Code {
        code,
        series: DatabaseSeries::Mortgage(product),
        title,
    }
}

/// The table.
pub const CODES: &[Code] = &[
    Code {
        code: "IUDBEDR",
        series: DatabaseSeries::BankRate,
        title: &["bank rate"],
    },
    Code {
        code: "IUDSOIA",
        series: DatabaseSeries::Sonia,
        title: &["sterling overnight index average"],
    },
    Code {
        code: "IUDZOS2",
        series: DatabaseSeries::SoniaIndex,
        title: &["sonia", "compounded index"],
    },
    mortgage(
        "IUMZICQ",
        "owner_occupied_fixed_2y_60ltv",
        &["2 year", "60%"],
    ),
    mortgage(
        "IUMBV34",
        "owner_occupied_fixed_2y_75ltv",
        &["2 year", "75%"],
    ),
    mortgage(
        "IUMZICR",
        "owner_occupied_fixed_2y_85ltv",
        &["2 year", "85%"],
    ),
    mortgage(
        "IUMB482",
        "owner_occupied_fixed_2y_90ltv",
        &["2 year", "90%"],
    ),
    mortgage(
        "IUM2WTL",
        "owner_occupied_fixed_2y_95ltv",
        &["2 year", "95%"],
    ),
    mortgage(
        "IUMBV37",
        "owner_occupied_fixed_3y_75ltv",
        &["3 year", "75%"],
    ),
    mortgage(
        "IUMZO27",
        "owner_occupied_fixed_5y_60ltv",
        &["5 year", "60%"],
    ),
    mortgage(
        "IUMBV42",
        "owner_occupied_fixed_5y_75ltv",
        &["5 year", "75%"],
    ),
    mortgage(
        "IUMZO28",
        "owner_occupied_fixed_5y_90ltv",
        &["5 year", "90%"],
    ),
    mortgage(
        "IUMBV45",
        "owner_occupied_fixed_10y_75ltv",
        &["10 year", "75%"],
    ),
    mortgage(
        "IUMZO29",
        "btl_fixed_2y_60ltv",
        &["buy-to-let", "2 year", "60%"],
    ),
    mortgage(
        "IUMZID4",
        "btl_fixed_2y_75ltv",
        &["buy-to-let", "2 year", "75%"],
    ),
    mortgage(
        "IUMZO2A",
        "btl_fixed_5y_60ltv",
        &["buy-to-let", "5 year", "60%"],
    ),
    mortgage(
        "IUMZO2B",
        "btl_fixed_5y_75ltv",
        &["buy-to-let", "5 year", "75%"],
    ),
    mortgage(
        "IUMBV48",
        "owner_occupied_variable_2y_75ltv",
        &["2 year", "75%", "variable"],
    ),
    mortgage("IUMTLMV", "mortgage_reversion", &["revert"]),
];

/// Returns the series of this code, in capital letters or small ones.
pub fn by_code(code: &str) -> Option<&'static Code> {
    CODES
        .iter()
        .find(|known| known.code.eq_ignore_ascii_case(code))
}

/// Returns the series whose code is the last word of a column's name, and the title before it.
pub fn by_column(name: &str) -> Option<(&'static Code, &str)> {
    let name = name.trim();
    let (title, code) = name.rsplit_once(char::is_whitespace).unwrap_or(("", name));
    Some((by_code(code)?, title.trim()))
}

impl Code {
    /// Returns whether a title may be that of this series.
    pub fn answers_to(&self, title: &str) -> bool {
        let title = title
            .to_lowercase()
            .replace('(', "")
            .replace("buy to let", "buy-to-let");
        self.title.iter().all(|word| title.contains(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::rates::PRODUCTS;

    #[test]
    fn every_product_has_one_code() {
        for product in PRODUCTS {
            let of = |code: &&Code| code.series == DatabaseSeries::Mortgage(product);
            assert_eq!(CODES.iter().filter(of).count(), 1, "{product}");
        }
        assert_eq!(CODES.len(), PRODUCTS.len() + 3);
    }

    #[test]
    fn a_title_of_another_term_is_refused() {
        let code = by_code("IUMBV34").unwrap();
        assert!(code.answers_to("2 year (75% LTV) fixed rate mortgage to households"));
        assert!(!code.answers_to("5 year (75% LTV) fixed rate mortgage to households"));
    }
}
