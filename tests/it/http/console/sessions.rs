//! Who reaches the console, and as whom.

use super::{Browser, HOME, get_by_name, link, origin, post, redeem, start_with_console};
use crate::common::client::agent;
use crate::common::program::run;
use crate::common::server::start;
use reqwest::header::SET_COOKIE;

#[test]
fn a_link_opens_one_session_and_its_cookie_is_kept_from_scripts_and_other_sites() {
    let server = start_with_console().go();
    let link = link(&server, &[]);
    let (origin, token) = link.split_once("/login?token=").unwrap();
    // A program that only looks at the link does not use it up.
    let seen = agent().get(&link).send().unwrap();
    assert_eq!(seen.status(), 200);
    assert!(seen.headers().get(SET_COOKIE).is_none());
    let opened = redeem(origin, token);
    assert_eq!(opened.status(), 303);
    let cookie = opened.headers()[SET_COOKIE].to_str().unwrap();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=28800"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let again = redeem(origin, token);
    assert_eq!(again.status(), 403);
    assert!(again.text().unwrap().contains("was used"));
    server.stop();
}

#[test]
fn a_link_of_another_host_opens_nothing() {
    let (one, other) = (start_with_console().go(), start_with_console().go());
    let link = link(&one, &[]);
    let token = link.split('=').next_back().unwrap();
    let refused = redeem(&origin(&other), token);
    assert_eq!(refused.status(), 403);
    assert!(refused.text().unwrap().contains("unknown here"));
    one.stop();
    other.stop();
}

/// A cookie that somebody else set stays worthless.
#[test]
fn a_login_gives_a_new_cookie_whatever_the_browser_sent() {
    let server = start_with_console().go();
    let link = link(&server, &[]);
    let (origin, token) = link.split_once("/login?token=").unwrap();
    let port = origin.rsplit(':').next().unwrap();
    let planted = format!("domesday_console_{port}=00112233");
    let opened = post(origin, origin, "/login", &planted, &[("token", token)]);
    let cookie = opened.headers()[SET_COOKIE].to_str().unwrap();
    assert!(!cookie.starts_with(&planted), "{cookie}");
    let with_planted = agent().get(format!("{origin}/")).header("cookie", planted);
    assert_eq!(with_planted.send().unwrap().status(), 401);
    server.stop();
}

#[test]
fn a_form_of_another_site_or_without_its_token_is_refused() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let (origin, cookie) = (&browser.origin, &browser.cookie);
    let token = [("form_token", browser.token.as_str())];
    let fields = [&token[..], &HOME].concat();
    for from in ["http://evil.example", "null"] {
        let refused = post(origin, from, "/values", cookie, &fields);
        assert_eq!(refused.status(), 403, "{from}");
    }
    let refused = post(origin, origin, "/values", cookie, &HOME);
    assert_eq!(refused.status(), 403);
    let message = refused.text().unwrap();
    assert!(message.contains("not of this session"), "{message}");
    assert_eq!(used_units(&server), 0, "nothing was valued");
    server.stop();
}

/// A name that an attacker points at the console's address reaches no page.
#[test]
fn another_name_of_the_host_is_refused() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let refused = get_by_name(&browser.origin, "evil.example", &browser.cookie);
    assert_eq!(refused.status(), 421);
    server.stop();
}

#[test]
fn every_page_forbids_frames_and_other_origins() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    for path in ["/", "/releases", "/nothing", "/assets/console.js"] {
        let response = browser.get(path);
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        let policy = header("content-security-policy");
        assert!(policy.contains("default-src 'none'"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(header("x-frame-options"), "DENY");
        assert_eq!(header("x-content-type-options"), "nosniff");
    }
    server.stop();
}

#[test]
fn a_value_of_another_tenant_is_no_page() {
    let server = start_with_console().go();
    let data = server.data.display().to_string();
    let create = ["key", "create", "--tenant", "other", "--scope", "avm:value"];
    run([&create[..], &["--data", &data]].concat()).ok();
    let path = Browser::of_demo(&server).value(&HOME);
    let other = Browser::open(&link(&server, &["--tenant", "other"]));
    assert_eq!(other.get(&path).status(), 404);
    server.stop();
}

#[test]
fn a_session_sees_what_its_scopes_allow_and_operation_is_for_operators() {
    let server = start_with_console().go();
    let browser = Browser::open(&link(&server, &["--scope", "markets:read"]));
    let page = browser.page("/markets");
    assert!(page.contains("href=\"/markets\""), "{page}");
    for hidden in ["/rates", "/jobs", "/operation"] {
        assert!(!page.contains(&format!("href=\"{hidden}\"")), "{page}");
    }
    assert_eq!(browser.post("/values", &HOME).status(), 403);
    assert_eq!(browser.get("/rates").status(), 403);
    assert_eq!(browser.get("/operation").status(), 403);
    let operator = Browser::open(&link(&server, &["--operator"]));
    let page = operator.page("/operation");
    assert!(page.contains("Storage works."), "{page}");
    server.stop();
}

#[test]
fn a_session_ends_with_its_tenants_access() {
    let server = start_with_console().go();
    let data = server.data.display().to_string();
    let create = ["key", "create", "--tenant", "other", "--scope", "avm:value"];
    run([&create[..], &["--data", &data]].concat()).ok();
    let browser = Browser::open(&link(&server, &["--tenant", "other"]));
    let path = browser.value(&HOME);
    assert_eq!(browser.get(&path).status(), 200);
    run(["tenant", "disable", "other", "--data", &data]).ok();
    for path in ["/", "/releases", path.as_str()] {
        let refused = browser.get(path);
        assert_eq!(refused.status(), 403, "{path}");
        assert!(refused.text().unwrap().contains("tenant other is disabled"));
    }
    server.stop();
}

#[test]
fn logging_out_ends_the_session_and_its_key() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    assert_eq!(browser.post("/logout", &[]).status(), 200);
    assert_eq!(browser.get("/").status(), 401);
    let data = server.data.display().to_string();
    let keys = run(["key", "list", "--data", &data]).ok().stdout;
    let line = keys.lines().find(|line| line.contains("console session"));
    assert!(line.unwrap().contains("revoked"), "{keys}");
    server.stop();
}

#[test]
fn a_login_without_a_console_or_a_tenant_says_what_to_do() {
    let server = start().go();
    let data = server.data.display().to_string();
    let refused = run(["console", "login", "--data", &data]).refused();
    assert!(refused.contains("--console 127.0.0.1:8081"), "{refused}");
    server.stop();
    let server = start_with_console().go();
    let data = server.data.display().to_string();
    let refused = run(["console", "login", "--tenant", "nobody", "--data", &data]).refused();
    assert!(refused.contains("no tenant nobody"), "{refused}");
    server.stop();
}

#[test]
fn a_console_beyond_this_machine_needs_a_certificate() {
    let refused = start().with(&["--console", "0.0.0.0:0"]).refused();
    assert!(refused.contains("--tls-certificate"), "{refused}");
}

pub fn used_units(server: &crate::common::server::Server) -> u64 {
    let data = server.data.display().to_string();
    let listed = run(["tenant", "list", "--data", &data]).ok().stdout;
    let line = listed
        .lines()
        .find(|line| line.starts_with("demo\t"))
        .unwrap();
    let used = line.split('\t').nth(2).unwrap();
    used.split(' ').next().unwrap().parse().unwrap()
}
