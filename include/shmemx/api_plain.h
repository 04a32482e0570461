/* Routines without a type in their name. The file that includes this one defines SHMEMX_ROUTINE(result, name,
   (parameters)) as a prototype, the prototype of the pshmem_ form, or an alias. So this header has no include guard.
   Parameter names end in an underscore for the reason given in api_table.h. */
/* clang-format off */

/* ==== Set-up and queries: sections 9.1, 9.2 ==== */
/* Starts the library. Collective. May be called repeatedly; each call requires its own shmem_finalize. Aborts on
   failure. */
SHMEMX_ROUTINE(void, shmem_init, (void))
/* As shmem_init, with a thread level (SHMEM_THREAD_*). Writes the provided level; returns non-zero on failure. */
SHMEMX_ROUTINE(int, shmem_init_thread, (int requested_, int *provided_))
/* Undoes one initialisation. The last call completes all traffic and releases the library, the others are barriers. */
SHMEMX_ROUTINE(void, shmem_finalize, (void))
/* Writes non-zero while the library is initialised. Legal at any time, from any thread. */
SHMEMX_ROUTINE(void, shmem_query_initialized, (int *initialized_))
/* Writes the provided thread level. */
SHMEMX_ROUTINE(void, shmem_query_thread, (int *provided_))
/* Ends the whole job with this status. One PE suffices; does not return. */
SHMEMX_ROUTINE(SHMEMX_NORETURN void, shmem_global_exit, (int status_))
/* Return this PE's number in the world, and the number of PEs. */
SHMEMX_ROUTINE(int, shmem_my_pe, (void))
SHMEMX_ROUTINE(int, shmem_n_pes, (void))
/* Return 1 if that PE, or that PE's copy of the object at addr_, is accessible; else 0. */
SHMEMX_ROUTINE(int, shmem_pe_accessible, (int pe_))
SHMEMX_ROUTINE(int, shmem_addr_accessible, (const void *addr_, int pe_))
/* Returns a pointer for loads and stores to that PE's copy of a symmetric object, or null if memory is not shared. */
SHMEMX_ROUTINE(void *, shmem_ptr, (const void *dest_, int pe_))
SHMEMX_ROUTINE(void *, shmem_team_ptr, (shmem_team_t team_, const void *dest_, int pe_))
/* Write the standard's version, and the library's name; name_ has SHMEM_MAX_NAME_LEN bytes. */
SHMEMX_ROUTINE(void, shmem_info_get_version, (int *major_, int *minor_))
SHMEMX_ROUTINE(void, shmem_info_get_name, (char *name_))

/* ==== Symmetric heap: section 9.3; collective, equal arguments on all PEs, sizes in bytes ====
   Allocations end with a barrier, shmem_free begins with one. Size 0 returns null without a barrier; a full heap
   returns null. */
SHMEMX_ROUTINE(void *, shmem_malloc, (size_t size_))
SHMEMX_ROUTINE(void *, shmem_calloc, (size_t count_, size_t size_))
/* alignment_ is a power of two and a multiple of sizeof(void *). */
SHMEMX_ROUTINE(void *, shmem_align, (size_t alignment_, size_t size_))
/* hints_ combines SHMEM_MALLOC_* bits, which affect performance only. */
SHMEMX_ROUTINE(void *, shmem_malloc_with_hints, (size_t size_, long hints_))
/* On failure returns null and leaves the block unchanged. */
SHMEMX_ROUTINE(void *, shmem_realloc, (void *ptr_, size_t size_))
SHMEMX_ROUTINE(void, shmem_free, (void *ptr_))

/* ==== Teams: section 9.4 ==== */
/* Return this PE's number in the team and the team's size; -1 for SHMEM_TEAM_INVALID. */
SHMEMX_ROUTINE(int, shmem_team_my_pe, (shmem_team_t team_))
SHMEMX_ROUTINE(int, shmem_team_n_pes, (shmem_team_t team_))
/* Writes the members that the mask selects. Returns non-zero only for SHMEM_TEAM_INVALID. */
SHMEMX_ROUTINE(int, shmem_team_get_config, (shmem_team_t team_, long config_mask_, shmem_team_config_t *config_))
/* Returns the number in dest_team_ of PE src_pe_ of src_team_; -1 if it is not a member or a team is invalid. */
SHMEMX_ROUTINE(int, shmem_team_translate_pe, (shmem_team_t src_team_, int src_pe_, shmem_team_t dest_team_))
/* Collective on parent_: PEs start_, start_ + stride_, ... form a team of size_. Other PEs get SHMEM_TEAM_INVALID
   and 0. */
SHMEMX_ROUTINE(int, shmem_team_split_strided, (shmem_team_t parent_, int start_, int stride_, int size_, const shmem_team_config_t *config_, long config_mask_, shmem_team_t *new_team_))
/* Collective on parent_: PE k is at x = k % xrange_, y = k / xrange_ and gets the teams of its row and its column. */
SHMEMX_ROUTINE(int, shmem_team_split_2d, (shmem_team_t parent_, int xrange_, const shmem_team_config_t *xaxis_config_, long xaxis_mask_, shmem_team_t *xaxis_team_, const shmem_team_config_t *yaxis_config_, long yaxis_mask_, shmem_team_t *yaxis_team_))
/* Collective; also ends the team's shareable contexts. */
SHMEMX_ROUTINE(void, shmem_team_destroy, (shmem_team_t team_))

