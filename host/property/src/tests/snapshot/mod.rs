//! The crate from outside: registers in the publishers' formats go in, answers come out.

mod building;
mod checking;
mod damage;
mod faulty_months;
mod figures;
mod future;
mod leak;
mod matching;
mod memory;
mod nearby;
mod open_uprn;
mod reading;
mod real;
mod resolve;
mod sold_addresses;
mod updating;
mod world;
