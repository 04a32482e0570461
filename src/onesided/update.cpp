#include "onesided/update.hpp"

#include <vector>

#include "onesided/requests.hpp"
#include "base/doorbell.hpp"
#include "progress/send.hpp"

namespace shmemx::onesided {
namespace {

using am::Bytes;
using am::bytes_of;
using am::Endpoint;
using am::Message;
using am::Verdict;

AtomicHeader header_of(const context::Place& place, const Operation& operation) noexcept {
  return {place.window, place.offset, operation.operand, operation.condition, 0, operation.op, operation.type, 0};
}

const char* decode(const Message& message, AtomicHeader& header, std::byte*& word) noexcept {
  if (!decode_atomic(message.payload, header)) return "has a wrong length, operation or type";
  word = find_word(header);
  return word == nullptr ? "names a word that is in no window of this PE" : nullptr;
}

void wake_after(const AtomicHeader& header) noexcept {
  if (header.op != Op::fetch) wake_own_sleepers();
}

Verdict handle_atomic(Endpoint&, const Message& message) {
  AtomicHeader header;
  std::byte* word = nullptr;
  check_message("an atomic", message.source, decode(message, header, word));
  static_cast<void>(perform(header, word));
  wake_after(header);
  return Verdict::done;
}

// Answers that found no cell. Atomics are carried out when they come, in the order of their source, whatever their
// answers do. A PE has at most kMaxRequests open, so this stays small.
struct Owed {
  int pe;
  AtomicReply reply;
};
// Never destroyed: threads may still poll while the process exits.
std::vector<Owed>& owed_answers() {
  static auto* const list = new std::vector<Owed>;
  return *list;
}

bool try_answer(Endpoint& endpoint, const Owed& owed) {
  return endpoint.try_send(owed.pe, am::kAtomicReply, bytes_of(owed.reply));
}

constinit bool owes = false;

bool send_owed(Endpoint& endpoint) {
  if (!owes) return false;
  std::vector<Owed>& list = owed_answers();
  const std::size_t sent = std::erase_if(list, [&](const Owed& owed) { return try_answer(endpoint, owed); });
  owes = !list.empty();
  return sent != 0;
}

Verdict handle_atomic_fetch(Endpoint& endpoint, const Message& message) {
  AtomicHeader header;
  std::byte* word = nullptr;
  check_message("a fetching atomic", message.source, decode(message, header, word));
  const Owed owed{message.source, {header.ticket, 0, perform(header, word)}};
  if (!try_answer(endpoint, owed)) [[unlikely]] {
    owed_answers().push_back(owed);
    owes = true;
  }
  wake_after(header);
  return Verdict::done;
}

// The old value lands as the low bytes of the answer's word.
Verdict handle_reply(Endpoint&, const Message& message) {
  AtomicReply reply;
  const char* wrong = "has a wrong length";
  const Request* request = nullptr;
  if (decode_atomic_reply(message.payload, reply)) {
    request = requests.find(reply.ticket, message.source);
    wrong =
        request == nullptr || request->placement.block_count != 1 || request->placement.block_bytes > sizeof reply.value
            ? "answers nothing that it was asked"
            : nullptr;
  }
  check_message("the answer to an atomic", message.source, wrong);
  std::memcpy(request->placement.at, &reply.value, request->placement.block_bytes);
  requests.close(reply.ticket);
  wake_own_sleepers();
  return Verdict::done;
}

Question question_for(const context::Place& place, const Operation& operation, void* at) noexcept {
  const auto bytes = static_cast<std::uint32_t>(bytes_of_type(operation.type));
  return {place.pe, am::kAtomicFetch, {static_cast<std::byte*>(at), bytes, bytes, 1}};
}

}  // namespace

void post(const char* routine, const context::Place& place, const Operation& operation) noexcept {
  const AtomicHeader header = header_of(place, operation);
  progress::send(routine, place.pe, am::kAtomic, bytes_of(header));
}

std::uint64_t fetch(const char* routine, const context::Place& place, const Operation& operation) noexcept {
  std::uint64_t bits = 0;
  OpenCount open{0};
  AtomicHeader header = header_of(place, operation);
  ask(routine, question_for(place, operation, &bits), header, {&open, 0});
  await_answers(routine, place.pe, open);
  return bits;
}

void fetch_nbi(const char* routine, const context::Context& context, void* fetch, const context::Place& place,
               const Operation& operation) noexcept {
  AtomicHeader header = header_of(place, operation);
  ask(routine, question_for(place, operation, fetch), header, asker_of(context));
}

void set_update_handlers() noexcept {
  am::set_handler(am::kAtomic, handle_atomic);
  am::set_handler(am::kAtomicFetch, handle_atomic_fetch, {.role = am::Role::request});
  am::set_handler(am::kAtomicReply, handle_reply, {.role = am::Role::reply});
  am::add_progress(send_owed);
}

}  // namespace shmemx::onesided
