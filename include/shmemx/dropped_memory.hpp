// Part of shmemx.hpp: memory of arrays that are gone on this PE, until all PEs have dropped it.
#ifndef SHMEMX_DROPPED_MEMORY_HPP
#define SHMEMX_DROPPED_MEMORY_HPP

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../shmem.h"

namespace shmemx {

namespace face_detail {

inline bool is_initialized() noexcept {
  int initialized = 0;
  shmem_query_initialized(&initialized);
  return initialized != 0;
}

// The memory of one array. Its owner drops it in any thread, at any time, also after the end of the library.
class block {
 public:
  explicit block(void* memory) noexcept : memory_(memory) {}
  void* memory() const noexcept { return memory_; }
  bool is_owned() const noexcept { return state_.load(std::memory_order_acquire) == state::owned; }

  // The later one of the two calls deletes the block.
  static void drop(block* at) noexcept { at->end(state::dropped, state::forgotten); }
  static void forget(block* at) noexcept { at->end(state::forgotten, state::dropped); }

 private:
  enum class state : unsigned char { owned, dropped, forgotten };
  void end(state now, state other) noexcept {
    if (state_.exchange(now, std::memory_order_acq_rel) == other) delete this;
  }

  void* const memory_;
  std::atomic<state> state_{state::owned};
};

// The blocks that have not been freed, in the order of their allocation. Allocation and freeing are collective, so the
// lists of all PEs have the same blocks. Which of them a PE has dropped it alone knows, until all vote.
class block_list {
 public:
  // Collective. Frees what all PEs have dropped. Returns false if the heap has no room for the votes.
  bool prepare_allocation() noexcept {
    if (!has_votes()) return false;
    if (!blocks_.empty()) free_dropped();
    return true;
  }
  block* adopt(void* memory) noexcept {
    blocks_.push_back(new block(memory));
    return blocks_.back();
  }

  // Collective.
  void free_now(block* at) noexcept {
    blocks_.erase(std::find(blocks_.begin(), blocks_.end(), at));
    shmem_free(at->memory());
    delete at;
  }
  // Collective. Returns the number of blocks that were freed.
  std::size_t free_dropped() noexcept {
    if (blocks_.empty() || !has_votes()) return 0;
    std::vector<block*> kept;
    std::vector<block*> unused;
    for (std::size_t begin = 0; begin < blocks_.size(); begin += kVotes) vote(begin, kept, unused);
    blocks_.swap(kept);
    for (block* const at : unused) {
      shmem_free(at->memory());
      delete at;
    }
    return unused.size();
  }
  // Collective: at the end of the library, which needs no votes any more.
  void free_votes() noexcept {
    if (votes_ != nullptr) shmem_free(votes_);
    votes_ = nullptr;
  }
  // The heap of these blocks is gone.
  void forget() noexcept {
    for (block* const at : blocks_) block::forget(at);
    blocks_.clear();
    votes_ = nullptr;
  }

 private:
  static constexpr std::size_t kWordBits = 64;
  static constexpr std::size_t kWords = 8;
  static constexpr std::size_t kVotes = kWords * kWordBits;

  bool has_votes() noexcept {
    if (votes_ == nullptr) votes_ = static_cast<std::uint64_t*>(shmem_malloc(2 * kWords * sizeof(std::uint64_t)));
    return votes_ != nullptr;
  }
  // Sorts up to kVotes blocks into those that some PE owns, and others.
  void vote(std::size_t begin, std::vector<block*>& kept, std::vector<block*>& unused) noexcept {
    const std::size_t count = std::min(kVotes, blocks_.size() - begin);
    std::uint64_t* const all = votes_ + kWords;
    std::fill_n(votes_, kWords, std::uint64_t{0});
    for (std::size_t i = 0; i < count; ++i)
      votes_[i / kWordBits] |= std::uint64_t{blocks_[begin + i]->is_owned()} << i % kWordBits;
    shmem_uint64_or_reduce(SHMEM_TEAM_WORLD, all, votes_, (count + kWordBits - 1) / kWordBits);
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_owned = (all[i / kWordBits] >> i % kWordBits & 1) != 0;
      (is_owned ? kept : unused).push_back(blocks_[begin + i]);
    }
    shmem_sync_all();  // nobody begins another vote before all have read this one
  }

  std::vector<block*> blocks_;
  std::uint64_t* votes_ = nullptr;  // symmetric: those of this PE, then those of all
};

// Never destroyed: arrays with static storage may go after it.
inline block_list& blocks() noexcept {
  static block_list& list = *new block_list;
  return list;
}

}  // namespace face_detail

// Collective. Frees the memory of arrays that are gone on all PEs. Returns the number of these arrays.
inline std::size_t free_dropped() noexcept { return face_detail::blocks().free_dropped(); }

}  // namespace shmemx

#endif
