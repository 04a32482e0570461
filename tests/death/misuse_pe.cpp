// One misuse for each name; run by misuse_test on a few PEs. The last PE makes the error, unless noted otherwise.
// Compiled a second time with MISUSE_OTHER_GLOBALS, for jobs of two executables.
#include <shmem.h>
#include <shmemx.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "misuse_library.hpp"

namespace {

long* heap = nullptr;  // 8 words
long global_words[8];
long local_words[8];
const long constant_words[8] = {5};
thread_local long thread_word;
#ifdef MISUSE_OTHER_GLOBALS
volatile long other_globals[5000] = {1};
#endif

bool last() { return shmem_my_pe() == shmem_n_pes() - 1; }

shmem_ctx_t garbage_ctx() { return reinterpret_cast<shmem_ctx_t>(std::uintptr_t{0xdeadbeefdeadbeef}); }
shmem_team_t garbage_team() { return reinterpret_cast<shmem_team_t>(std::uintptr_t{0x123456789abcdef0}); }

constexpr std::size_t kHalfOfAll = SIZE_MAX / 2 + 1;
constexpr std::size_t kTwoTo61 = std::size_t{1} << 61;

// An address that is symmetric nowhere: in no PE's heap, static data or mapped memory.
long* far_away() {
  for (int shift = 45; shift > 12; --shift) {
    auto* const address = reinterpret_cast<long*>(std::uintptr_t{1} << shift);
    if (shmem_addr_accessible(address, 0) == 0) return address;
  }
  std::_Exit(0);
}

// The first address behind this PE's heap.
long* end_of_heap() {
  constexpr std::uintptr_t kMostBytes = std::uintptr_t{1} << 44;
  auto inside = reinterpret_cast<std::uintptr_t>(heap);
  std::uintptr_t outside = inside + kMostBytes;
  while (outside - inside > sizeof(long)) {
    const std::uintptr_t middle = inside + (outside - inside) / 2 / sizeof(long) * sizeof(long);
    const bool is_inside = shmem_addr_accessible(reinterpret_cast<void*>(middle), shmem_my_pe()) != 0;
    (is_inside ? inside : outside) = middle;
  }
  return reinterpret_cast<long*>(outside);
}

void split_into_null(shmem_team_t* x, shmem_team_t* y) {
  shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, nullptr, 0, x, nullptr, 0, y);
}

// Overwrites every word of the lock on all PEs.
void spoil_lock(long value) {
  for (int pe = 0; pe < shmem_n_pes(); ++pe) shmem_long_p(heap, value, pe);
}

// Only the last PE makes the call; the others wait in a barrier that never completes.
struct Local {
  const char* name;
  void (*run)();
};

