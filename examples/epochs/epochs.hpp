// The synchronisation of MPI-3 RMA on public windows: what a shim writes. Each PE contributes a window to an Epochs;
// all of them are attached by all. Beside its data each PE has a control window, whose words others change by atomic
// operations on windows, so everything works whichever way memory is reached.
//
//   fence                      separates epochs for all PEs
//   lock, unlock               passive target, shared or exclusive; the target takes no part
//   post, start, complete,     general active target: who exposes and who accesses name each other
//   wait_for_access
#ifndef EPOCHS_HPP
#define EPOCHS_HPP

#include <shmem.h>
#include <shmemx/windows.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace epochs {

enum class Lock { shared, exclusive };

class Epochs {
 public:
  // Collective.
  explicit Epochs(std::size_t bytes);
  ~Epochs();
  Epochs(const Epochs &) = delete;
  Epochs &operator=(const Epochs &) = delete;

  template <class T>
  std::span<T> mine() const {
    return data_.as<T>();
  }
  const shmemx::attached_window &at(int pe) const { return peers_[static_cast<std::size_t>(pe)]; }

  void fence();

  void lock(Lock kind, int pe);
  void unlock(int pe);

  // Exposes this PE's window to the group, and waits until the group's accesses are complete.
  void post(std::span<const int> group);
  void wait_for_access();
  // Accesses the windows of the group, after the group has posted.
  void start(std::span<const int> group);
  void complete();

 private:
  // Words of a PE's control window.
  static constexpr std::size_t kLockWord = 0;   // kWriter, or the number of readers
  static constexpr std::size_t kCompleted = 1;  // number of completed accesses to this PE's exposure epochs
  static constexpr std::size_t kPosted = 2;     // from here on, for each PE: how often it has posted to this PE
  static constexpr std::int64_t kWriter = std::int64_t{1} << 40;

  void add(int pe, std::size_t word, std::int64_t value) const;
  void await(std::size_t word, std::int64_t least) const;

  shmemx::window data_;
  shmemx::window control_;
  std::vector<shmemx::attached_window> peers_;
  std::vector<shmemx::attached_window> controls_;
  std::vector<std::int64_t> posts_seen_;   // of each PE, those that start() has consumed
  std::int64_t completions_expected_ = 0;  // of all exposure epochs of this PE so far
  std::vector<int> accessed_;              // the group of the open access epoch
  std::vector<Lock> locks_;                // the lock held at each PE
};

}  // namespace epochs

#endif
