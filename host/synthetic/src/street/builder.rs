//! Puts buildings along a street, one manner of street each.

use super::plot::Plot;
use crate::draw::Draw;
use crate::dwelling::Form;
use crate::market::Kind;
use crate::names;

/// Adds plots in the order of the street.
pub(super) struct Builder<'a> {
    pub(super) draw: &'a mut Draw,
    pub(super) plots: Vec<Plot>,
}

impl Builder<'_> {
    fn add(&mut self, paon: String, kind: Kind, form: Form, along: f64, left: bool) -> &mut Plot {
        let at = self.plots.len();
        self.plots.push(Plot {
            saon: String::new(),
            paon,
            kind,
            form,
            along,
            left,
            storey: None,
            younger: 0,
        });
        &mut self.plots[at]
    }

    fn flat(
        &mut self,
        saon: String,
        paon: &str,
        form: Form,
        storey: (i32, i32),
        along: f64,
        left: bool,
    ) {
        let plot = self.add(paon.to_owned(), Kind::Flat, form, along, left);
        plot.saon = saon;
        plot.storey = Some(storey);
    }

    /// Returns a house's number and whether it is on the left, where the odd numbers are.
    fn number(n: i32) -> (i32, bool) {
        (n, n % 2 == 1)
    }

    /// Adds a terrace in runs, and splits some of its houses into flats.
    pub(super) fn terrace(&mut self) {
        let count = self.draw.whole(20, 60);
        let run = self.draw.whole(6, 14);
        let split = self.draw.chance(0.3);
        let mut n = 0;
        while n < count {
            n += 1;
            let (number, left) = Self::number(n);
            let along = f64::from(n) / f64::from(count);
            if split && self.draw.chance(0.25) {
                self.split(&number.to_string(), along, left);
                continue;
            }
            let end = (n + 1) / 2 % run <= 1;
            let form = if end { Form::EndTerrace } else { Form::House };
            if n + 2 <= count && self.draw.chance(0.008) {
                // Two houses knocked into one keep both numbers.
                self.add(
                    format!("{number}-{}", number + 2),
                    Kind::Terraced,
                    form,
                    along,
                    left,
                );
                // The neighbour opposite is detached; the next on this side is gone.
                n += 1;
                let (opposite, side) = Self::number(n);
                self.add(
                    opposite.to_string(),
                    Kind::Terraced,
                    Form::House,
                    along,
                    side,
                );
                n += 1;
                continue;
            }
            self.add(number.to_string(), Kind::Terraced, form, along, left);
        }
    }

    /// Adds a house made into two to four flats.
    fn split(&mut self, paon: &str, along: f64, left: bool) {
        match self.draw.below(10) {
            0..=4 => {
                let flats = self.draw.whole(2, 4);
                for k in 1..=flats {
                    self.flat(
                        format!("FLAT {k}"),
                        paon,
                        Form::Converted,
                        ((k - 1).min(2), 3),
                        along,
                        left,
                    );
                }
            }
            5..=6 => {
                for (k, name) in
                    (0..).zip(["GROUND FLOOR FLAT", "FIRST FLOOR FLAT", "TOP FLOOR FLAT"])
                {
                    self.flat(name.to_owned(), paon, Form::Converted, (k, 3), along, left);
                }
            }
            7..=8 => {
                for (k, letter) in (0..).zip(["A", "B"]) {
                    self.flat(
                        String::new(),
                        &format!("{paon}{letter}"),
                        Form::Maisonette,
                        (k, 2),
                        along,
                        left,
                    );
                }
            }
            _ => {
                for (k, letter) in (0..).zip(["A", "B", "C"]) {
                    self.flat(
                        format!("FLAT {letter}"),
                        paon,
                        Form::Converted,
                        (k, 3),
                        along,
                        left,
                    );
                }
            }
        }
    }

    /// Adds houses with numbers, a few with names, a few infilled later.
    pub(super) fn houses(&mut self, least: i32, most: i32, kinds: [(f64, Kind); 3]) {
        let count = self.draw.whole(least, most);
        let skip_13 = self.draw.chance(0.5);
        let bungalows = if self.draw.chance(0.15) { 0.6 } else { 0.03 };
        let mut kind = self.draw.choose_weighted(&kinds);
        for n in 1..=count {
            if n == 13 && skip_13 {
                continue;
            }
            // Neighbours come in pairs: a semi-detached house has its other half.
            if n % 4 == 1 {
                kind = self.draw.choose_weighted(&kinds);
            }
            let (number, left) = Self::number(n);
            let along = f64::from(n) / f64::from(count);
            let form = if self.draw.chance(bungalows) {
                Form::Bungalow
            } else if kind == Kind::Terraced && (n % 4 == 1 || n % 4 == 0) {
                Form::EndTerrace
            } else {
                Form::House
            };
            let paon = match self.draw.below(60) {
                0 if kind == Kind::Detached => names::house(self.draw.below(400)),
                1 => format!("{}, {number}", names::house(self.draw.below(400))),
                _ => number.to_string(),
            };
            self.add(paon, kind, form, along, left);
            if self.draw.chance(0.012) {
                let younger = self.draw.whole(15, 50);
                self.add(
                    format!("{number}A"),
                    Kind::Detached,
                    Form::House,
                    along,
                    left,
                )
                .younger = younger;
            }
        }
    }

    /// Adds one to three blocks of flats.
    pub(super) fn blocks(&mut self) {
        let count = self.draw.whole(1, 3);
        for n in 1..=count {
            self.block(f64::from(n) / f64::from(count));
        }
    }

    /// Adds a block with a name, a name and a number, or a number alone.
    pub(super) fn block(&mut self, along: f64) {
        let storeys = self.draw.whole(2, 7);
        let per_storey = self.draw.whole(2, 6);
        let number = self.draw.whole(1, 90);
        let name = names::block(self.draw.below(240));
        let paon = match self.draw.below(10) {
            0..=5 => name,
            6..=7 => format!("{name}, {number}"),
            _ => number.to_string(),
        };
        if self.plots.iter().any(|plot| plot.paon == paon) {
            return;
        }
        let word = if self.draw.chance(0.85) {
            "FLAT"
        } else {
            "APARTMENT"
        };
        for k in 0..storeys * per_storey {
            let storey = (k / per_storey, storeys);
            self.flat(
                format!("{word} {}", k + 1),
                &paon,
                Form::PurposeBuilt,
                storey,
                along,
                true,
            );
        }
    }

    /// Adds shops with flats above them, a public house, an office.
    pub(super) fn shops(&mut self) {
        let count = self.draw.whole(12, 30);
        for n in 1..=count {
            let (number, left) = Self::number(n);
            let along = f64::from(n) / f64::from(count);
            let paon = number.to_string();
            if self.draw.chance(0.25) {
                let built = if self.draw.chance(0.3) {
                    Form::EndTerrace
                } else {
                    Form::House
                };
                self.add(paon, Kind::Terraced, built, along, left);
                continue;
            }
            let code = self.draw.choose_weighted(&[
                (8.0, "CR08"),
                (1.0, "CR06"),
                (1.0, "CR07"),
                (2.0, "CO01"),
            ]);
            self.add(
                paon.clone(),
                Kind::Commercial,
                Form::Premises(code),
                along,
                left,
            );
            match self.draw.below(5) {
                0..=1 => self.flat(
                    "FIRST FLOOR FLAT".into(),
                    &paon,
                    Form::Converted,
                    (1, 2),
                    along,
                    left,
                ),
                2 => {
                    self.flat("FLAT 1".into(), &paon, Form::Converted, (1, 3), along, left);
                    self.flat("FLAT 2".into(), &paon, Form::Converted, (2, 3), along, left);
                }
                3 => self.flat(
                    String::new(),
                    &format!("{paon}A"),
                    Form::Maisonette,
                    (1, 3),
                    along,
                    left,
                ),
                _ => {}
            }
        }
    }

    /// Adds a few houses, most of them with names; all of them where there is no street.
    pub(super) fn village(&mut self, nameless: bool) {
        let count = self.draw.whole(9, 24);
        let start = self.draw.below(400);
        for n in 1..=count {
            let (number, left) = Self::number(n);
            let along = f64::from(n) / f64::from(count);
            let kind = self.draw.choose_weighted(&[
                (5.0, Kind::Detached),
                (3.0, Kind::SemiDetached),
                (2.0, Kind::Terraced),
            ]);
            let form = if self.draw.chance(0.12) {
                Form::Bungalow
            } else {
                Form::House
            };
            // The stride keeps two houses of one village from sharing a name.
            let named = nameless || self.draw.chance(0.6);
            let paon = if named {
                names::house(start + n as usize * 3)
            } else {
                number.to_string()
            };
            self.add(paon, kind, form, along, left);
        }
    }
}
