#include "races/routine.hpp"

#include <mutex>

namespace shmemx::races {
namespace {

constexpr std::size_t kWordBytes = 8;

bool find(const void* address, int pe, Symmetric& place) noexcept {
  if (!job.locate(reinterpret_cast<std::uintptr_t>(address), place)) return false;
  place.pe = pe;
  return pe >= 0 && pe < job.n_pes();
}

Blocks joined(const Blocks& blocks) noexcept {
  if (blocks.count > 1 && blocks.step != blocks.block_bytes) return blocks;
  return {blocks.at, blocks.block_bytes * blocks.count};
}

void record_local_blocks(Routine& routine, const Blocks& blocks, const Operation& operation) noexcept {
  const Blocks all = joined(blocks);
  for (std::size_t i = 0; i < all.count; ++i)
    record_local(routine.thread(), {reinterpret_cast<std::uintptr_t>(all.at) + i * all.step, all.block_bytes},
                 operation);
}

// The thread's knowledge is released to whoever finds the value that the operation writes: with what a fence has put
// before it, and the operation itself.
void release(const Thread& thread, const Channel& channel, const Stamp& stamp, Clock& to) noexcept {
  to.join(*thread.clock, job.n_slots());
  const Knowledge knowledge = knowledge_of_put(channel, thread);
  if (knowledge.floor.slot != kNoSlot) to.raise(knowledge.floor.slot, knowledge.floor.epoch);
  if (stamp.slot != thread.now.slot) to.add_single({stamp.epoch, stamp.slot});
}

// Of puts of several words, each of which another PE may wait for: a clock for the latest ones of a channel.
SyncWord& word_of_put(const Stamp& put) noexcept {
  constexpr std::uint64_t kBehindStatics = std::uint64_t{1} << 49;
  constexpr std::uint64_t kLatest = 16;
  return job.words().at(
      Symmetric{kMostPes, Window::statics, kBehindStatics | put.slot * kLatest | put.epoch % kLatest}.key());
}
void release_words(const Thread& thread, const Channel& channel, const Stamp& stamp) noexcept {
  if (stamp.slot == thread.now.slot) return;
  SyncWord& word = word_of_put(stamp);
  const std::lock_guard guard(word.lock);
  release(thread, channel, thread.now, word.clock());
}

// A put of one word may be what another PE waits for, and so may the last word of a longer one. That one says nothing
// of the put's other words.
void release_word(Routine& routine, const Transfer& put, int pe, const Channel& channel, const Stamp& stamp) noexcept {
  const Blocks dest = joined(put.dest);
  Symmetric place{};
  if (dest.count == 0 || dest.block_bytes == 0 || !find(dest.at, pe, place)) return;
  if (dest.count != 1 || dest.block_bytes != put.element_bytes) release_words(routine.thread(), channel, stamp);
  if (dest.count != 1) return;
  const std::size_t element_bytes = put.element_bytes == 4 ? 4 : 8;
  const bool is_word = dest.block_bytes <= kWordBytes;
  if (!is_word) place.offset += dest.block_bytes - element_bytes;
  SyncWord& word = job.words().at(place.key_of_puts());
  word.lock.lock();
  release(routine.thread(), channel, is_word ? stamp : routine.thread().now, word.clock());
  routine.hold_update(word, place, is_word ? dest.block_bytes : element_bytes);
}

}  // namespace

void record_remote_blocks(Routine& routine, const Blocks& blocks, int pe, const Operation& operation) noexcept {
  const Blocks all = joined(blocks);
  Symmetric place{};
  if (!find(all.at, pe, place)) return;
  for (std::size_t i = 0; i < all.count; ++i, place.offset += all.step)
    record_remote(routine.thread(), place, all.block_bytes, operation);
}

void Routine::hold(SyncWord& word) noexcept {
  if (job.is_mapped()) {
    word_ = &word;
  } else {
    word.lock.unlock();  // the operation may need other PEs, which may wait for the lock
  }
}

namespace {

std::uint64_t value_at(const void* address, std::size_t bytes) noexcept {
  return bytes == 8 ? __atomic_load_n(static_cast<const std::uint64_t*>(address), __ATOMIC_RELAXED)
                    : __atomic_load_n(static_cast<const std::uint32_t*>(address), __ATOMIC_RELAXED);
}

bool is_aligned_word(const void* address, std::size_t bytes) noexcept {
  return (bytes == 4 || bytes == 8) && reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

}  // namespace

void Routine::hold_update(SyncWord& word, const Symmetric& place, std::size_t bytes) noexcept {
  const void* const address = job.is_mapped() ? job.address(place) : nullptr;
  if (address == nullptr || !is_aligned_word(address, bytes) || job.history_of(word) == nullptr) {
    forget_values(word);
  } else {
    updated_ = address;
    const Stamp& now = thread_->now;
    update_ = {{now.epoch, now.slot}, value_at(address, bytes), 0, static_cast<std::uint32_t>(bytes)};
  }
  hold(word);
}

void Routine::release_word() noexcept {
  if (updated_ != nullptr) {
    History& history = *job.history_of(*word_);
    if (word_->values == Values::forgotten) history.forget();
    word_->values = Values::history;
    update_.after = value_at(updated_, update_.bytes);
    history.add(update_, word_->clock(), {job.n_slots(), job.clock_capacity()});
  }
  word_->lock.unlock();
}

void note_put(Routine& routine, const Transfer& transfer) noexcept {
  if (!routine.is_watched()) return;
  Thread& thread = routine.thread();
  int pe = 0;
  Channel& channel = channel_to(transfer.context, transfer.pe, pe);
  const Stamp stamp = next_put(channel, thread);
  const Stamp source_stamp = transfer.is_nonblocking ? stamp : thread.now;
  record_local_blocks(routine, transfer.source, {source_stamp, Kind::load, routine.where(), thread.knowledge()});
  record_remote_blocks(routine, transfer.dest, pe,
                       {stamp, Kind::put, routine.where(), knowledge_of_put(channel, thread)});
  release_word(routine, transfer, pe, channel, stamp);
  thread.advance();  // what follows is no part of it, also in the same words
}

void note_get(Routine& routine, const Transfer& transfer) noexcept {
  if (!routine.is_watched()) return;
  Thread& thread = routine.thread();
  int pe = 0;
  Channel& channel = channel_to(transfer.context, transfer.pe, pe);
  const Stamp stamp = transfer.is_nonblocking ? next_fetch(channel, thread) : thread.now;
  record_remote_blocks(routine, transfer.source, pe, {stamp, Kind::load, routine.where(), thread.knowledge()});
  record_local_blocks(routine, transfer.dest, {stamp, Kind::store, routine.where(), thread.knowledge()});
  if (transfer.is_nonblocking) thread.advance();
}

void note_signal(Routine& routine, const Transfer& transfer, const SignalUpdate& signal) noexcept {
  if (!routine.is_watched()) return;
  Thread& thread = routine.thread();
  int pe = 0;
  Channel& channel = channel_to(transfer.context, transfer.pe, pe);
  const Stamp data = next_put(channel, thread);
  const Knowledge knowledge = knowledge_of_put(channel, thread);
  if (transfer.source.at != nullptr) {
    const Stamp source_stamp = transfer.is_nonblocking ? data : thread.now;
    record_local_blocks(routine, transfer.source, {source_stamp, Kind::load, routine.where(), thread.knowledge()});
    record_remote_blocks(routine, transfer.dest, pe, {data, Kind::put, routine.where(), knowledge});
  }
  const Stamp update = next_put(channel, thread);
  Symmetric place{};
  if (!find(signal.address, pe, place)) return;
  SyncWord& word = job.words().at(place.key());
  word.lock.lock();
  record_remote(thread, place, kWordBytes, {update, Kind::atomic_update, routine.where(), knowledge});
  release(thread, channel, update, word.clock());
  if (data.slot != thread.now.slot) word.clock().add_single({data.epoch, data.slot});
  routine.hold_update(word, place, kWordBytes);
  thread.advance();
}

void note_atomic(Routine& routine, const AtomicOperation& operation) noexcept {
  if (!routine.is_watched()) return;
  Thread& thread = routine.thread();
  int pe = 0;
  Channel& channel = channel_to(operation.context, operation.pe, pe);
  Symmetric place{};
  if (!find(operation.address, pe, place)) return;
  // Random words of large tables are in no cache.
  __builtin_prefetch(job.address(place), 1);
  __builtin_prefetch(job.cell(place), 1);
  job.words().prefetch(place.key());
  const bool is_complete = operation.result == Result::now;  // when it returns
  const bool is_update = operation.access != Atomic::load;
  if (operation.fetch != nullptr) {
    const Stamp fetch = next_fetch(channel, thread);
    record_local(thread, {reinterpret_cast<std::uintptr_t>(operation.fetch), operation.bytes},
                 {fetch, Kind::store, routine.where(), thread.knowledge()});
  }
  SyncWord& word = job.words().at(place.key());
  word.lock.lock();
  if (operation.result != Result::none) thread.acquire(word.clock());
  Knowledge knowledge = knowledge_of_put(channel, thread);
  // It is complete, so what a fence has put before it is complete as well.
  if (is_complete && is_update && knowledge.floor.slot != kNoSlot)
    thread.clock->raise(knowledge.floor.slot, knowledge.floor.epoch);
  const Stamp stamp = is_complete ? thread.now : next_put(channel, thread);
  if (is_update) release(thread, channel, stamp, word.clock());  // meanwhile the cell comes from memory
  record_remote(thread, place, operation.bytes,
                {stamp, is_update ? Kind::atomic_update : Kind::atomic_load, routine.where(), knowledge});
  if (operation.access == Atomic::update && operation.result == Result::none) {
    routine.hold_update(word, place, operation.bytes);
  } else {
    if (is_update) forget_values(word);
    routine.hold(word);
  }
  thread.advance();
}

void note_wait(Routine& routine, const Blocks& words) noexcept { note_local(routine, words, Kind::wait); }

namespace {

// What a wait proves, by the one kind of updates that the word has had. Requires its lock.
History::Found proof_of(SyncWord& updates, const Thread& thread, const void* word, std::size_t bytes,
                        const Condition& condition) noexcept {
  constexpr History::Found kAll{History::Proof::all, nullptr};
  if (condition.holds == nullptr || updates.values != Values::history || !is_aligned_word(word, bytes)) return kAll;
  return job.history_of(updates)->find(
      {*thread.clock, value_at(word, bytes), static_cast<std::uint32_t>(bytes), job.clock_capacity()},
      [&](std::uint64_t value) { return condition.holds(value, condition); });
}

void acquire_put(Thread& thread, const Stamp& put) noexcept {
  SyncWord& word = word_of_put(put);
  const std::lock_guard guard(word.lock);
  thread.acquire(word.clock());
}

}  // namespace

void note_satisfied(Routine& routine, const void* word, std::size_t bytes, const Condition& condition) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(word);
  Symmetric place{};
  if (!routine.is_watched() || !job.locate(address, place)) return;
  Thread& thread = routine.thread();
  SyncWord* const updates[] = {job.words().find(place.key()), job.words().find(place.key_of_puts())};
  const bool has_both = updates[0] != nullptr && updates[1] != nullptr;
  bool may_be_new = true;  // what the wait has seen
  for (SyncWord* const found : updates) {
    if (found == nullptr) continue;
    const std::lock_guard guard(found->lock);
    const History::Found proof = proof_of(*found, thread, word, bytes, has_both ? Condition{} : condition);
    may_be_new = proof.proof != History::Proof::nothing;
    if (may_be_new) thread.acquire(proof.proof == History::Proof::all ? found->clock() : *proof.clock);
  }
  const auto seen = static_cast<std::uint8_t>(bytes_mask(address, bytes));
  Cell* const cell = memory_map.find(address);
  if (cell == nullptr) return;
  for (const Stamp& put : note_seen(*cell, seen, thread.knowledge(), thread.now).puts)
    if (may_be_new && put.slot != kNoSlot) acquire_put(thread, put);
}

void note_local(Routine& routine, const Blocks& blocks, Kind kind) noexcept {
  if (!routine.is_watched()) return;
  Thread& thread = routine.thread();
  record_local_blocks(routine, blocks, {thread.now, kind, routine.where(), thread.knowledge()});
}

void note_fence(Routine& routine, shmem_ctx_t context) noexcept {
  if (routine.is_watched()) fence_channels(context, routine.thread());
}

void note_quiet(Routine& routine, shmem_ctx_t context, int pe) noexcept {
  if (routine.is_watched()) quiet_channels(context, pe, routine.thread());
}

}  // namespace shmemx::races
