//! 100,000 lines of bonnie++, from the request's text to the reply's, in the pieces that an import sends.

use criterion::{Criterion, criterion_group, criterion_main};
use crossvisor_plugin::sdk::respond;
use crossvisor_workload_bonnie::Bonnie;
use serde_json::json;

const LINES: usize = 100_000;
const PIECE: usize = 1 << 20;

/// Requests for all lines; each line has a figure of its own.
fn requests(line: impl Fn(usize) -> String) -> Vec<Vec<u8>> {
    let mut pieces = vec![String::new()];
    for number in 0..LINES {
        if pieces.last().is_some_and(|piece| piece.len() > PIECE) {
            pieces.push(String::new());
        }
        pieces.iter_mut().last().into_iter().for_each(|piece| piece.push_str(&line(number)));
    }
    let request = |text: String| {
        let input = json!({"file": "runs.csv", "text": text, "last": true});
        json!({"v": 1, "offer": "bonnie", "options": {}, "op": "import", "input": input})
            .to_string()
            .into_bytes()
    };
    pieces.into_iter().map(request).collect()
}

fn import(requests: &[Vec<u8>]) -> usize {
    let reply = |request: &Vec<u8>| serde_json::to_vec(&respond::<Bonnie>(request)).unwrap_or_default().len();
    requests.iter().map(reply).sum()
}

fn bench(criterion: &mut Criterion) {
    let old = requests(|number| {
        format!(
            "alpha,2G,30111,91,{},17,20333,9,33444,88,50555,12,181.6,1,16,901,97,+++++,+++,13021,88,955,98,+++++,+++,2510,91\n",
            40_000 + number
        )
    });
    let late = requests(|number| {
        format!(
            "1.98,2.00a,epsilon,1,1300000003,128M,,8192,5,1271,90,{},30,60222,102,2172,93,+++++,+++,3015,44,16,,,,,901,97,+++++,+++,13021,88,955,98,+++++,+++,2510,91,10313us,4724us,316us,7714us,267us,13221us,1us,2us,3us,4us,5us,6us\n",
            40_000 + number
        )
    });
    let mut group = criterion.benchmark_group("100000 lines");
    group.sample_size(10);
    group.bench_function("1.03e", |bencher| bencher.iter(|| import(&old)));
    group.bench_function("2.00a", |bencher| bencher.iter(|| import(&late)));
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
