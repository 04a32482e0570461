// Very many windows, and very many operations at once.
#include <sys/mman.h>

#include "window_support.hpp"

namespace {

using namespace window_test;

// Each of PE 0's windows consists of a separate word.
void check_many(std::size_t count, bool allocated) {
  const Note note(allocated ? "allocated" : "exposed");
  std::vector<std::uint64_t> memory(allocated ? 0 : count);
  std::vector<shmemx_window_t> own(me() == 0 ? count : 0);
  const Symmetric<shmemx_window_description_t> descriptions(count);
  bool ok = true;
  for (std::size_t i = 0; i < own.size(); ++i) {
    void* address = allocated ? nullptr : &memory[i];
    ok = ok && (allocated ? shmemx_window_allocate(8, &address, &own[i]) : shmemx_window_expose(address, 8, &own[i])) ==
                   SHMEMX_SUCCESS;
    *static_cast<std::uint64_t*>(address) = i;
    ok = ok && shmemx_window_describe(own[i], &descriptions[i]) == SHMEMX_SUCCESS;
  }
  shmem_barrier_all();
  std::vector<shmemx_window_description_t> theirs(count);
  shmem_getmem(theirs.data(), descriptions.get(), count * sizeof theirs[0], 0);
  std::vector<shmemx_window_t> windows(count);
  for (std::size_t i = 0; i < count; ++i) ok = ok && shmemx_window_attach(&theirs[i], &windows[i]) == SHMEMX_SUCCESS;
  CHECK(ok);
  const std::size_t step = count / 1000 + 1;
  for (std::size_t i = static_cast<std::size_t>(me()); i < count; i += step) {
    std::uint64_t value = 0;
    const std::uint64_t add = 1'000'000;
    ok = ok && shmemx_window_fetch_op(windows[i], shmemx_window_base(windows[i]), &add, &value, SHMEMX_UINT64,
                                      SHMEMX_OP_SUM) == SHMEMX_SUCCESS;
    ok = ok && value % add == i;
  }
  CHECK(ok);
  // In another order than they were attached.
  for (std::size_t i = 0; i < count; ++i) {
    shmemx_window_t& window = windows[(i * 7919) % count];
    ok = ok && shmemx_window_detach(window) == SHMEMX_SUCCESS;
  }
  shmem_barrier_all();
  for (std::size_t i = own.size(); i-- > 0;) ok = ok && shmemx_window_free(own[i]) == SHMEMX_SUCCESS;
  CHECK(ok);
  shmem_barrier_all();
}

}  // namespace

PE_TEST(the_guaranteed_number_of_windows_can_be_created) {
  constexpr std::size_t kMany = 65'536;
  check_many(kMany, true);
  check_many(kMany, false);
}

// A million puts, gets and accumulates, each kind open at once as far as the program can tell.
PE_TEST(a_million_operations_are_open) {
  const std::size_t count = pes() <= 2 && pe_test::stress_seconds(1) >= 1 ? 1'000'000 : 50'000;
  constexpr std::size_t kWords = 4096;
  const Windows windows(kWords * sizeof(std::uint64_t));
  const int peer = right();
  const std::uint64_t one = 1;
  long counter = 0;
  bool ok = true;
  for (std::size_t i = 0; i < count; ++i) {
    ok = ok && shmemx_window_accumulate_nbi(windows.at(peer), windows.address<std::uint64_t>(peer, i % kWords), &one, 1,
                                            SHMEMX_UINT64, SHMEMX_OP_SUM, &counter) == SHMEMX_SUCCESS;
  }
  shmemx_window_wait(&counter);
  shmem_barrier_all();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kWords; ++i) sum += windows.mine<std::uint64_t>()[i];
  CHECK_EQUAL(sum, count);
  shmem_barrier_all();
  std::vector<std::uint64_t> dest(kWords);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t word = i % kWords;
    ok = ok && (i % 2 == 0 ? shmemx_window_get_nbi(windows.at(peer), &dest[word],
                                                   windows.address<std::uint64_t>(peer, word), 8, &counter)
                           : shmemx_window_put_nbi(windows.at(peer), windows.address<std::uint64_t>(peer, word), &one,
                                                   8, &counter)) == SHMEMX_SUCCESS;
  }
  shmemx_window_wait(&counter);
  CHECK(ok);
  for (std::size_t word = 0; word < kWords; word += 2)
    ok = ok && dest[word] == count / kWords + (word < count % kWords ? 1 : 0);
  CHECK(ok);
  shmem_barrier_all();
  for (std::size_t word = 1; word < kWords; word += 2) ok = ok && windows.mine<std::uint64_t>()[word] == 1;
  CHECK(ok);
}

// One get and one accumulate of more than 2^31 bytes and elements, on reserved memory of which only the end is
// resident.
PE_TEST(lengths_and_counts_exceed_32_bits) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  constexpr std::size_t kPieces = 2049;
  constexpr std::size_t kBytes = kPiece * kPieces;
  void* const space =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(space != MAP_FAILED);
  shmemx_window_t own = SHMEMX_WINDOW_INVALID;
  CHECK_EQUAL(shmemx_window_expose(space, kBytes, &own), SHMEMX_SUCCESS);
  static_cast<std::byte*>(space)[kBytes - 1] = std::byte(me() + 1);
  shmemx_window_description_t mine{};
  shmemx_window_describe(own, &mine);
  const shmemx_window_description_t theirs = exchange(mine)[static_cast<std::size_t>(right())];
  shmemx_window_t window = SHMEMX_WINDOW_INVALID;
  CHECK_EQUAL(shmemx_window_attach(&theirs, &window), SHMEMX_SUCCESS);
  auto* const base = static_cast<std::byte*>(shmemx_window_base(window));
  std::vector<std::byte> piece(kPiece, std::byte{77});
  const std::vector<shmemx_iov_t> dests(kPieces, {piece.data(), kPiece});  // each overwrites the one before
  const shmemx_iov_t target{base, kBytes};
  CHECK_EQUAL(shmemx_window_getv(window, dests.data(), dests.size(), &target, 1), SHMEMX_SUCCESS);
  CHECK(piece[kPiece - 1] == std::byte(right() + 1));
  CHECK(piece[0] == std::byte{0});
  if (me() == 0)
    CHECK_EQUAL(
        shmemx_window_accumulate(window, base, nullptr, kBytes, SHMEMX_UINT8, SHMEMX_OP_NO_OP | SHMEMX_OP_EXCLUSIVE),
        SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_accumulate(window, base, nullptr, kBytes + 1, SHMEMX_UINT8, SHMEMX_OP_NO_OP),
              int{SHMEMX_ERR_RANGE});
  CHECK_EQUAL(shmemx_window_detach(window), SHMEMX_SUCCESS);
  shmem_barrier_all();
  CHECK_EQUAL(shmemx_window_free(own), SHMEMX_SUCCESS);
  ::munmap(space, kBytes);
}
