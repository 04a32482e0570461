// serve() on the channel: the handlers of requests, and the answers that found no cell.
#include <deque>
#include <vector>

#include "access/serve.hpp"
#include "base/fatal.hpp"
#include "base/wait.hpp"

namespace shmemx::access {
namespace {

using channel::Verdict;

// Answers that found no cell. What they answer cannot be done twice, so they are kept. Under the channel's lock.
struct Kept {
  int pe;
  Reply reply;
  std::vector<std::byte> body;
};
struct KeptAnswers {
  std::deque<Kept> list;
  std::size_t bytes = 0;
};
// Never destroyed: threads may still poll while the process exits.
KeptAnswers& kept() {
  static auto* const instance = new KeptAnswers;
  return *instance;
}
std::vector<std::byte>& scratch() {
  static auto* const instance = new std::vector<std::byte>(channel::max_payload_bytes());
  return *instance;
}

std::span<std::byte> room_for_answer() {
  return std::span(scratch()).first(channel::max_payload_bytes() - sizeof(Reply));
}

bool send_kept(channel::Endpoint& endpoint) {
  KeptAnswers& answers = kept();
  bool any = false;
  while (!answers.list.empty()) {
    const Kept& first = answers.list.front();
    if (!endpoint.try_send(first.pe, channel::kWindowReply, channel::bytes_of(first.reply), first.body)) break;
    answers.bytes -= sizeof(Kept) + first.body.size();
    answers.list.pop_front();
    any = true;
  }
  return any;
}

// Whoever waits on a word that has been changed may be another thread of this PE.
void wake_own() {
  if (WaitFront* const front = wait_policy().own_front) wake(*front);
}

// A get changes nothing, so it is simply run again.
Verdict on_get(channel::Endpoint& endpoint, const channel::Message& message) {
  const Served served = serve(channel::kWindowGet, message.payload, room_for_answer());
  if (!served.answered) return Verdict::done;
  return endpoint.try_send(message.source, channel::kWindowReply, channel::bytes_of(served.reply), served.body)
             ? Verdict::done
             : Verdict::later;
}

template <channel::HandlerId Id>
Verdict on_change(channel::Endpoint& endpoint, const channel::Message& message) {
  KeptAnswers& answers = kept();
  const Served served = serve(Id, message.payload, room_for_answer());
  wake_own();
  if (!served.answered) return Verdict::done;
  // Answers to one ticket stay in order.
  if (answers.list.empty() &&
      endpoint.try_send(message.source, channel::kWindowReply, channel::bytes_of(served.reply), served.body))
    return Verdict::done;
  answers.list.push_back({message.source, served.reply, {served.body.begin(), served.body.end()}});
  answers.bytes += sizeof(Kept) + served.body.size();
  if (answers.bytes > endpoint.pending_max())
    fatal(nullptr, "%zu bytes of answers to operations on windows cannot be sent, allowed are %zu (SHMEMX_PENDING_MAX)",
          answers.bytes, endpoint.pending_max());
  return Verdict::done;
}

}  // namespace

void set_serving_handlers() noexcept {
  channel::set_handler(channel::kWindowPut, on_change<channel::kWindowPut>);
  channel::set_handler(channel::kWindowGet, on_get);
  channel::set_handler(channel::kWindowAtomic, on_change<channel::kWindowAtomic>);
  channel::set_handler(channel::kWindowAccumulate, on_change<channel::kWindowAccumulate>);
  channel::add_progress(send_kept);
}

}  // namespace shmemx::access
