// Cray's shmemx_alltoallv (shmemx/cray.h), from C and C++, beside the one of teams.
#include <shmemx.h>

#include <cstring>

#include "../../support/pe_test.hpp"
#include "cray_calls.h"

namespace {

using namespace pe_test;

constexpr std::size_t kMost = 3000;  // bytes of a block

std::size_t index(int pe) { return static_cast<std::size_t>(pe); }
std::size_t length_of(int from, int to) { return index((from * 5 + to * 3) % 4) * 1000; }
unsigned char byte_of(int from, int to) { return static_cast<unsigned char>(1 + from * 53 + to * 17); }

// What the member `me` of `size` exchanges, in symmetric memory. Blocks of dest are apart, those of source are packed.
class Blocks {
 public:
  explicit Blocks(int size) : size_(size), dest_(index(size) * kMost), source_(index(size) * kMost) {
    for (std::size_t i = 0; i < index(size) * kMost; ++i) dest_.get()[i] = 0;
  }
  Exchange fill(int me) {
    std::size_t at = 0;
    for (int other = 0; other < size_; ++other) {
      dest_offsets_.get()[other] = index(other) * kMost;
      received_.get()[other] = 77;
      source_offsets_.get()[other] = at;
      source_bytes_.get()[other] = length_of(me, other);
      std::memset(source_.get() + at, byte_of(me, other), length_of(me, other));
      at += length_of(me, other);
    }
    return {dest_.get(),   dest_offsets_.get(),   received_.get(),
            source_.get(), source_offsets_.get(), source_bytes_.get()};
  }
  void check(int me) const {
    for (int other = 0; other < size_; ++other) {
      const std::size_t bytes = length_of(other, me);
      CHECK_EQUAL(received_.get()[other], bytes);
      const unsigned char* const block = dest_.get() + index(other) * kMost;
      std::size_t equal = 0;
      while (equal < kMost && block[equal] == (equal < bytes ? byte_of(other, me) : 0)) ++equal;
      CHECK_EQUAL(equal, kMost);
    }
  }

 private:
  int size_;
  Symmetric<unsigned char> dest_, source_;
  Symmetric<std::size_t> dest_offsets_{index(size_)}, received_{index(size_)};
  Symmetric<std::size_t> source_offsets_{index(size_)}, source_bytes_{index(size_)};
};

long psync[_SHMEM_ALLTOALL_SYNC_SIZE];

}  // namespace

PE_TEST(an_alltoallv_of_all_pes_from_c_and_cpp) {
  for (const bool in_c : {true, false}) {
    Blocks blocks(shmem_n_pes());
    const Exchange what = blocks.fill(shmem_my_pe());
    shmem_barrier_all();
    if (in_c) {
      alltoallv_of_set_in_c(&what, 0, 0, shmem_n_pes(), psync);
    } else {
      shmemx_alltoallv(what.dest, what.dest_offsets, what.received, what.source, what.source_offsets, what.source_bytes,
                       0, 0, shmem_n_pes(), psync);
    }
    blocks.check(shmem_my_pe());
    shmem_barrier_all();
  }
}

PE_TEST(an_alltoallv_of_every_second_pe) {
  const int size = (shmem_n_pes() + 1) / 2;
  Blocks blocks(size);
  const Exchange what = blocks.fill(shmem_my_pe() / 2);
  shmem_barrier_all();
  if (shmem_my_pe() % 2 == 0) {
    alltoallv_of_set_in_c(&what, 0, 1, size, psync);
    blocks.check(shmem_my_pe() / 2);
  }
  shmem_barrier_all();
  CHECK(shmem_n_pes() > 0);
}

PE_TEST(an_alltoallv_of_a_team_from_c) {
  Blocks blocks(shmem_n_pes());
  const Exchange what = blocks.fill(shmem_my_pe());
  CHECK_EQUAL(alltoallv_of_team_in_c(&what, index(shmem_n_pes()) * kMost), 0);
  blocks.check(shmem_my_pe());
  CHECK(address_in_c() != 0);
}
