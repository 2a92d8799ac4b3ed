//! Receipts of valuations: sealed, hash-chained, under signed heads.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

use {
    base64 as _, chacha20poly1305 as _, domesday_package as _, hex as _, serde as _,
    serde_json as _, sha2 as _, thiserror as _, tracing as _,
};
