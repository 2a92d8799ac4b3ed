//! Helpers of the black-box suites: the program, a server of the demo's releases, homes of the
//! made-up country, guests, and the folder of downloaded registers. One of two clients is plain,
//! and the other writes the bytes of a request by hand.
#![allow(dead_code)] // Each suite takes the part that it needs.

pub mod bodies;
pub mod client;
pub mod customers;
pub mod demo;
pub mod downloads;
pub mod faults;
pub mod guest;
pub mod log_pipe;
pub mod metrics;
pub mod node;
pub mod object_store;
pub mod package_files;
pub mod packages;
pub mod places;
pub mod program;
pub mod protobuf;
pub mod python;
pub mod raw;
pub mod registry;
pub mod seed;
pub mod served_sales;
pub mod server;
pub mod server_resources;
pub mod watchdog;
pub mod wire;
