// The handlers: messages are executed (target.hpp), and replies placed, their requests closed.
#include <shmemx/windows.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/doorbell.hpp"
#include "onesided/lane.hpp"
#include "onesided/locks.hpp"
#include "onesided/operations.hpp"
#include "onesided/rdma.hpp"
#include "onesided/requests.hpp"
#include "onesided/target.hpp"
#include "rma/copy.hpp"
#include "rma/strided.hpp"

namespace shmemx::onesided {
namespace {

using am::bytes_of;
using am::Endpoint;
using am::Message;
using am::Verdict;

struct Name {
  char text[28];
};

// ---- without a reply ----

template <const char* (*kPerform)(Bytes), Name kName>
Verdict handle(Endpoint&, const Message& message) {
  check_message(kName.text, message.source, kPerform(message.payload));
  wake_own_sleepers();
  return Verdict::done;
}

// ---- with a reply ----

// Memory in which a handler makes the data of its reply. Under the endpoint's lock.
using Scratch = std::unique_ptr<std::byte[]>;
struct Scratches {
  static constexpr std::size_t kMostTaken = 64;  // 4 MiB

  Scratch current = make();
  std::size_t taken = 0;
  std::vector<Scratch> unused;

  static Scratch make() { return Scratch(new std::byte[kElementBytes]); }
  // Returns whether take() may be called: what replies have taken and not given back is bounded.
  bool may_take() const noexcept { return taken < kMostTaken; }
  // Returns the current one, which another one replaces.
  Scratch take() {
    ++taken;
    Scratch next = unused.empty() ? make() : std::move(unused.back());
    if (!unused.empty()) unused.pop_back();
    return std::exchange(current, std::move(next));
  }
  void give_back(Scratch scratch) {
    --taken;
    unused.push_back(std::move(scratch));
  }
};
// Never destroyed: threads may still poll while the process exits.
Scratches& scratches() {
  static auto* const instance = new Scratches;
  return *instance;
}

Room room_for_reply(int source) noexcept {
  const std::size_t most = am::max_payload_bytes(source) - sizeof(ReplyHeader);
  return {{scratches().current.get(), std::min(most, kElementBytes)}, most};
}

constinit bool has_gathered = false;  // replies of this poll wait for others

// Replies leave together at the end of a poll if their requests came together, or are to public windows: many
// operations on those are nonblocking.
bool gathers(const Message& message) noexcept {
  const bool is_gathered = message.is_one_of_many || is_public(window_of(message.payload));
  has_gathered |= is_gathered;
  return is_gathered;
}

am::OutgoingMessage reply_of(const Message& message, const Executed& result) noexcept {
  return {.pe = message.source,
          .handler = am::kReply,
          .header = bytes_of(result.reply),
          .payload = result.data,
          .leave = gathers(message) ? am::Leave::soon : am::Leave::now};
}

template <Executed (*kExecute)(Bytes, Room), Name kName>
Verdict handle_change(Endpoint& endpoint, const Message& message) {
  const Executed result = kExecute(message.payload, room_for_reply(message.source));
  check_message(kName.text, message.source, result.wrong);
  if (!result.is_replied) return Verdict::done;  // another part follows, which will wake them
  wake_own_sleepers();
  endpoint.reply(reply_of(message, result));
  return Verdict::done;
}

// Data of a reply that a network still reads: from a window, whose owner waits for it before it releases the memory, or
// from the scratch in which they were gathered.
struct Loan {
  transport::Outgoing outgoing;
  PutHeader place;  // where the bytes are; those of `scratch` are a copy
  std::size_t bytes;
  Scratch scratch;
};
constinit bool has_loans = false;
// Never destroyed: threads may still poll while the process exits.
std::vector<std::unique_ptr<Loan>>& loans() {
  static auto* const list = new std::vector<std::unique_ptr<Loan>>;
  return *list;
}

Verdict send_in_place(Endpoint& endpoint, const Message& message, const Executed& result) {
  const bool is_gathered = result.data.data() == scratches().current.get();
  if (is_gathered && !scratches().may_take()) return Verdict::later;
  auto loan = std::make_unique<Loan>();
  loan->place = place_of(message.payload);
  loan->bytes = result.data.size();
  if (!endpoint.try_send(
          {message.source, am::kReply, bytes_of(result.reply), result.data, am::until_done(loan->outgoing)}))
    return Verdict::later;
  if (!loan->outgoing.done) {
    if (is_gathered) {
      loan->scratch = scratches().take();
    } else {
      windows::begin_use(loan->place.window, loan->place.offset, loan->bytes);
    }
    loans().push_back(std::move(loan));
    has_loans = true;
  }
  return Verdict::done;
}

// A get changes nothing, so it is executed again if there is no room.
template <Executed (*kExecute)(Bytes, Room), Name kName>
Verdict handle_get(Endpoint& endpoint, const Message& message) {
  const Executed result = kExecute(message.payload, room_for_reply(message.source));
  check_message(kName.text, message.source, result.wrong);
  if (result.data.size() >= transport::kLongBytes && endpoint.is_internode(message.source))
    return send_in_place(endpoint, message, result);
  return endpoint.try_send(reply_of(message, result)) ? Verdict::done : Verdict::later;
}

// Fetching changes a word or reads it; a reader wakes nobody.
Verdict handle_atomic_fetch(Endpoint& endpoint, const Message& message) {
  const Executed result = execute_atomic(message.payload, room_for_reply(message.source));
  check_message("a fetching atomic", message.source, result.wrong);
  const bool at_once =
      !message.is_one_of_many && !is_public(window_of(message.payload)) && endpoint.replies().is_empty();
  if (!at_once || !endpoint.try_send({message.source, am::kReply, bytes_of(result.reply), result.data})) [[unlikely]]
    endpoint.reply(reply_of(message, result));
  if (result.has_changed) wake_own_sleepers();
  return Verdict::done;
}

[[gnu::noinline]] bool finish_slow(Endpoint& endpoint) {
  if (has_gathered) endpoint.flush_gathered();
  has_gathered = false;
  bool any = has_transfers && finish_transfers(endpoint);
  if (has_lanes) progress_own_lanes();
  if (has_pending_locks) any |= grant_pending_locks(endpoint);
  if (has_loans) {
    any |= std::erase_if(loans(), [](const std::unique_ptr<Loan>& loan) {
             if (!loan->outgoing.done) return false;
             if (loan->scratch != nullptr) {
               scratches().give_back(std::move(loan->scratch));
             } else {
               windows::end_use(loan->place.window, loan->place.offset, loan->bytes);
             }
             return true;
           }) != 0;
    has_loans = !loans().empty();
  }
  return any;
}

// At the end of each poll: the replies of its handlers leave together.
bool finish_poll(Endpoint& endpoint) {
  if (!(has_gathered | has_loans | has_transfers | has_pending_locks | has_lanes)) [[likely]]
    return false;
  return finish_slow(endpoint);
}

// ---- long data, received at their place ----

// Between placement and placed() the memory of a public window is in use.
template <std::byte* (*kFind)(Bytes, std::size_t)>
std::byte* place_put(int, Bytes header, std::size_t bytes) {
  std::byte* const place = kFind(header, bytes);
  if (place == nullptr) return place;
  const PutHeader put = place_of(header);
  windows::begin_use(put.window, put.offset, bytes);
  return place;
}

void put_placed(Endpoint&, int, Bytes header, std::size_t bytes) {
  const PutHeader put = place_of(header);
  windows::end_use(put.window, put.offset, bytes);
  wake_own_sleepers();
}

void put_signal_placed(Endpoint& endpoint, int source, Bytes header, std::size_t bytes) {
  check_message("a put with signal", source, perform_signal_of(header));
  put_placed(endpoint, source, header, bytes);
}

void put_replied_placed(Endpoint& endpoint, int source, Bytes header, std::size_t bytes) {
  put_placed(endpoint, source, header, bytes);
  const Executed result = reply_to_placed(header);
  check_message("a put", source, result.wrong);
  if (result.is_replied) endpoint.reply(reply_of({source, header}, result));
}

// ---- replies ----

Code code_of(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::ok:
      return SHMEMX_SUCCESS;
    case Outcome::stale:
      return SHMEMX_ERR_STALE;
    case Outcome::range:
      return SHMEMX_ERR_RANGE;
    case Outcome::busy:
      return SHMEMX_ERR_BUSY;
    default:
      return SHMEMX_ERR_ARGUMENT;
  }
}

// Finds the request, and checks the length of the data.
[[gnu::always_inline]] inline const char* find_request(const Message& message, ReplyHeader& header, Bytes& data,
                                                       Request*& request) noexcept {
  if (!decode(message.payload, header, data)) return "has a wrong length";
  request = requests.find(header.ticket, message.source);
  if (request == nullptr) return "answers no request of this PE";
  if (header.outcome != Outcome::ok) return request->initiator.may_fail ? nullptr : "refuses it";
  return data.size() == request->placement.bytes() ? nullptr : "has another length than asked for";
}

Verdict handle_reply(Endpoint&, const Message& message) {
  ReplyHeader header{};
  Bytes data;
  Request* request = nullptr;
  check_message("the reply to a request", message.source, find_request(message, header, data, request));
  const Placement& placement = request->placement;
  if (header.outcome != Outcome::ok) {
    RefusedRange refused{};
    if (data.size() == sizeof refused) std::memcpy(&refused, data.data(), sizeof refused);
    Requests::note_error(*request, code_of(header.outcome), refused);
  } else if (placement.block_count == 1) {
    rma::copy_visible(placement.at, data.data(), data.size());
  } else {
    rma::copy_strided(placement.at, data.data(),
                      {placement.block_bytes, placement.block_count, placement.step, placement.block_bytes});
  }
  if (header.is_final != 0) requests.close_in_line(header.ticket);
  wake_own_sleepers();
  return Verdict::done;
}

// Contiguous data only: blocks are scattered from a whole message.
std::byte* place_reply(int source, Bytes payload, std::size_t bytes) {
  ReplyHeader header;
  if (!decode_exactly(payload, header) || header.outcome != Outcome::ok) return nullptr;
  Request* const request = requests.find(header.ticket, source);
  if (request == nullptr || request->is_placed || request->placement.block_count != 1 ||
      request->placement.block_bytes != bytes)
    return nullptr;
  request->is_placed = true;  // a request gets exactly one reply with data
  return request->placement.at;
}

void reply_placed(Endpoint&, int, Bytes payload, std::size_t) {
  ReplyHeader header;
  std::memcpy(&header, payload.data(), sizeof header);
  requests.close(header.ticket);
  wake_own_sleepers();
}

}  // namespace

