// Windows of shmemx.h: operations, completion and locks.
#include "races/extension.hpp"

SHMEMX_ORDERED(int, shmemx_window_allocate, (bytes_, address_, window_), size_t bytes_, void** address_,
               shmemx_window_t* window_)
SHMEMX_ORDERED(int, shmemx_window_free, (window_), shmemx_window_t window_)
SHMEMX_ORDERED(int, shmemx_window_put, (window_, target_, source_, bytes_), shmemx_window_t window_, void* target_,
               const void* source_, size_t bytes_)
SHMEMX_ORDERED(int, shmemx_window_get, (window_, dest_, target_, bytes_), shmemx_window_t window_, void* dest_,
               const void* target_, size_t bytes_)
SHMEMX_ORDERED(int, shmemx_window_put_nbi, (window_, target_, source_, bytes_, counter_), shmemx_window_t window_,
               void* target_, const void* source_, size_t bytes_, long* counter_)
SHMEMX_ORDERED(int, shmemx_window_get_nbi, (window_, dest_, target_, bytes_, counter_), shmemx_window_t window_,
               void* dest_, const void* target_, size_t bytes_, long* counter_)
SHMEMX_ORDERED(int, shmemx_window_putv, (window_, targets_, target_count_, sources_, source_count_),
               shmemx_window_t window_, const shmemx_iov_t* targets_, size_t target_count_,
               const shmemx_iov_t* sources_, size_t source_count_)
SHMEMX_ORDERED(int, shmemx_window_getv, (window_, dests_, dest_count_, targets_, target_count_),
               shmemx_window_t window_, const shmemx_iov_t* dests_, size_t dest_count_, const shmemx_iov_t* targets_,
               size_t target_count_)
SHMEMX_ORDERED(int, shmemx_window_putv_nbi, (window_, targets_, target_count_, sources_, source_count_, counter_),
               shmemx_window_t window_, const shmemx_iov_t* targets_, size_t target_count_,
               const shmemx_iov_t* sources_, size_t source_count_, long* counter_)
SHMEMX_ORDERED(int, shmemx_window_getv_nbi, (window_, dests_, dest_count_, targets_, target_count_, counter_),
               shmemx_window_t window_, const shmemx_iov_t* dests_, size_t dest_count_, const shmemx_iov_t* targets_,
               size_t target_count_, long* counter_)
SHMEMX_ORDERED(int, shmemx_window_put_strided,
               (window_, target_, target_stride_, source_, source_stride_, block_bytes_, blocks_),
               shmemx_window_t window_, void* target_, ptrdiff_t target_stride_, const void* source_,
               ptrdiff_t source_stride_, size_t block_bytes_, size_t blocks_)
SHMEMX_ORDERED(int, shmemx_window_get_strided,
               (window_, dest_, dest_stride_, target_, target_stride_, block_bytes_, blocks_), shmemx_window_t window_,
               void* dest_, ptrdiff_t dest_stride_, const void* target_, ptrdiff_t target_stride_, size_t block_bytes_,
               size_t blocks_)
SHMEMX_ORDERED(int, shmemx_window_put_strided_nbi,
               (window_, target_, target_stride_, source_, source_stride_, block_bytes_, blocks_, counter_),
               shmemx_window_t window_, void* target_, ptrdiff_t target_stride_, const void* source_,
               ptrdiff_t source_stride_, size_t block_bytes_, size_t blocks_, long* counter_)
SHMEMX_ORDERED(int, shmemx_window_get_strided_nbi,
               (window_, dest_, dest_stride_, target_, target_stride_, block_bytes_, blocks_, counter_),
               shmemx_window_t window_, void* dest_, ptrdiff_t dest_stride_, const void* target_,
               ptrdiff_t target_stride_, size_t block_bytes_, size_t blocks_, long* counter_)
SHMEMX_ORDERED(int, shmemx_window_fetch_op, (window_, target_, operand_, result_, type_, op_), shmemx_window_t window_,
               void* target_, const void* operand_, void* result_, int type_, int op_)
SHMEMX_ORDERED(int, shmemx_window_compare_swap, (window_, target_, compare_, value_, result_, type_),
               shmemx_window_t window_, void* target_, const void* compare_, const void* value_, void* result_,
               int type_)
SHMEMX_ORDERED(int, shmemx_window_fetch_op_nbi, (window_, target_, operand_, result_, type_, op_, counter_),
               shmemx_window_t window_, void* target_, const void* operand_, void* result_, int type_, int op_,
               long* counter_)
SHMEMX_ORDERED(int, shmemx_window_compare_swap_nbi, (window_, target_, compare_, value_, result_, type_, counter_),
               shmemx_window_t window_, void* target_, const void* compare_, const void* value_, void* result_,
               int type_, long* counter_)
SHMEMX_ORDERED(int, shmemx_window_accumulate, (window_, target_, source_, count_, type_, op_), shmemx_window_t window_,
               void* target_, const void* source_, size_t count_, int type_, int op_)
