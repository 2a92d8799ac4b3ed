//! Bodies of responses, to compare.

use serde_json::Value;

/// Returns the names of an object's members.
pub fn names(object: &Value) -> Vec<&str> {
    let object = object.as_object().unwrap();
    object.keys().map(String::as_str).collect()
}

/// Removes the ids that differ from call to call.
pub fn without_ids(mut result: Value) -> Value {
    for id in ["execution_id", "valuation_id"] {
        result.as_object_mut().unwrap().remove(id).unwrap();
    }
    result
}
