// Programs whose PEs make collective calls that do not match; run by matching_test. matching_pe WHAT: the last PE makes
// another call than all others.
#include <shmem.h>
#include <shmemx.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace {

constexpr std::size_t kFew = 4;
constexpr std::size_t kMany = 64;
int source[kMany];
int dest[100000];
int long_source[100000];
float source_floats[kMany];
float dest_floats[kMany];
int work[kMany];
long psync[SHMEM_REDUCE_SYNC_SIZE];
long other_psync[SHMEM_REDUCE_SYNC_SIZE];
void* block;
shmem_team_t same_team;
shmem_team_t lower_team;

int last_pe() { return shmem_n_pes() - 1; }
// After a call: it is no jump then, so the line names the function.
void keep_frame() { asm volatile("" ::: "memory"); }

[[gnu::noinline]] void barrier() {
  shmem_barrier_all();
  keep_frame();
}
void nothing() {}

[[gnu::noinline]] void reduce() {
  shmem_int_sum_reduce(SHMEM_TEAM_WORLD, dest, source, kFew);
  keep_frame();
}
[[gnu::noinline]] void reduce_many() {
  shmem_int_sum_reduce(SHMEM_TEAM_WORLD, dest, source, kMany);
  keep_frame();
}
[[gnu::noinline]] void reduce_one() {
  shmem_int_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 1);
  keep_frame();
}
[[gnu::noinline]] void reduce_max() {
  shmem_int_max_reduce(SHMEM_TEAM_WORLD, dest, source, kFew);
  keep_frame();
}
[[gnu::noinline]] void reduce_floats() {
  shmem_float_sum_reduce(SHMEM_TEAM_WORLD, dest_floats, source_floats, kFew);
  keep_frame();
}
[[gnu::noinline]] void scan() {
  shmem_int_sum_inscan(SHMEM_TEAM_WORLD, dest, source, kFew);
  keep_frame();
}
[[gnu::noinline]] void broadcast() {
  shmem_int_broadcast(SHMEM_TEAM_WORLD, dest, source, kFew, 0);
  keep_frame();
}
[[gnu::noinline]] void broadcast_many() {
  shmem_int_broadcast(SHMEM_TEAM_WORLD, dest, source, kMany, 0);
  keep_frame();
}
[[gnu::noinline]] void broadcast_last() {
  shmem_int_broadcast(SHMEM_TEAM_WORLD, dest, source, kFew, last_pe());
  keep_frame();
}
[[gnu::noinline]] void broadcast_bytes() {
  shmem_broadcastmem(SHMEM_TEAM_WORLD, dest, source, kFew, 0);
  keep_frame();
}
// Then wait for what never comes, or compute: on 3 PEs and more some of them have sent nothing to the last one.
void broadcast_and_wait() {
  broadcast();
  shmem_long_wait_until(psync, SHMEM_CMP_EQ, 1);
}
void broadcasts_and_wait() {
  for (int i = 0; i < 5; ++i) broadcast();
  shmem_long_wait_until(psync, SHMEM_CMP_EQ, 1);
}
void broadcast_last_and_wait() {
  broadcast_last();
  shmem_long_wait_until(psync, SHMEM_CMP_EQ, 1);
}
void broadcast_and_compute() {
  broadcast();
  sleep(60);
}
[[gnu::noinline]] void fcollect() {
  shmem_int_fcollect(SHMEM_TEAM_WORLD, dest, source, kFew);
  keep_frame();
}
[[gnu::noinline]] void fcollect_many() {
  shmem_int_fcollect(SHMEM_TEAM_WORLD, dest, source, kMany);
  keep_frame();
}
[[gnu::noinline]] void collect() {
  shmem_int_collect(SHMEM_TEAM_WORLD, dest, source, kFew);
  keep_frame();
}
[[gnu::noinline]] void alltoall() {
  shmem_int_alltoall(SHMEM_TEAM_WORLD, dest, source, 1);
  keep_frame();
}
[[gnu::noinline]] void alltoall_more() {
  shmem_int_alltoall(SHMEM_TEAM_WORLD, dest, source, 2);
  keep_frame();
}
[[gnu::noinline]] void alltoalls() {
  shmem_int_alltoalls(SHMEM_TEAM_WORLD, dest, source, 1, 1, 1);
  keep_frame();
}
[[gnu::noinline]] void alltoalls_apart() {
  shmem_int_alltoalls(SHMEM_TEAM_WORLD, dest, source, 2, 1, 1);
  keep_frame();
}
[[gnu::noinline]] void finalize() {
  shmem_finalize();
  keep_frame();
}
[[gnu::noinline]] void allocate() {
  block = shmem_malloc(64);
  keep_frame();
}
[[gnu::noinline]] void allocate_zeros() {
  block = shmem_calloc(8, 8);
  keep_frame();
}
[[gnu::noinline]] void allocate_aligned() {
  block = shmem_align(64, 64);
  keep_frame();
}
[[gnu::noinline]] void reallocate_to_nothing() {
  block = shmem_realloc(block, 0);
  keep_frame();
}
[[gnu::noinline]] void sync_world() {
  shmem_team_sync(SHMEM_TEAM_WORLD);
  keep_frame();
}
[[gnu::noinline]] void sync_all() {
  shmem_sync_all();
  keep_frame();
}
[[gnu::noinline]] void release() {
  shmem_free(block);
  keep_frame();
}
[[gnu::noinline]] void reallocate() {
  block = shmem_realloc(block, 128);
  keep_frame();
}
[[gnu::noinline]] void split() {
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), nullptr, 0, &same_team);
  keep_frame();
}
[[gnu::noinline]] void split_2d() {
  shmem_team_split_2d(SHMEM_TEAM_WORLD, 1, nullptr, 0, &same_team, nullptr, 0, &lower_team);
  keep_frame();
}
void split_pair() { shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, last_pe(), 2, nullptr, 0, &same_team); }
[[gnu::noinline]] void broadcast_of_pair() {
  if (shmem_my_pe() == 0) shmem_int_broadcast(same_team, dest, source, kFew, 0);
  keep_frame();
}
[[gnu::noinline]] void broadcast_of_pair_last() {
  shmem_int_broadcast(same_team, dest, source, kFew, 1);
  keep_frame();
}
[[gnu::noinline]] void sync_same_team() {
  shmem_team_sync(same_team);
  keep_frame();
}
void split_twice() {
  split();
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), nullptr, 0, &lower_team);
}
[[gnu::noinline]] void sync_other_team() {
  shmem_team_sync(lower_team);
  keep_frame();
}
[[gnu::noinline]] void destroy_same_team() {
  shmem_team_destroy(same_team);
  keep_frame();
}
[[gnu::noinline]] void active_barrier() {
  shmem_barrier(0, 0, shmem_n_pes(), psync);
  keep_frame();
}
[[gnu::noinline]] void active_sync() {
  shmem_sync(0, 0, shmem_n_pes(), psync);
  keep_frame();
}
[[gnu::noinline]] void active_reduce() {
  shmem_int_sum_to_all(dest, source, kFew, 0, 0, shmem_n_pes(), work, psync);
  keep_frame();
}
[[gnu::noinline]] void active_reduce_many() {
  shmem_int_sum_to_all(dest, source, kMany, 0, 0, shmem_n_pes(), work, psync);
  keep_frame();
}
[[gnu::noinline]] void active_broadcast() {
  shmem_broadcast32(dest, source, kFew, 0, 0, 0, shmem_n_pes(), psync);
  keep_frame();
}
[[gnu::noinline]] void active_broadcast_last() {
  shmem_broadcast32(dest, source, kFew, last_pe(), 0, 0, shmem_n_pes(), psync);
  keep_frame();
}

