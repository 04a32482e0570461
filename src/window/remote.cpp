#include "window/remote.hpp"

#include <shmemx/windows.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "am/channel.hpp"
#include "window/node.hpp"
#include "window/wire.hpp"
#include "progress/send.hpp"
#include "progress/wait.hpp"

namespace shmemx::window {
namespace {

using am::Bytes;
using am::bytes_of;

// Under the channel's lock.
struct Ticket {
  Completion completion;
  Attached* window;  // null: free
  std::byte* dest;
  std::uint32_t bytes;  // of the answer
  std::uint32_t next_free;
};

// Edge complete: counter.fetch_sub, open.fetch_sub -> counter.load, open.load: what the answer has brought.
struct PeerOpen {
  std::atomic<std::uint32_t> open;
  std::atomic<Code> late_error;
};

constexpr std::uint32_t kNoTicket = ~0U;

struct Remote {
  Ticket tickets[kTickets];
  std::uint32_t first_free = 0;
  std::unique_ptr<PeerOpen[]> peers;
};
// Never destroyed: threads may use windows while the process exits.
Remote* remote = nullptr;

void add_to(long* counter, long value) {
  if (counter != nullptr) __atomic_fetch_add(counter, value, __ATOMIC_ACQ_REL);  // complete
}

void note_error(std::atomic<Code>& error, Code code) {
  Code none = SHMEMX_SUCCESS;
  error.compare_exchange_strong(none, code, std::memory_order_relaxed);  // read after `complete`
}

Code code_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return SHMEMX_SUCCESS;
    case Outcome::stale:
      return SHMEMX_ERR_STALE;
    case Outcome::range:
      return SHMEMX_ERR_RANGE;
    default:
      return SHMEMX_ERR_ARGUMENT;
  }
}

// Under the channel's lock. kNoTicket: all are in use.
std::uint32_t try_take(Attached& window, Completion completion, std::byte* dest, std::uint32_t bytes) {
  const std::uint32_t index = remote->first_free;
  if (index == kNoTicket) return kNoTicket;
  Ticket& ticket = remote->tickets[index];
  remote->first_free = ticket.next_free;
  ticket = {completion, &window, dest, bytes, 0};
  add_to(completion.counter, 1);
  window.open.fetch_add(1, std::memory_order_relaxed);  // the same thread looks for its end
  remote->peers[static_cast<std::size_t>(window.owner)].open.fetch_add(1, std::memory_order_relaxed);  // the same
  return index;
}

std::uint32_t take_ticket(const char* routine, Attached& window, Completion completion, std::byte* dest = nullptr,
                          std::uint64_t bytes = 0) {
  std::uint32_t index = kNoTicket;
  const auto length = static_cast<std::uint32_t>(bytes);
  const auto try_once = [&] {
    const am::Locked endpoint;
    index = try_take(window, completion, dest, length);
    return index != kNoTicket;
  };
  if (!try_once()) progress::wait_until(routine, -1, try_once);
  return index;
}

// The ticket that such an answer is for, under the channel's lock; null: there is none.
Ticket* ticket_of(int source, const Reply& reply) {
  if (reply.ticket >= kTickets) return nullptr;
  Ticket& ticket = remote->tickets[reply.ticket];
  return ticket.window != nullptr && ticket.window->owner == source ? &ticket : nullptr;
}

void end_ticket(Ticket& ticket, std::uint32_t index) {
  const Completion completion = ticket.completion;
  Attached& window = *ticket.window;
  ticket.window = nullptr;
  ticket.next_free = remote->first_free;
  remote->first_free = index;
  PeerOpen& peer = remote->peers[static_cast<std::size_t>(window.owner)];
  // The counter first: who flushes may give up the stack that it lies on. Tickets and windows stay where they are.
  add_to(completion.counter, -1);
  window.open.fetch_sub(1, std::memory_order_release);  // complete
  peer.open.fetch_sub(1, std::memory_order_release);    // complete
}

void note_failure(int source, Ticket& ticket, Outcome outcome) {
  const Code code = code_of(outcome);
  if (outcome == Outcome::stale)
    ticket.window->told.generation.store(0, std::memory_order_release);  // a hint: it ended
  note_error(*ticket.completion.error, code);
  if (ticket.completion.error == &ticket.window->late_error)
    note_error(remote->peers[static_cast<std::size_t>(source)].late_error, code);
}