const Local kLocal[] = {
    {"put_pe", [] { shmem_int_put(reinterpret_cast<int*>(heap), reinterpret_cast<int*>(local_words), 1, 12); }},
    {"p_pe_negative", [] { shmem_long_p(heap, 1, -1); }},
    {"g_pe", [] { std::printf("%ld\n", shmem_long_g(heap, 4096)); }},
    {"get_pe", [] { shmem_getmem(local_words, heap, 8, 99); }},
    {"iput_pe", [] { shmem_long_iput(heap, local_words, 1, 1, 2, 77); }},
    {"atomic_pe", [] { shmem_long_atomic_inc(heap, 5000); }},
    {"fetch_pe", [] { std::printf("%ld\n", shmem_long_atomic_fetch_add(heap, 1, -7)); }},
    {"put_signal_pe",
     [] {
       shmem_long_put_signal(heap, local_words, 1, reinterpret_cast<uint64_t*>(heap + 4), 1, SHMEM_SIGNAL_SET, 44);
     }},
    {"signal_add_pe", [] { shmem_signal_add(reinterpret_cast<uint64_t*>(heap), 1, 45); }},
    {"pe_quiet_pe",
     [] {
       const int targets[] = {0, 33};
       shmem_pe_quiet(targets, 2);
     }},
    {"put_to_stack",
     [] {
       long word = 0;
       shmem_long_put(&word, local_words, 1, 0);
     }},
    {"put_to_library", [] { shmem_long_p(library_words_here(), 1, 0); }},
    {"p_to_constant", [] { shmem_long_p(const_cast<long*>(constant_words), 1, 0); }},
    {"get_from_malloc",
     [] {
       void* const block = std::calloc(1, 64);
       shmem_getmem(local_words, block, 8, 0);
     }},
    {"p_to_null", [] { shmem_long_p(nullptr, 1, 0); }},
    {"put_from_near_null", [] { shmem_putmem(heap, reinterpret_cast<void*>(std::uintptr_t{16}), 8, 0); }},
    {"get_to_nowhere",
     [] { shmem_long_iget(reinterpret_cast<long*>(std::uintptr_t{0xdeadbeef00000000}), heap, 1, 1, 2, 0); }},
    {"p_to_thread_local", [] { shmem_long_p(&thread_word, 1, 0); }},
    {"p_behind_the_heap", [] { shmem_long_p(end_of_heap(), 1, 0); }},
    {"atomic_on_stack",
     [] {
       long word = 0;
       shmem_long_atomic_add(&word, 1, 0);
     }},
    {"put_to_mapped_peer",
     [] {
       auto* const there = static_cast<long*>(shmem_ptr(heap, 0));
       shmem_long_p(there, 1, 0);
     }},
    {"signal_on_stack",
     [] {
       uint64_t word = 0;
       shmem_signal_set(&word, 1, 0);
     }},
    {"put_past_the_heap", [] { shmem_putmem(heap, heap, std::size_t{1} << 46, 0); }},
    {"get_past_static", [] { shmem_getmem(local_words, global_words, std::size_t{1} << 40, 0); }},
    {"nelems_overflow", [] { shmem_long_put(heap, local_words, SIZE_MAX / 4, 0); }},
    {"nelems_negative", [] { shmem_long_put(heap, local_words, static_cast<std::size_t>(-3), 0); }},
    {"bytes_negative", [] { shmem_putmem(heap, local_words, static_cast<std::size_t>(-8), 0); }},
    {"static_bytes_negative", [] { shmem_getmem(local_words, global_words, static_cast<std::size_t>(-8), 0); }},
    {"misaligned_atomic", [] { shmem_long_atomic_inc(reinterpret_cast<long*>(reinterpret_cast<char*>(heap) + 3), 0); }},
    {"misaligned_global",
     [] { shmem_long_atomic_inc(reinterpret_cast<long*>(reinterpret_cast<char*>(global_words) + 9), 0); }},
    {"iput_stride_zero", [] { shmem_long_iput(heap, local_words, 0, 1, 3, 0); }},
    {"iget_stride_negative", [] { shmem_long_iget(local_words, heap, 1, -2, 3, 0); }},
    {"ibput_stride_small", [] { shmem_long_ibput(heap, local_words, 1, 2, 2, 2, 0); }},
    {"bad_comparison", [] { std::printf("%d\n", shmem_long_test(heap, 77, 0)); }},
    {"bad_comparison_wait", [] { shmem_long_wait_until(heap, -3, 0); }},
    {"bad_signal_operator",
     [] { shmem_long_put_signal(heap, local_words, 1, reinterpret_cast<uint64_t*>(heap + 4), 1, 99, 0); }},
    {"garbage_ctx_put", [] { shmem_ctx_long_p(garbage_ctx(), heap, 1, 0); }},
    {"garbage_ctx_quiet", [] { shmem_ctx_quiet(garbage_ctx()); }},
    {"invalid_ctx_put", [] { shmem_ctx_long_p(SHMEM_CTX_INVALID, heap, 1, 0); }},
    {"destroyed_ctx",
     [] {
       shmem_ctx_t ctx = SHMEM_CTX_INVALID;
       if (shmem_ctx_create(0, &ctx) != 0) std::_Exit(0);
       shmem_ctx_destroy(ctx);
       shmem_ctx_long_atomic_inc(ctx, heap, 0);
     }},
    {"garbage_team_query", [] { std::printf("%d\n", shmem_team_n_pes(garbage_team())); }},
    {"garbage_team_sync", [] { shmem_team_sync(garbage_team()); }},
    {"bad_context_options",
     [] {
       shmem_ctx_t ctx;
       shmem_ctx_create(1L << 40, &ctx);
     }},
    {"destroy_world", [] { shmem_team_destroy(SHMEM_TEAM_WORLD); }},
    {"destroy_default_ctx", [] { shmem_ctx_destroy(SHMEM_CTX_DEFAULT); }},
    {"clear_lock_not_held", [] { shmem_clear_lock(heap); }},
    {"set_lock_twice",
     [] {
       shmem_set_lock(heap);
       shmem_set_lock(heap);
     }},
    {"lock_on_stack",
     [] {
       long lock = 0;
       shmem_set_lock(&lock);
     }},
    {"misaligned_lock", [] { shmem_set_lock(reinterpret_cast<long*>(reinterpret_cast<char*>(heap) + 4)); }},
    {"misaligned_test_lock",
     [] { std::printf("%d\n", shmem_test_lock(reinterpret_cast<long*>(reinterpret_cast<char*>(heap) + 1))); }},
    {"garbage_lock",
     [] {
       spoil_lock(0x12345678);
       shmem_set_lock(heap);
     }},
    {"garbage_lock_cleared",
     [] {
       spoil_lock(-1);
       shmem_clear_lock(heap);
     }},
    {"garbage_lock_all_ones",
     [] {
       spoil_lock(-1);
       shmem_set_lock(heap);
     }},
    {"wait_on_null", [] { shmem_long_wait_until(nullptr, SHMEM_CMP_EQ, 1); }},
    {"wait_all_on_null", [] { shmem_int_wait_until_all(nullptr, 3, nullptr, SHMEM_CMP_EQ, 1); }},
    {"test_of_null", [] { std::printf("%d\n", shmem_long_test(nullptr, SHMEM_CMP_EQ, 0)); }},
    {"signal_wait_on_null", [] { shmem_signal_wait_until(nullptr, SHMEM_CMP_EQ, 1); }},
    {"signal_fetch_of_null",
     [] { std::printf("%llu\n", static_cast<unsigned long long>(shmem_signal_fetch(nullptr))); }},
    {"iput_huge",
     [] { shmem_int_iput(reinterpret_cast<int*>(heap), reinterpret_cast<int*>(local_words), 1, 1, kTwoTo61, 0); }},
    {"iget_huge",
     [] { shmem_int_iget(reinterpret_cast<int*>(local_words), reinterpret_cast<int*>(heap), 1, 1, kTwoTo61, 0); }},
    {"iput_overflow",
     [] { shmem_int_iput(reinterpret_cast<int*>(heap), reinterpret_cast<int*>(local_words), 8, 1, kTwoTo61, 0); }},
    {"iget_overflow",
     [] { shmem_int_iget(reinterpret_cast<int*>(local_words), reinterpret_cast<int*>(heap), 1, 8, kTwoTo61, 0); }},
    {"malloc_beside_barrier", [] { std::printf("%p\n", shmem_malloc(64)); }},
    {"ctx_create_null", [] { shmem_ctx_create(0, nullptr); }},
    {"team_create_ctx_null", [] { shmem_team_create_ctx(SHMEM_TEAM_WORLD, 0, nullptr); }},
    {"ctx_get_team_null", [] { shmem_ctx_get_team(SHMEM_CTX_DEFAULT, nullptr); }},
    {"query_initialized_null", [] { shmem_query_initialized(nullptr); }},
    {"query_thread_null", [] { shmem_query_thread(nullptr); }},
    {"info_version_null",
     [] {
       int major;
       shmem_info_get_version(&major, nullptr);
     }},
    {"info_name_null", [] { shmem_info_get_name(nullptr); }},
    {"heap_query_null", [] { shmemx_heap_query(nullptr); }},
    {"net_stats_null", [] { shmemx_net_stats(nullptr); }},
    {"stats_null", [] { shmemx_stats_get(nullptr); }},
    {"stats_of_a_missing_pe",
     [] {
       shmemx_stats_count_t count;
       shmemx_stats_get_peer(shmem_n_pes(), &count);
     }},
    {"route_null", [] { shmemx_route(0, nullptr, 8); }},
    {"route_pe", [] { shmemx_route(shmem_n_pes(), nullptr, 0); }},
    {"wait_some_null", [] { shmem_long_wait_until_some(heap, 2, nullptr, nullptr, SHMEM_CMP_EQ, 0); }},
    {"test_some_null", [] { shmem_long_test_some(heap, 2, nullptr, nullptr, SHMEM_CMP_EQ, 0); }},
    {"test_some_vector_null",
     [] { shmem_long_test_some_vector(heap, 2, nullptr, nullptr, SHMEM_CMP_EQ, local_words); }},
    {"pe_quiet_null", [] { shmem_pe_quiet(nullptr, 3); }},
    {"p_far_away", [] { shmem_long_p(far_away(), 1, 0); }},
    {"g_far_away", [] { std::printf("%ld\n", shmem_long_g(far_away(), 0)); }},
    {"put_far_away", [] { shmem_putmem(far_away(), local_words, 64, 0); }},
    {"get_far_away", [] { shmem_getmem(local_words, far_away(), 64, 0); }},
    {"put_word_far_away", [] { shmem_long_put(far_away(), local_words, 1, 0); }},
    {"atomic_far_away", [] { shmem_long_atomic_add(far_away(), 1, 0); }},
    {"p_to_global", [] { shmem_long_p(global_words, 1, 0); }},
    {"store_by_a_null_pointer", [] { *static_cast<volatile long*>(shmem_ptr(heap, 0)) = 1; }},
    {"store_by_a_pointer_to_malloc", [] { *static_cast<volatile long*>(shmem_ptr(std::calloc(1, 64), 0)) = 1; }},
};

