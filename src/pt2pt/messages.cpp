#include "pt2pt/messages.hpp"

#include <algorithm>
#include <new>

#include "base/doorbell.hpp"
#include "base/fatal.hpp"
#include "context/location.hpp"
#include "progress/policy.hpp"
#include "progress/wait.hpp"
#include "pt2pt/thresholds.hpp"

namespace shmemx::pt2pt {

constinit Immortal<Engine> own_engine;

namespace {

using am::Bytes;
using am::bytes_of;
using am::Endpoint;
using am::Locked;
using am::Message;
using am::Verdict;

class LibraryPlatform final : public Platform {
 public:
  explicit constexpr LibraryPlatform() = default;

  bool try_send(int pe, am::HandlerId id, Bytes header, Bytes payload, am::SendOptions options) noexcept override {
    return Locked::held().try_send({pe, id, header, payload, am::kDuringCall, options.leave, options.counting});
  }

  bool is_internode(int pe) noexcept override { return am::is_internode(pe); }

  transport::Sent send_long(int pe, am::HandlerId id, Bytes header, Bytes payload,
                            transport::Outgoing& outgoing) noexcept override {
    if (!Locked::held().try_send({pe, id, header, payload, am::until_done(outgoing)})) return transport::Sent::no;
    return outgoing.done ? transport::Sent::yes : transport::Sent::later;
  }

  std::size_t declinable_bytes(int pe) noexcept override {
    return Locked::held().net()->network_of(pe).capabilities().declinable_bytes;
  }

  Space describe(int pe, const std::byte* at, std::size_t bytes, std::uint64_t& offset) noexcept override {
    const context::Context& world = context::default_context();
    if (!context::is_mapped(world, pe)) return Space::private_memory;
    const auto found = context::find_place(world, reinterpret_cast<std::uintptr_t>(at), bytes, pe);
    if (!found) return Space::private_memory;
    offset = found->offset;
    return found->window == windows::kHeapWindow ? Space::heap : Space::statics;
  }

  std::byte* address_of(int pe, Space space, std::uint64_t offset, std::uint64_t bytes) noexcept override {
    const context::Context& world = context::default_context();
    if (!context::is_mapped(world, pe)) return nullptr;
    if (space == Space::heap && context::range_fits(offset, bytes, world.window_bytes))
      return context::mapped_address(world, {pe, windows::kHeapWindow, offset}, pe);
    if (space == Space::statics && context::range_fits(offset, bytes, world.static_bytes) &&
        !windows::touches_static_hole(offset, bytes))
      return context::mapped_address(world, {pe, windows::kStaticWindow, offset}, pe);
    return nullptr;
  }

  CopyBuffer* copy_buffer(int owner) noexcept override {
    return am::is_internode(owner) ? nullptr : reinterpret_cast<CopyBuffer*>(parts.copy_buffer(owner));
  }
  void wake(int pe) noexcept override { shmemx::wake(am::own_endpoint().doorbell_of(pe)); }
  void reject(int source, const char* what) noexcept override {
    fatal(nullptr, "PE %d has sent %s, which no PE of this library does", source, what);
  }
  void exhausted(const char* what, std::size_t bytes, std::size_t allowed) noexcept override {
    fatal(nullptr, "%s would be %zu bytes, allowed are %zu (SHMEMX_UNEXPECTED_MAX)", what, bytes, allowed);
  }

