#include "coll/background/collective.hpp"

#include <algorithm>
#include <limits>

#include "base/fatal.hpp"
#include "context/route.hpp"
#include "rma/copy.hpp"

namespace shmemx::coll::background {
namespace {

using pt2pt::Cursor;
using pt2pt::Phase;
using pt2pt::Shape;

constexpr const char* kSameCalls =
    "all members of a team begin its collectives in the same order, with arguments that match";

}  // namespace

std::int32_t tag_of(std::uint32_t team_index, std::uint64_t number) noexcept {
  static_assert(kMaxTeams * (kNumbers + 1) == std::uint64_t{1} << 31);
  const std::uint64_t offset = team_index * (kNumbers + 1) + number % kNumbers;
  return static_cast<std::int32_t>(std::numeric_limits<std::int32_t>::min() + static_cast<std::int64_t>(offset));
}

void report_mismatch(const Call& call, int pe, const CallTag& theirs) noexcept {
  if (on_mismatched_call == nullptr) return;
  on_mismatched_call({context::world_pe(*call.route, call.route->my_pe), pe,
                      background_text(call.routine, call.tag.call), background_text(nullptr, theirs.call),
                      call.tag.site, theirs.site});
}

bool Collective::advance(pt2pt::Engine& engine, std::size_t& budget) noexcept {
  bool any = false;
  while (!is_complete_) {
    any |= finish_messages(engine);
    if (finished_ != parts_.size()) return any;
    any |= step_ != round_.steps.size();
    if (!run_steps(budget)) return any;
    round_.clear();
    parts_.clear();
    finished_ = step_ = 0;
    is_complete_ = !schedule_->next(round_);
    start_messages(engine);
    any = true;
  }
  return any;
}

// Receives first: what a member of this node sends may be there.
void Collective::start_messages(pt2pt::Engine& engine) noexcept {
  std::stable_partition(round_.messages.begin(), round_.messages.end(),
                        [](const Message& message) { return message.kind == Message::Kind::receive; });
  parts_.reserve(2 * round_.messages.size());
  for (const Message& message : round_.messages) start_parts(engine, message);
}

// The first 16 bytes from one member to another are a tag, whatever both have called. Where only the sender knows the
// length, both agree on one message.
void Collective::start_parts(pt2pt::Engine& engine, const Message& message) noexcept {
  Message first = message;
  const bool is_long = message.bytes > kMostTagged && !message.is_bounded;
  if (is_long) first.bytes = 0;
  start_part(engine, parts_.emplace_back(Part{first, true, call_.tag, {}, nullptr}));
  if (is_long) start_part(engine, parts_.emplace_back(Part{message, false, {}, {}, nullptr}));
}

void Collective::start_part(pt2pt::Engine& engine, Part& part) noexcept {
  const Message& message = part.message;
  const int pe = context::world_pe(*call_.route, message.member);
  const std::int32_t tag = tag_of(call_.team_index, call_.number);
  part.places[0] = {reinterpret_cast<std::byte*>(&part.tag), sizeof part.tag};
  part.places[1] = {message.at, message.bytes};
  Shape shape = Shape::contiguous(message.at, message.bytes);
  if (part.has_tag) shape = Shape::of_local_list(part.places, message.bytes == 0 ? 1 : 2);
  const Cursor memory(shape);
  if (message.kind == Message::Kind::send) {
    part.request = engine.send(memory, pe, tag, {.blocking = true});
  } else {
    part.request = engine.receive(memory, {pe, tag}, false);
  }
  if (part.request == nullptr)
    fatal(call_.routine, "no memory for another message, %zu requests are open", engine.open_requests());
}

// Gives back the requests that are complete, in order. Returns true if there were any.
bool Collective::finish_messages(pt2pt::Engine& engine) noexcept {
  const std::size_t before = finished_;
  while (finished_ != parts_.size() && parts_[finished_].request->phase == Phase::complete) {
    check(parts_[finished_]);
    engine.give_back(*parts_[finished_].request);
    ++finished_;
  }
  return finished_ != before;
}

void Collective::check(const Part& part) const noexcept {
  const Message& message = part.message;
  if (message.kind == Message::Kind::send) return;
  if (part.has_tag && part.tag.call != call_.tag.call) [[unlikely]]
    report_mismatch(call_, part.request->result.source, part.tag);
  const pt2pt::Result& result = part.request->result;
  const std::size_t tag_bytes = part.has_tag ? sizeof part.tag : 0;
  if (result.truncated)
    fatal(call_.routine, "PE %d has sent more than the %zu bytes that this PE expects; %s", result.source,
          message.bytes, kSameCalls);
  if (message.is_bounded && result.bytes >= tag_bytes) return;
  if (result.bytes != message.bytes + tag_bytes)
    fatal(call_.routine, "PE %d has sent %zu bytes, this PE expects %zu; %s", result.source, result.bytes - tag_bytes,
          message.bytes, kSameCalls);
}

// Returns true when all local steps of the round have been run.
bool Collective::run_steps(std::size_t& budget) noexcept {
  const std::size_t unit = call_.op.type == atomic::ElementType::none ? 1 : call_.op.element_bytes();
  while (step_ != round_.steps.size()) {
    const LocalStep& step = round_.steps[step_];
    const std::size_t allowed = budget - budget % unit;
    if (allowed == 0) return false;
    const std::size_t bytes = std::min(step.bytes - in_step_, allowed);
    run_step(step, in_step_, bytes);
    budget -= bytes;
    in_step_ += bytes;
    if (in_step_ != step.bytes) return false;
    in_step_ = 0;
    ++step_;
  }
  return true;
}

void Collective::run_step(const LocalStep& step, std::size_t begin, std::size_t bytes) const noexcept {
  if (step.kind == LocalStep::Kind::copy) return rma::copy(step.to + begin, step.from + begin, bytes);
  call_.op.accumulate(step.to + begin, step.from + begin, bytes);
}

}  // namespace shmemx::coll::background
