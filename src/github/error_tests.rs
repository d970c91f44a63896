//! Tests of how failures are told apart.

use super::*;

const NOW: u64 = 1_700_000_000; // 2023-11-14T22:13:20Z

fn fail(status: u16, headers: &[(&str, &str)], body: &str) -> ApiError {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let name = http::HeaderName::try_from(*name).expect("a header name");
        map.append(name, value.parse().expect("a header value"));
    }
    classify(&Failure {
        call: "GET pull",
        target: "/repos/octo-org/widgets/pulls/7",
        status: StatusCode::from_u16(status).expect("a status"),
        headers: &map,
        body: body.as_bytes(),
        now: SystemTime::UNIX_EPOCH + Duration::from_secs(NOW),
    })
}

fn said(message: &str) -> String {
    serde_json::json!({ "message": message, "documentation_url": "https://docs.github.com" })
        .to_string()
}

#[test]
fn every_status_has_its_class() {
    let html = "<html><title>Unicorn!</title></html>";
    let table = [
        (301, false, "unexpected answer (HTTP 301)"),
        (400, false, "HTTP 400"),
        (401, true, "HTTP 401"),
        (403, false, "permission"),
        (404, false, "`/repos/octo-org/widgets/pulls/7`"),
        (405, false, "not allowed now"),
        (408, true, "HTTP 408"),
        (409, true, "conflict"),
        (410, false, "HTTP 410"),
        (413, false, "HTTP 413"),
        (422, false, "HTTP 422"),
        (429, true, "rate limited"),
        (451, false, "HTTP 451"),
        (500, true, "HTTP 500"),
        (502, true, "HTTP 502"),
        (503, true, "HTTP 503"),
        (504, true, "HTTP 504"),
    ];
    for (status, retry, text) in table {
        for body in [html, "", "null", "[]", r#"{"message":null}"#] {
            let error = fail(status, &[], body);
            let retry = retry || status == 301;
            assert_eq!(error.is_retryable(), retry, "{status} {error:?}");
            let shown = error.to_string();
            assert!(shown.contains(text), "{status}: {shown}");
            assert!(!shown.contains("Unicorn"), "{shown}");
        }
    }
}

#[test]
fn a_403_is_told_apart() {
    let full = [("x-ratelimit-remaining", "4800")];
    let secondary = said(
        "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
    );
    let error = fail(403, &full, &secondary);
    assert!(error.is_retryable());
    assert!(
        error.retry_after() >= Some(Duration::from_mins(1)),
        "{error:?}"
    );

    let error = fail(403, &[("retry-after", "120")], &secondary);
    assert_eq!(error.retry_after(), Some(Duration::from_mins(2)));

    let headers = [
        ("x-ratelimit-remaining", "4800"),
        ("x-accepted-github-permissions", "checks=write"),
    ];
    let error = fail(
        403,
        &headers,
        &said("Resource not accessible by integration"),
    );
    assert!(matches!(&error, ApiError::Refused { permission: Some(p), .. } if p == "checks=write"));
    assert!(!error.is_retryable());
    assert!(
        error.to_string().contains("permission `checks=write`"),
        "{error}"
    );

    // The last call of the budget, refused for want of a permission, is no rate limit.
    let error = fail(
        403,
        &[("x-ratelimit-remaining", "0")],
        &said("Resource not accessible by integration"),
    );
    assert!(matches!(error, ApiError::Refused { .. }), "{error:?}");

    let error = fail(403, &full, &said("This installation has been suspended"));
    assert!(matches!(error, ApiError::Suspended { .. }), "{error:?}");
    assert!(!error.is_retryable());
}

#[test]
fn a_primary_limit_waits_for_its_reset() {
    let reset = (NOW + 900).to_string();
    let headers = [
        ("x-ratelimit-remaining", "0"),
        ("x-ratelimit-reset", reset.as_str()),
    ];
    for status in [403, 429] {
        let wait = fail(status, &headers, "").retry_after().expect("a wait");
        assert!(
            wait >= Duration::from_mins(15) && wait < Duration::from_secs(910),
            "{wait:?}"
        );
    }
    // By GitHub's clock: ours is 100 s ahead here.
    let headers = [
        headers[0],
        headers[1],
        ("date", "Tue, 14 Nov 2023 22:11:40 GMT"),
    ];
    let wait = fail(403, &headers, "").retry_after().expect("a wait");
    assert!(wait >= Duration::from_secs(1000), "{wait:?}");
    // A reset that has passed is no reason to wait for long, nor for not waiting at all.
    let headers = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "12")];
    assert_eq!(
        fail(403, &headers, "").retry_after(),
        Some(Duration::from_secs(1))
    );
}

#[test]
fn a_wait_can_be_a_date() {
    let error = fail(503, &[("retry-after", "Tue, 14 Nov 2023 22:14:20 GMT")], "");
    assert_eq!(error.retry_after(), Some(Duration::from_secs(61)));
    assert!(!error.passes_quickly());
    assert!(fail(503, &[], "").passes_quickly());
}

#[test]
fn a_clock_that_is_off_is_named() {
    let behind = fail(
        401,
        &[("date", "Tue, 14 Nov 2023 22:23:20 GMT")],
        &said("'Expiration time' claim"),
    );
    assert!(behind.to_string().contains("600 s behind"), "{behind}");
    let ahead = fail(401, &[("date", "Tue, 14 Nov 2023 22:03:20 GMT")], "");
    assert!(
        ahead.to_string().contains("clock is 600 s ahead of"),
        "{ahead}"
    );
    let right = fail(
        401,
        &[("date", "Tue, 14 Nov 2023 22:13:50 GMT")],
        &said("Bad credentials"),
    );
    assert!(
        matches!(
            right,
            ApiError::Unauthorized {
                clock_skew: None,
                ..
            }
        ),
        "{right:?}"
    );
    assert!(!right.to_string().contains("clock"), "{right}");
}

#[test]
fn a_422_keeps_its_codes() {
    let body = r#"{"message":"Validation Failed","errors":[{"resource":"Label","code":"already_exists","field":"name"}]}"#;
    let ApiError::Unprocessable { codes, message, .. } = fail(422, &[], body) else {
        panic!("not a 422");
    };
    assert_eq!(codes, ["already_exists"]);
    assert_eq!(message, "Validation Failed; name already_exists");
    for body in [
        r#"{"message":"x","errors":["a text"]}"#,
        r#"{"message":"x","errors":"a text"}"#,
    ] {
        assert!(fail(422, &[], body).to_string().contains("a text"));
    }
}

#[test]
fn messages_are_short_and_on_one_line() {
    let shown = fail(
        422,
        &[],
        &said(&format!("a\nb\u{1b}[31m{}", "x".repeat(5000))),
    )
    .to_string();
    assert!(shown.len() < 400, "{}", shown.len());
    assert!(!shown.chars().any(char::is_control), "{shown}");
}
