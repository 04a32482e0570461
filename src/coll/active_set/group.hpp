// An active set in collectives: what TeamGroup is for a team. It synchronises in the caller's pSync array.
#pragma once

#include <cstdint>

#include "coll/common/call.hpp"
#include "coll/common/symmetric.hpp"
#include "onesided/operations.hpp"

namespace shmemx::coll {

// Uses three elements of pSync and leaves them as it found them: [0] on the first PE counts arrivals, [1] is raised by
// the last PE to arrive, [2] carries a word. Sets with different pSync arrays do not disturb each other. If some
// member's memory is not mapped, the first PE waits until [0] has counted the others, and releases them itself. [1]
// counts: a PE that left a synchronisation early may push a broadcast to a member that the last PE to arrive has yet to
// release, and neither release may be lost.
//
// Edges:  arrive  add to [0] -> the last PE's add; its add to [1] -> the others' load    all stores of those who arrive
//         depart  a member's subtraction from its [1] -> the sender's load    that the release before has been taken
class ActiveGroup {
 public:
  static constexpr bool kHasScratch = false;

  ActiveGroup(const context::Context& world, const char* routine, team::PeSet set, long* psync);
  int size() const noexcept { return static_cast<int>(route_.n_pes); }
  int me() const noexcept { return route_.my_pe; }
  const char* routine() const noexcept { return routine_; }
  const context::Context& route() const noexcept { return route_; }
  bool is_direct() const noexcept { return direct_; }

  // Sets without a team do not compare their calls.
  void begin(CallWord) noexcept {}
  void begin_passed(CallWord, const void*) noexcept {}
  void note_dest(const void*) noexcept {}

  // At the first collective: ends the job if the array cannot be one that holds SHMEM_SYNC_VALUE. Members that are
  // ahead have changed elements, by no more than they are.
  void check_initial_words() const noexcept;

  // Makes puts visible only if they were flushed before.
  void sync() noexcept;
  // One-way synchronisation, for collectives whose data flow one way; all members are mapped. The sender waits until
  // `pe` has left the collective before, writes its data, and releases `pe`.
  void await_departure(int pe) noexcept;
  void release(int pe) noexcept;
  void await_release() noexcept;
  void publish_word(std::uint64_t word) noexcept {
    __atomic_store_n(word_of(me(), 2), static_cast<long>(word), __ATOMIC_RELEASE);
  }
  std::uint64_t published_word(int pe) const noexcept {
    return static_cast<std::uint64_t>(__atomic_load_n(word_of(pe, 2), __ATOMIC_ACQUIRE));
  }
  // Add bits to the word of `pe`, or write it, wherever that PE is. The next flush_and_sync() completes it, the former
  // also sync() if it goes to PE 0.
  void add_bits(int pe, std::uint64_t bits) noexcept;
  void put_word(int pe, std::uint64_t word) noexcept;
  void flush_and_sync() noexcept;
  void retract_word() noexcept { __atomic_store_n(word_of(me(), 2), 0L, __ATOMIC_RELEASE); }
  // Returns where the word of `pe` lies, for messages.
  context::Place word_place(int pe, int index) const noexcept {
    return context::place_of(route_, psync_.pe0 + static_cast<std::size_t>(index) * sizeof(long), pe);
  }

 private:
  void sync_remote() noexcept;
  // Adds 1 to a word of `pe`, or sets it to 1, whether it is mapped or not.
  void signal(int pe, int index, int operation) noexcept;
  // The memory of `pe` is mapped.
  long* word_of(int pe, int index) const noexcept {
    std::byte* const words = direct_ ? psync_.at(pe) : mapped_copy(route_, psync_.pe0, pe);
    return reinterpret_cast<long*>(words) + index;
  }

  context::Context route_;
  const char* routine_;
  bool direct_ = true;
  Symmetric psync_;
};

}  // namespace shmemx::coll
