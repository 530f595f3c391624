// SPDX-License-Identifier: Apache-2.0
// CYCLOPS_OUT=- cargo run, with the crate of ../rust
use cyclops_measure::Measure;

fn main() {
    let m = Measure::open(None, None);
    let (fill, add) = (m.region("fill"), m.region("add"));
    let numbers: Vec<f64> = {
        let _in = fill.begin();
        (0..1 << 20).map(f64::from).collect()
    };
    let mut sum = 0.0;
    for _ in 0..3 {
        let _in = add.begin();
        sum += numbers.iter().sum::<f64>();
    }
    assert!(sum > 0.0);
}
