// Which sources have to be acknowledged: how many messages of each PE have been executed here, how many of those it
// knows of, and whether it may be waiting for that. Every message to a PE carries the number (Header::ack); where none
// goes, an acknowledgement travels alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/contact_table.hpp"
#include "nemesis/fastbox.hpp"

namespace shmemx::am {

// transport::Header::flags: no flush waits for this message, so its acknowledgement need not travel alone.
inline constexpr std::uint8_t kUncounted = 0x01;

// How much of a source may be unacknowledged before it may be waiting for room, whatever flushes wait for.
struct AckLimits {
  nemesis::Number messages = ~nemesis::Number{0};
  std::size_t bytes = ~std::size_t{0};
};

// Under the endpoint's lock.
class AckTracker {
 public:
  enum class Scope : std::uint8_t {
    awaited,  // PEs that may wait for it, and those that need none any more
    all,
  };

  void open(std::size_t n_pes, const AckLimits& limits = {}) {
    sources_.open(n_pes);
    limits_ = limits;
  }

  // Returns the number of messages of `pe` that have been executed here, which the next message to it acknowledges.
  nemesis::Number executed(int pe) const noexcept { return source(pe).executed; }
  // Notes that a message of `pe` has been executed; `counted`: a flush of `pe` may wait for it. Returns true if this is
  // the first message since the last acknowledgement for which `pe` may be waiting.
  bool note_executed(int pe, bool counted, std::size_t bytes = 0) noexcept {
    Source& from = source(pe);
    ++from.executed;
    from.bytes += bytes;
    if (!from.is_listed) unacknowledged_.push_back(pe);
    from.is_listed = true;
    if (from.is_awaited || !(counted || has_reached_limit(from))) return false;
    from.is_awaited = true;
    ++awaited_;
    return true;
  }
  // Notes that a message has left for `pe`, with executed(pe) in its header.
  void note_acknowledged(int pe) noexcept {
    Source& from = source(pe);
    from.acknowledged = from.executed;
    from.bytes = 0;
    if (from.is_awaited) --awaited_;
    from.is_awaited = false;
  }
  // Notes that the last acknowledgement of `pe` may be lost with a network, and that it may wait for it.
  void note_lost(int pe) {
    Source& from = source(pe);
    from.acknowledged = from.executed - 1;
    if (!from.is_listed) unacknowledged_.push_back(pe);
    from.is_listed = true;
    if (!from.is_awaited) ++awaited_;
    from.is_awaited = true;
  }
  bool is_empty() const noexcept { return unacknowledged_.empty(); }
  bool has_any(Scope scope) const noexcept { return scope == Scope::all ? !is_empty() : awaited_ != 0; }
  // Returns whether matches(pe) holds for a PE that may wait for its acknowledgement.
  template <class Matches>
  bool any_awaited(Matches&& matches) const {
    return awaited_ != 0 && std::any_of(unacknowledged_.begin(), unacknowledged_.end(),
                                        [&](int pe) { return source(pe).is_awaited && matches(pe); });
  }

  // Acknowledges sources by try_send(pe, executed). Where that returns false the source stays in the list. Returns
  // whether anything was sent.
  template <class TrySend>
  bool send(Scope scope, TrySend&& try_send) {
    if (!has_any(scope)) return false;
    bool any = false;
    std::erase_if(unacknowledged_, [&](std::int32_t pe) {
      Source& from = source(pe);
      const bool is_known = from.acknowledged == from.executed;
      if (scope == Scope::awaited && !from.is_awaited && !is_known) return false;
      if (!is_known) {
        if (!try_send(pe, from.executed)) return false;
        any = true;
      }
      note_acknowledged(pe);
      from.is_listed = false;
      return true;
    });
    return any;
  }

 private:
  struct Source {
    nemesis::Number executed = 0;
    nemesis::Number acknowledged = 0;  // the last number that it was sent
    std::size_t bytes = 0;             // of the messages since then
    bool is_listed = false;            // in unacknowledged_
    bool is_awaited = false;           // it may wait for its acknowledgement
  };
  bool has_reached_limit(const Source& from) const noexcept {
    return from.executed - from.acknowledged >= limits_.messages || from.bytes >= limits_.bytes;
  }
  Source& source(int pe) noexcept { return sources_[pe]; }
  const Source& source(int pe) const noexcept { return sources_[pe]; }

  ContactTable<Source> sources_;
  AckLimits limits_;
  std::vector<std::int32_t> unacknowledged_;  // PEs that may have to be acknowledged
  std::size_t awaited_ = 0;                   // the number of those that may wait
};

}  // namespace shmemx::am
