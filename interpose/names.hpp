// The routines of the MPI that this library takes over or calls. X is called with each name without its prefix.
#pragma once

// clang-format off
#define SHMEMX_TAKEN_OVER_PLAIN(X)                                                                                   \
  X(Init) X(Init_thread)                                                                                             \
  X(Win_create) X(Win_allocate) X(Win_allocate_shared) X(Win_shared_query) X(Win_create_dynamic) X(Win_attach)       \
  X(Win_detach) X(Win_free) X(Win_get_attr) X(Win_get_info) X(Win_set_info)                                          \
  X(Win_get_group) X(Alloc_mem) X(Free_mem)                                                                          \
  X(Win_fence) X(Win_start) X(Win_complete) X(Win_post) X(Win_wait) X(Win_test) X(Win_lock) X(Win_unlock)            \
  X(Win_lock_all) X(Win_unlock_all) X(Win_flush) X(Win_flush_all) X(Win_flush_local) X(Win_flush_local_all)          \
  X(Win_sync)                                                                                                        \
  X(Put) X(Get) X(Accumulate) X(Get_accumulate) X(Fetch_and_op) X(Compare_and_swap)                                  \
  X(Rput) X(Rget) X(Raccumulate) X(Rget_accumulate)                                                                  \
  X(Wait) X(Waitall) X(Waitany) X(Waitsome) X(Test) X(Testall) X(Testany) X(Testsome) X(Request_get_status)          \
  X(Barrier) X(Recv) X(Probe)

#if MPI_VERSION >= 4
#define SHMEMX_TAKEN_OVER_LARGE(X)                                                                                   \
  X(Win_create_c) X(Win_allocate_c) X(Win_allocate_shared_c) X(Win_shared_query_c)                                   \
  X(Put_c) X(Get_c) X(Accumulate_c) X(Get_accumulate_c)                                                              \
  X(Rput_c) X(Rget_c) X(Raccumulate_c) X(Rget_accumulate_c)
#else
#define SHMEMX_TAKEN_OVER_LARGE(X)
#endif

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define SHMEMX_TAKEN_OVER_4_1(X) X(Request_get_status_all) X(Request_get_status_any) X(Request_get_status_some)
#else
#define SHMEMX_TAKEN_OVER_4_1(X)
#endif

#define SHMEMX_TAKEN_OVER(X) SHMEMX_TAKEN_OVER_PLAIN(X) SHMEMX_TAKEN_OVER_LARGE(X) SHMEMX_TAKEN_OVER_4_1(X)

// Called only. Every MPI has them since 3.0.
#define SHMEMX_CALLED(X)                                                                                             \
  X(Abort) X(Allgather) X(Allreduce) X(Comm_call_errhandler) X(Comm_create_keyval) X(Comm_dup) X(Comm_free)          \
  X(Comm_free_keyval) X(Comm_get_attr) X(Comm_get_errhandler) X(Comm_group) X(Comm_rank) X(Comm_set_attr)            \
  X(Comm_set_errhandler) X(Comm_size) X(Comm_split_type) X(Comm_test_inter) X(Errhandler_free) X(Finalized)          \
  X(Get_library_version) X(Grequest_complete) X(Grequest_start) X(Group_excl) X(Group_free) X(Group_size)            \
  X(Group_translate_ranks) X(Ibarrier) X(Info_create) X(Info_get) X(Info_get_valuelen) X(Info_set) X(Iprobe)         \
  X(Irecv) X(Isend) X(Pack) X(Query_thread) X(Status_set_cancelled) X(Status_set_elements) X(Type_create_keyval)              \
  X(Type_free) X(Type_get_contents) X(Type_get_envelope) X(Type_get_extent) X(Type_set_attr) X(Type_size)            \
  X(Win_call_errhandler) X(Win_get_errhandler)

// Called where the MPI has them: it may be older than the one whose header this library was compiled with.
#if MPI_VERSION >= 4
#define SHMEMX_CALLED_IF_THERE(X) X(Type_get_contents_c) X(Type_get_envelope_c)
#else
#define SHMEMX_CALLED_IF_THERE(X)
#endif
// clang-format on
