//! Queries of a release of rates, without HTTP. `DOMESDAY_RATES_RELEASE=DIR cargo bench -p
//! domesday-series` measures the release in that directory. The default is the demo's, made on the
//! spot.
#![allow(clippy::unwrap_used, clippy::expect_used, unused_crate_dependencies)]

use criterion::{Criterion, criterion_group, criterion_main};
use domesday_package::{Full, Trust};
use domesday_series::build::rates::{Inputs, derive, read};
use domesday_series::build::{Publication, write};
use domesday_series::catalogue::Family;
use domesday_series::select::{Parameters, QueryKind, select};
use domesday_series::store::Release;
use domesday_synthetic::{RatesWorld, generate_rates};
use std::hint::black_box;
use std::path::{Path, PathBuf};

fn demo(folder: &Path) -> PathBuf {
    let written = generate_rates(&RatesWorld::demo(), folder).unwrap();
    let paths = |names: &[String]| names.iter().map(|name| folder.join(name)).collect();
    let inputs = Inputs {
        database: paths(&written.database),
        curves: paths(&written.curves),
        synthetic: true,
    };
    let published = read(&inputs, &mut |_, _, _| ()).unwrap();
    let publication = Publication {
        family: Family::Rates,
        release_id: "demo".parse().unwrap(),
        created: None,
        published_at: None,
        preview_bounds: None,
        sources: published.sources.clone(),
        synthetic: true,
        notes: Vec::new(),
    };
    write(folder, derive(&published), publication).unwrap();
    folder.join("demo")
}

fn queries(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let directory = std::env::var_os("DOMESDAY_RATES_RELEASE")
        .map_or_else(|| demo(folder.path()), PathBuf::from);
    let open = || Release::open(&directory, Family::Rates, &Trust::Unsigned, &Full).unwrap();
    let release = open();
    criterion.bench_function("open", |bencher| bencher.iter(open));
    // From the parameters to every field of every observation of the first page.
    let answer = |text: &[(&str, &str)]| {
        let pairs = text.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
        let parameters = Parameters::read(pairs).unwrap();
        let dataset = parameters.dataset(Family::Rates).unwrap();
        let query = parameters.query(QueryKind::Series, dataset, &release, false);
        let query = query.unwrap();
        let page = select(&release, &query).page(0, query.page_size());
        let mut count = 0;
        for part in &page.series {
            for one in release.observations(part.series, part.rows.clone()) {
                black_box(one.value);
                count += 1 + one.fields().map(black_box).count();
            }
        }
        count
    };
    let cases: [(&str, &[(&str, &str)]); 5] = [
        ("latest bank_rate", &[("dataset", "bank_rate")]),
        (
            "latest ois_spot_curve, 100 nodes",
            &[("dataset", "ois_spot_curve")],
        ),
        (
            "latest ois_spot_curve, one node",
            &[("dataset", "ois_spot_curve"), ("tenor_months", "60")],
        ),
        (
            "bank_rate, a page of 5,000",
            &[
                ("dataset", "bank_rate"),
                ("from", "2009-01-01"),
                ("page_size", "5000"),
            ],
        ),
        (
            "forward_starting_swap_rates, a page of 5,000",
            &[
                ("dataset", "forward_starting_swap_rates"),
                ("from", "2009-01-01"),
                ("page_size", "5000"),
            ],
        ),
    ];
    for (name, text) in cases {
        criterion.bench_function(name, |bencher| bencher.iter(|| answer(black_box(text))));
    }
}

criterion_group!(benches, queries);
criterion_main!(benches);
