! One-sided communication from Fortran. BINDING_MPIF, BINDING_MPI or BINDING_F08 is defined: by mpif.h, by the module mpi, or
! by the module mpi_f08.
program fortran_test
#if defined(BINDING_F08)
  use mpi_f08
#elif defined(BINDING_MPI)
  use mpi
#endif
  implicit none
#if defined(BINDING_MPIF)
  include 'mpif.h'
#endif
  integer, parameter :: words = 16
  integer, asynchronous :: memory(words)
  integer, asynchronous :: sent, got
  integer :: rank, ranks, right, left, failures, all_failures, ierr
#if defined(BINDING_F08)
  type(mpi_win) :: win
  type(mpi_request) :: request
  type(mpi_status) :: status
#else
  integer :: win
  integer :: request
  integer :: status(mpi_status_size)
#endif
  integer(kind=mpi_address_kind) :: bytes, disp, value
  logical :: found

  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  call mpi_comm_size(mpi_comm_world, ranks, ierr)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  failures = 0
  memory = -1
  bytes = 4 * words
  call mpi_win_create(memory, bytes, 4, mpi_info_null, mpi_comm_world, win, ierr)

  sent = 100 + rank
  disp = 3
  call mpi_win_fence(0, win, ierr)
  call mpi_put(sent, 1, mpi_integer, right, disp, 1, mpi_integer, win, ierr)
  call mpi_win_fence(0, win, ierr)
  call expect(memory(4), 100 + left, 'put')

  memory(6) = 7
  call mpi_barrier(mpi_comm_world, ierr)
  call mpi_win_lock_all(0, win, ierr)
  disp = 5
  call mpi_rget(got, 1, mpi_integer, right, disp, 1, mpi_integer, win, request, ierr)
  call mpi_wait(request, status, ierr)
  call expect(got, 7, 'rget')
  call mpi_barrier(mpi_comm_world, ierr)
  call mpi_accumulate(sent, 1, mpi_integer, right, disp, 1, mpi_integer, mpi_sum, win, ierr)
  call mpi_win_flush(right, win, ierr)
  call mpi_fetch_and_op(sent, got, mpi_integer, right, disp, mpi_no_op, win, ierr)
  call mpi_win_flush(right, win, ierr)
  call expect(got, 107 + rank, 'fetch_and_op')
  call mpi_win_unlock_all(win, ierr)
  call mpi_barrier(mpi_comm_world, ierr)
  call expect(memory(6), 107 + left, 'accumulate')

  call mpi_win_get_attr(win, mpi_win_size, value, found, ierr)
  if (.not. found) failures = failures + 1
  call expect(int(value), 4 * words, 'the attribute of the size')
  call mpi_win_get_attr(win, mpi_win_disp_unit, value, found, ierr)
  call expect(int(value), 4, 'the attribute of the unit')
  call mpi_win_get_attr(win, mpi_win_create_flavor, value, found, ierr)
  call expect(int(value), mpi_win_flavor_create, 'the attribute of the flavor')
  call mpi_win_free(win, ierr)

  call mpi_allreduce(failures, all_failures, 1, mpi_integer, mpi_sum, mpi_comm_world, ierr)
  call mpi_finalize(ierr)
  if (all_failures /= 0) stop 1

contains

  subroutine expect(here, expected, what)
    integer, intent(in) :: here, expected
    character(len=*), intent(in) :: what
    if (here == expected) return
    failures = failures + 1
    write (0, *) 'rank', rank, what, here, 'expected', expected
  end subroutine expect

end program fortran_test
