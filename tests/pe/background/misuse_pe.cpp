// One misuse of collectives that do not block for each name; run by misuse_test on 3 PEs. The last PE makes the error,
// others begin what it begins.
#include <shmem.h>
#include <shmemx.h>
#include <shmemx/requests.hpp>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>

namespace {

char memory[9000];
char more[128];
shmemx_request_t request;

int me() { return shmem_my_pe(); }
bool is_last() { return me() == shmem_n_pes() - 1; }

struct Misuse {
  const char* name;
  void (*run)();     // on the last PE
  void (*others)();  // on the others
};

void nothing() {}
void wait() { shmemx_wait(&request, nullptr); }
void reduce(size_t count, int type, int op) {
  shmemx_reduce_nb(SHMEM_TEAM_WORLD, memory, more, count, type, op, &request);
}
void broadcast(size_t bytes) {
  shmemx_broadcast_nb(SHMEM_TEAM_WORLD, memory, more, bytes, 0, &request);
  wait();
}
void alltoallv(size_t dest_bytes, const size_t* in, const size_t* out) {
  shmemx_alltoallv(SHMEM_TEAM_WORLD, memory, dest_bytes, in, nullptr, more, out, nullptr, nullptr);
}

// By the C++ interface: blocks of one byte each.
void alltoallv_of_ranges(std::span<const size_t> lengths, std::span<const size_t> places, size_t source_bytes) {
  auto come = shmemx::block_lengths<char>::to_be_received(3);
  const shmemx::block_lengths<char> sent(lengths, places);
  shmemx::alltoallv(shmemx::team::world(), std::span(memory), come, std::span(more).first(source_bytes), sent);
}

const size_t kEight[10] = {8, 8, 8, 8, 8, 8, 8, 8, 8, 8};
const size_t kOther[10] = {8, 0, 8, 8, 8, 8, 8, 8, 8, 8};
const size_t kLong[10] = {8, 8192, 8, 8, 8, 8, 8, 8, 8, 8};
const size_t kLastLess[] = {8, 8, 0};

void of_ten() { alltoallv(sizeof memory, kEight, kEight); }

const Misuse kMisuses[] = {
    {"garbage_team",
     [] { shmemx_barrier_nb(reinterpret_cast<shmem_team_t>(std::uintptr_t{0x123456789abcdef0}), &request); }, nothing},
    {"invalid_team", [] { shmemx_barrier_nb(SHMEM_TEAM_INVALID, &request); }, nothing},
    {"null_request", [] { shmemx_barrier_nb(SHMEM_TEAM_WORLD, nullptr); }, nothing},
    {"root", [] { shmemx_broadcast_nb(SHMEM_TEAM_WORLD, memory, more, 8, 3, &request); }, nothing},
    {"root_negative", [] { shmemx_broadcast_nb(SHMEM_TEAM_WORLD, memory, more, 8, -1, &request); }, nothing},
    {"null_dest", [] { shmemx_broadcast_nb(SHMEM_TEAM_WORLD, nullptr, more, 8, 0, &request); }, nothing},
    {"null_source", [] { shmemx_fcollect_nb(SHMEM_TEAM_WORLD, memory, nullptr, 8, &request); }, nothing},
    {"too_many_bytes", [] { shmemx_alltoall_nb(SHMEM_TEAM_WORLD, memory, more, SIZE_MAX / 2, &request); }, nothing},
    {"too_many_elements", [] { reduce(SIZE_MAX / 4, SHMEMX_INT64, SHMEMX_OP_SUM); }, nothing},
    {"type", [] { reduce(1, 99, SHMEMX_OP_SUM); }, nothing},
    {"operator", [] { reduce(1, SHMEMX_FLOAT, SHMEMX_OP_BAND); }, nothing},
    {"replace", [] { reduce(1, SHMEMX_INT64, SHMEMX_OP_REPLACE); }, nothing},
    {"operator_unknown", [] { reduce(1, SHMEMX_INT64, SHMEMX_OP_SUM | SHMEMX_OP_EXCLUSIVE); }, nothing},
    {"null_counts", [] { alltoallv(24, kEight, nullptr); }, nothing},
    {"no_room", [] { alltoallv(20, kEight, kEight); }, [] { alltoallv(24, kEight, kEight); }},
    {"no_room_for_unknown", [] { alltoallv(20, nullptr, kEight); }, [] { alltoallv(24, nullptr, kEight); }},
    {"expects_less", [] { alltoallv(24, kOther, kEight); }, [] { alltoallv(24, kEight, kEight); }},
    {"expects_less_of_ten", [] { alltoallv(sizeof memory, kOther, kEight); }, of_ten},
    {"expects_long_of_ten", [] { alltoallv(sizeof memory, kLong, kEight); }, of_ten},
    {"sends_less", [] { alltoallv(24, kEight, kOther); }, [] { alltoallv(24, kEight, kEight); }},
    {"own_block", [] { alltoallv(24, kEight, kLastLess); }, [] { alltoallv(24, kEight, kEight); }},
    {"lengths_of_two", [] { alltoallv_of_ranges(std::span(kEight, 2), std::span(kEight, 2), 64); }, nothing},
    {"places_of_two", [] { alltoallv_of_ranges(std::span(kEight, 3), std::span(kEight, 2), 64); }, nothing},
    {"beyond_source", [] { alltoallv_of_ranges(std::span(kEight, 3), std::span(kOther, 3), 15); }, nothing},
    {"shorter", [] { broadcast(4); }, [] { broadcast(8); }},
    {"longer", [] { broadcast(9); }, [] { broadcast(8); }},
    {"empty", [] { broadcast(0); }, [] { broadcast(8); }},
    {"another_collective",
     [] {
       shmemx_barrier_nb(SHMEM_TEAM_WORLD, &request);
       wait();
     },
     [] {
       shmemx_alltoall_nb(SHMEM_TEAM_WORLD, memory, more, 8, &request);
       wait();
     }},
    {"cancel",
     [] {
       shmemx_barrier_nb(SHMEM_TEAM_WORLD, &request);
       shmemx_cancel(&request);
     },
     nothing},
    {"wait_twice",
     [] {
       shmemx_barrier_nb(SHMEM_TEAM_WORLD, &request);
       shmemx_request_t copy = request;
       wait();
       shmemx_wait(&copy, nullptr);
     },
     [] {
       shmemx_barrier_nb(SHMEM_TEAM_WORLD, &request);
       wait();
     }},
    {"finalize",
     [] {
       shmemx_barrier_nb(SHMEM_TEAM_WORLD, &request);
       shmem_finalize();
     },
     nothing},
    {"finalize_of_two",
     [] {
       shmemx_request_t other;
       shmemx_barrier_nb(SHMEM_TEAM_WORLD, &request);
       shmemx_barrier_nb(SHMEM_TEAM_WORLD, &other);
       shmem_finalize();
     },
     nothing},
};

// Collective: the team has to be destroyed by all.
void destroy_with_an_open_request() {
  shmem_team_t team;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), nullptr, 0, &team);
  shmemx_barrier_nb(team, &request);
  if (!is_last()) wait();
  shmem_team_destroy(team);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "";
  if (std::strcmp(name, "before_init") == 0) shmemx_barrier_nb(SHMEM_TEAM_WORLD, &request);
  shmem_init();
  if (std::strcmp(name, "after_finalize") == 0) {
    shmem_finalize();
    shmemx_barrier_nb(SHMEM_TEAM_WORLD, &request);
  }
  if (std::strcmp(name, "destroy") == 0) destroy_with_an_open_request();
  if (std::strcmp(name, "exit") == 0) {
    shmemx_barrier_nb(SHMEM_TEAM_WORLD, &request);
    return 0;
  }
  if (std::strcmp(name, "departed") == 0) {
    if (is_last()) return 0;
    reduce(1, SHMEMX_INT64, SHMEMX_OP_SUM);
    wait();
  }
  for (const Misuse& misuse : kMisuses) {
    if (std::strcmp(name, misuse.name) == 0) is_last() ? misuse.run() : misuse.others();
  }
  shmem_barrier_all();
  if (is_last()) {
    std::printf("survived\n");
    std::fflush(stdout);
  }
  shmem_finalize();
  return 0;
}