// A peer answers what it was asked; anything else is dropped.
am::Verdict on_reply(am::Endpoint&, const am::Message& message) {
  Reply reply;
  if (message.payload.size() < sizeof reply) return am::Verdict::done;
  std::memcpy(&reply, message.payload.data(), sizeof reply);
  const Bytes body = message.payload.subspan(sizeof reply);
  Ticket* const ticket = ticket_of(message.source, reply);
  if (ticket == nullptr) return am::Verdict::done;
  if (reply.outcome != Outcome::ok) {
    note_failure(message.source, *ticket, reply.outcome);
  } else if (body.size() == ticket->bytes && !body.empty()) {
    std::memcpy(ticket->dest, body.data(), body.size());
  }
  if (reply.final != 0) end_ticket(*ticket, reply.ticket);
  return am::Verdict::done;
}

// A long answer of a internode owner belongs where its ticket says, and that memory is the operation's until it ends.
bool take_reply(Bytes header, Reply& reply) {
  if (header.size() != sizeof reply) return false;
  std::memcpy(&reply, header.data(), sizeof reply);
  return reply.outcome == Outcome::ok;
}
std::byte* reply_placement(int source, Bytes header, std::size_t body_bytes) {
  Reply reply;
  const Ticket* const ticket = take_reply(header, reply) ? ticket_of(source, reply) : nullptr;
  return ticket != nullptr && ticket->bytes == body_bytes ? ticket->dest : nullptr;
}
void reply_placed(am::Endpoint&, int source, Bytes header, std::size_t) {
  Reply reply;
  Ticket* const ticket = take_reply(header, reply) ? ticket_of(source, reply) : nullptr;
  if (ticket != nullptr && reply.final != 0) end_ticket(*ticket, reply.ticket);
}

// For data in one message, and for elements.
std::uint64_t room(const Attached& window) {
  return am::is_internode(window.owner) ? kInternodeBytes : am::max_payload_bytes() - kLargestHead;
}
std::uint64_t room_for_elements(const Attached& window) {
  return am::is_internode(window.owner) ? kInternodeElementBytes : room(window);
}

void send_now(const char* routine, int pe, am::HandlerId id, Bytes header, Bytes body) {
  progress::send(routine, pe, id, header, body);
}

// A message that others are going to follow, or that nobody waits for yet: it leaves with the next poll at the latest.
void send_with_more(const char* routine, int pe, am::HandlerId id, Bytes header, Bytes body) {
  if (body.size() < transport::kLongBytes) {
    const am::Locked endpoint;
    if (endpoint->try_send_coalesced(pe, id, header, body)) return;
  }
  progress::send(routine, pe, id, header, body);
}

// Sends a part when the next one is known, so that the last one can say that it is the last.
class PutSender {
 public:
  PutSender(const char* routine, Attached& window, Completion completion)
      : routine_(routine),
        window_(window),
        ticket_(take_ticket(routine, window, completion)),
        awaited_(completion.awaited) {}

  void add(const rma::Pair& pair) {
    if (pending_.bytes != 0) send(0);
    pending_ = pair;
  }
  void finish() { send(1); }

 private:
  void send(std::uint32_t last) {
    const PutRequest request{window_.name, number_of(pending_.first) - window_.base, ticket_, last};
    const auto send_this = last != 0 && awaited_ ? send_now : send_with_more;
    send_this(routine_, window_.owner, am::kWindowPut, bytes_of(request), {pending_.second, pending_.bytes});
  }

  const char* routine_;
  Attached& window_;
  std::uint32_t ticket_;
  bool awaited_;
  rma::Pair pending_{};
};

}  // namespace

bool set_up_remote() noexcept {
  auto* const made = new (std::nothrow) Remote;
  if (made == nullptr) return false;
  made->peers.reset(new (std::nothrow) PeerOpen[static_cast<std::size_t>(node().n_pes)]());
  if (made->peers == nullptr) return false;
  for (std::uint32_t i = 0; i < kTickets; ++i) {
    made->tickets[i] = {};
    made->tickets[i].next_free = i + 1 < kTickets ? i + 1 : kNoTicket;
  }
  remote = made;
  return true;
}

void set_reply_handler() noexcept {
  am::set_handler(am::kWindowReply, on_reply, {.role = am::Role::reply});
  am::set_placement(am::kWindowReply, {reply_placement, reply_placed});
}

void put_remote(const char* routine, Attached& window, rma::PairWalk walk, Completion completion) noexcept {
  const std::uint64_t most = room(window);
  rma::Pair pair{};
  if (!walk.next(pair, most)) return;
  PutSender sender(routine, window, completion);
  do sender.add(pair);
  while (walk.next(pair, most));
  sender.finish();
}

