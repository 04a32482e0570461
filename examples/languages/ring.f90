! A ring in Fortran, by ISO_C_BINDING: each PE adds its number to a counter of its right neighbour, and puts its number there.
module shmem_c
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    subroutine shmem_init() bind(C)
    end subroutine
    subroutine shmem_finalize() bind(C)
    end subroutine
    subroutine shmem_barrier_all() bind(C)
    end subroutine
    integer(c_int) function shmem_my_pe() bind(C)
      import :: c_int
    end function
    integer(c_int) function shmem_n_pes() bind(C)
      import :: c_int
    end function
    type(c_ptr) function shmem_malloc(bytes) bind(C)
      import :: c_ptr, c_size_t
      integer(c_size_t), value :: bytes
    end function
    subroutine shmem_free(block) bind(C)
      import :: c_ptr
      type(c_ptr), value :: block
    end subroutine
    subroutine shmem_putmem(dest, source, bytes, pe) bind(C)
      import :: c_ptr, c_size_t, c_int
      type(c_ptr), value :: dest, source
      integer(c_size_t), value :: bytes
      integer(c_int), value :: pe
    end subroutine
    subroutine shmem_long_atomic_add(dest, value, pe) bind(C)
      import :: c_ptr, c_long, c_int
      type(c_ptr), value :: dest
      integer(c_long), value :: value
      integer(c_int), value :: pe
    end subroutine
  end interface
end module

module symmetric
  use, intrinsic :: iso_c_binding
  implicit none
  integer(c_long), target, save :: counter = 0  ! variables of modules are static, so they are symmetric
end module

program ring
  use shmem_c
  use symmetric
  implicit none
  integer(c_int) :: me, pes, right, left
  real(c_double), pointer :: numbers(:)
  real(c_double), target :: mine(4)
  type(c_ptr) :: block

  call shmem_init()
  me = shmem_my_pe()
  pes = shmem_n_pes()
  right = mod(me + 1, pes)
  left = mod(me + pes - 1, pes)

  block = shmem_malloc(c_sizeof(mine))
  call c_f_pointer(block, numbers, [4])
  mine = me
  call shmem_long_atomic_add(c_loc(counter), int(me, c_long), right)
  call shmem_putmem(block, c_loc(mine), c_sizeof(mine), right)
  call shmem_barrier_all()

  if (counter /= left .or. any(nint(numbers) /= left)) error stop 'ring: wrong numbers'
  print '(a,i0,a,i0,a,i0)', 'PE ', me, ' of ', pes, ' got ', counter
  call shmem_free(block)
  call shmem_finalize()
end program
