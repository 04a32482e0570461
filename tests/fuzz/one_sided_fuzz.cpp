// Feeds arbitrary messages to the target's side of put, get, signals and atomics. Whatever comes, nothing outside the
// exposed window changes, and nothing at all changes when a message is rejected. The first byte says which message it
// is.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "onesided/target.hpp"
#include "support/exposed.hpp"

namespace {

using namespace shmemx;
using am::Bytes;

constexpr std::size_t kMostBytes = 256;  // of a reply

// The data of a reply can be read: the sanitizers watch. Requests on other windows are refused by a reply.
const char* read_reply(const onesided::Executed& result) {
  if (result.wrong != nullptr) return result.wrong;
  if (result.data.size() > kMostBytes) std::abort();
  if (result.reply.outcome != onesided::Outcome::ok) return "refused";
  std::vector<std::byte> copy(result.data.begin(), result.data.end());
  return copy.size() == result.data.size() ? nullptr : "lost";
}

template <onesided::Executed (*kExecute)(Bytes, onesided::Room)>
const char* execute(Bytes payload) {
  std::byte scratch[kMostBytes];
  return read_reply(kExecute(payload, {scratch, kMostBytes}));
}

// The window that is opened is this PE's, and the byte lies in it.
const char* find_key_request(Bytes payload) {
  onesided::KeyRequest request;
  windows::ExposedRange window;
  const onesided::Executed result = onesided::find_key_request(payload, request, window);
  if (result.wrong != nullptr) return result.wrong;
  if (result.is_replied) return "refused";
  if (window.bytes != unit::ExposedHeap::kBytes || request.offset >= window.bytes) std::abort();
  return nullptr;
}

const char* decode_replies(Bytes payload) {
  onesided::ReplyHeader header;
  Bytes data;
  if (!onesided::decode(payload, header, data)) return "rejected";
  if (data.size() + sizeof header != payload.size()) std::abort();
  return nullptr;
}

// The data arrive apart from their header, straight at the place that it names: the header's last byte says how many.
template <std::byte* (*kFind)(Bytes, std::size_t), const char* (*kFinish)(Bytes)>
const char* place(Bytes header) {
  if (header.empty()) return "rejected";
  const std::size_t bytes = std::to_integer<std::size_t>(header.back()) * 16;
  const Bytes rest = header.first(header.size() - 1);
  std::byte* const at = kFind(rest, bytes);
  if (at == nullptr) return "rejected";
  std::memset(at, 0xa5, bytes);
  return kFinish(rest);
}
const char* nothing_more(Bytes) { return nullptr; }
const char* reply_to(Bytes header) { return onesided::reply_to_placed(header).wrong; }

using Perform = const char* (*)(Bytes);
constexpr Perform kMessages[] = {onesided::perform_put,
                                 onesided::perform_put_strided,
                                 onesided::perform_signal,
                                 onesided::perform_put_signal,
                                 execute<onesided::execute_get>,
                                 execute<onesided::execute_get_strided>,
                                 onesided::perform_atomic,
                                 decode_replies,
                                 find_key_request,
                                 place<onesided::find_put, nothing_more>,
                                 place<onesided::find_put_signal, onesided::perform_signal_of>,
                                 place<onesided::find_put_replied, reply_to>,
                                 execute<onesided::execute_put>,
                                 execute<onesided::execute_atomic>,
                                 execute<onesided::execute_accumulate>,
                                 execute<onesided::execute_put_runs>};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  unit::ExposedHeap heap;
  // A copy of exactly the message's size, so that a read beyond it is noticed.
  const std::vector<std::byte> payload(reinterpret_cast<const std::byte*>(data + 1),
                                       reinterpret_cast<const std::byte*>(data + size));
  const char* const wrong = kMessages[data[0] % std::size(kMessages)](payload);
  if (!heap.guards_are_whole()) std::abort();
  if (wrong != nullptr && !heap.is_zero()) std::abort();
  return 0;
}
