# SPDX-License-Identifier: Apache-2.0
"""
libcyclops for Python: a program counts its own regions.

    import cyclops_measure

    m = cyclops_measure.Measure(events="cycles,instructions")
    with m.region("load"):
        ...

    @m.region("parse")
    def parse(text):
        ...

    m.close()

Options that are left out come from CYCLOPS_EVENTS, CYCLOPS_OUT and CYCLOPS_MODE. A thread that begins a
region is opened. Where events cannot be counted regions are timed, and `why` says why. The library is the
file that CYCLOPS_LIBRARY names, else libcyclops.so.0 where the system finds it.
"""

import collections
import ctypes
import functools
import os

__all__ = ["Count", "Error", "Measure"]

MODES = {None: 0, "auto": 1, "read": 2, "user": 3}
PRIVILEGES = {"user": 0, "kernel": 1, "user-and-kernel": 2}

Count = collections.namedtuple(
    "Count", "calls count exclusive raw exclusive_raw enabled_ns running_ns coverage min max p50 p90 p99 counted_calls bias")


class Error(Exception):
    """A call that failed, with its errno and the library's sentence."""

    def __init__(self, error, why):
        super().__init__(why or os.strerror(error))
        self.errno = error


class _Options(ctypes.Structure):
    _fields_ = [("sz", ctypes.c_size_t), ("events", ctypes.c_char_p), ("out", ctypes.c_char_p)] + [
        (name, ctypes.c_int) for name in ("mode", "privilege", "all_sets", "minus_bias")] + [
        (name, ctypes.c_uint) for name in ("max_regions", "max_threads", "max_depth", "max_paths")]


class _Count(ctypes.Structure):
    _fields_ = [("sz", ctypes.c_size_t), ("calls", ctypes.c_uint64), ("count", ctypes.c_double), ("exclusive", ctypes.c_double),
                ("raw", ctypes.c_uint64), ("exclusive_raw", ctypes.c_uint64), ("enabled_ns", ctypes.c_uint64),
                ("running_ns", ctypes.c_uint64), ("coverage", ctypes.c_double)] + [
        (name, ctypes.c_uint64) for name in ("min", "max", "p50", "p90", "p99", "counted_calls")] + [
        ("bias", ctypes.c_double)]


def _load():
    library = ctypes.CDLL(os.environ.get("CYCLOPS_LIBRARY", "libcyclops.so.0"))
    handle, integer, text = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
    for name, result, arguments in (
            ("open", integer, [ctypes.POINTER(handle), ctypes.POINTER(_Options)]),
            ("why", text, [handle]),
            ("region", integer, [handle, text]),
            ("thread_open", integer, [handle]),
            ("thread_close", integer, [handle]),
            ("begin", integer, [handle, integer]),
            ("end", integer, [handle, integer]),
            ("switch", integer, [handle]),
            ("reset", integer, [handle]),
            ("event", text, [handle, integer]),
            ("count_of", integer, [handle, integer, integer, ctypes.POINTER(_Count)]),
            ("write", integer, [handle, text, text]),
            ("close", integer, [handle])):
        function = getattr(library, "cyclops_" + name)
        function.restype, function.argtypes = result, arguments
    return library


class _Region:
    """A region: `with` begins and ends it; as a decorator it is around each call of a function."""

    def __init__(self, measure, number):
        self._begin = functools.partial(measure._library.cyclops_begin, measure._handle, number)
        self._end = functools.partial(measure._library.cyclops_end, measure._handle, number)
        self._thread_open = measure.thread_open

    def __enter__(self):
        if self._begin() == -3:  # ESRCH: this thread is not open
            self._thread_open()
            self._begin()
        return self

    def __exit__(self, *_):
        self._end()

    def __call__(self, function):
        @functools.wraps(function)
        def measured(*words, **named):
            with self:
                return function(*words, **named)
        return measured


class Measure:
    """A handle of libcyclops. It is closed by close(), at the end of `with`, or with the program."""

    def __init__(self, events=None, out=None, mode=None, privilege="user", all_sets=False, minus_bias=False, **limits):
        options = _Options(ctypes.sizeof(_Options), events and events.encode(), out and os.fsencode(out), MODES[mode],
                           PRIVILEGES[privilege], all_sets, minus_bias)
        for name, limit in limits.items():
            if not name.startswith("max_"):
                raise TypeError(f"no option {name}")
            setattr(options, name, limit)
        self._library, self._handle = _load(), ctypes.c_void_p()
        self.error = -self._library.cyclops_open(ctypes.byref(self._handle), ctypes.byref(options))
        if not self._handle:
            raise MemoryError(self.why)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _check(self, result):
        if result < 0:
            raise Error(-result, self.why)
        return result

    @property
    def why(self):
        """Why an event is not counted, or the last call failed; "" if all is well."""
        return self._library.cyclops_why(self._handle).decode()

    @property
    def events(self):
        """Names by number; number 0 is duration_time."""
        names = []
        while (name := self._library.cyclops_event(self._handle, len(names))) is not None:
            names.append(name.decode())
        return names

    def region(self, name):
        return _Region(self, self._check(self._library.cyclops_region(self._handle, name.encode())))

    def count(self, region, event):
        """What an event, by name or number, came to in a region, by name, over all threads."""
        number = event if isinstance(event, int) else self.events.index(event)
        out = _Count(ctypes.sizeof(_Count))
        self._check(self._library.cyclops_count_of(
            self._handle, self._check(self._library.cyclops_region(self._handle, region.encode())), number, ctypes.byref(out)))
        return Count(*(getattr(out, name) for name in Count._fields))

    def thread_open(self):
        self._check(self._library.cyclops_thread_open(self._handle))

    def thread_close(self):
        self._check(self._library.cyclops_thread_close(self._handle))

    def switch(self):
        return self._check(self._library.cyclops_switch(self._handle))

    def reset(self):
        self._check(self._library.cyclops_reset(self._handle))

    def write(self, path, form=None):
        self._check(self._library.cyclops_write(self._handle, os.fsencode(path), form and form.encode()))

    def close(self):
        handle, self._handle = self._handle, ctypes.c_void_p()
        if handle:
            result = self._library.cyclops_close(handle)
            if result < 0:
                raise Error(-result, None)
