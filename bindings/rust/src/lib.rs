// SPDX-License-Identifier: Apache-2.0
//! libcyclops for Rust: a program counts its own regions.
//!
//! ```no_run
//! let m = cyclops_measure::Measure::open(None, None);
//! let solve = m.region("solve");
//! {
//!     let _in = solve.begin(); // ends with the block
//! }
//! ```
//!
//! Events and output come from `CYCLOPS_EVENTS` and `CYCLOPS_OUT` unless they are given. What fails is not
//! measured, and `why` says why.

pub use cyclops_measure_sys as sys;

use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::os::raw::c_int;
use std::ptr;

/// A handle. It is closed, and its output written, when it is dropped.
pub struct Measure {
    handle: *mut sys::Cyclops,
    error: c_int,
}

// The library keeps each thread's numbers apart, and locks what they share.
unsafe impl Send for Measure {}
unsafe impl Sync for Measure {}

impl Measure {
    /// Opens a handle, with the calling thread. `None`: what the environment says.
    pub fn open(events: Option<&str>, out: Option<&str>) -> Measure {
        let events = events.and_then(|text| CString::new(text).ok());
        let out = out.and_then(|text| CString::new(text).ok());
        let options = sys::Options {
            sz: std::mem::size_of::<sys::Options>(),
            events: events.as_ref().map_or(ptr::null(), |text| text.as_ptr()),
            out: out.as_ref().map_or(ptr::null(), |text| text.as_ptr()),
            mode: 0,
            privilege: 0,
            all_sets: 0,
            minus_bias: 0,
            max_regions: 0,
            max_threads: 0,
            max_depth: 0,
            max_paths: 0,
        };
        let mut handle = ptr::null_mut();
        let error = unsafe { sys::cyclops_open(&mut handle, &options) };
        Measure { handle, error }
    }

    /// 0, or the negative errno of what is not counted.
    pub fn error(&self) -> i32 {
        self.error
    }

    /// Why an event is not counted, or the last call failed.
    pub fn why(&self) -> String {
        unsafe { CStr::from_ptr(sys::cyclops_why(self.handle)) }.to_string_lossy().into_owned()
    }

    pub fn region(&self, name: &str) -> Region<'_> {
        let name = CString::new(name).unwrap_or_default();
        let id = unsafe { sys::cyclops_region(self.handle, name.as_ptr()) };
        Region { measure: self, id }
    }

    /// Opens the counters of the calling thread; they are closed with the thread.
    pub fn open_thread(&self) -> i32 {
        unsafe { sys::cyclops_thread_open(self.handle) }
    }
}

impl Drop for Measure {
    fn drop(&mut self) {
        unsafe { sys::cyclops_close(self.handle) };
    }
}

/// A region, by its name.
#[derive(Clone, Copy)]
pub struct Region<'a> {
    measure: &'a Measure,
    id: c_int,
}

impl<'a> Region<'a> {
    /// Begins the region in this thread. It ends when the guard is dropped.
    #[must_use = "the region ends when the guard is dropped"]
    pub fn begin(&self) -> Guard<'a> {
        unsafe { sys::cyclops_begin(self.measure.handle, self.id) };
        Guard { region: *self, of_one_thread: PhantomData }
    }

    /// What an event, by number (0: the elapsed time), came to, over all threads; the negative errno otherwise.
    pub fn count(&self, event: i32) -> Result<sys::Count, i32> {
        let mut count = sys::Count { sz: std::mem::size_of::<sys::Count>(), ..Default::default() };
        match unsafe { sys::cyclops_count_of(self.measure.handle, self.id, event, &mut count) } {
            0 => Ok(count),
            error => Err(error),
        }
    }
}

/// An open region of one thread.
pub struct Guard<'a> {
    region: Region<'a>,
    of_one_thread: PhantomData<*const ()>,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        unsafe { sys::cyclops_end(self.region.measure.handle, self.region.id) };
    }
}