SHMEMX_ORDERED(int, shmemx_window_get_accumulate, (window_, target_, source_, result_, count_, type_, op_),
               shmemx_window_t window_, void* target_, const void* source_, void* result_, size_t count_, int type_,
               int op_)
SHMEMX_ORDERED(int, shmemx_window_accumulate_nbi, (window_, target_, source_, count_, type_, op_, counter_),
               shmemx_window_t window_, void* target_, const void* source_, size_t count_, int type_, int op_,
               long* counter_)
SHMEMX_ORDERED(int, shmemx_window_get_accumulate_nbi,
               (window_, target_, source_, result_, count_, type_, op_, counter_), shmemx_window_t window_,
               void* target_, const void* source_, void* result_, size_t count_, int type_, int op_, long* counter_)
SHMEMX_ORDERED(int, shmemx_window_accumulatev, (window_, targets_, target_count_, sources_, source_count_, type_, op_),
               shmemx_window_t window_, const shmemx_iov_t* targets_, size_t target_count_,
               const shmemx_iov_t* sources_, size_t source_count_, int type_, int op_)
SHMEMX_ORDERED(int, shmemx_window_get_accumulatev,
               (window_, targets_, target_count_, sources_, source_count_, results_, result_count_, type_, op_),
               shmemx_window_t window_, const shmemx_iov_t* targets_, size_t target_count_,
               const shmemx_iov_t* sources_, size_t source_count_, const shmemx_iov_t* results_, size_t result_count_,
               int type_, int op_)
SHMEMX_ORDERED(int, shmemx_window_accumulatev_nbi,
               (window_, targets_, target_count_, sources_, source_count_, type_, op_, counter_),
               shmemx_window_t window_, const shmemx_iov_t* targets_, size_t target_count_,
               const shmemx_iov_t* sources_, size_t source_count_, int type_, int op_, long* counter_)
SHMEMX_ORDERED(int, shmemx_window_get_accumulatev_nbi,
               (window_, targets_, target_count_, sources_, source_count_, results_, result_count_, type_, op_,
                counter_),
               shmemx_window_t window_, const shmemx_iov_t* targets_, size_t target_count_,
               const shmemx_iov_t* sources_, size_t source_count_, const shmemx_iov_t* results_, size_t result_count_,
               int type_, int op_, long* counter_)
SHMEMX_ORDERED(int, shmemx_window_accumulate_strided,
               (window_, target_, target_stride_, source_, source_stride_, block_elements_, blocks_, type_, op_),
               shmemx_window_t window_, void* target_, ptrdiff_t target_stride_, const void* source_,
               ptrdiff_t source_stride_, size_t block_elements_, size_t blocks_, int type_, int op_)
SHMEMX_ORDERED(int, shmemx_window_accumulate_strided_nbi,
               (window_, target_, target_stride_, source_, source_stride_, block_elements_, blocks_, type_, op_,
                counter_),
               shmemx_window_t window_, void* target_, ptrdiff_t target_stride_, const void* source_,
               ptrdiff_t source_stride_, size_t block_elements_, size_t blocks_, int type_, int op_, long* counter_)
SHMEMX_ORDERED(int, shmemx_window_flush, (window_), shmemx_window_t window_)
SHMEMX_ORDERED(int, shmemx_window_flush_pe, (pe_), int pe_)
SHMEMX_ORDERED(int, shmemx_window_flush_all, (windows_, count_), const shmemx_window_t* windows_, size_t count_)
SHMEMX_ORDERED(int, shmemx_window_flush_local, (window_), shmemx_window_t window_)
SHMEMX_ORDERED(int, shmemx_window_flush_local_all, (windows_, count_), const shmemx_window_t* windows_, size_t count_)
SHMEMX_ORDERED(int, shmemx_window_test, (counter_), const long* counter_)
SHMEMX_ORDERED(void, shmemx_window_wait, (counter_), const long* counter_)
SHMEMX_ORDERED(int, shmemx_window_wait_until, (address_, type_, cmp_, value_), const void* address_, int type_,
               int cmp_, const void* value_)
SHMEMX_ORDERED(int, shmemx_window_test_until, (address_, type_, cmp_, value_, flag_), const void* address_, int type_,
               int cmp_, const void* value_, int* flag_)
SHMEMX_ORDERED(int, shmemx_window_lock, (window_, kind_), shmemx_window_t window_, int kind_)
SHMEMX_ORDERED(int, shmemx_window_lock_nbi, (window_, kind_, counter_), shmemx_window_t window_, int kind_,
               long* counter_)
SHMEMX_ORDERED(int, shmemx_window_putv_locked_nbi,
               (lock_, kind_, window_, targets_, target_count_, sources_, source_count_, counter_),
               shmemx_window_t lock_, int kind_, shmemx_window_t window_, const shmemx_iov_t* targets_,
               size_t target_count_, const shmemx_iov_t* sources_, size_t source_count_, long* counter_)
SHMEMX_ORDERED(int, shmemx_window_trylock, (window_, kind_), shmemx_window_t window_, int kind_)
SHMEMX_ORDERED(int, shmemx_window_unlock, (window_), shmemx_window_t window_)