  nemesis::Parts parts;
};

constinit LibraryPlatform platform;
Engine& engine = own_engine.object;

template <void (Engine::*Take)(int, Payload) noexcept>
Verdict handle(Endpoint&, const Message& message) {
  (engine.*Take)(message.source, message.payload);
  return Verdict::done;
}

std::byte* placement(int source, Bytes header, std::size_t bytes) { return engine.placement(source, header, bytes); }
void placed(Endpoint&, int source, Bytes header, std::size_t bytes) { engine.placed(source, header, bytes); }

std::byte* eager_placement(int source, Bytes header, std::size_t bytes) {
  return engine.eager_placement(source, header, bytes);
}
void eager_placed(Endpoint&, int source, Bytes, std::size_t bytes) { engine.eager_placed(source, bytes); }

std::byte* offer_placement(int source, Bytes header, std::size_t bytes) {
  return engine.offer_placement(source, header, bytes);
}
void offer_placed(Endpoint&, int source, Bytes, std::size_t bytes) { engine.offer_placed(source, bytes); }

bool progress(Endpoint&) { return engine.progress(); }

// Makes all waits in the library poll for messages, from the first call on.
void look_at_messages() noexcept {
  if (!progress::is_open()) [[unlikely]]
    progress::open();
}

Request& require(const char* routine, Request* request) noexcept {
  if (request == nullptr) fatal(routine, "no memory for another request, %zu are open", engine.open_requests());
  return *request;
}

// Called under the lock. A program that completes a request may compute from now on, so the messages of a burst leave.
Result take_result(Request& request) noexcept {
  Locked::held().flush_networks();
  const Result result = request.result;
  engine.give_back(request);
  return result;
}

bootstrap::Awaited awaited_message(int pe, int tag) noexcept {
  bootstrap::Awaited awaited;
  awaited.kind = bootstrap::Awaited::Kind::message;
  awaited.pe = pe;
  awaited.tag = tag;
  return awaited;
}

bootstrap::Awaited awaited_request(const Request& request) noexcept {
  bootstrap::Awaited awaited = awaited_message(request.peer, request.tag);
  if (request.role == Role::send) awaited.count = request.goal;
  if (request.role != Role::operation) return awaited;
  awaited.kind = bootstrap::Awaited::Kind::operation;
  awaited.at = request.id.word();
  return awaited;
}

[[gnu::noinline]] Result wait_for_request(const char* routine, Request& request, int expected) noexcept {
  const auto done = [&] { return request.done.load(std::memory_order_acquire); };  // complete
  const auto awaited = [&] {
    const Locked endpoint;  // the message may begin to arrive meanwhile
    return awaited_request(request);
  };
  progress::wait_until(routine, expected, progress::Described{done, awaited});
  const Locked endpoint;
  return take_result(request);
}

// Sends a message that is one of the endpoint, unless others wait in front of it.
[[gnu::always_inline]] inline bool send_past_engine(Endpoint& endpoint, const Call& call, Bytes payload,
                                                    am::Leave leave) noexcept {
  if (!engine.is_clear(call.pe, payload.size())) [[unlikely]]
    return false;
  const EagerHeader header{call.tag, static_cast<std::uint32_t>(payload.size())};
  return endpoint.try_send({call.pe, am::kMessageEager, bytes_of(header), payload, am::kDuringCall, leave});
}

// Hands the copy of the shape's list to the request, which may outlive the user's list.
RequestId start(Request& request, std::unique_ptr<Place[]> list) noexcept {
  request.own_list = std::move(list);
  return request.id;
}

std::unique_ptr<Place[]> copy_list(const char* routine, Shape& shape) noexcept {
  if (shape.kind != Shape::Kind::list) return nullptr;
  std::unique_ptr<Place[]> list(new (std::nothrow) Place[shape.count]);
  if (list == nullptr) fatal(routine, "no memory for a copy of a list of %zu pieces", shape.count);
  std::copy_n(shape.list, shape.count, list.get());
  shape.list = list.get();
  return list;
}

}  // namespace

void open(const Start& start) noexcept {
  // Two-sided messages are no operations on memory.
  constexpr am::HandlerTraits kTraits{.counted = false, .is_done_at_once = true};
  am::set_handler(am::kMessageEager, handle<&Engine::on_eager>, kTraits);
  constexpr am::HandlerTraits kPlacedEarly{.counted = false, .is_done_at_once = true, .place_early = true};
  am::set_handler(am::kMessageRts, handle<&Engine::on_rts>, kPlacedEarly);
  am::set_handler(am::kMessageCts, handle<&Engine::on_cts>, kTraits);
  am::set_handler(am::kMessageCookie, handle<&Engine::on_cookie>, kTraits);
  am::set_handler(am::kMessageDone, handle<&Engine::on_done>, kTraits);
  am::set_handler(am::kMessageData, handle<&Engine::on_data>, kPlacedEarly);
  am::set_placement(am::kMessageEager, {eager_placement, eager_placed});
  am::set_placement(am::kMessageRts, {offer_placement, offer_placed});
  am::set_placement(am::kMessageData, {placement, placed});
  am::add_progress(progress);
  platform.parts = start.parts;
  engine.start(platform, {.me = start.me,
                          .n_pes = start.n_pes,
                          .several_nodes = am::has_networks(),
                          .payload_bytes = am::max_payload_bytes(),
                          .unexpected_max = start.unexpected_max,
                          .lmt = start.lmt,
                          .receive_bypass = start.receive_bypass,
                          .crowded = start.crowded});
}

void close() noexcept {
  const Locked endpoint;
  engine.stop();
}

void send_contiguous(const Call& call, const void* source, std::size_t bytes) noexcept {
  look_at_messages();
  {
    const Locked endpoint;
    if (send_past_engine(*endpoint, call, {static_cast<const std::byte*>(source), bytes}, am::Leave::now)) [[likely]]
      return endpoint->flush_networks();
  }
  send(call, Shape::contiguous(source, bytes), false);
}

void send(const Call& call, const Shape& source, bool synchronous) noexcept {
  look_at_messages();
  Request* request;
  {
    const Locked endpoint;
    request = &require(call.routine, engine.send(Cursor(source), call.pe, call.tag, {synchronous, true}));
    if (request->phase == Phase::complete) {
      take_result(*request);
      return;
    }
  }
  wait_for_request(call.routine, *request, call.pe);
}

Result receive(const Call& call, const Shape& dest) noexcept {
  look_at_messages();
  Request* request;
  {
    const Locked endpoint;
    request = &require(call.routine, engine.receive(Cursor(dest), {call.pe, call.tag}, true));
    if (request->phase != Phase::complete) endpoint->poll(call.pe);
    if (request->phase == Phase::complete) return take_result(*request);
  }
  return wait_for_request(call.routine, *request, call.pe);
}

// A message that has come needs no request. Otherwise polls the sender's fastbox alone while no earlier message or
// receive could match and nothing else needs a poll, such as the offer of a long message.
Result receive_contiguous(const Call& call, Place dest) noexcept {
  look_at_messages();
  Result result;
  {
    const Locked endpoint;
    if (engine.take_unexpected({call.pe, call.tag}, dest, result)) {
      endpoint->flush_networks();
      return result;
    }
  }
  if (call.pe >= 0 && !am::is_internode(call.pe)) [[likely]] {
    int polls = progress::policy().pause_polls != 0 ? kBoxPolls : 1;
    do {
      const Locked endpoint;
      if (!engine.is_bare()) break;
      const Taken taken = take_from_box(*endpoint, {call.pe, call.tag}, dest, result);
      if (taken == Taken::yes) return result;
      if (taken == Taken::not_it || endpoint->has_cells() || engine.has_progress()) break;
    } while (--polls != 0);
  }
  return receive(call, Shape::contiguous(dest.at, dest.bytes));
}

RequestId start_send_contiguous(Call call, const void* source, std::size_t bytes) noexcept {
  look_at_messages();
  {
    const Locked endpoint;
    if (send_past_engine(*endpoint, call, {static_cast<const std::byte*>(source), bytes}, am::Leave::burst)) [[likely]]
      return require(call.routine, engine.note_sent(call.pe, call.tag, bytes)).id;
  }
  return start_send(call, Shape::contiguous(source, bytes), false);
}

RequestId start_send(const Call& call, const Shape& source, bool synchronous) noexcept {
  look_at_messages();
  Shape shape = source;
  std::unique_ptr<Place[]> list = copy_list(call.routine, shape);
  const Locked endpoint;
  return start(require(call.routine, engine.send(Cursor(shape), call.pe, call.tag, {synchronous, false})),
               std::move(list));
}

RequestId start_receive(const Call& call, const Shape& dest) noexcept {
  look_at_messages();
  Shape shape = dest;
  std::unique_ptr<Place[]> list = copy_list(call.routine, shape);
  const Locked endpoint;
  return start(require(call.routine, engine.receive(Cursor(shape), {call.pe, call.tag}, false)), std::move(list));
}

RequestId start_receive_contiguous(Call call, Place dest) noexcept {
  look_at_messages();
  const Locked endpoint;
  const Cursor cursor(Shape::contiguous(dest.at, dest.bytes));
  return require(call.routine, engine.receive(cursor, {call.pe, call.tag}, false)).id;
}

bool find_message(const Call& call, Result& out) noexcept {
  look_at_messages();
  const Locked endpoint;
  const Unexpected* message = engine.probe({call.pe, call.tag});
  if (message == nullptr) {
    endpoint->poll(call.pe);
    message = engine.probe({call.pe, call.tag});
  }
  if (message == nullptr) return false;
  out = {message->source, message->tag, message->bytes, false, false};
  return true;
}

void await_message(const Call& call, Result& out) noexcept {
  const auto awaited = [&] { return awaited_message(call.pe, call.tag); };
  progress::wait_until(call.routine, call.pe, progress::Described{[&] { return find_message(call, out); }, awaited});
}

bool is_open(RequestId id) noexcept {
  const Locked endpoint;
  return engine.find(id) != nullptr;
}

bool wait(const char* routine, RequestId id, Result& out) noexcept {
  Request* request;
  int expected;
  {
    const Locked endpoint;
    request = engine.find(id);
    if (request == nullptr) return false;
    if (request->phase != Phase::complete) endpoint->poll(request->peer);
    if (request->phase == Phase::complete) {
      out = take_result(*request);
      return true;
    }
    expected = request->peer;
  }
  out = wait_for_request(routine, *request, expected);
  return true;
}

TestAnswer test(RequestId id, Result& out) noexcept {
  const Locked endpoint;
  Request* const request = engine.find(id);
  if (request == nullptr) return TestAnswer::unknown;
  if (request->phase != Phase::complete) endpoint->poll(request->peer);
  if (request->phase != Phase::complete) return TestAnswer::open;
  out = take_result(*request);
  return TestAnswer::complete;
}

TestAnswer look_at(RequestId id) noexcept {
  const Locked endpoint;
  const Request* const request = engine.find(id);
  if (request == nullptr) return TestAnswer::unknown;
  return request->phase == Phase::complete ? TestAnswer::complete : TestAnswer::open;
}

std::size_t wait_any(const char* routine, std::size_t count, NameOf id_of, const void* handles) noexcept {
  std::size_t found = count;
  const auto look = [&] {
    const Locked endpoint;
    bool any = false;
    for (std::size_t i = 0; i < count; ++i) {
      const Request* const request = engine.find(id_of(handles, i));
      any |= request != nullptr;
      if (request == nullptr || request->phase != Phase::complete) continue;
      found = i;
      return true;
    }
    return !any;
  };
  progress::wait_until(routine, -1, look);
  return found;
}

CancelAnswer cancel(RequestId id) noexcept {
  const Locked endpoint;
  Request* const request = engine.find(id);
  if (request == nullptr) return CancelAnswer::unknown;
  if (request->role == Role::send) return CancelAnswer::a_send;
  if (request->role == Role::operation) return CancelAnswer::an_operation;
  engine.cancel(static_cast<ReceiveRequest&>(*request));
  return CancelAnswer::done;
}

}  // namespace shmemx::pt2pt
