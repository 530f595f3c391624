! SPDX-License-Identifier: Apache-2.0
! gfortran ../fortran/cyclops_measure.f90 example.f90 -lcyclops && CYCLOPS_OUT=- ./a.out
program example
   use cyclops_measure
   implicit none
   type(c_ptr) :: m
   integer(c_int) :: fill, add, error
   double precision, allocatable :: numbers(:)
   double precision :: total
   integer :: i

   error = measure_open(m)
   fill = measure_region(m, "fill")
   add = measure_region(m, "add")
   error = measure_begin(m, fill)
   allocate (numbers(2**20))
   numbers = [(dble(i), i = 1, size(numbers))]
   error = measure_end(m, fill)
   total = 0
   do i = 1, 3
      error = measure_begin(m, add)
      total = total + sum(numbers)
      error = measure_end(m, add)
   end do
   error = measure_close(m)
   if (error < 0 .or. total <= 0) error stop 1
end program
