// SPDX-License-Identifier: Apache-2.0
//! The C calls of libcyclops, as `cyclops/measure.h` declares them; `cyclops_measure(3)` says what they mean.

use std::os::raw::{c_char, c_double, c_int, c_uint};

/// A handle: `struct cyclops`.
#[repr(C)]
pub struct Cyclops {
    _private: [u8; 0],
}

#[repr(C)]
pub struct Options {
    pub sz: usize,
    pub events: *const c_char,
    pub out: *const c_char,
    pub mode: c_int,
    pub privilege: c_int,
    pub all_sets: c_int,
    pub minus_bias: c_int,
    pub max_regions: c_uint,
    pub max_threads: c_uint,
    pub max_depth: c_uint,
    pub max_paths: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    pub sz: usize,
    pub calls: u64,
    pub count: c_double,
    pub exclusive: c_double,
    pub raw: u64,
    pub exclusive_raw: u64,
    pub enabled_ns: u64,
    pub running_ns: u64,
    pub coverage: c_double,
    pub min: u64,
    pub max: u64,
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    pub counted_calls: u64,
    pub bias: c_double,
}

#[link(name = "cyclops")]
extern "C" {
    pub fn cyclops_open(out: *mut *mut Cyclops, options: *const Options) -> c_int;
    pub fn cyclops_why(handle: *const Cyclops) -> *const c_char;
    pub fn cyclops_region(handle: *mut Cyclops, name: *const c_char) -> c_int;
    pub fn cyclops_thread_open(handle: *mut Cyclops) -> c_int;
    pub fn cyclops_thread_close(handle: *mut Cyclops) -> c_int;
    pub fn cyclops_begin(handle: *mut Cyclops, region: c_int) -> c_int;
    pub fn cyclops_end(handle: *mut Cyclops, region: c_int) -> c_int;
    pub fn cyclops_read(handle: *mut Cyclops, values: *mut u64, n: c_int) -> c_int;
    pub fn cyclops_switch(handle: *mut Cyclops) -> c_int;
    pub fn cyclops_reset(handle: *mut Cyclops) -> c_int;
    pub fn cyclops_event(handle: *const Cyclops, event: c_int) -> *const c_char;
    pub fn cyclops_count_of(handle: *mut Cyclops, region: c_int, event: c_int, out: *mut Count) -> c_int;
    pub fn cyclops_write(handle: *mut Cyclops, path: *const c_char, format: *const c_char) -> c_int;
    pub fn cyclops_close(handle: *mut Cyclops) -> c_int;
}
