// SPDX-License-Identifier: Apache-2.0
// The same idea in Rust: iterator chains are inlined many levels deep.
use std::collections::HashMap;

#[inline(never)]
fn squares(n: u64) -> u64 {
    (0..n).filter(|x| x % 3 != 0).map(|x| x * x).zip(1..).map(|(a, b)| a ^ b).sum()
}

#[inline(never)]
fn count(words: &[String]) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for word in words {
        *counts.entry(word.as_str()).or_insert(0) += 1;
    }
    counts
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    println!("{} {}", squares(words.len() as u64 + 100), count(&words).len());
}