[[gnu::noinline]] void active_barrier_other_array() {
  shmem_barrier(0, 0, shmem_n_pes(), other_psync);
  keep_frame();
}
// At least three PEs.
[[gnu::noinline]] void active_barrier_of_last() {
  shmem_barrier(last_pe() - 1, 0, 2, psync);
  keep_frame();
}

// Other places of dest.
[[gnu::noinline]] void reduce_behind() {
  shmem_int_sum_reduce(SHMEM_TEAM_WORLD, dest + kFew, source, kFew);
  keep_frame();
}
[[gnu::noinline]] void broadcast_behind() {
  shmem_int_broadcast(SHMEM_TEAM_WORLD, dest + kFew, source, kFew, 0);
  keep_frame();
}
[[gnu::noinline]] void broadcast_to_block() {
  shmem_int_broadcast(SHMEM_TEAM_WORLD, static_cast<int*>(block) + kFew, source, kFew, 0);
  keep_frame();
}
[[gnu::noinline]] void fcollect_behind() {
  shmem_int_fcollect(SHMEM_TEAM_WORLD, dest + kFew, source, kFew);
  keep_frame();
}
[[gnu::noinline]] void collect_behind() {
  shmem_int_collect(SHMEM_TEAM_WORLD, dest + kFew, source, kFew);
  keep_frame();
}