void set_handlers() noexcept {
  constexpr am::HandlerTraits kRequest{.role = am::Role::request};
  // Its reply says all, and it changes nothing that a fence orders. So a flush of one context need not wait until the
  // target has seen the gets of another one.
  constexpr am::HandlerTraits kRead{.role = am::Role::request, .counted = false};
  constexpr am::HandlerTraits kChange{.is_done_at_once = true};
  constexpr am::HandlerTraits kChangeLong{.is_done_at_once = true, .place_early = true};
  am::set_handler(am::kPut, handle<perform_put, Name{"a put"}>, kChangeLong);
  am::set_handler(am::kPutStrided, handle<perform_put_strided, Name{"a strided put"}>, kChange);
  am::set_handler(am::kPutSignal, handle<perform_put_signal, Name{"a put with signal"}>, kChangeLong);
  am::set_handler(am::kSignal, handle<perform_signal, Name{"a signal"}>);
  am::set_handler(am::kAtomic, handle<perform_atomic, Name{"an atomic"}>);
  am::set_handler(am::kPutReplied, handle_change<execute_put, Name{"a put"}>, kRequest);
  am::set_handler(am::kPutRuns, handle_change<execute_put_runs, Name{"a put of blocks"}>, kRequest);
  am::set_handler(am::kAccumulate, handle_change<execute_accumulate, Name{"an accumulate"}>, kRequest);
  am::set_handler(am::kAccumulateStrided, handle_change<execute_accumulate_strided, Name{"a strided accumulate"}>,
                  kRequest);
  am::set_handler(am::kAtomicFetch, handle_atomic_fetch, kRequest);
  am::set_handler(am::kGet, handle_get<execute_get, Name{"a get"}>, kRead);
  am::set_handler(am::kGetStrided, handle_get<execute_get_strided, Name{"a strided get"}>, kRead);
  am::set_handler(am::kReply, handle_reply, {.role = am::Role::reply, .is_done_at_once = true, .place_early = true});
  am::set_placement(am::kPut, {place_put<find_put>, put_placed});
  am::set_placement(am::kPutSignal, {place_put<find_put_signal>, put_signal_placed});
  am::set_placement(am::kPutReplied, {place_put<find_put_replied>, put_replied_placed});
  am::set_placement(am::kReply, {place_reply, reply_placed});
  am::add_progress(finish_poll);
  set_key_handlers();
  set_lock_handlers();
}

}  // namespace shmemx::onesided
