#include "tasks/calls.hpp"

#include <algorithm>

#include "base/fatal.hpp"

namespace shmemx::tasks {
namespace {

// The groups of their requests: those that wait for a reply, and those whose reply is being written. Groups of
// collectives are teams.
constexpr std::uint32_t kCalls = 0xffffffffU;
constexpr std::uint32_t kReplied = 0xfffffffeU;

pt2pt::Engine& call_engine() noexcept { return pt2pt::own_engine.object; }

pt2pt::Operation* find_waiting(int source, CallId id) noexcept {
  pt2pt::Request* const request = call_engine().find(id);
  if (request == nullptr || request->role != pt2pt::Role::operation || request->peer != source ||
      request->phase == pt2pt::Phase::complete)
    return nullptr;
  auto* const call = static_cast<pt2pt::Operation*>(request);
  return call->group == kCalls ? call : nullptr;
}

}  // namespace

CallId open_call(const char* routine, int pe, std::byte* result, std::size_t result_bytes) noexcept {
  pt2pt::Operation* const call = call_engine().open_operation(kCalls);
  if (call == nullptr) fatal(routine, "no memory for another request, %zu are open", call_engine().open_requests());
  call->peer = pe;
  call->cursor = pt2pt::Cursor(pt2pt::Shape::contiguous(result, result_bytes));
  return call->id;
}

bool complete_call(int source, CallId id, Bytes reply) noexcept {
  pt2pt::Operation* const call = find_waiting(source, id);
  if (call == nullptr) return false;
  const std::size_t bytes = std::min(reply.size(), call->cursor.shape().bytes);
  if (bytes != 0) call->cursor.scatter(reply.data(), bytes);
  complete_call(*call, source, bytes, bytes != reply.size());
  return true;
}

pt2pt::Operation* begin_reply(int source, CallId id) noexcept {
  pt2pt::Operation* const call = find_waiting(source, id);
  if (call != nullptr) call->group = kReplied;
  return call;
}

void complete_call(pt2pt::Operation& call, int source, std::size_t bytes, bool truncated) noexcept {
  call.result = {source, pt2pt::kAny, bytes, truncated, false};
  pt2pt::complete(call);
}

bool Awaiting::has_complete() const noexcept {
  return std::any_of(list_.begin(), list_.end(), [](const Entry& entry) {
    const pt2pt::Request* const request = call_engine().find(entry.request);
    return request == nullptr || request->phase == pt2pt::Phase::complete;
  });
}

bool Awaiting::try_end(pt2pt::RequestId id) noexcept {
  pt2pt::Request* const request = call_engine().find(id);
  if (request == nullptr) return true;
  if (request->phase != pt2pt::Phase::complete) return false;
  call_engine().give_back(*request);
  return true;
}

}  // namespace shmemx::tasks
