// Heaps of 20 TiB on nodes of two PEs, where SHMEM_SYMMETRIC_SIZE says so: the address space holds those of a node,
// however many PEs the job has. What the job cannot see is that it is larger than a node.
#include <shmem.h>

#include <cstddef>
#include <cstdlib>

#include "../support/pe_test.hpp"

namespace {

using namespace pe_test;

constexpr int kPesPerNode = 2;  // SHMEMX_PES_PER_NODE of the runs with large heaps
int symmetric_number = 0;

bool has_large_heap() { return std::getenv("SHMEM_SYMMETRIC_SIZE") != nullptr; }
bool is_here(int pe) { return shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED) >= 0; }

PE_TEST_MIN(node_peers_map_each_other_in_a_job_of_any_size, kPesPerNode) {
  const Symmetric<long> word(1);
  for (int pe = 0; pe < pes(); ++pe) {
    if (has_large_heap()) CHECK_EQUAL(is_here(pe), pe / kPesPerNode == me() / kPesPerNode);
    CHECK_EQUAL(shmem_ptr(word.get(), pe) != nullptr, is_here(pe));
    CHECK_EQUAL(shmem_ptr(&symmetric_number, pe) != nullptr, is_here(pe));
  }
}

// Reserved in full, and backed by nothing: one heap begins where the one before it has ended.
PE_TEST_MIN(heaps_have_the_size_that_was_set, kPesPerNode) {
  constexpr std::ptrdiff_t kBytes = std::ptrdiff_t{20} << 40;
  long* const number = static_cast<long*>(shmem_malloc(sizeof(long)));
  CHECK(number != nullptr);
  *number = symmetric_number = 100 + me();
  shmem_barrier_all();
  for (int pe = 0; pe < pes(); ++pe) {
    CHECK_EQUAL(shmem_long_g(number, pe), 100L + pe);
    CHECK_EQUAL(shmem_int_g(&symmetric_number, pe), 100 + pe);
    const auto* const there = static_cast<const long*>(shmem_ptr(number, pe));
    if (there == nullptr) continue;
    CHECK_EQUAL(*there, 100L + pe);
    const std::ptrdiff_t distance = reinterpret_cast<const char*>(there) - reinterpret_cast<const char*>(number);
    if (has_large_heap()) CHECK((pe - me()) * distance >= (pe == me() ? 0 : kBytes));
  }
  shmem_barrier_all();
  shmem_free(number);
}

PE_TEST_MIN(collectives_and_atomics_cross_nodes, kPesPerNode) {
  const Symmetric<long> words(3);
  words.get()[0] = me() + 1;
  words.get()[2] = 0;
  shmem_barrier_all();
  CHECK_EQUAL(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words.get() + 1, words.get(), 1), 0);
  CHECK_EQUAL(words.get()[1], static_cast<long>(pes()) * (pes() + 1) / 2);
  for (int pe = 0; pe < pes(); ++pe) shmem_long_atomic_add(words.get() + 2, 1, pe);
  shmem_barrier_all();
  CHECK_EQUAL(words.get()[2], static_cast<long>(pes()));
  shmem_barrier_all();
}

}  // namespace
