use super::*;
use crate::test_log::Log;
use axum::body::Body;
use std::future::{pending, ready};
use std::pin::pin;
use std::task::{Context, Waker};

/// Polls a request once and then drops it, as its connection does when the client leaves. Returns
/// its log lines, and the metrics afterwards.
fn run(responding: impl Future<Output = Response> + Send + 'static) -> (Vec<String>, String) {
    let metrics = Arc::new(Metrics::new(1));
    let identified = IdentifiedRequest {
        metrics: metrics.clone(),
        started: Instant::now(),
        id: Uuid::nil(),
        log: RequestLog::default(),
        span: Span::none(),
        method: method_name(&"X".repeat(65_000).parse().unwrap()),
        answered: false,
    };
    identified.log.set_tenant("acme");
    let lines = Log::default().lines(|| {
        let mut responding = pin!(RequestIds::respond(identified, responding));
        let mut context = Context::from_waker(Waker::noop());
        let _ = responding.as_mut().poll(&mut context);
    });
    (lines, metrics.write().unwrap())
}

#[test]
fn a_request_has_one_short_line_whether_or_not_its_client_waits_for_the_response() {
    let response = ready(Response::new(Body::empty()));
    for (status, (lines, metrics)) in [(200, run(response)), (499, run(pending()))] {
        let [line] = lines.as_slice() else {
            panic!("{lines:?}");
        };
        let fields =
            format!(r#"method="_OTHER" route="none" status={status} tenant="acme" micros="#);
        assert!(line.starts_with("INFO request "), "{line}");
        assert!(line.contains(&fields), "{line}");
        let counter = format!(
            "domesday_requests_total{{route=\"none\",status=\"{status}\",code=\"none\"}} 1\n"
        );
        assert!(metrics.contains(&counter), "{metrics}");
    }
}
