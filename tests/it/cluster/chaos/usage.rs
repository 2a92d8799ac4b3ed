//! The ledger of units, compared with the answers id by id.
//!
//! Sums alone let a lost unit and a doubled one hide among requests whose outcome nobody knows.

use std::collections::BTreeMap;
use std::fmt;

/// The entries of one request or job.
#[derive(Debug, Default, Clone, Copy)]
pub struct Charges {
    /// Entries that charge.
    count: u64,
    /// Units charged, without those given back.
    units: i64,
}

/// The entries of a tenant, by the id of the request or job.
#[derive(Debug, Default)]
pub struct UsageEntries {
    by_id: BTreeMap<String, Charges>,
    /// Units of entries without an id.
    unattributed: i64,
}

/// The result of comparing answers with entries.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Comparison {
    /// Requests and jobs that were answered.
    pub answers: usize,
    /// Answers without all their units, other ids with fewer than none, and units without an id.
    pub lost: usize,
    /// Ids with two charges, and answers with too many units.
    pub doubled: usize,
}

impl UsageEntries {
    /// Parses an export of a month as CSV, and returns a tenant's entries.
    pub fn of(tenant: &str, export: &str) -> UsageEntries {
        let mut entries = UsageEntries::default();
        for line in export.lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let &[_, of, _, _, id, units] = fields.as_slice() else {
                panic!("an entry has six fields: {line}");
            };
            if of != tenant {
                continue;
            }
            let units: i64 = units.parse().unwrap();
            if id.is_empty() {
                entries.unattributed += units;
                continue;
            }
            let charges = entries.by_id.entry(id.to_owned()).or_default();
            charges.count += u64::from(units > 0);
            charges.units += units;
        }
        entries
    }

    /// Returns the units of all entries.
    pub fn units(&self) -> i64 {
        let of_ids: i64 = self.by_id.values().map(|charges| charges.units).sum();
        of_ids + self.unattributed
    }

    /// Compares the entries with the units of each answer.
    pub fn compare(&self, answers: &BTreeMap<String, u64>) -> Comparison {
        let mut comparison = Comparison {
            answers: answers.len(),
            ..Comparison::default()
        };
        for (id, &units) in answers {
            let charges = self.by_id.get(id).copied().unwrap_or_default();
            let units = i64::try_from(units).unwrap();
            comparison.lost += usize::from(charges.units < units);
            comparison.doubled += usize::from(charges.count > 1 || charges.units > units);
        }
        comparison.lost += usize::from(self.unattributed != 0);
        let others = self
            .by_id
            .iter()
            .filter(|(id, _)| !answers.contains_key(*id));
        for (_, charges) in others {
            comparison.lost += usize::from(charges.units < 0);
            comparison.doubled += usize::from(charges.count > 1);
        }
        comparison
    }
}

impl Comparison {
    /// Adds another comparison.
    pub fn plus(self, other: Comparison) -> Comparison {
        Comparison {
            answers: self.answers + other.answers,
            lost: self.lost + other.lost,
            doubled: self.doubled + other.doubled,
        }
    }

    /// Reports whether each answer is there once.
    pub fn is_exact(self) -> bool {
        self.lost == 0 && self.doubled == 0
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Comparison {
            answers,
            lost,
            doubled,
        } = self;
        write!(
            f,
            "answers compared with the ledger {answers}: lost {lost}, doubled {doubled}"
        )
    }
}

#[test]
fn a_lost_and_a_doubled_charge_do_not_cancel_each_other_out() {
    let answers = |ids: &[(&str, u64)]| -> BTreeMap<String, u64> {
        ids.iter()
            .map(|&(id, units)| (id.to_owned(), units))
            .collect()
    };
    let answered = answers(&[("a", 1), ("b", 3), ("none", 0)]);
    let sound = "t,values,x,value,a,1 t,values,x,batch,b,5 t,values,x,batch,b,-2";
    for (lines, lost, doubled) in [
        (sound.to_owned(), 0, 0),
        // Of a request whose outcome nobody knows, and of another tenant.
        (
            format!("{sound} t,values,x,value,c,1 t,jobs,x,job,a,9"),
            0,
            0,
        ),
        (sound.replace("value,a,1", "value,c,1"), 1, 0),
        (sound.replace("value,a,1", "unattributed,,1"), 2, 0),
        (format!("{sound} t,values,x,value,a,1"), 0, 1),
        // It was charged again and given back.
        (
            format!("{sound} t,values,x,value,a,1 t,values,x,value,a,-1"),
            0,
            1,
        ),
        (
            format!("{sound} t,values,x,value,c,1 t,values,x,value,c,1"),
            0,
            1,
        ),
        (format!("{sound} t,values,x,value,c,-1"), 1, 0),
        (format!("{sound} t,values,x,batch,none,1"), 0, 1),
        (
            sound.replace("value,a,1", "value,a,2").replace("-2", "-3"),
            1,
            1,
        ),
    ] {
        let export = format!(
            "month,tenant,at,kind,id,units\n{}",
            lines.replace(' ', "\n")
        );
        let entries = UsageEntries::of("values", &export);
        let expected = Comparison {
            answers: 3,
            lost,
            doubled,
        };
        assert_eq!(entries.compare(&answered), expected, "{lines}");
    }
    let export =
        "month,tenant,at,kind,id,units\nt,values,x,value,a,2\nt,values,x,unattributed,,3\n";
    assert_eq!(UsageEntries::of("values", export).units(), 5);
}
