//! A measurement of a running host: single values over some connections at once, and batches.
//!
//! [`bench`] connects, and asks for one value to see that the home is valued. Then it loads the
//! host in a closed loop: each connection sends its next request once the last is answered.
//! [`report`] has the figures, and [`html`] draws them.
//!
//! The load generator takes processor time from a host on the same machine. So the report has its
//! processor time beside that of the host, which the host's metrics state.

pub mod bench;
pub mod html;
mod load;
mod metrics;
pub mod report;