/* ==== Contexts and sessions: sections 9.5, 9.9; local ==== */
/* options_ combines SHMEM_CTX_* bits. On failure returns non-zero and sets *ctx_ to SHMEM_CTX_INVALID. */
SHMEMX_ROUTINE(int, shmem_ctx_create, (long options_, shmem_ctx_t *ctx_))
/* The same on a team; PE numbers of its operations then count within the team. */
SHMEMX_ROUTINE(int, shmem_team_create_ctx, (shmem_team_t team_, long options_, shmem_ctx_t *ctx_))
/* Completes the pending operations of the context first. */
SHMEMX_ROUTINE(void, shmem_ctx_destroy, (shmem_ctx_t ctx_))
SHMEMX_ROUTINE(int, shmem_ctx_get_team, (shmem_ctx_t ctx_, shmem_team_t *team_))
/* Hints that a phase of communication begins or ends; they affect performance only. */
SHMEMX_ROUTINE(void, shmem_ctx_session_start, (shmem_ctx_t ctx_, long options_, const shmem_ctx_session_config_t *config_, long config_mask_))
SHMEMX_ROUTINE(void, shmem_ctx_session_stop, (shmem_ctx_t ctx_))

/* ==== Signals: section 9.8; pe_ counts as for a put ==== */
SHMEMX_ROUTINE(void, shmem_signal_add, (uint64_t *sig_addr_, uint64_t signal_, int pe_))
SHMEMX_ROUTINE(void, shmem_ctx_signal_add, (shmem_ctx_t ctx_, uint64_t *sig_addr_, uint64_t signal_, int pe_))
SHMEMX_ROUTINE(void, shmem_signal_set, (uint64_t *sig_addr_, uint64_t signal_, int pe_))
SHMEMX_ROUTINE(void, shmem_ctx_signal_set, (shmem_ctx_t ctx_, uint64_t *sig_addr_, uint64_t signal_, int pe_))
/* Reads, or waits on, a signal of this PE; the wait returns the value that satisfied it (9.11.15). */
SHMEMX_ROUTINE(uint64_t, shmem_signal_fetch, (const uint64_t *sig_addr_))
SHMEMX_ROUTINE(uint64_t, shmem_signal_wait_until, (uint64_t *sig_addr_, int cmp_, uint64_t cmp_value_))

/* ==== Ordering: section 9.12 ==== */
/* Orders for each PE: operations before the fence on the context are delivered before those after it. */
SHMEMX_ROUTINE(void, shmem_fence, (void))
SHMEMX_ROUTINE(void, shmem_ctx_fence, (shmem_ctx_t ctx_))
/* Completes all earlier operations on the context and makes them visible to all PEs. */
SHMEMX_ROUTINE(void, shmem_quiet, (void))
SHMEMX_ROUTINE(void, shmem_ctx_quiet, (shmem_ctx_t ctx_))
/* The same for the npes_ listed PEs only. */
SHMEMX_ROUTINE(void, shmem_pe_quiet, (const int *target_pes_, size_t npes_))
SHMEMX_ROUTINE(void, shmem_ctx_pe_quiet, (shmem_ctx_t ctx_, const int *target_pes_, size_t npes_))

/* ==== Synchronisation: section 9.10 ==== */
/* barrier: quiet on the default context, then a synchronisation of all PEs; sync has no quiet. */
SHMEMX_ROUTINE(void, shmem_barrier_all, (void))
SHMEMX_ROUTINE(void, shmem_sync_all, (void))
SHMEMX_ROUTINE(int, shmem_team_sync, (shmem_team_t team_))
/* Deprecated: on an active set, with a work array of SHMEM_BARRIER_SYNC_SIZE or SHMEM_SYNC_SIZE. */
SHMEMX_ROUTINE(void, shmem_barrier, (int PE_start_, int logPE_stride_, int PE_size_, long *pSync_))
SHMEMX_ROUTINE(void, shmem_sync, (int PE_start_, int logPE_stride_, int PE_size_, long *pSync_))

/* ==== Locks: section 9.13. *lock_ is a symmetric long, 0 on all PEs before the first use ==== */
SHMEMX_ROUTINE(void, shmem_set_lock, (long *lock_))
/* Quiet on the default context, then releases the lock. */
SHMEMX_ROUTINE(void, shmem_clear_lock, (long *lock_))
/* Returns 0 if the lock was free and this PE now holds it, else 1. */
SHMEMX_ROUTINE(int, shmem_test_lock, (long *lock_))

/* ==== Profiling: section 10. Tools intercept it; here 0 pauses SHMEM_STATS and SHMEM_TRACE, 1 goes on, 2 also resets ==== */
SHMEMX_ROUTINE(void, shmem_pcontrol, (int level_, ...))

/* clang-format on */
