// A collective that is under way: executes a schedule by messages of the internal context of pt2pt. All functions are
// called under the endpoint's lock; nothing here waits.
#pragma once

#include <cstdint>
#include <vector>

#include "coll/background/call_tag.hpp"
#include "coll/background/schedule.hpp"
#include "context/context.hpp"
#include "pt2pt/engine.hpp"

namespace shmemx::coll::background {

// What one poll combines and copies at most, of all collectives.
inline constexpr std::size_t kBytesPerPoll = std::size_t{64} << 10;

// The arguments of a call.
struct Call {
  const char* routine;
  const context::Context* route;  // of the team, which outlives the collective
  std::uint32_t team_index;
  std::uint64_t number;  // of the team's collectives in the background, from 0 on
  Operator op;           // of a reduction
  CallTag tag;
};

// `pe`, of the world, has made another call. Ends the job.
[[gnu::cold]] void report_mismatch(const Call& call, int pe, const CallTag& theirs) noexcept;

// Numbers of a team's collectives repeat in tags after as many, so no more may be open at once.
inline constexpr std::uint64_t kNumbers = (1U << 17) - 1;
// Returns the tag of all messages of a collective. It is below pt2pt::kAny.
std::int32_t tag_of(std::uint32_t team_index, std::uint64_t number) noexcept;

// A message of pt2pt: the tag of the call, data, or both.
struct Part {
  Message message;
  bool has_tag;
  CallTag tag;  // of the sender
  pt2pt::Place places[2];
  pt2pt::Request* request;
};

class Collective {
 public:
  Collective(const Call& call, ScheduleOwner schedule, pt2pt::Operation& request) noexcept
      : call_(call), schedule_(std::move(schedule)), request_(request) {}

  // Does what can be done now, and takes from `budget`, in bytes, what it combines and copies. Returns true if
  // something has moved.
  bool advance(pt2pt::Engine& engine, std::size_t& budget) noexcept;
  bool is_complete() const noexcept { return is_complete_; }
  // Marks the request as complete, if no other collective that it belongs to is under way. The collective is of no use
  // after that.
  void complete() noexcept {
    if (twin_ == nullptr) return pt2pt::complete(request_);
    twin_->twin_ = nullptr;
  }
  // Both have one request.
  void pair_with(Collective& other) noexcept {
    twin_ = &other;
    other.twin_ = this;
  }

  const Call& call() const noexcept { return call_; }
  pt2pt::RequestId request() const noexcept { return request_.id; }

  Collective* next = nullptr;  // in the list of those under way

 private:
  void start_messages(pt2pt::Engine& engine) noexcept;
  void start_parts(pt2pt::Engine& engine, const Message& message) noexcept;
  void start_part(pt2pt::Engine& engine, Part& part) noexcept;
  bool finish_messages(pt2pt::Engine& engine) noexcept;
  void check(const Part& part) const noexcept;
  bool run_steps(std::size_t& budget) noexcept;
  void run_step(const LocalStep& step, std::size_t begin, std::size_t bytes) const noexcept;

  Call call_;
  ScheduleOwner schedule_;
  pt2pt::Operation& request_;
  Round round_;
  std::vector<Part> parts_;   // of the round's messages, in their order; they stay where they are
  std::size_t finished_ = 0;  // parts that are complete
  std::size_t step_ = 0;      // local steps that have been run
  std::size_t in_step_ = 0;   // bytes of the current one
  bool is_complete_ = false;
  Collective* twin_ = nullptr;  // under way, with the same request
};

}  // namespace shmemx::coll::background
