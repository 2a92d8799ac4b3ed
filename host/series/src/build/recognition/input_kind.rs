//! The kinds of input files, with the flags and the commands that take them.

use domesday_registers::RegisterKind;
use domesday_registers::sources::flag;
use std::fmt;

/// A command that builds from files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builder {
    /// A build of a property snapshot.
    Snapshot,
    /// An update of a property snapshot.
    Update,
    /// A build of market statistics.
    Markets,
    /// A build of rates.
    Rates,
}

impl Builder {
    fn command(self) -> &'static str {
        match self {
            Builder::Snapshot => "domesday property build",
            Builder::Update => "domesday property update",
            Builder::Markets => "domesday series build markets",
            Builder::Rates => "domesday series build rates",
        }
    }
}

/// The kind of a file that a build reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// A file of a register.
    Register(RegisterKind),
    /// The Bank of England's database.
    Database,
    /// Yield curves.
    Curves,
    /// Private rents.
    Rents,
}

impl InputKind {
    fn title(self) -> &'static str {
        match self {
            InputKind::Register(register) => register.title(),
            InputKind::Database => "Bank of England's database",
            InputKind::Curves => "yield curves",
            InputKind::Rents => "private rents",
        }
    }

    /// Returns the kind as a sentence calls it.
    pub fn noun(self) -> String {
        let article = match self {
            InputKind::Register(RegisterKind::CodePoint | RegisterKind::OpenUprn) => "",
            InputKind::Register(RegisterKind::Addresses) => "an ",
            InputKind::Curves | InputKind::Rents => "a file of ",
            InputKind::Register(_) | InputKind::Database => "the ",
        };
        format!("{article}{}", self.title())
    }

    fn flag(self) -> String {
        match self {
            InputKind::Register(register) => flag(register),
            InputKind::Database => "--bank-csv".to_owned(),
            InputKind::Curves => "--curves".to_owned(),
            InputKind::Rents => "--rents".to_owned(),
        }
    }

    /// Returns the commands that take the kind, the first choice first.
    fn builders(self) -> &'static [Builder] {
        match self {
            InputKind::Register(RegisterKind::PricePaid) => {
                &[Builder::Snapshot, Builder::Update, Builder::Markets]
            }
            InputKind::Register(RegisterKind::Addresses | RegisterKind::OpenUprn) => {
                &[Builder::Snapshot]
            }
            InputKind::Register(_) => &[Builder::Snapshot, Builder::Markets],
            InputKind::Rents => &[Builder::Markets],
            InputKind::Database | InputKind::Curves => &[Builder::Rates],
        }
    }

    /// Returns how to give a file of the kind, to this command if it takes the kind.
    pub fn advice(self, builder: Option<Builder>) -> String {
        let flag = self.flag();
        let takes = |builder: Builder| self.builders().contains(&builder);
        match self.builders().first() {
            Some(first) if !builder.is_none_or(takes) => {
                format!("give it to `{}` with {flag}", first.command())
            }
            _ => format!("give it with {flag}"),
        }
    }
}

impl fmt::Display for InputKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.title(), self.flag())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_names_the_command_where_the_present_one_does_not_take_the_kind() {
        let register = InputKind::Register;
        for (kind, builder, advice) in [
            (
                register(RegisterKind::PricePaid),
                Builder::Update,
                "give it with --price-paid",
            ),
            (
                register(RegisterKind::OpenUprn),
                Builder::Markets,
                "give it to `domesday property build` with --open-uprn",
            ),
            (
                InputKind::Database,
                Builder::Snapshot,
                "give it to `domesday series build rates` with --bank-csv",
            ),
        ] {
            assert_eq!(kind.advice(Some(builder)), advice);
        }
        assert_eq!(InputKind::Rents.advice(None), "give it with --rents");
    }
}
