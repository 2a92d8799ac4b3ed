//! Any bytes as the submission of a job; what is read has a digest that white space does not
//! change.
#![no_main]

use domesday_contract::v3::job::JobRequest;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    if let Ok(request) = JobRequest::read(body, 50) {
        let mut spaced = b" \n".to_vec();
        spaced.extend_from_slice(body);
        spaced.push(b'\t');
        let again = JobRequest::read(&spaced, 50).map(|request| request.digest());
        assert_eq!(again.ok(), Some(request.digest()));
    }
});
