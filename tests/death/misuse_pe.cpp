// One misuse for each name; run by misuse_test on a few PEs. The PE that errs is the last one, unless said otherwise.
#include <shmem.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

long* heap = nullptr;  // 8 words
long global_words[8];
long local_words[8];

bool last() { return shmem_my_pe() == shmem_n_pes() - 1; }

shmem_ctx_t garbage_ctx() { return reinterpret_cast<shmem_ctx_t>(std::uintptr_t{0xdeadbeefdeadbeef}); }
shmem_team_t garbage_team() { return reinterpret_cast<shmem_team_t>(std::uintptr_t{0x123456789abcdef0}); }

// Only the erring PE makes the call; the others wait in a barrier that never completes.
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
    {"get_from_malloc",
     [] {
       void* const block = std::calloc(1, 64);
       shmem_getmem(local_words, block, 8, 0);
     }},
    {"p_to_null", [] { shmem_long_p(nullptr, 1, 0); }},
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
};

// All PEs make the call.
const Local kCollective[] = {
    {"exhausted_heap",  // no misuse: null comes back, and SHMEM_DEBUG tells why
     [] {
       void* const block = shmem_malloc(std::size_t{1} << 45);
       std::printf("malloc gave %s\n", block == nullptr ? "null" : "a block");
     }},
    {"broadcast_root", [] { shmem_long_broadcast(SHMEM_TEAM_WORLD, heap, heap + 4, 1, 100); }},
    {"alltoalls_stride", [] { shmem_long_alltoalls(SHMEM_TEAM_WORLD, heap, heap + 4, 0, 1, 1); }},
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
    {"align_not_power", [] { std::printf("%p\n", shmem_align(24, 100)); }},
    {"bad_hints", [] { std::printf("%p\n", shmem_malloc_with_hints(100, 1L << 50)); }},
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
    {"finalize_twice",
     [] {
       shmem_finalize();
       shmem_finalize();
     }},
};

// Before the library is started.
const Local kEarly[] = {
    {"before_init_put", [] { shmem_long_p(global_words, 1, 0); }},
    {"before_init_my_pe", [] { std::printf("%d\n", shmem_my_pe()); }},
    {"before_init_malloc", [] { std::printf("%p\n", shmem_malloc(8)); }},
    {"before_init_barrier", [] { shmem_barrier_all(); }},
    {"before_init_atomic", [] { shmem_long_atomic_inc(global_words, 0); }},
    {"before_init_finalize", [] { shmem_finalize(); }},
    {"before_init_team", [] { std::printf("%d\n", shmem_team_my_pe(SHMEM_TEAM_WORLD)); }},
    {"just_init", [] { shmem_init(); }},
    {"init_thread_returns",
     [] {
       int provided = -1, initialised = -1;
       const int status = shmem_init_thread(SHMEM_THREAD_SINGLE, &provided);
       shmem_query_initialized(&initialised);
       std::printf("init_thread %s, %s\n", status == 0 ? "succeeded" : "failed",
                   initialised ? "initialised" : "not initialised");
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
