#include "races/history.hpp"

namespace shmemx::races {

void History::add(const Update& update, const Clock& released, const Clocks& clocks) noexcept {
  if (n_updates_ != 0 && (bytes_ != update.bytes || entry(n_updates_ - 1).after != update.before)) forget();
  if (n_updates_ == 0) initial_ = update.before;
  bytes_ = update.bytes;
  entry(n_updates_) = update;
  clock(n_updates_, clocks.capacity).assign(released, clocks.slots);
  ++n_updates_;
}

}  // namespace shmemx::races
