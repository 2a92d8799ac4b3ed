//! Tests of the wire types through the crate's public interface.

mod schemas_agree_with_readers;
