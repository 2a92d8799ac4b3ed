//! Queries of a release: their parameters, their selection and its pages.

use super::releases::{
    day, month, observations, parameters, query, query_of_kind, rates, refusal, release_from,
    release_of, select_text,
};
use domesday_series::Period;
use domesday_series::build::{Key, NewObservation};
use domesday_series::catalogue::{Availability, Family, ObservationField};
use domesday_series::select::{
    Continuation, Notice, ParameterError, ParameterErrorKind, Parameters, Query, QueryKind, select,
};
use domesday_series::store::{Release, Value};

#[test]
fn horizons_bound_a_selection_and_are_part_of_it() {
    let release = release_of(Family::Rates);
    for (text, expected) in [
        ("", &[0.0, 6.0, 12.0][..]),
        ("&horizon_from_month=6", &[6.0, 12.0]),
        ("&horizon_to_month=6", &[0.0, 6.0]),
        ("&horizon_from_month=6&horizon_to_month=6", &[6.0]),
        ("&horizon_from_month=0&horizon_to_month=0", &[0.0]),
        (
            "&term_years=5&horizon_from_month=1&horizon_to_month=120",
            &[6.0, 12.0],
        ),
    ] {
        let selection = select_text(
            &release,
            &format!("dataset=forward_starting_swap_rates{text}"),
        );
        let values: Vec<f64> = observations(&release, &selection)
            .into_iter()
            .map(|(_, _, value)| value)
            .collect();
        assert_eq!(values, expected, "{text}");
    }
    // A term of the list that the release does not have.
    let text = "dataset=forward_starting_swap_rates&term_years=10";
    let refused = query(&release, text).unwrap_err();
    assert_eq!(refused.field, "term_years");
    assert!(matches!(refused.kind, ParameterErrorKind::UnknownNode));
}

#[test]
fn a_number_is_digits_without_a_sign_or_a_leading_zero() {
    let release = release_of(Family::Rates);
    for size in [1, 9, 10, 5_000] {
        let text = format!("dataset=bank_rate&page_size={size}");
        assert_eq!(query(&release, &text).unwrap().page_size(), size);
    }
    for size in ["", "0", "05", "+5", "-5", "5x", "5001", "99999999999"] {
        let text = format!("dataset=bank_rate&page_size={size}");
        assert_eq!(refusal(&release, &text).0, "page_size", "{size}");
    }
}

#[test]
fn coverage_checks_the_form_of_dates_and_nothing_of_the_page_size() {
    let release = release_of(Family::Rates);
    let coverage = |text: &str| {
        let text = format!("dataset=bank_rate&{text}");
        query_of_kind(QueryKind::Coverage, &release, &text)
    };
    for text in [
        "from=2025-10-02&to=2025-10-01",
        "page_size=0",
        "page_size=5001",
        "page_size=many",
    ] {
        assert_eq!(coverage(text).unwrap().page_size(), 500, "{text}");
    }
    for (text, field) in [("from=2025-10", "from"), ("to=yesterday", "to")] {
        assert_eq!(coverage(text).unwrap_err().field, field, "{text}");
    }
}

#[test]
fn dates_are_compared_before_the_parameters_that_follow_are_checked() {
    let release = release_of(Family::Rates);
    let text = "dataset=ois_spot_curve&page_size=0&metrics=rate&tenor_months=7";
    let with = |more: &str| refusal(&release, &format!("{text}{more}")).0;
    assert_eq!(with("&from=2025-10-02&to=2025-10-01"), "to");
    assert_eq!(with("&from=2025-10-01&to=2025-10-02"), "metrics");
}

#[test]
fn fields_come_back_as_they_were_given() {
    let release = release_of(Family::Rates);
    let selection = select_text(&release, "dataset=ois_spot_curve&tenor_months=60");
    let part = &selection.series()[0];
    let one = release
        .observations(part.series, part.rows.clone())
        .next()
        .unwrap();
    let field = |field| one.field(field);
    assert_eq!(
        field(ObservationField::SnapshotDate),
        Some(Value::Date(day("2025-10-06")))
    );
    assert_eq!(
        field(ObservationField::IntervalEndDate),
        Some(Value::Date(day("2030-10-06")))
    );
    assert_eq!(
        field(ObservationField::IntervalEndMonth),
        Some(Value::Integer(60))
    );
    assert_eq!(
        field(ObservationField::Compounding),
        Some(Value::Text("continuous"))
    );
    assert_eq!(field(ObservationField::DayCount), None);
    assert_eq!(one.fields().count(), 8);
}

