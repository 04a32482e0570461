// How fast the other side of a connection acknowledges what is sent.
#pragma once

#include "transport/tcp/outbox.hpp"

namespace shmemx::tcp {

class Speed {
 public:
  static constexpr std::size_t kLeastSample = std::size_t{128} << 10;  // acknowledged bytes by which it is measured

  bool is_known() const noexcept { return samples_ >= kSamples; }
  double bytes_per_ns() const noexcept { return bytes_per_ns_; }
  // Both have to be known.
  bool is_much_slower_than(const Speed& other) const noexcept;
  // A part has been appended, and is about to be sent. The time counts from here on if none is under way.
  void begin(const Outbox& out, std::uint64_t now) noexcept;
  // Notes what has been acknowledged, while something is under way.
  void measure(const Outbox& out, std::uint64_t now) noexcept;
  // Returns whether parts are under way.
  bool is_under_way(const Outbox& out) const noexcept { return out.kept_from() < until_; }
  void end() noexcept { since_ = 0; }

 private:
  static constexpr unsigned kSamples = 3;

  double bytes_per_ns_ = 0;  // 0 if it is not known
  unsigned samples_ = 0;
  std::uint64_t since_ = 0;  // begin of the sample, 0 if nothing is under way
  std::uint64_t from_ = 0;   // offset in the stream at that time
  std::uint64_t seen_ = 0;   // time of the last look
  std::uint64_t until_ = 0;  // offset of the end of the last part, up to which it is measured
};

}  // namespace shmemx::tcp