// All PEs make the call.
const Local kCollective[] = {
    {"exhausted_heap",  // no misuse: the result is null, and SHMEM_DEBUG=1 prints why
     [] {
       void* const block = shmem_malloc(std::size_t{1} << 45);
       std::printf("malloc gave %s\n", block == nullptr ? "null" : "a block");
     }},
    {"sound",  // no misuse
     [] {
       shmem_long_p(heap, 7, (shmem_my_pe() + 1) % shmem_n_pes());
       shmem_barrier_all();
       if (*heap != 7) shmem_global_exit(1);
       shmem_finalize();
     }},
    {"malloc_of_little",
     [] {
       const bool none = shmem_malloc(1) == nullptr && shmem_calloc(1, 8) == nullptr && shmem_align(64, 8) == nullptr;
       shmem_long_p(global_words, 5, (shmem_my_pe() + 1) % shmem_n_pes());
       shmem_barrier_all();
       std::printf("malloc gave %s, static data %s\n", none ? "null" : "a block",
                   global_words[0] == 5 ? "works" : "fails");
     }},
    {"alltoall_overflow", [] { shmem_alltoallmem(SHMEM_TEAM_WORLD, heap, heap + 4, kHalfOfAll); }},
    {"fcollect_overflow", [] { shmem_fcollectmem(SHMEM_TEAM_WORLD, heap, heap + 4, kHalfOfAll); }},
    {"fcollect_typed_overflow", [] { shmem_long_fcollect(SHMEM_TEAM_WORLD, heap, heap + 4, kTwoTo61); }},
    {"collect_overflow", [] { shmem_collectmem(SHMEM_TEAM_WORLD, heap, heap + 4, kHalfOfAll); }},
    {"alltoalls_overflow", [] { shmem_long_alltoalls(SHMEM_TEAM_WORLD, heap, heap + 4, 1, 1, kTwoTo61); }},
    {"alltoalls_stride_overflow", [] { shmem_long_alltoalls(SHMEM_TEAM_WORLD, heap, heap + 4, PTRDIFF_MAX, 1, 2); }},
    {"broadcast_overflow", [] { shmem_long_broadcast(SHMEM_TEAM_WORLD, heap, heap + 4, kTwoTo61, 0); }},
    {"reduce_overflow", [] { shmem_long_sum_reduce(SHMEM_TEAM_WORLD, heap, heap + 4, kTwoTo61); }},
    {"size_zero_on_one_pe",
     [] {
       std::printf("%p\n", shmem_malloc(last() ? 0 : 64));
       shmem_barrier_all();
     }},
    {"size_zero_on_one_pe_that_ends", [] { std::printf("%p\n", shmem_malloc(last() ? 0 : 64)); }},
    {"free_of_null_on_one_pe",
     [] {
       shmem_free(last() ? nullptr : heap);
       shmem_barrier_all();
     }},
    {"split_strided_null", [] { shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, nullptr, 0, nullptr); }},
    {"psync_not_set",
     [] {
       static long psync[SHMEM_BARRIER_SYNC_SIZE];
       for (long& word : psync) word = -1;
       shmem_barrier_all();
       shmem_barrier(0, 0, shmem_n_pes(), psync);
     }},
    {"split_strided_sizes",
     [] {
       shmem_team_t team;
       shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_my_pe() == 0 ? 1 : 2, nullptr, 0, &team);
     }},
    {"split_strided_strides",
     [] {
       shmem_team_t team;
       shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, shmem_my_pe() == 1 ? 2 : 1, 2, nullptr, 0, &team);
     }},
    {"split_2d_ranges",
     [] {
       shmem_team_t x, y;
       shmem_team_split_2d(SHMEM_TEAM_WORLD, shmem_my_pe() == 0 ? 1 : 2, nullptr, 0, &x, nullptr, 0, &y);
     }},
    {"split_2d_null_x",
     [] {
       shmem_team_t team;
       split_into_null(nullptr, &team);
     }},
    {"split_2d_null_y",
     [] {
       shmem_team_t team;
       split_into_null(&team, nullptr);
     }},
    {"broadcast_root", [] { shmem_long_broadcast(SHMEM_TEAM_WORLD, heap, heap + 4, 1, 100); }},
    {"alltoalls_stride", [] { shmem_long_alltoalls(SHMEM_TEAM_WORLD, heap, heap + 4, 0, 1, 1); }},
    {"p_to_null_of_a_full_heap", [] { shmem_long_p(static_cast<long*>(shmem_malloc(std::size_t{1} << 50)), 1, 0); }},
    {"free_of_a_symmetric_block", [] { std::free(shmem_malloc(64)); }},
    {"store_to_null_of_a_full_heap",
     [] {
       auto* const words = static_cast<volatile long*>(shmem_malloc(std::size_t{1} << 50));
       *words = 1;
     }},
    {"double_free",
     [] {
       void* const block = shmem_malloc(64);
       shmem_free(block);
       shmem_free(block);
     }},
    {"free_inside_a_block", [] { shmem_free(heap + 2); }},
    {"free_of_a_global", [] { shmem_free(global_words); }},
    {"realloc_of_a_global", [] { std::printf("%p\n", shmem_realloc(global_words, 100)); }},
    {"unequal_malloc", [] { std::printf("%p\n", shmem_malloc(last() ? 128 : 64)); }},
    {"unequal_calloc", [] { std::printf("%p\n", shmem_calloc(last() ? 128 : 64, 2)); }},
    {"unequal_free",
     [] {
       void* const first = shmem_malloc(64);
       void* const second = shmem_malloc(64);
       shmem_free(last() ? second : first);
     }},
    // No misuse either: the result is null, and unknown hints are ignored.
    {"align_not_power", [] { std::printf("align gave %s\n", shmem_align(24, 100) == nullptr ? "null" : "a block"); }},
    {"unknown_hints",
     [] { std::printf("hints gave %s\n", shmem_malloc_with_hints(100, 1L << 50) == nullptr ? "null" : "a block"); }},
    {"reduce_on_garbage_team", [] { shmem_long_sum_reduce(garbage_team(), heap, heap + 4, 1); }},
    {"reduce_into_stack",
     [] {
       long word = 0;
       shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &word, heap, 1);
     }},
    {"active_set_start", [] { shmem_barrier(50, 0, 1, heap); }},
    {"active_set_size", [] { shmem_barrier(0, 0, 50, heap); }},
    {"after_finalize_put",
     [] {
       shmem_finalize();
       shmem_long_p(global_words, 1, 0);
     }},
    {"after_finalize_barrier",
     [] {
       shmem_finalize();
       shmem_barrier_all();
     }},
};

