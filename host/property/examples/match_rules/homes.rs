//! Homes by address, and the rules that match a sale to one of them.

use domesday_registers::codes::PropertyType;
use domesday_registers::matching::{AddressQuery, OLDER_POSTCODE, RULES};
use domesday_registers::records::PricePaid;
use domesday_registers::{AddressKey, Postcode};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

type ByKey = HashMap<AddressKey, BTreeSet<u64>>;

/// Homes and premises by address.
#[derive(Clone, Default)]
pub(crate) struct KnownAddresses {
    postcodes: HashMap<Postcode, ByKey>,
    districts: HashMap<String, ByKey>,
    sectors: HashMap<String, ByKey>,
    pub(crate) uprns: HashSet<u64>,
    pub(crate) homes: HashSet<u64>,
    pub(crate) texts: HashMap<u64, String>,
}

impl KnownAddresses {
    pub(crate) fn add(
        &mut self,
        postcode: &Postcode,
        keys: Vec<AddressKey>,
        uprn: u64,
        text: String,
    ) {
        self.uprns.insert(uprn);
        self.texts.insert(uprn, text);
        let sector = self.sectors.entry(postcode.sector().to_owned());
        let district = self.districts.entry(district(postcode));
        let (sector, district) = (sector.or_default(), district.or_default());
        for key in &keys {
            sector.entry(key.clone()).or_default().insert(uprn);
            district.entry(key.clone()).or_default().insert(uprn);
        }
        let of_postcode = self.postcodes.entry(postcode.clone()).or_default();
        for key in keys {
            of_postcode.entry(key).or_default().insert(uprn);
        }
    }
}

fn look_up<'k>(known: &ByKey, keys: impl IntoIterator<Item = &'k AddressKey>) -> BTreeSet<u64> {
    let found = keys.into_iter().filter_map(|key| known.get(key));
    found.flatten().copied().collect()
}

fn one(found: &BTreeSet<u64>) -> Option<u64> {
    (found.len() == 1).then(|| found.first().copied()).flatten()
}

/// Returns the outward code.
fn district(postcode: &Postcode) -> String {
    let sector = postcode.sector();
    sector[..sector.len() - 1].to_owned()
}

/// A sale with the rule and the home that its address meets.
pub(crate) struct MatchedSale<'s> {
    pub(crate) id: &'s String,
    sale: &'s PricePaid,
    postcode: &'s Postcode,
    pub(crate) home: Option<(&'static str, u64)>,
}

impl MatchedSale<'_> {
    /// Returns the address as a text.
    pub(crate) fn text(&self) -> String {
        let PricePaid {
            saon, paon, street, ..
        } = self.sale;
        format!("{saon} | {paon} | {street} | {}", self.postcode)
    }
}

/// Returns whether a rule says that only one address means a home.
pub(crate) fn one_address(name: &str) -> bool {
    let rule = RULES.iter().find(|rule| rule.name == name);
    rule.is_some_and(|rule| rule.one_address)
}

/// Matches every sale with a postcode. A home that several addresses meet by rules of one address
/// is neither's.
pub(crate) fn match_sales<'s>(
    known: &KnownAddresses,
    live: &HashSet<Postcode>,
    sales: &'s BTreeMap<String, PricePaid>,
) -> Vec<MatchedSale<'s>> {
    let mut claims: HashMap<(&Postcode, u64), BTreeSet<AddressKey>> = HashMap::new();
    let mut all = Vec::new();
    for (id, sale) in sales {
        let Some(postcode) = &sale.postcode else {
            continue;
        };
        let query = AddressQuery::of_parts(
            &sale.saon,
            &sale.paon,
            &sale.street,
            &sale.locality,
            &sale.town,
        );
        let flat = query.keys().iter().any(AddressKey::names_flat);
        let rules = sale.property_type != PropertyType::Other || flat;
        let home = meet(known, live, postcode, &query, rules);
        if let Some((_, uprn)) = home.filter(|(rule, _)| one_address(rule)) {
            let claims = claims.entry((postcode, uprn)).or_default();
            claims.extend(query.keys().first().cloned());
        }
        all.push(MatchedSale {
            id,
            sale,
            postcode,
            home,
        });
    }
    for met in &mut all {
        met.home = met.home.filter(|(rule, uprn)| {
            let claims = claims.get(&(met.postcode, *uprn));
            !one_address(rule) || claims.is_none_or(|claims| claims.len() < 2)
        });
    }
    all
}

/// Returns the home of an address and the rule that found it.
pub(crate) fn meet(
    known: &KnownAddresses,
    live: &HashSet<Postcode>,
    at: &Postcode,
    query: &AddressQuery,
    rules: bool,
) -> Option<(&'static str, u64)> {
    let nothing = ByKey::new();
    let here = known.postcodes.get(at).unwrap_or(&nothing);
    let exact = look_up(here, query.keys());
    if !exact.is_empty() {
        return one(&exact).map(|uprn| ("exact", uprn));
    }
    if !rules {
        return None;
    }
    let home = |uprn: &u64| known.homes.contains(uprn);
    for rule in RULES.iter().filter(|_| !here.is_empty()) {
        if !look_up(here, &rule.blocking_keys(query)).is_empty() {
            continue;
        }
        if let Some(premises) = rule.premises_keys(query)
            && look_up(here, &premises).iter().all(home)
        {
            continue;
        }
        let targets = look_up(here, &rule.target_keys(query));
        if let Some(uprn) = one(&targets).filter(home) {
            return Some((rule.name, uprn));
        }
        if !targets.is_empty() {
            break;
        }
    }
    if live.contains(at) {
        return None;
    }
    let there = known.districts.get(&district(at)).unwrap_or(&nothing);
    let uprn = one(&look_up(there, query.keys_with_street())).filter(home)?;
    let near = known.sectors.get(at.sector()).unwrap_or(&nothing);
    let elsewhere = look_up(near, query.keys_with_street()).is_empty();
    if elsewhere && !look_up(near, &query.of_its_street()).is_empty() {
        return None;
    }
    Some((OLDER_POSTCODE, uprn))
}