#[test]
fn pages_join_to_the_whole_and_a_continuation_restores_the_query() {
    let release = release_of(Family::Rates);
    let text = "dataset=ois_spot_curve&from=2025-01-01&page_size=3";
    let query = query(&release, text).unwrap();
    let selection = select(&release, &query);
    let mut joined = Vec::new();
    let mut position = 0;
    let mut pages = 0;
    loop {
        let continuation = query.continuation(&release, position);
        assert_eq!(Query::restore(&continuation, &release).unwrap(), query);
        let page = selection.page(position, query.page_size());
        pages += 1;
        for part in &page.series {
            for one in release.observations(part.series, part.rows.clone()) {
                joined.push((part.series, one.period));
            }
        }
        match page.next {
            Some(next) => position = next,
            None => break,
        }
    }
    let whole: Vec<_> = selection
        .series()
        .iter()
        .flat_map(|part| {
            release
                .observations(part.series, part.rows.clone())
                .map(|one| (part.series, one.period))
        })
        .collect();
    assert_eq!(pages, 3);
    assert_eq!(joined, whole);
}

#[test]
fn a_continuation_names_its_metrics() {
    let release = release_of(Family::Rates);
    let query = query(&release, "dataset=bank_rate").unwrap();
    let mut continuation = query.continuation(&release, 0);
    continuation.query.retain(|(name, _)| name != "metrics");
    let expected = ParameterError {
        field: "metrics".to_owned(),
        kind: ParameterErrorKind::MissingParameter,
    };
    assert_eq!(Query::restore(&continuation, &release), Err(expected));
}

/// The second package has another value, as one that was built from revised files.
#[test]
fn a_continuation_is_of_one_package_and_not_of_another_of_its_id() {
    let release = release_of(Family::Rates);
    let mut draft = rates();
    let sonia = Family::Rates.dataset("sonia_overnight").unwrap();
    let series = draft.series(Key::new(sonia, sonia.metric("rate_pct").unwrap()));
    let period = Period::of_day(day("2025-10-03"));
    draft.push(series, NewObservation::new(period, 3.97));
    let other = release_from(Family::Rates, draft);
    assert_eq!(other.id(), release.id());
    let query = query(&release, "dataset=bank_rate").unwrap();
    let continuation = query.continuation(&release, 1);
    assert!(continuation.is_of(&release));
    assert!(!continuation.is_of(&other));
    // A cursor of an earlier version knows the id alone.
    let earlier = Continuation {
        digest: None,
        ..continuation
    };
    assert!(earlier.is_of(&release) && earlier.is_of(&other));
}

#[test]
fn a_query_states_its_effective_parameters_in_one_order() {
    let release = release_of(Family::Markets);
    let latest = query(&release, "dataset=market_activity&area=E06999001").unwrap();
    assert_eq!(latest.mode(), "latest");

    let text = "metrics=sales_share_pct,sales_count&to=2025-03&area=E06999001&from=2025-02";
    let range = query(&release, &format!("dataset=market_activity&{text}")).unwrap();
    assert_eq!((range.mode(), range.page_size()), ("range", 500));
    assert_eq!((range.from(), range.to()), (Some(month(2)), Some(month(3))));
    let metrics: Vec<&str> = range.metrics().iter().map(|metric| metric.id).collect();
    assert_eq!(metrics, ["sales_count", "sales_share_pct"]);
    let joined = |pairs: Vec<(&str, String)>| {
        let pairs = pairs.iter().map(|(name, value)| format!("{name}={value}"));
        pairs.collect::<Vec<_>>().join("&")
    };
    let selectors = "area=E06999001&property_type=all";
    assert_eq!(joined(range.selectors()), selectors);
    assert_eq!(
        joined(range.canonical()),
        format!(
            "dataset=market_activity&{selectors}&from=2025-02&to=2025-03\
             &metrics=sales_count,sales_share_pct&page_size=500"
        )
    );
}

#[test]
fn the_bands_of_price_are_those_of_the_release() {
    let release = release_of(Family::Markets);
    let of = |band: &str| format!("dataset=price_bands&area=E06999001&price_band={band}");
    assert_eq!(select_text(&release, &of("1m_plus")).observations(), 1);
    let expected = "must be one of under_100k, 1m_plus".to_owned();
    let kind = ParameterErrorKind::InvalidParameter { expected };
    let found = refusal(&release, &of("100k_to_150k"));
    assert_eq!(found, ("price_band".to_owned(), kind));
}

