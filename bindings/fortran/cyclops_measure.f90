! SPDX-License-Identifier: Apache-2.0
!
! libcyclops for Fortran: a program counts its own regions; cyclops_measure(3).
!
!       type(c_ptr) :: m
!       integer(c_int) :: solve, error
!
!       error = measure_open(m)                    events from CYCLOPS_EVENTS, output to CYCLOPS_OUT
!       solve = measure_region(m, "solve")
!       error = measure_begin(m, solve)
!       ...
!       error = measure_end(m, solve)
!       error = measure_close(m)
!
! Functions return 0 or more, or a negative errno.
module cyclops_measure
   use, intrinsic :: iso_c_binding
   implicit none
   private
   public :: c_ptr, c_int, c_int64_t
   public :: cyclops_options, cyclops_count
   public :: measure_open, measure_why, measure_region, measure_count, measure_write
   public :: measure_thread_open, measure_thread_close, measure_begin, measure_end
   public :: measure_switch, measure_reset, measure_close

   ! struct cyclops_options of cyclops/measure.h; measure_open() sets sz
   type, bind(c) :: cyclops_options
      integer(c_size_t) :: sz = 0
      type(c_ptr) :: events = c_null_ptr
      type(c_ptr) :: out = c_null_ptr
      integer(c_int) :: mode = 0
      integer(c_int) :: privilege = 0
      integer(c_int) :: all_sets = 0
      integer(c_int) :: minus_bias = 0
      integer(c_int) :: max_regions = 0
      integer(c_int) :: max_threads = 0
      integer(c_int) :: max_depth = 0
      integer(c_int) :: max_paths = 0
   end type

   ! struct cyclops_count
   type, bind(c) :: cyclops_count
      integer(c_size_t) :: sz = 0
      integer(c_int64_t) :: calls = 0
      real(c_double) :: count = 0
      real(c_double) :: exclusive = 0
      integer(c_int64_t) :: raw = 0
      integer(c_int64_t) :: exclusive_raw = 0
      integer(c_int64_t) :: enabled_ns = 0
      integer(c_int64_t) :: running_ns = 0
      real(c_double) :: coverage = 0
      integer(c_int64_t) :: min = 0
      integer(c_int64_t) :: max = 0
      integer(c_int64_t) :: p50 = 0
      integer(c_int64_t) :: p90 = 0
      integer(c_int64_t) :: p99 = 0
      integer(c_int64_t) :: counted_calls = 0
      real(c_double) :: bias = 0
   end type

   interface
      function c_open(handle, options) bind(c, name="cyclops_open")
         import :: c_ptr, c_int
         type(c_ptr), intent(out) :: handle
         type(c_ptr), value :: options
         integer(c_int) :: c_open
      end function
      function c_why(handle) bind(c, name="cyclops_why")
         import :: c_ptr
         type(c_ptr), value :: handle
         type(c_ptr) :: c_why
      end function
      function c_region(handle, name) bind(c, name="cyclops_region")
         import :: c_ptr, c_int, c_char
         type(c_ptr), value :: handle
         character(kind=c_char), intent(in) :: name(*)
         integer(c_int) :: c_region
      end function
      function c_count(handle, region, event, count) bind(c, name="cyclops_count_of")
         import :: c_ptr, c_int, cyclops_count
         type(c_ptr), value :: handle
         integer(c_int), value :: region, event
         type(cyclops_count), intent(inout) :: count
         integer(c_int) :: c_count
      end function
      function c_write(handle, path, form) bind(c, name="cyclops_write")
         import :: c_ptr, c_int, c_char
         type(c_ptr), value :: handle
         character(kind=c_char), intent(in) :: path(*)
         type(c_ptr), value :: form
         integer(c_int) :: c_write
      end function
      function measure_thread_open(handle) bind(c, name="cyclops_thread_open")
         import :: c_ptr, c_int
         type(c_ptr), value :: handle
         integer(c_int) :: measure_thread_open
      end function
      function measure_thread_close(handle) bind(c, name="cyclops_thread_close")
         import :: c_ptr, c_int
         type(c_ptr), value :: handle
         integer(c_int) :: measure_thread_close
      end function
      function measure_begin(handle, region) bind(c, name="cyclops_begin")
         import :: c_ptr, c_int
         type(c_ptr), value :: handle
         integer(c_int), value :: region
         integer(c_int) :: measure_begin
      end function
      function measure_end(handle, region) bind(c, name="cyclops_end")
         import :: c_ptr, c_int
         type(c_ptr), value :: handle
         integer(c_int), value :: region
         integer(c_int) :: measure_end
      end function
      function measure_switch(handle) bind(c, name="cyclops_switch")
         import :: c_ptr, c_int
         type(c_ptr), value :: handle
         integer(c_int) :: measure_switch
      end function
      function measure_reset(handle) bind(c, name="cyclops_reset")
         import :: c_ptr, c_int
         type(c_ptr), value :: handle
         integer(c_int) :: measure_reset
      end function
      function measure_close(handle) bind(c, name="cyclops_close")
         import :: c_ptr, c_int
         type(c_ptr), value :: handle
         integer(c_int) :: measure_close
      end function
      pure function c_length(text) bind(c, name="strlen")
         import :: c_ptr, c_size_t
         type(c_ptr), value, intent(in) :: text
         integer(c_size_t) :: c_length
      end function
   end interface

contains

   ! Opens a handle, and the calling thread. Texts that are left out come from the environment.
   function measure_open(handle, events, out, options) result(error)
      type(c_ptr), intent(out) :: handle
      character(*), intent(in), optional :: events, out
      type(cyclops_options), intent(in), optional :: options
      integer(c_int) :: error
      type(cyclops_options), target :: o
      character(kind=c_char, len=:), allocatable, target :: c_events, c_out

      if (present(options)) o = options
      o%sz = c_sizeof(o)
      if (present(events)) then
         c_events = trim(events)//c_null_char
         o%events = c_loc(c_events)
      end if
      if (present(out)) then
         c_out = trim(out)//c_null_char
         o%out = c_loc(c_out)
      end if
      error = c_open(handle, c_loc(o))
   end function

   ! Why an event is not counted, or the last function failed; empty if all is well.
   function measure_why(handle) result(why)
      type(c_ptr), intent(in) :: handle
      character(:), allocatable :: why
      character(kind=c_char), pointer :: bytes(:)
      type(c_ptr) :: text
      integer :: i

      text = c_why(handle)
      call c_f_pointer(text, bytes, [c_length(text)])
      allocate (character(size(bytes)) :: why)
      do i = 1, size(bytes)
         why(i:i) = bytes(i)
      end do
   end function

   ! The id of the region of this name.
   function measure_region(handle, name) result(region)
      type(c_ptr), intent(in) :: handle
      character(*), intent(in) :: name
      integer(c_int) :: region

      region = c_region(handle, trim(name)//c_null_char)
   end function

   ! What an event, by number (0: the elapsed time), came to in a region, over all threads.
   function measure_count(handle, region, event, count) result(error)
      type(c_ptr), intent(in) :: handle
      integer(c_int), intent(in) :: region, event
      type(cyclops_count), intent(out) :: count
      integer(c_int) :: error

      count%sz = c_sizeof(count)
      error = c_count(handle, region, event, count)
   end function

   ! Writes what was measured so far; the path's ending chooses the format.
   function measure_write(handle, path) result(error)
      type(c_ptr), intent(in) :: handle
      character(*), intent(in) :: path
      integer(c_int) :: error

      error = c_write(handle, trim(path)//c_null_char, c_null_ptr)
   end function

end module
