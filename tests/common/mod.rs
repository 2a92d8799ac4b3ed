//! Helpers of the black-box suites: the program, a server of the demo's releases, two clients (a
//! plain one, and one that writes the bytes of a request by hand), homes of the made-up country,
//! guests, and the folder of the registers' own files.
#![allow(dead_code)] // Each suite takes the part that it needs.

pub mod client;
pub mod customers;
pub mod demo;
pub mod downloads;
pub mod faults;
pub mod guest;
pub mod package_files;
pub mod packages;
pub mod places;
pub mod program;
pub mod python;
pub mod raw;
pub mod registry;
pub mod server;
pub mod wire;
