//! The responses that a client may cache, and their lifetimes.

use crate::v1_contract::{DEMO_RATES, ROUTES, both, contract};

#[test]
fn v1_caching_tag_is_weak_and_of_release_selection_and_entitlements() {
    let (contract, client) = both();
    let tag = |path: &str| {
        let answer = client.get(path);
        let tag = answer.header("etag").unwrap().to_owned();
        assert!(tag.starts_with("W/\""), "{tag}");
        tag
    };
    let mut tags: Vec<String> = ROUTES.iter().map(|route| tag(route)).collect();
    // One selection in other words: its defaults spelt out, in another order.
    let spelt = [
        "area=E06990001",
        "page_size=500",
        "metrics=sales_share_pct,sales_count,sales_value_per_km2_gbp,sales_value_gbp,price_per_sqm_gbp",
        "property_type=all",
        "dataset=market_activity",
    ];
    assert_eq!(
        tag(&format!("/v1/markets/series?{}", spelt.join("&"))),
        tags[0]
    );
    for other in [
        "&from=2026-01",
        "&property_type=flat",
        "&page_size=2",
        "&metrics=sales_count",
    ] {
        tags.push(tag(&format!("{}{other}", ROUTES[0])));
    }
    let release = format!("{}&release_id=made-rates-2026-01", ROUTES[1]);
    tags.push(tag(&release));
    // The same catalogue route of a key with other datasets.
    let narrow = contract.customer("narrow").get("/v1/rates/datasets");
    tags.push(narrow.header("etag").unwrap().to_owned());
    let choosing = contract.customer("choosing").get("/v1/rates/datasets");
    tags.push(choosing.header("etag").unwrap().to_owned());
    let count = tags.len();
    tags.sort();
    tags.dedup();
    assert_eq!(tags.len(), count, "two selections have one tag");
    assert_eq!(tag(ROUTES[0]), tag(ROUTES[0]));
}

#[test]
fn v1_caching_unchanged_is_304_without_a_body() {
    let (_contract, client) = both();
    for route in ROUTES {
        let first = client.get(route);
        let tag = first.header("etag").unwrap();
        for known in [tag, "*", &format!("W/\"other\", {tag}"), &tag[2..]] {
            let answer = client.get_if_none_match(route, known);
            assert_eq!((answer.status, answer.text.as_str()), (304, ""), "{known}");
            assert_eq!(answer.header("etag"), Some(tag));
            for name in ["vary", "cache-control"] {
                assert_eq!(answer.header(name), first.header(name));
            }
        }
        let answer = client.get_if_none_match(route, "W/\"0123456789abcdef\"");
        assert_eq!(answer.status, 200);
    }
}

#[test]
fn v1_caching_entitlement_is_checked_before_not_modified() {
    let (contract, client) = both();
    let path = "/v1/rates/series?dataset=bank_rate";
    let answer = client.get(path);
    let tag = answer.header("etag").unwrap();
    for (key, status) in [
        ("both", 304),
        ("narrow", 403),
        ("markets", 403),
        ("disabled", 403),
    ] {
        let client = contract.customer(key);
        assert_eq!(client.get_if_none_match(path, tag).status, status, "{key}");
        let any = client.get_if_none_match(path, "*").status;
        assert_eq!(any, status, "{key}");
    }
    let unknown = client.with_key("dk_wrong").get_if_none_match(path, tag);
    assert_eq!(unknown.status, 401);
}

#[test]
fn v1_caching_lifetime_is_short_for_the_current_release_and_long_for_a_named_one() {
    let (_contract, client) = both();
    let (short, long) = (
        "private, max-age=60",
        "private, max-age=31536000, immutable",
    );
    for route in ROUTES {
        assert_eq!(client.get(route).header("cache-control"), Some(short));
        if !route.ends_with("current") && !route.contains("markets") {
            let parted = if route.contains('?') { '&' } else { '?' };
            let pinned = client.get(&format!("{route}{parted}release_id={DEMO_RATES}"));
            // The catalogue is the program's.
            let lifetime = match route.ends_with("datasets") {
                true => short,
                false => long,
            };
            assert_eq!(pinned.header("cache-control"), Some(lifetime));
        }
    }
    // A page that is continued is of its release for good.
    let first = client.get("/v1/rates/series?dataset=ois_spot_curve&page_size=50");
    let cursor = first.json()["next_cursor"].as_str().unwrap().to_owned();
    let second = client.get(&format!("/v1/rates/series?cursor={cursor}"));
    assert_eq!(first.header("cache-control"), Some(short));
    assert_eq!(second.header("cache-control"), Some(long));
    // One that holds a cursor is not: cursors expire.
    let pinned =
        format!("/v1/rates/series?dataset=ois_spot_curve&page_size=50&release_id={DEMO_RATES}");
    assert_eq!(client.get(&pinned).header("cache-control"), Some(short));
}

#[test]
fn v1_caching_vary_is_by_key() {
    let (_contract, client) = both();
    for route in ROUTES {
        let vary = client.get(route).header("vary").map(str::to_owned);
        assert_eq!(vary.as_deref(), Some("Authorization, Accept-Encoding"));
    }
}

#[test]
fn v1_caching_refusals_are_not_kept() {
    let contract = contract();
    for answer in [
        contract.customer("both").get("/v1/rates/series"),
        contract.customer("narrow").get(ROUTES[1]),
    ] {
        assert!(answer.status >= 400);
        for name in ["etag", "cache-control"] {
            assert_eq!(answer.header(name), None, "{name}");
        }
    }
}

#[test]
fn v1_caching_head_has_the_headers_without_the_body() {
    let (_contract, client) = both();
    for route in ROUTES {
        let (got, head) = (client.get(route), client.head(route));
        assert_eq!((head.status, head.text.as_str()), (200, ""), "{route}");
        for name in ["etag", "vary", "cache-control", "content-type"] {
            assert_eq!(head.header(name), got.header(name), "{route}: {name}");
            assert!(head.header(name).is_some(), "{route}: {name}");
        }
    }
}
