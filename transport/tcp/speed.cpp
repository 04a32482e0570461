#include "transport/tcp/speed.hpp"

#include <algorithm>

#include "transport/common/link_share.hpp"

namespace shmemx::tcp {

namespace {

// After so long, or so large a part of a sample, it is not known when a connection has become idle.
constexpr std::uint64_t kUnwatchedNs = 500'000;
constexpr std::uint64_t kPartUnwatched = 8;

}  // namespace

bool Speed::is_much_slower_than(const Speed& other) const noexcept {
  if (!is_known() || !other.is_known()) return false;
  return transport::is_much_slower(bytes_per_ns_ / (bytes_per_ns_ + other.bytes_per_ns_));
}

void Speed::measure(const Outbox& out, std::uint64_t now) noexcept {
  const bool is_busy = !out.is_acknowledged();
  const std::uint64_t bytes = out.kept_from() - from_;
  const bool has_watched = now - seen_ < std::max(kUnwatchedNs, (now - since_) / kPartUnwatched);
  seen_ = now;
  if (since_ != 0 && bytes < kLeastSample && is_busy) return;
  if (since_ != 0 && bytes >= kLeastSample && (is_busy || has_watched) && now > since_) {
    const double measured = static_cast<double>(bytes) / static_cast<double>(now - since_);
    ++samples_;
    bytes_per_ns_ = transport::averaged(bytes_per_ns_, measured);
  }
  since_ = is_busy ? now : 0;
  from_ = out.kept_from();
}

void Speed::begin(const Outbox& out, std::uint64_t now) noexcept {
  if (since_ == 0) {
    since_ = seen_ = now;
    from_ = out.kept_from();
  }
  until_ = out.kept_from() + out.unacknowledged();
}

}  // namespace shmemx::tcp
