//! The estimates of homes on many days, with their ranges and confidence.

use super::dated_strength::DatedStrengths;
use super::spread::Strength;
use super::statistics::log_ratio;
use domesday_registers::Day;

/// Homes that are valued on the days between, too. A change of the median is seen. They
/// have a value on the first day, since homes without one would leave too few to judge.
const HOMES_BETWEEN: usize = 24;

/// The estimates of each home, one for each day.
pub struct DatedEstimates {
    /// The days, in order.
    pub days: Vec<Day>,
    /// The place of the first day from which the evidence stays the same.
    pub settled: usize,
    /// The estimates of each home.
    pub homes: Vec<Vec<Option<f64>>>,
    /// The ranges and confidences of each home.
    pub strengths: DatedStrengths,
}

impl DatedEstimates {
    /// Returns the places of the homes for the days between, evenly taken from those that have a
    /// value on the first day.
    pub fn homes_between(&self) -> Vec<usize> {
        let homes = self.homes.iter().enumerate();
        let valued: Vec<usize> = homes
            .filter(|(_, home)| home.first().is_some_and(Option::is_some))
            .map(|(at, _)| at)
            .collect();
        let few = valued.len().min(HOMES_BETWEEN);
        (0..few).map(|at| valued[at * valued.len() / few]).collect()
    }

    /// Returns the place of the later day of each pair of neighbouring days.
    pub fn ends(&self) -> Vec<usize> {
        (1..self.days.len()).collect()
    }

    /// Returns the first day and these, with the strengths on each.
    pub fn strengths_on(&self, days: &[Day]) -> (Vec<Day>, DatedStrengths) {
        let places: Vec<usize> = (0..self.days.len())
            .filter(|at| *at == 0 || days.contains(&self.days[*at]))
            .collect();
        let of_home = |home: &Vec<Option<Strength>>| places.iter().map(|at| home[*at]).collect();
        let days = places.iter().map(|at| self.days[*at]).collect();
        (days, self.strengths.iter().map(of_home).collect())
    }

    /// Returns the estimates of these homes alone, with those of more days. `rows` has them, home
    /// by home.
    pub fn with_days(
        &self,
        chosen: &[usize],
        more: &[Day],
        rows: &[(Option<f64>, Option<Strength>)],
    ) -> DatedEstimates {
        let mut order: Vec<(Day, usize)> =
            (self.days.iter().chain(more).copied().zip(0..)).collect();
        order.sort();
        let (mut homes, mut strengths) = (Vec::new(), Vec::new());
        for (number, at) in chosen.iter().enumerate() {
            let row = |place: usize| match place.checked_sub(self.days.len()) {
                None => (self.homes[*at][place], self.strengths[*at][place]),
                Some(place) => rows[number * more.len() + place],
            };
            let (of_home, of_strength): (Vec<_>, Vec<_>) =
                order.iter().map(|(_, place)| row(*place)).unzip();
            homes.push(of_home);
            strengths.push(of_strength);
        }
        DatedEstimates {
            days: order.into_iter().map(|(day, _)| day).collect(),
            settled: 0,
            homes,
            strengths,
        }
    }

    /// Returns the log ratios of all homes from one day to another.
    pub fn ratios(&self, from: usize, to: usize) -> Vec<f64> {
        let homes = self.homes.iter();
        homes
            .filter_map(|home| log_ratio(home[from], home[to]))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_homes_of_the_days_between_have_a_value_on_the_first_day() {
        let of = |valued: fn(usize) -> bool| {
            let home = |at: usize| vec![valued(at).then_some(1.0), Some(1.0)];
            let dated = DatedEstimates {
                days: vec![Day(20_000), Day(20_010)],
                settled: 0,
                homes: (0..40).map(home).collect(),
                strengths: Vec::new(),
            };
            dated.homes_between()
        };
        // The first sixteen of forty have none.
        assert_eq!(of(|at| at >= 16), (16..40).collect::<Vec<usize>>());
        assert_eq!(of(|at| at < 2), [0, 1]);
        let all = of(|_| true);
        assert_eq!((all.len(), all[0], all[23]), (HOMES_BETWEEN, 0, 38));
    }
}
