! One-sided communication from Fortran. BINDING_MPIF, BINDING_MPI or BINDING_F08 is defined: by mpif.h, by the module mpi, or
! by the module mpi_f08.
program fortran_test
  use, intrinsic :: iso_c_binding
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
  type(mpi_comm) :: node
  type(mpi_group) :: world, origins, targets
  type(c_ptr) :: base
#else
  integer :: win
  integer :: request
  integer :: status(mpi_status_size)
  integer :: node
  integer :: world, origins, targets
  integer(kind=mpi_address_kind) :: base
#endif
  integer, pointer :: data(:)
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

  call use_allocated_memory()
  call use_shared_memory()
  call use_attached_memory()

  call mpi_allreduce(failures, all_failures, 1, mpi_integer, mpi_sum, mpi_comm_world, ierr)
  call mpi_finalize(ierr)
  if (all_failures /= 0) stop 1

contains

  ! The memory that the MPI has allocated.
  subroutine find_data(count)
    integer, intent(in) :: count
#if defined(BINDING_F08)
    call c_f_pointer(base, data, [count])
#else
    call c_f_pointer(transfer(base, c_null_ptr), data, [count])
#endif
  end subroutine find_data

  ! post, start, complete, wait; compare and swap.
  subroutine use_allocated_memory()
    integer, asynchronous :: values(3)
    integer :: turn
    bytes = 4 * words
    call mpi_win_allocate(bytes, 4, mpi_info_null, mpi_comm_world, base, win, ierr)
    call find_data(words)
    data = 0
    call mpi_barrier(mpi_comm_world, ierr)
    call mpi_comm_group(mpi_comm_world, world, ierr)
    call mpi_group_incl(world, 1, [left], origins, ierr)
    call mpi_group_incl(world, 1, [right], targets, ierr)
    do turn = 1, 5
      values = [turn, 10 * turn, rank]
      disp = 4
      call mpi_win_post(origins, 0, win, ierr)
      call mpi_win_start(targets, 0, win, ierr)
      call mpi_put(values(1), 3, mpi_integer, right, disp, 3, mpi_integer, win, ierr)
      call mpi_win_complete(win, ierr)
      call mpi_win_wait(win, ierr)
      call expect(data(6), 10 * turn, 'post, start, put')
      call expect(data(7), left, 'post, start, put')
    end do
    call mpi_group_free(origins, ierr)
    call mpi_group_free(targets, ierr)
    call mpi_group_free(world, ierr)
    call mpi_barrier(mpi_comm_world, ierr)
    disp = 0
    call mpi_win_lock_all(0, win, ierr)
    do turn = rank, 3 * ranks - 1, ranks
      got = -1
      values(1:2) = [turn + 1, turn]
      do while (got /= turn)
        call mpi_compare_and_swap(values(1), values(2), got, mpi_integer, 0, disp, win, ierr)
        call mpi_win_flush(0, win, ierr)
      end do
    end do
    call mpi_win_unlock_all(win, ierr)
    call mpi_barrier(mpi_comm_world, ierr)
    if (rank == 0) call expect(data(1), 3 * ranks, 'compare_and_swap')
    call mpi_win_free(win, ierr)
  end subroutine use_allocated_memory

  subroutine use_shared_memory()
    integer :: place, nodes, unit
    call mpi_comm_split_type(mpi_comm_world, mpi_comm_type_shared, 0, mpi_info_null, node, ierr)
    call mpi_comm_rank(node, place, ierr)
    call mpi_comm_size(node, nodes, ierr)
    bytes = 8
    call mpi_win_allocate_shared(bytes, 4, mpi_info_null, node, base, win, ierr)
    call find_data(2)
    call mpi_win_lock_all(0, win, ierr)
    data = [place, 7 * place]
    call mpi_win_sync(win, ierr)
    call mpi_barrier(node, ierr)
    call mpi_win_sync(win, ierr)
    call mpi_win_shared_query(win, mod(place + 1, nodes), bytes, unit, base, ierr)
    call find_data(2)
    call expect(int(bytes), 8, 'size of a shared part')
    call expect(unit, 4, 'unit of a shared part')
    call expect(data(1), mod(place + 1, nodes), 'a shared part')
    call expect(data(2), 7 * mod(place + 1, nodes), 'a shared part')
    call mpi_win_unlock_all(win, ierr)
    call mpi_win_free(win, ierr)
    call mpi_comm_free(node, ierr)
  end subroutine use_shared_memory

  subroutine use_attached_memory()
    integer(kind=mpi_address_kind) :: mine(1), theirs(1)
    memory = 0
    bytes = 4 * words
    call mpi_win_create_dynamic(mpi_info_null, mpi_comm_world, win, ierr)
    call mpi_win_attach(win, memory, bytes, ierr)
    call mpi_get_address(memory, mine(1), ierr)
    call mpi_sendrecv(mine, 1, mpi_aint, left, 5, theirs, 1, mpi_aint, right, 5, mpi_comm_world, status, ierr)
    disp = theirs(1) + 8
    sent = 50 + rank
    call mpi_win_lock(mpi_lock_exclusive, right, 0, win, ierr)
    call mpi_accumulate(sent, 1, mpi_integer, right, disp, 1, mpi_integer, mpi_sum, win, ierr)
    call mpi_win_unlock(right, win, ierr)
    call mpi_barrier(mpi_comm_world, ierr)
    call mpi_win_lock(mpi_lock_shared, rank, 0, win, ierr)
    call expect(memory(3), 50 + left, 'attached memory')
    call mpi_win_unlock(rank, win, ierr)
    call mpi_win_detach(win, memory, ierr)
    call mpi_win_free(win, ierr)
  end subroutine use_attached_memory

  subroutine expect(here, expected, what)
    integer, intent(in) :: here, expected
    character(len=*), intent(in) :: what
    if (here == expected) return
    failures = failures + 1
    write (0, *) 'rank', rank, what, here, 'expected', expected
  end subroutine expect

end program fortran_test
