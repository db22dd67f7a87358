//! How long a thousand frames take: `cargo bench -p muxgate-core`.

mod work;

use criterion::{Criterion, criterion_group, criterion_main};

fn time(criterion: &mut Criterion) {
    for mut work in work::all() {
        criterion.bench_function(work.name, |bencher| bencher.iter(|| (work.run)()));
    }
}

criterion_group!(benches, time);
criterion_main!(benches);