// Collectives in the background.
void wait_for(shmemx_request_t& request) { shmemx_wait(&request, nullptr); }

[[gnu::noinline]] void barrier_nb() {
  shmemx_request_t request;
  shmemx_barrier_nb(SHMEM_TEAM_WORLD, &request);
  wait_for(request);
}
[[gnu::noinline]] void reduce_nb() {
  shmemx_request_t request;
  shmemx_reduce_nb(SHMEM_TEAM_WORLD, dest, source, kFew, SHMEMX_INT32, SHMEMX_OP_SUM, &request);
  wait_for(request);
}
[[gnu::noinline]] void reduce_nb_max() {
  shmemx_request_t request;
  shmemx_reduce_nb(SHMEM_TEAM_WORLD, dest, source, kFew, SHMEMX_INT32, SHMEMX_OP_MAX, &request);
  wait_for(request);
}
[[gnu::noinline]] void reduce_nb_floats() {
  shmemx_request_t request;
  shmemx_reduce_nb(SHMEM_TEAM_WORLD, dest, source_floats, kFew, SHMEMX_FLOAT, SHMEMX_OP_SUM, &request);
  wait_for(request);
}
[[gnu::noinline]] void reduce_nb_many() {
  shmemx_request_t request;
  shmemx_reduce_nb(SHMEM_TEAM_WORLD, dest, long_source, sizeof long_source / sizeof *long_source, SHMEMX_INT32,
                   SHMEMX_OP_SUM, &request);
  wait_for(request);
}
[[gnu::noinline]] void broadcast_nb() {
  shmemx_request_t request;
  shmemx_broadcast_nb(SHMEM_TEAM_WORLD, dest, source, sizeof(int) * kFew, 0, &request);
  wait_for(request);
}
[[gnu::noinline]] void fcollect_nb() {
  shmemx_request_t request;
  shmemx_fcollect_nb(SHMEM_TEAM_WORLD, dest, source, sizeof(int) * kFew, &request);
  wait_for(request);
}
[[gnu::noinline]] void alltoall_nb() {
  shmemx_request_t request;
  shmemx_alltoall_nb(SHMEM_TEAM_WORLD, dest, source, sizeof(int), &request);
  wait_for(request);
}

struct Case {
  const char* name;
  void (*before)();  // by all
  void (*usual)();   // by all but the last PE
  void (*other)();   // by the last PE
};

