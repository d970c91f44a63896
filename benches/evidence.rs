//! How long a thousand ledgers take: read, judged, told.
#![allow(missing_docs, reason = "criterion's macros generate public functions")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use quadgate::evidence::{Context, judge, markdown};
use std::hint::black_box;

const LEDGERS: u64 = 1_000;

fn lint(criterion: &mut Criterion) {
    let good = include_str!("../docs/examples/ledger-good.md");
    let bad = include_str!("../docs/examples/ledger-bad.md");
    let ledgers: Vec<String> = (0..LEDGERS)
        .map(|n| {
            let text = if n % 2 == 0 { good } else { bad };
            text.replace("drop-legacy-sessions", &format!("change-{n}"))
        })
        .collect();
    let mut group = criterion.benchmark_group("evidence");
    group
        .throughput(Throughput::Elements(LEDGERS))
        .sample_size(20);
    group.bench_function("lint 1,000 ledgers", |bencher| {
        bencher.iter(|| {
            let count = |text: &String| {
                judge(&markdown::read(text), &Context::default())
                    .findings
                    .len()
            };
            black_box(ledgers.iter().map(count).sum::<usize>())
        });
    });
    group.finish();
}

criterion_group!(benches, lint);
criterion_main!(benches);
