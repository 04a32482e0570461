#include "coll/background/begin.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "am/endpoint.hpp"
#include "base/fatal.hpp"
#include "base/object_name.hpp"
#include "coll/background/collective.hpp"
#include "coll/common/nodes.hpp"
#include "coll/common/select.hpp"
#include "progress/policy.hpp"

namespace shmemx::coll::background {
namespace {

using am::Locked;

// The collectives under way, in the order in which they were begun. Changed under the endpoint's lock.
struct List {
  Collective* first = nullptr;
  Collective** end = &first;

  void append(Collective& collective) noexcept {
    *end = &collective;
    end = &collective.next;
  }
  // Removes what `link` points to.
  void remove(Collective** link) noexcept {
    Collective* const removed = *link;
    *link = removed->next;
    if (end == &removed->next) end = link;
    delete removed;
  }
};
constinit List under_way;

// How many collectives of each team have been begun; one thread at a time begins some. Untouched entries cost nothing.
constinit std::uint64_t numbers[kMaxTeams] = {};
std::atomic_ref<std::uint64_t> number_of(std::size_t team_index) noexcept {
  return std::atomic_ref(numbers[team_index]);
}

// The latest collective of each team.
struct LatestCall {
  const char* routine;
  const context::Context* route;
  CallTag tag;
};
constinit LatestCall latest_calls[kMaxTeams] = {};
constinit std::atomic<bool> has_begun{false};  // any

pt2pt::Engine& engine() noexcept { return pt2pt::own_engine.object; }

bool progress(am::Endpoint&) {
  bool any = false;
  std::size_t budget = kBytesPerPoll;
  for (Collective** link = &under_way.first; *link != nullptr;) {
    Collective& collective = **link;
    any |= collective.advance(engine(), budget);
    if (!collective.is_complete()) {
      link = &collective.next;
      continue;
    }
    collective.complete();
    under_way.remove(link);
  }
  return any;
}

std::uint64_t next_number(std::size_t team_index) noexcept {
  const std::uint64_t number = begun(team_index);
  number_of(team_index).store(number + 1, std::memory_order_relaxed);
  return number;
}

// A number must not be used again while a collective that has it is under way.
void check_number(const Call& call) noexcept {
  const Collective* oldest = under_way.first;
  while (oldest != nullptr && oldest->call().team_index != call.team_index) oldest = oldest->next;
  if (oldest != nullptr && call.number - oldest->call().number >= kNumbers)
    fatal(call.routine, "%zu collectives of this team are under way, allowed are at most that", std::size_t{kNumbers});
}

// Long messages have no tag of their own.
void compare_unexpected(const Call& call) noexcept {
  const pt2pt::Unexpected* const message = engine().probe_internal({pt2pt::kAny, tag_of(call.team_index, call.number)});
  if (message == nullptr || message->kind != pt2pt::Unexpected::Kind::eager) return;
  CallTag theirs;
  if (message->bytes < sizeof theirs || message->bytes > kMostTagged + sizeof theirs ||
      message->received < message->bytes)
    return;
  std::memcpy(&theirs, static_cast<const void*>(message + 1), sizeof theirs);  // the data lie behind it
  if (theirs.call != call.tag.call) report_mismatch(call, message->source, theirs);
}

// `second`: runs at once with the first schedule, as a collective with a number of its own; may be null.
RequestId begin_both(Team& team, const Caller& caller, std::uint64_t word, ScheduleOwner schedule, ScheduleOwner second,
                     const Operator& op) noexcept {
  static const std::uintptr_t bias = load_bias();
  const char* const routine = caller.routine;
  if (!progress::is_open()) progress::open();
  const CallTag tag{word, reinterpret_cast<std::uintptr_t>(caller.site) - bias};
  const Locked endpoint;  // number and latest call change together
  const std::uint32_t index = team.route.team_index;
  pt2pt::Operation* const request = engine().open_operation(index);
  if (request == nullptr) fatal(routine, "no memory for another request, %zu are open", engine().open_requests());
  const RequestId id = request->id;
  Collective* first = nullptr;
  for (ScheduleOwner* const one : {&schedule, &second}) {
    if (*one == nullptr) continue;
    const Call call{routine, &team.route, index, next_number(index), op, tag};
    check_number(call);
    auto* const collective = new Collective(call, std::move(*one), *request);
    if (first != nullptr) collective->pair_with(*first);
    first = collective;
    under_way.append(*collective);
  }
  latest_calls[index] = {routine, &team.route, tag};
  has_begun.store(true, std::memory_order_relaxed);  // a hint
  progress(*endpoint);
  return id;
}
RequestId begin(Team& team, const Caller& caller, std::uint64_t word, ScheduleOwner schedule,
                const Operator& op = {}) noexcept {
  return begin_both(team, caller, word, std::move(schedule), nullptr, op);
}

Members members_of(Team& team) noexcept { return {team.me(), team.size(), &nodes_of(team), false}; }

}  // namespace

void open() noexcept { am::add_progress(progress); }

void close() noexcept {
  const Locked endpoint;
  while (under_way.first != nullptr) under_way.remove(&under_way.first);
}

void restart_numbers(std::size_t team_index) noexcept {
  if (team_index < kMaxTeams) number_of(team_index).store(0, std::memory_order_relaxed);  // active sets have none
}

std::uint64_t begun(std::size_t team_index) noexcept { return number_of(team_index).load(std::memory_order_relaxed); }

void compare_with_others() noexcept {
  if (!has_begun.load(std::memory_order_relaxed)) return;  // a hint
  const am::TryLocked endpoint;
  if (!endpoint) return;
  for (const Collective* one = under_way.first; one != nullptr; one = one->next) compare_unexpected(one->call());
  for (std::uint32_t team = 0; team < kMaxTeams; ++team) {
    const LatestCall& latest = latest_calls[team];
    if (begun(team) != 0) compare_unexpected({latest.routine, latest.route, team, begun(team) - 1, {}, latest.tag});
  }
}

std::optional<UnderWay> find_under_way(RequestId id) noexcept {
  const Locked endpoint;
  for (const Collective* one = under_way.first; one != nullptr; one = one->next) {
    const Call& call = one->call();
    if (one->request() == id) return UnderWay{&team_table[call.team_index], call.number + 1, call.tag};
  }
  return {};
}

RequestId begin_barrier(Team& team, const Caller& caller) noexcept {
  return begin(team, caller, background_word(CallFamily::sync, 0), make_barrier(members_of(team)));
}

RequestId begin_reduction(Team& team, const Caller& caller, const Buffers& buffers, const Operator& op) noexcept {
  Members members = members_of(team);
  members.by_tree = team.direct && moves_by_tree(buffers.bytes, team.size(), team.counting);
  const std::uint64_t word =
      background_word(CallFamily::reduce, buffers.bytes / std::max<std::size_t>(1, op.element_bytes()), 0, op);
  return begin(team, caller, word, make_reduction(members, {op, buffers.dest, buffers.source, buffers.bytes}), op);
}

RequestId begin_broadcast(Team& team, const Caller& caller, const Buffers& buffers, int root) noexcept {
  const Broadcast broadcast{buffers.dest, buffers.source, buffers.bytes, root};
  return begin(team, caller, background_word(CallFamily::broadcast, buffers.bytes, root),
               make_broadcast(members_of(team), broadcast));
}

RequestId begin_fcollect(Team& team, const Caller& caller, const Buffers& buffers) noexcept {
  return begin(team, caller, background_word(CallFamily::fcollect, buffers.bytes),
               make_fcollect(members_of(team), {buffers.dest, buffers.source, buffers.bytes}));
}

RequestId begin_alltoall(Team& team, const Caller& caller, const Buffers& buffers) noexcept {
  return begin(team, caller, background_word(CallFamily::alltoall, buffers.bytes),
               make_alltoall(members_of(team), {buffers.dest, buffers.source, buffers.bytes}));
}

RequestId begin_alltoallv(Team& team, const AlltoallV& arguments) noexcept {
  const Members members = members_of(team);
  return begin_both(team, {arguments.routine, arguments.site}, background_word(CallFamily::alltoallv, 0),
                    make_alltoallv(members, arguments), make_alltoallv_apart(members, arguments), {});
}

std::size_t open_requests_of(const Team& team) noexcept {
  const Locked endpoint;
  return engine().open_operations_of(team.route.team_index);
}

std::size_t open_requests() noexcept {
  const Locked endpoint;
  return engine().open_operations();
}

}  // namespace shmemx::coll::background