const Case kCases[] = {
    {"barrier_reduce", barrier, barrier, reduce},
    {"barrier_reduce_first", nothing, barrier, reduce},
    {"reduce_barrier", barrier, reduce, barrier},
    {"roots", barrier, broadcast, broadcast_last},
    {"reduce_counts", barrier, reduce, reduce_many},
    {"reduce_one_many", barrier, reduce_one, reduce_many},
    {"broadcast_counts", barrier, broadcast, broadcast_many},
    {"broadcast_sizes", barrier, broadcast, broadcast_bytes},
    {"fcollect_counts", barrier, fcollect, fcollect_many},
    {"alltoall_counts", barrier, alltoall, alltoall_more},
    {"broadcast_fcollect", barrier, broadcast, fcollect},
    {"fcollect_broadcast", barrier, fcollect, broadcast},
    {"fcollect_collect", barrier, fcollect, collect},
    {"alltoall_alltoalls", barrier, alltoall, alltoalls},
    {"operators", barrier, reduce, reduce_max},
    {"types", barrier, reduce, reduce_floats},
    {"reduce_scan", barrier, reduce, scan},
    {"barrier_broadcast", barrier, barrier, broadcast_last},
    {"barrier_receive", barrier, barrier, broadcast},
    {"broadcast_barrier", barrier, broadcast, barrier},
    {"broadcast_wait", barrier, broadcast_and_wait, barrier},
    {"broadcasts_wait", barrier, broadcasts_and_wait, barrier},
    {"roots_wait", barrier, broadcast_and_wait, broadcast_last_and_wait},
    {"broadcast_compute", barrier, broadcast_and_compute, barrier},
    {"finalize_barrier", barrier, finalize, barrier},
    {"barrier_finalize", barrier, barrier, finalize},
    {"reduce_finalize", barrier, reduce, finalize},
    {"malloc_finalize", barrier, allocate, finalize},
    {"malloc_barrier", barrier, allocate, barrier},
    {"malloc_reduce", barrier, allocate, reduce},
    {"free_barrier", allocate, release, barrier},
    {"realloc_free", allocate, reallocate, release},
    {"split_barrier", barrier, split, barrier},
    {"split_split_2d", barrier, split, split_2d},
    {"destroy_sync", split, destroy_same_team, sync_same_team},
    {"other_team", split, barrier, sync_same_team},
    {"finalize_team", split, finalize, sync_same_team},
    {"active_barrier_reduce", active_barrier, active_barrier, active_reduce},
    {"active_counts", active_barrier, active_reduce, active_reduce_many},
    {"active_roots", active_barrier, active_broadcast, active_broadcast_last},
    {"nb_barrier_reduce", barrier, barrier_nb, reduce_nb},
    {"nb_operators", nothing, reduce_nb, reduce_nb_max},
    {"nb_types", barrier_nb, reduce_nb, reduce_nb_floats},
    {"nb_counts", nothing, reduce_nb, reduce_nb_many},
    {"nb_long_short", nothing, reduce_nb_many, reduce_nb},
    {"nb_fcollect_alltoall", nothing, fcollect_nb, alltoall_nb},
    {"nb_broadcast_barrier", nothing, broadcast_nb, barrier_nb},
    {"active_first", nothing, active_reduce, active_reduce_many},
    {"active_other", active_barrier, active_barrier, barrier},
    {"active_arrays", nothing, active_barrier, active_barrier_other_array},
    {"active_finalize", barrier, active_barrier, finalize},
    {"active_sizes", nothing, active_barrier, active_barrier_of_last},
    {"nb_blocking_barrier", barrier, barrier_nb, barrier},
    {"blocking_nb_barrier", nothing, barrier, barrier_nb},
    {"nb_blocking_reduce", barrier, reduce_nb, reduce},
    {"nb_blocking_other", barrier, fcollect_nb, barrier},
    {"nb_finalize", nothing, barrier_nb, finalize},
    {"nb_other_team", split, barrier_nb, sync_same_team},
    {"roots_of_pair", split_pair, broadcast_of_pair, broadcast_of_pair_last},
    {"realloc_nothing", allocate, reallocate, reallocate_to_nothing},
    {"same_routine", split, sync_world, sync_same_team},
    {"same_members", split_twice, sync_same_team, sync_other_team},
    {"malloc_calloc", barrier, allocate, allocate_zeros},
    {"malloc_align", allocate, allocate, allocate_aligned},
    {"alltoalls_strides", barrier, alltoalls, alltoalls_apart},
    {"barrier_sync", barrier, barrier, sync_all},
    {"active_barrier_sync", active_barrier, active_barrier, active_sync},
    {"dest_reduce", barrier, reduce, reduce_behind},
    {"dest_broadcast", barrier, broadcast, broadcast_behind},
    {"dest_spaces", allocate, broadcast, broadcast_to_block},
    {"dest_fcollect", nothing, fcollect, fcollect_behind},
    {"dest_collect", nothing, collect, collect_behind},
};

}  // namespace

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "";
  shmem_init();
  for (const Case& one : kCases) {
    if (std::strcmp(one.name, name) != 0) continue;
    one.before();
    if (shmem_my_pe() == last_pe()) {
      one.other();
    } else {
      one.usual();
    }
    if (argc > 2) sleep(60);  // the PE that gets here says nothing more
  }
  shmem_finalize();
  return 0;
}
