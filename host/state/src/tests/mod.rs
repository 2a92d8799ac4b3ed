//! Tests of both stores through the crate's public interface.

mod embedded;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "postgres")]
mod postgres_commits;
#[cfg(feature = "postgres")]
mod postgres_damage;
#[cfg(feature = "postgres")]
mod postgres_outages;
#[cfg(feature = "postgres")]
mod postgres_pools;
#[cfg(feature = "postgres")]
mod postgres_shards;
mod schema_freeze;
mod suite;
mod upgrades;
