// serve() on the channel: the handlers of requests, the answers that could not be sent, and memory of windows that a
// network reads or writes by itself.
#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "base/fatal.hpp"
#include "window/area.hpp"
#include "window/node.hpp"
#include "window/serve.hpp"
#include "base/doorbell.hpp"

namespace shmemx::window {
namespace {

using am::Bytes;
using am::Verdict;

// Answers that could not be sent. What they answer cannot be done twice, so they are kept, for each PE by itself: one
// that takes nothing holds up no other. Under the channel's lock.
struct Kept {
  Reply reply;
  std::vector<std::byte> body;
};
// An answer whose body a network still reads from a window: the owner waits for it before it lets go of the memory.
struct Loan {
  transport::Outgoing outgoing;
  std::uint32_t window;
};
struct Answers {
  std::map<int, std::deque<Kept>> kept;
  std::size_t kept_bytes = 0;
  std::vector<std::unique_ptr<Loan>> loans;
  std::vector<std::byte> scratch;
};
// Never destroyed: threads may still poll while the process exits.
Answers& answers() {
  static auto* const instance = new Answers;
  return *instance;
}

Room room_for_answer(int source) {
  std::vector<std::byte>& scratch = answers().scratch;
  if (scratch.empty()) scratch.resize(std::max<std::size_t>(am::max_payload_bytes(), kInternodeElementBytes));
  if (am::is_internode(source)) return {std::span(scratch).first(kInternodeElementBytes), kInternodeBytes};
  const std::size_t bytes = am::max_payload_bytes() - sizeof(Reply);
  return {std::span(scratch).first(bytes), bytes};
}

bool send_kept(am::Endpoint& endpoint, int pe, std::deque<Kept>& list) {
  bool any = false;
  while (!list.empty()) {
    const Kept& first = list.front();
    if (!endpoint.try_send(pe, am::kWindowReply, am::bytes_of(first.reply), first.body)) break;
    answers().kept_bytes -= sizeof(Kept) + first.body.size();
    list.pop_front();
    any = true;
  }
  return any;
}

// Users of a window's memory beside the handlers.
std::atomic<std::uint32_t>& users_of(std::uint32_t window) { return directory_of(node().me)->lives[window].users; }

// At the end of each poll: what its handlers have answered leaves together.
bool progress(am::Endpoint& endpoint) {
  endpoint.flush_gathered();
  Answers& all = answers();
  bool any = false;
  for (auto& [pe, list] : all.kept) any |= send_kept(endpoint, pe, list);
  if (any) std::erase_if(all.kept, [](const auto& of_pe) { return of_pe.second.empty(); });
  std::erase_if(all.loans, [&](const std::unique_ptr<Loan>& loan) {
    if (!loan->outgoing.done) return false;
    users_of(loan->window).fetch_sub(1, std::memory_order_seq_cst);  // live
    any = true;
    return true;
  });
  return any;
}

// From the window to the network, without a copy.
Verdict send_from_window(am::Endpoint& endpoint, const am::Message& message, const Served& served) {
  auto loan = std::make_unique<Loan>();
  loan->window = window_of(message.payload).index;
  users_of(loan->window).fetch_add(1, std::memory_order_seq_cst);  // live
  const transport::Sent sent =
      endpoint.send_tracked(message.source, am::kWindowReply, am::bytes_of(served.reply), served.body, loan->outgoing);
  if (sent == transport::Sent::later) {
    answers().loans.push_back(std::move(loan));
    return Verdict::done;
  }
  users_of(loan->window).fetch_sub(1, std::memory_order_seq_cst);  // live
  return sent == transport::Sent::yes ? Verdict::done : Verdict::later;
}

// A get changes nothing, so it is simply run again.
Verdict on_get(am::Endpoint& endpoint, const am::Message& message) {
  const Served served = serve(am::kWindowGet, message.payload, room_for_answer(message.source));
  if (!served.answered) return Verdict::done;
  if (served.body.size() >= transport::kLongBytes && endpoint.is_internode(message.source))
    return send_from_window(endpoint, message, served);
  return endpoint.try_send_coalesced(message.source, am::kWindowReply, am::bytes_of(served.reply), served.body)
             ? Verdict::done
             : Verdict::later;
}

// Answers to one ticket stay in order.
void send_answer(am::Endpoint& endpoint, int source, const Served& served) {
  Answers& all = answers();
  if (!all.kept.contains(source) &&
      endpoint.try_send_coalesced(source, am::kWindowReply, am::bytes_of(served.reply), served.body))
    return;
  all.kept[source].push_back({served.reply, {served.body.begin(), served.body.end()}});
  all.kept_bytes += sizeof(Kept) + served.body.size();
  if (all.kept_bytes > endpoint.pending_max())
    fatal(nullptr, "%zu bytes of answers to operations on windows cannot be sent, allowed are %zu (SHMEMX_PENDING_MAX)",
          all.kept_bytes, endpoint.pending_max());
}

template <am::HandlerId Id>
Verdict on_change(am::Endpoint& endpoint, const am::Message& message) {
  const Served served = serve(Id, message.payload, room_for_answer(message.source));
  wake_own_sleepers();
  if (served.answered) send_answer(endpoint, message.source, served);
  return Verdict::done;
}

// Between placement and placed the memory is in use: free_window() waits for it.
std::byte* put_placement(int, Bytes header, std::size_t body_bytes) {
  std::byte* const place = find_placement(header, body_bytes);
  if (place != nullptr) users_of(window_of(header).index).fetch_add(1, std::memory_order_seq_cst);  // live
  return place;
}

void put_placed(am::Endpoint& endpoint, int source, Bytes header, std::size_t) {
  users_of(window_of(header).index).fetch_sub(1, std::memory_order_seq_cst);  // live
  wake_own_sleepers();
  const Served served = serve_placed(header);
  if (served.answered) send_answer(endpoint, source, served);
}

}  // namespace

void set_serving_handlers() noexcept {
  am::set_handler(am::kWindowPut, on_change<am::kWindowPut>);
  am::set_handler(am::kWindowGet, on_get);
  am::set_handler(am::kWindowAtomic, on_change<am::kWindowAtomic>);
  am::set_handler(am::kWindowAccumulate, on_change<am::kWindowAccumulate>);
  am::set_placement(am::kWindowPut, {put_placement, put_placed});
  am::add_progress(progress);
}

}  // namespace shmemx::window