void get_remote(const char* routine, Attached& window, rma::PairWalk walk, Completion completion) noexcept {
  const std::uint64_t most = room(window);
  add_to(completion.counter, 1);  // not 0 before all is asked for
  rma::Pair next{};
  for (bool more = walk.next(next, most); more;) {
    const rma::Pair pair = next;
    more = walk.next(next, most);
    const std::uint32_t ticket = take_ticket(routine, window, completion, pair.second, pair.bytes);
    const GetRequest request{window.name, number_of(pair.first) - window.base, ticket,
                             static_cast<std::uint32_t>(pair.bytes)};
    const auto send_this = more || !completion.awaited ? send_with_more : send_now;
    send_this(routine, window.owner, am::kWindowGet, bytes_of(request), {});
  }
  add_to(completion.counter, -1);
}

void accumulate_remote(const char* routine, Attached& window, std::uint64_t offset, const atomic::Update& update,
                       Operands operands, Completion completion) noexcept {
  const std::uint64_t size = atomic::element_bytes(update.type);
  const std::uint64_t most = room_for_elements(window) / size;
  const bool fetch = operands.result != nullptr;
  AccumulateRequest request{window.name,
                            offset,
                            kNoTicket,
                            0,
                            static_cast<std::uint8_t>(update.type),
                            static_cast<std::uint8_t>(update.op),
                            update.exclusive,
                            fetch,
                            0};
  add_to(completion.counter, 1);  // not 0 before all is asked for
  for (std::uint64_t done = 0; done < operands.count; done += request.count) {
    request.count = static_cast<std::uint32_t>(std::min(most, operands.count - done));
    request.offset = offset + done * size;
    request.last = done + request.count == operands.count;
    if (fetch) {
      request.ticket = take_ticket(routine, window, completion, operands.result + done * size, request.count * size);
    } else if (request.ticket == kNoTicket) {
      request.ticket = take_ticket(routine, window, completion);
    }
    const Bytes body =
        update.op == atomic::ElementOp::no_op ? Bytes{} : Bytes{operands.source + done * size, request.count * size};
    const auto send_this = request.last == 0 || !completion.awaited ? send_with_more : send_now;
    send_this(routine, window.owner, am::kWindowAccumulate, bytes_of(request), body);
  }
  add_to(completion.counter, -1);
}

Code ask_owner(const char* routine, Attached& window) noexcept {
  long counter = 0;
  std::atomic<Code> error{SHMEMX_SUCCESS};
  const std::uint32_t ticket = take_ticket(routine, window, {&counter, &error, true});
  const GetRequest request{window.name, 0, ticket, 0};
  progress::send(routine, window.owner, am::kWindowGet, bytes_of(request));
  progress::wait_until(routine, window.owner, [&] { return is_complete(&counter); });
  return error.load(std::memory_order_relaxed);  // written before `complete`
}

Code atomic_remote(const char* routine, Attached& window, std::uint64_t offset, const AtomicCall& call,
                   std::uint64_t& old) noexcept {
  long counter = 0;
  std::atomic<Code> error{SHMEMX_SUCCESS};
  const std::uint32_t ticket =
      take_ticket(routine, window, {&counter, &error, true}, reinterpret_cast<std::byte*>(&old), sizeof old);
  const AtomicRequest request{window.name,
                              offset,
                              call.operand,
                              call.compare,
                              ticket,
                              static_cast<std::uint8_t>(call.type),
                              static_cast<std::uint8_t>(call.op),
                              0};
  progress::send(routine, window.owner, am::kWindowAtomic, bytes_of(request));
  progress::wait_until(routine, window.owner, [&] { return is_complete(&counter); });
  return error.load(std::memory_order_relaxed);  // written before `complete`
}

bool is_complete(const long* counter) noexcept { return __atomic_load_n(counter, __ATOMIC_ACQUIRE) == 0; }  // complete

void wait_for_counter(const char* routine, const long* counter) noexcept {
  progress::wait_until(routine, -1, [&] { return is_complete(counter); });
}

Code flush(const char* routine, Attached& window) noexcept {
  const auto done = [&] { return window.open.load(std::memory_order_acquire) == 0; };  // complete
  if (!done()) progress::wait_until(routine, window.owner, done);
  return window.late_error.exchange(SHMEMX_SUCCESS, std::memory_order_relaxed);  // written before `complete`
}

Code flush_pe(const char* routine, int pe) noexcept {
  PeerOpen& peer = remote->peers[static_cast<std::size_t>(pe)];
  const auto done = [&] { return peer.open.load(std::memory_order_acquire) == 0; };  // complete
  if (!done()) progress::wait_until(routine, pe, done);
  return peer.late_error.exchange(SHMEMX_SUCCESS, std::memory_order_relaxed);  // written before `complete`
}

}  // namespace shmemx::window