#[test]
fn a_market_query_is_one_area_and_one_segment() {
    let release = release_of(Family::Markets);
    let selection = select_text(&release, "dataset=market_activity&area=E06999001");
    assert_eq!(selection.observations(), 5);
    let part = &selection.series()[0];
    let one = release
        .observations(part.series, part.rows.clone())
        .next()
        .unwrap();
    assert_eq!(one.window(), Some((day("2024-07-01"), day("2025-06-30"))));
    let one = select_text(
        &release,
        "dataset=market_activity&area=E06999001&metrics=sales_count&from=2025-02&to=2025-03",
    );
    assert_eq!(one.observations(), 2);
    let suppressed = select_text(&release, "dataset=market_activity&area=E06999002");
    assert_eq!(suppressed.observations(), 0);
    assert_eq!(suppressed.notice(), None);
    for bound in ["from=2025-02", "to=2025-02"] {
        let text = format!("dataset=market_activity&area=E06999002&{bound}");
        let notice = select_text(&release, &text).notice();
        let nothing = Notice::RangeExceedsHistory { history: None };
        assert_eq!(notice, Some(nothing), "{bound}");
    }
    let series = &release.series()[suppressed.series()[0].series];
    assert_eq!(series.availability(), Availability::Suppressed);
    assert_eq!(release.areas()[0].name, "Over Test");
}

#[test]
fn a_release_is_the_current_one_unless_the_query_names_it() {
    assert_eq!(parameters("dataset=sonia").release_id(), None);
    let named = parameters("dataset=sonia&release_id=r-7");
    assert_eq!(named.release_id(), Some("r-7"));
}

#[test]
fn a_route_without_a_dataset_takes_its_own_parameters_alone() {
    let given = parameters("release_id=r-1&from=2025-01");
    assert_eq!(given.only(&["release_id", "from", "to"]), Ok(()));
    let expected = ParameterError {
        field: "from".to_owned(),
        kind: ParameterErrorKind::UnknownParameter,
    };
    assert_eq!(given.only(&["release_id"]), Err(expected));
}

#[test]
fn errors_name_their_parameter() {
    let markets = release_of(Family::Markets);
    let rates = release_of(Family::Rates);
    let error_of = |release: &Release, text: &str| {
        let (field, kind) = refusal(release, text);
        format!("{field}: {kind}")
    };
    let all = [
        error_of(&rates, "from=2025-10-01"),
        error_of(&rates, "dataset=bank_rates"),
        error_of(&rates, "dataset=bank_rate&tenor_months=6"),
        error_of(&rates, "dataset=bank_rate&from=2025-10"),
        error_of(&rates, "dataset=bank_rate&from=2025-10-02&to=2025-10-01"),
        error_of(&rates, "dataset=bank_rate&page_size=0"),
        error_of(&rates, "dataset=bank_rate&metrics=rate"),
        error_of(&rates, "dataset=mortgage_benchmarks"),
        error_of(
            &rates,
            "dataset=mortgage_swap_spread&mortgage_product=mortgage_reversion",
        ),
        error_of(&rates, "dataset=forward_starting_swap_rates&term_years=4"),
        error_of(
            &rates,
            "dataset=forward_starting_swap_rates&horizon_to_month=121",
        ),
        error_of(
            &rates,
            "dataset=forward_starting_swap_rates&horizon_from_month=9&horizon_to_month=8",
        ),
        error_of(&markets, "dataset=market_activity"),
        error_of(&markets, "dataset=market_activity&area=E06999003"),
        error_of(
            &markets,
            "dataset=market_activity&area=E06999001&property_type=castle",
        ),
        error_of(
            &markets,
            "dataset=market_activity&area=E06999001&from=2025-01-01",
        ),
    ];
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn a_cursor_comes_alone_and_not_to_coverage() {
    let kind = |text: &str, asked| parameters(text).cursor(asked).unwrap_err().kind;
    assert_eq!(
        parameters("cursor=abc").cursor(QueryKind::Series),
        Ok(Some("abc"))
    );
    assert_eq!(
        kind("cursor=abc&dataset=bank_rate", QueryKind::Series),
        ParameterErrorKind::CursorWithSelectors
    );
    assert_eq!(
        kind("cursor=abc", QueryKind::Coverage),
        ParameterErrorKind::CursorNotAccepted
    );
    let twice = [("from", "1"), ("from", "2")].map(|(n, v)| (n.to_owned(), v.to_owned()));
    assert_eq!(
        Parameters::read(twice).unwrap_err().kind,
        ParameterErrorKind::DuplicateParameter
    );
}
