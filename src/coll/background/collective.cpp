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

bool Collective::advance(pt2pt::Engine& engine, std::size_t& budget) noexcept {
  bool any = false;
  while (!is_complete_) {
    any |= finish_messages(engine);
    if (finished_ != requests_.size()) return any;
    any |= step_ != round_.steps.size();
    if (!run_steps(budget)) return any;
    round_.clear();
    requests_.clear();
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
  requests_.reserve(round_.messages.size());
  for (const Message& message : round_.messages) start_message(engine, message);
}

void Collective::start_message(pt2pt::Engine& engine, const Message& message) noexcept {
  const int pe = context::world_pe(*call_.route, message.member);
  const std::int32_t tag = tag_of(call_.team_index, call_.number);
  const Cursor memory(Shape::contiguous(message.at, message.bytes));
  pt2pt::Request* request = nullptr;
  if (message.kind == Message::Kind::send) {
    request = engine.send(memory, pe, tag, {.blocking = true});
  } else {
    request = engine.receive(memory, {pe, tag}, false);
  }
  if (request == nullptr)
    fatal(call_.routine, "no memory for another message, %zu requests are open", engine.open_requests());
  requests_.push_back(request);
}

// Gives back the requests that are complete, in order. Returns true if there were any.
bool Collective::finish_messages(pt2pt::Engine& engine) noexcept {
  const std::size_t before = finished_;
  while (finished_ != requests_.size() && requests_[finished_]->phase == Phase::complete) {
    pt2pt::Request& request = *requests_[finished_];
    check(round_.messages[finished_], request);
    engine.give_back(request);
    ++finished_;
  }
  return finished_ != before;
}

void Collective::check(const Message& message, const pt2pt::Request& request) const noexcept {
  if (message.kind == Message::Kind::send) return;
  const pt2pt::Result& result = request.result;
  if (result.truncated)
    fatal(call_.routine, "PE %d has sent more than the %zu bytes that this PE expects; %s", result.source,
          message.bytes, kSameCalls);
  if (result.bytes != message.bytes)
    fatal(call_.routine, "PE %d has sent %zu bytes, this PE expects %zu; %s", result.source, result.bytes,
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
