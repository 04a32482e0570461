// Handlers of put, get and signals, at the target and where answers arrive; and the completion of what was started.
#include "onesided/operations.hpp"

#include <cstring>

#include "onesided/rdma.hpp"
#include "onesided/requests.hpp"
#include "onesided/update.hpp"
#include "onesided/wire.hpp"
#include "base/doorbell.hpp"
#include "progress/send.hpp"
#include "progress/wait.hpp"

namespace shmemx::onesided {
namespace {

using am::bytes_of;
using am::Endpoint;
using am::Message;
using am::Verdict;

// What changes this PE's memory and has no answer.
using Perform = const char* (*)(Bytes);
struct What {
  char name[24];
};

template <Perform kPerform, What kWhat>
Verdict handle(Endpoint&, const Message& message) {
  check_message(kWhat.name, message.source, kPerform(message.payload));
  wake_own_sleepers();
  return Verdict::done;
}

Verdict answer(Endpoint& endpoint, int pe, const GetAnswer& answer) {
  std::uint64_t word = 0;
  Bytes data = answer.data;
  // A word is read at once, whatever the channel copies with.
  if (data.size() <= sizeof word) {
    rma::copy_visible(&word, data.data(), data.size());
    data = bytes_of(word).first(data.size());
  }
  // The data lie in a window of the symmetric heap or of static data, so they stay.
  return endpoint.try_send_lasting(pe, am::kGetReply, bytes_of(answer.header), data) ? Verdict::done : Verdict::later;
}

Verdict handle_get(Endpoint& endpoint, const Message& message) {
  GetAnswer found;
  const std::size_t most = am::max_payload_bytes(message.source) - sizeof(GetReplyHeader);
  check_message("a get", message.source, find_get(message.payload, most, found));
  return answer(endpoint, message.source, found);
}

Verdict handle_get_strided(Endpoint& endpoint, const Message& message) {
  GetAnswer found;
  std::byte gathered[kGatherBytes];
  const std::size_t most = std::min(kGatherBytes, am::max_payload_bytes() - sizeof(GetReplyHeader));
  check_message("a strided get", message.source, find_get_strided(message.payload, {gathered, most}, found));
  return answer(endpoint, message.source, found);
}

std::byte* put_placement(int source, Bytes header, std::size_t bytes) {
  std::byte* place = nullptr;
  check_message("a put", source, find_put(header, bytes, place));
  return place;
}

std::byte* put_signal_placement(int source, Bytes header, std::size_t bytes) {
  std::byte* place = nullptr;
  check_message("a put with signal", source, find_put_signal(header, bytes, place));
  return place;
}

void put_signal_placed(Endpoint&, int source, Bytes header, std::size_t) {
  check_message("a put with signal", source, perform_signal_of(header));
  wake_own_sleepers();
}

void put_placed(Endpoint&, int, Bytes, std::size_t) { wake_own_sleepers(); }

// The data of an answer, and the request that it answers.
const char* decode_answer(const Message& message, GetReplyHeader& header, Bytes& data,
                          const Request*& request) noexcept {
  if (!decode_get_reply(message.payload, header, data)) return "has a wrong length";
  request = requests.find(header.ticket, message.source);
  if (request == nullptr) return "answers nothing that it was asked";
  const Placement& placement = request->placement;
  return data.size() == std::size_t{placement.block_bytes} * placement.block_count
             ? nullptr
             : "has another length than asked for";
}

// In one piece only: blocks are put apart from a message that is here.
std::byte* get_placement(int source, Bytes payload, std::size_t bytes) {
  GetReplyHeader header;
  Bytes data;
  if (!decode_get_reply(payload, header, data)) return nullptr;  // the handler rejects it
  const Request* const request = requests.find(header.ticket, source);
  if (request == nullptr || request->is_placement || request->placement.block_count != 1 ||
      request->placement.block_bytes != bytes)
    return nullptr;
  requests.note_placement(header.ticket);
  return request->placement.at;
}

void get_placed(Endpoint&, int, Bytes payload, std::size_t) {
  GetReplyHeader header;
  std::memcpy(&header, payload.data(), sizeof header);
  requests.close(header.ticket);
  wake_own_sleepers();
}

Verdict handle_get_reply(Endpoint&, const Message& message) {
  GetReplyHeader header;
  Bytes data;
  const Request* request = nullptr;
  check_message("the answer to a get", message.source, decode_answer(message, header, data, request));
  const Placement& placement = request->placement;
  rma::copy_strided(placement.at, data.data(),
                    {placement.block_bytes, placement.block_count, placement.step, placement.block_bytes});
  requests.close(header.ticket);
  wake_own_sleepers();
  return Verdict::done;
}

}  // namespace

void flush(const char* routine, const context::Context& context) noexcept {
  progress::flush_all(routine);
  await_answers(routine, -1, *asker_of(context).open);
  flush_rdma(routine, context);
}

void flush(const char* routine, const context::Context& context, int pe) noexcept {
  progress::flush(routine, pe);
  const Asker asker = asker_of(context);
  progress::wait_until(routine, pe, [&] { return !requests.any_open(asker.context, pe); });
  flush_rdma(routine, context);
}

void flush_all(const char* routine) noexcept {
  progress::flush_all(routine);
  progress::wait_until(routine, -1, [] { return requests.open_of_contexts() == 0; });
  flush_rdma_all(routine);
}

void fence_unmapped(const char* routine, const context::Context& context) noexcept {
  am::note_fence();
  flush_rdma_puts(routine, context);
}

void set_handlers() noexcept {
  am::set_handler(am::kPut, handle<perform_put, What{"a put"}>, {.place_early = true});
  am::set_handler(am::kPutStrided, handle<perform_put_strided, What{"a strided put"}>);
  am::set_handler(am::kPutSignal, handle<perform_put_signal, What{"a put with signal"}>, {.place_early = true});
  am::set_handler(am::kSignal, handle<perform_signal, What{"a signal"}>);
  am::set_handler(am::kGet, handle_get, {.role = am::Role::request});
  am::set_handler(am::kGetStrided, handle_get_strided, {.role = am::Role::request});
  am::set_handler(am::kGetReply, handle_get_reply, {.role = am::Role::reply, .place_early = true});
  am::set_placement(am::kPut, {put_placement, put_placed});
  am::set_placement(am::kPutSignal, {put_signal_placement, put_signal_placed});
  am::set_placement(am::kGetReply, {get_placement, get_placed});
  set_key_handler();
  set_update_handlers();
}

}  // namespace shmemx::onesided
