#include "epochs.hpp"

#include <sched.h>

#include <algorithm>

namespace epochs {
namespace {

// Descriptions may be passed on by any means; here through the symmetric heap.
std::vector<shmemx::attached_window> attach_all(const shmemx::window &own) {
  auto *const slot = static_cast<shmemx::window_description *>(shmem_malloc(sizeof(shmemx::window_description)));
  *slot = own.describe();
  shmem_barrier_all();
  std::vector<shmemx::attached_window> all;
  for (int pe = 0; pe < shmem_n_pes(); ++pe) {
    shmemx::window_description description;
    shmem_getmem(&description, slot, sizeof description, pe);
    all.emplace_back(description);
  }
  shmem_barrier_all();
  shmem_free(slot);
  return all;
}

}  // namespace

Epochs::Epochs(std::size_t bytes)
    : data_(shmemx::window::allocate(bytes)),
      control_(shmemx::window::allocate_array<std::int64_t>(kPosted + static_cast<std::size_t>(shmem_n_pes()))),
      posts_seen_(static_cast<std::size_t>(shmem_n_pes()), 0),
      locks_(static_cast<std::size_t>(shmem_n_pes()), Lock::shared) {
  std::ranges::fill(data_.as<std::byte>(), std::byte{0});
  std::ranges::fill(control_.as<std::int64_t>(), 0);
  peers_ = attach_all(data_);
  controls_ = attach_all(control_);
}

Epochs::~Epochs() { shmem_barrier_all(); }

void Epochs::add(int pe, std::size_t word, std::int64_t value) const {
  const shmemx::attached_window &control = controls_[static_cast<std::size_t>(pe)];
  control.fetch_add(control.target<std::int64_t>(word), value);
}

// Waits for a word of this PE's control window. The read is an atomic of the library, which makes progress.
void Epochs::await(std::size_t word, std::int64_t least) const {
  const shmemx::attached_window &control = controls_[static_cast<std::size_t>(shmem_my_pe())];
  const long none = 0;
  while (control.load(control.target<std::int64_t>(word)) < least) {
    shmemx_window_test(&none);
    ::sched_yield();
  }
}

// Completes all operations of this PE everywhere before any PE continues.
void Epochs::fence() {
  shmemx_window_flush_pe(-1);
  shmem_barrier_all();
}

// A writer adds a number that no count of readers reaches. A PE that finds the lock taken subtracts its number again.
void Epochs::lock(Lock kind, int pe) {
  const shmemx::attached_window &control = controls_[static_cast<std::size_t>(pe)];
  std::int64_t *const word = control.target<std::int64_t>(kLockWord);
  locks_[static_cast<std::size_t>(pe)] = kind;
  for (;;) {
    if (kind == Lock::exclusive) {
      if (control.compare_swap(word, 0, kWriter) == 0) return;
    } else {
      if (control.fetch_add(word, 1) < kWriter) return;
      control.fetch_add(word, -1);
    }
    ::sched_yield();
  }
}

void Epochs::unlock(int pe) {
  at(pe).flush();
  add(pe, kLockWord, locks_[static_cast<std::size_t>(pe)] == Lock::exclusive ? -kWriter : -1);
}

void Epochs::post(std::span<const int> group) {
  completions_expected_ += static_cast<std::int64_t>(group.size());
  for (const int pe : group) add(pe, kPosted + static_cast<std::size_t>(shmem_my_pe()), 1);
}

void Epochs::wait_for_access() { await(kCompleted, completions_expected_); }

void Epochs::start(std::span<const int> group) {
  accessed_.assign(group.begin(), group.end());
  for (const int pe : group) await(kPosted + static_cast<std::size_t>(pe), ++posts_seen_[static_cast<std::size_t>(pe)]);
}

void Epochs::complete() {
  for (const int pe : accessed_) {
    at(pe).flush();
    add(pe, kCompleted, 1);
  }
  accessed_.clear();
}

}  // namespace epochs
