// SPDX-License-Identifier: Apache-2.0
use cyclops_measure::Measure;

fn duration_calls(region: &cyclops_measure::Region) -> u64 {
    region.count(0).expect("a count").calls
}

#[test]
fn guards_end_with_their_block() {
    let m = Measure::open(Some("page-faults"), None);
    let (outer, inner) = (m.region("outer"), m.region("inner"));
    {
        let _outer = outer.begin();
        for _ in 0..3 {
            let _inner = inner.begin();
        }
    }
    assert_eq!(duration_calls(&outer), 1);
    assert_eq!(duration_calls(&inner), 3);
    let (all, inside) = (outer.count(0).unwrap(), inner.count(0).unwrap());
    assert_eq!(all.exclusive_raw + inside.raw, all.raw);
    assert_eq!(all.coverage, 1.0);
    assert!(outer.count(99).is_err());
}

#[test]
fn threads_count_for_themselves() {
    let m = Measure::open(Some("page-faults"), None);
    let region = m.region("work");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                assert_eq!(m.open_thread(), 0);
                for _ in 0..10 {
                    let _in = region.begin();
                }
            });
        }
    });
    assert_eq!(duration_calls(&region), 40);
}

#[test]
fn what_is_unknown_is_said() {
    let m = Measure::open(Some("no-such-event"), None);
    assert!(m.error() < 0);
    assert!(m.why().contains("no-such-event"));
}
