#include "window/serve.hpp"

#include <cstring>

#include "atomic/elements.hpp"
#include "rma/copy.hpp"

namespace shmemx::window {
namespace {

using Payload = std::span<const std::byte>;

// Splits a payload into head and rest; false when it is too short for the head.
template <class Head>
bool split(Payload payload, Head& head, Payload& rest) {
  if (payload.size() < sizeof head) return false;
  std::memcpy(&head, payload.data(), sizeof head);
  rest = payload.subspan(sizeof head);
  return true;
}

Served answer(std::uint32_t ticket, Outcome outcome, bool final, Payload body = {}) {
  return {true, {ticket, outcome, final ? 1U : 0U, static_cast<std::uint32_t>(body.size())}, body};
}

// The memory, or why not. The windows that the library opens by itself are not reached this way.
std::byte* find(windows::WindowName window, std::uint64_t offset, std::uint64_t bytes, Outcome& outcome) {
  std::byte* const at =
      window.index < windows::kBuiltinWindows ? nullptr : windows::find_exposed(window, offset, bytes);
  outcome = Outcome::ok;
  if (at == nullptr) {
    const bool lives = window.index >= windows::kBuiltinWindows && windows::find_exposed(window, 0, 0) != nullptr;
    outcome = lives ? Outcome::range : Outcome::stale;
  }
  return at;
}

bool is_aligned(const std::byte* at, atomic::ElementType type) {
  return reinterpret_cast<std::uintptr_t>(at) % atomic::element_bytes(type) == 0;
}

Served serve_put(Payload payload) {
  PutRequest request;
  Payload data;
  if (!split(payload, request, data)) return {};
  Outcome outcome{};
  std::byte* const at = find(request.window, request.offset, data.size(), outcome);
  if (at != nullptr && !data.empty()) rma::move_visible(at, data.data(), data.size());
  if (request.last == 0 && outcome == Outcome::ok) return {};
  return answer(request.ticket, outcome, request.last != 0);
}

Served serve_get(Payload payload, Room room) {
  GetRequest request;
  Payload rest;
  if (!split(payload, request, rest)) return {};
  if (request.bytes > room.longest) return answer(request.ticket, Outcome::bad, true);
  Outcome outcome{};
  const std::byte* const at = find(request.window, request.offset, request.bytes, outcome);
  if (at == nullptr) return answer(request.ticket, outcome, true);
  // The channel copies long ones as they are; a word may be changed by somebody at this moment.
  if (request.bytes > sizeof(std::uint64_t)) return answer(request.ticket, Outcome::ok, true, {at, request.bytes});
  rma::move_visible(room.scratch.data(), at, request.bytes);
  return answer(request.ticket, Outcome::ok, true, room.scratch.first(request.bytes));
}

Served serve_atomic(Payload payload, std::span<std::byte> scratch) {
  AtomicRequest request;
  Payload rest;
  if (!split(payload, request, rest)) return {};
  const auto type = static_cast<atomic::ElementType>(request.type);
  const auto op = static_cast<atomic::ElementOp>(request.op);
  if (!atomic::go_together(type, op)) return answer(request.ticket, Outcome::bad, true);
  Outcome outcome{};
  std::byte* const at = find(request.window, request.offset, atomic::element_bytes(type), outcome);
  if (at == nullptr) return answer(request.ticket, outcome, true);
  if (!is_aligned(at, type)) return answer(request.ticket, Outcome::bad, true);
  const std::uint64_t old = atomic::apply_one(type, op, at, request.operand, request.compare);
  std::memcpy(scratch.data(), &old, sizeof old);
  return answer(request.ticket, Outcome::ok, true, scratch.first(sizeof old));
}

// Fetches need room for the answer: as much as the elements.
bool is_sound(const AccumulateRequest& request, Payload elements, std::size_t most) {
  const auto type = static_cast<atomic::ElementType>(request.type);
  const auto op = static_cast<atomic::ElementOp>(request.op);
  if (op == atomic::ElementOp::compare_swap || !atomic::go_together(type, op)) return false;
  const std::uint64_t bytes = request.count * std::uint64_t{atomic::element_bytes(type)};
  return bytes <= most && elements.size() == (op == atomic::ElementOp::no_op ? 0 : bytes);
}

Served serve_accumulate(Payload payload, std::span<std::byte> scratch) {
  AccumulateRequest request;
  Payload elements;
  if (!split(payload, request, elements)) return {};
  const bool final = request.last != 0 || request.fetch != 0;
  if (!is_sound(request, elements, scratch.size())) return answer(request.ticket, Outcome::bad, final);
  const atomic::Update update{static_cast<atomic::ElementType>(request.type),
                              static_cast<atomic::ElementOp>(request.op), request.exclusive != 0};
  const std::uint64_t bytes = request.count * std::uint64_t{atomic::element_bytes(update.type)};
  Outcome outcome{};
  std::byte* const at = find(request.window, request.offset, bytes, outcome);
  if (at == nullptr) return answer(request.ticket, outcome, final);
  if (!is_aligned(at, update.type)) return answer(request.ticket, Outcome::bad, final);
  atomic::apply(update, at, elements.empty() ? nullptr : elements.data(), request.fetch != 0 ? scratch.data() : nullptr,
                request.count);
  if (!final) return {};
  return answer(request.ticket, Outcome::ok, true, request.fetch != 0 ? scratch.first(bytes) : Payload{});
}

}  // namespace

windows::WindowName window_of(Payload payload) noexcept {
  windows::WindowName name;
  std::memcpy(&name, payload.data(), sizeof name);
  return name;
}

std::byte* find_placement(Payload header, std::uint64_t bytes) noexcept {
  PutRequest request;
  Payload rest;
  if (!split(header, request, rest) || !rest.empty()) return nullptr;
  Outcome outcome{};
  return find(request.window, request.offset, bytes, outcome);
}

Served serve_placed(Payload header) noexcept {
  PutRequest request;
  Payload rest;
  if (!split(header, request, rest) || request.last == 0) return {};
  return answer(request.ticket, Outcome::ok, true);
}

Served serve(am::HandlerId id, Payload payload, Room room) noexcept {
  switch (id) {
    case am::kWindowPut:
      return serve_put(payload);
    case am::kWindowGet:
      return serve_get(payload, room);
    case am::kWindowAtomic:
      return serve_atomic(payload, room.scratch);
    case am::kWindowAccumulate:
      return serve_accumulate(payload, room.scratch);
    default:
      return {};
  }
}

}  // namespace shmemx::window