// Before shmem_init.
const Local kEarly[] = {
    {"before_init_put", [] { shmem_long_p(global_words, 1, 0); }},
    {"before_init_my_pe", [] { std::printf("%d\n", shmem_my_pe()); }},
    {"before_init_malloc", [] { std::printf("%p\n", shmem_malloc(8)); }},
    {"before_init_barrier", [] { shmem_barrier_all(); }},
    {"before_init_atomic", [] { shmem_long_atomic_inc(global_words, 0); }},
    {"before_init_finalize", [] { shmem_finalize(); }},
    {"before_init_team", [] { std::printf("%d\n", shmem_team_my_pe(SHMEM_TEAM_WORLD)); }},
    {"just_init", [] { shmem_init(); }},
    {"init_thread_null", [] { shmem_init_thread(SHMEM_THREAD_SINGLE, nullptr); }},
    {"init_thread_returns",
     [] {
       for (int call = 0; call < 3; ++call) {  // every call fails alike, without side effects
         int provided = -1, initialised = -1;
         const int status = shmem_init_thread(SHMEM_THREAD_SINGLE, &provided);
         shmem_query_initialized(&initialised);
         std::printf("init_thread %s, %s\n", status == 0 ? "succeeded" : "failed",
                     initialised ? "initialised" : "not initialised");
       }
     }},
};

}  // namespace

int main(int, char** argv) {
  const char* const name = argv[1];
  for (const Local& misuse : kEarly) {
    if (std::strcmp(misuse.name, name) == 0) {
      misuse.run();
      return 0;
    }
  }
  shmem_init();
  heap = static_cast<long*>(shmem_calloc(8, sizeof(long)));
  for (const Local& misuse : kLocal) {
    if (std::strcmp(misuse.name, name) != 0) continue;
    if (last()) {
      misuse.run();
      return 0;  // the misuse was accepted: the driver sees status 0
    }
    shmem_barrier_all();
    return 0;
  }
  for (const Local& misuse : kCollective) {
    if (std::strcmp(misuse.name, name) != 0) continue;
    misuse.run();
    return 0;
  }
  std::fprintf(stderr, "misuse_pe: unknown name %s\n", name);
  return 2;
}
