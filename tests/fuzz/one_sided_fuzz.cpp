// Feeds arbitrary messages to the target's side of put, get, signals and atomics. Whatever comes, nothing outside the
// exposed window changes, and nothing at all changes when a message is rejected. The first byte says which message it
// is.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "onesided/update_wire.hpp"
#include "onesided/wire.hpp"
#include "support/exposed.hpp"

namespace {

using namespace shmemx;
using am::Bytes;

constexpr std::size_t kMostBytes = 256;  // of an answer

// Null: carried out.
const char* perform_atomic(Bytes payload) {
  onesided::AtomicHeader header;
  if (!onesided::decode_atomic(payload, header)) return "rejected";
  std::byte* const word = onesided::find_word(header);
  if (word == nullptr) return "rejected";
  static_cast<void>(onesided::perform(header, word));
  return nullptr;
}

// What an answer holds can be read: the sanitizers watch.
const char* read_answer(const char* wrong, const onesided::GetAnswer& answer) {
  if (wrong != nullptr) return wrong;
  if (answer.data.size() > kMostBytes) std::abort();
  std::vector<std::byte> copy(answer.data.begin(), answer.data.end());
  return copy.size() == answer.data.size() ? nullptr : "lost";
}

const char* find_get(Bytes payload) {
  onesided::GetAnswer answer{};
  return read_answer(onesided::find_get(payload, kMostBytes, answer), answer);
}

const char* find_get_strided(Bytes payload) {
  onesided::GetAnswer answer{};
  std::byte buffer[kMostBytes];
  return read_answer(onesided::find_get_strided(payload, buffer, answer), answer);
}

// The window that is opened is this PE's, and the byte lies in it.
const char* find_key_ask(Bytes payload) {
  onesided::KeyAsk ask;
  windows::ExposedRange window;
  if (const char* const wrong = onesided::find_key_ask(payload, ask, window)) return wrong;
  if (window.bytes != unit::ExposedHeap::kBytes || ask.offset >= window.bytes) std::abort();
  return nullptr;
}

const char* decode_answers(Bytes payload) {
  onesided::GetReplyHeader header;
  Bytes data;
  onesided::AtomicReply reply;
  const bool any = onesided::decode_get_reply(payload, header, data) || onesided::decode_atomic_reply(payload, reply);
  if (data.size() > payload.size()) std::abort();
  return any ? nullptr : "rejected";
}

// The data come apart from their header, straight to the place that it names: as many as the header's last byte says.
template <const char* (*kFind)(Bytes, std::size_t, std::byte*&), const char* (*kFinish)(Bytes)>
const char* land(Bytes header) {
  if (header.empty()) return "rejected";
  const std::size_t bytes = std::to_integer<std::size_t>(header.back()) * 16;
  const Bytes rest = header.first(header.size() - 1);
  std::byte* place = nullptr;
  if (const char* const wrong = kFind(rest, bytes, place)) return wrong;
  std::memset(place, 0xa5, bytes);
  return kFinish(rest);
}
const char* nothing_more(Bytes) { return nullptr; }

using Perform = const char* (*)(Bytes);
constexpr Perform kMessages[] = {onesided::perform_put,
                                 onesided::perform_put_strided,
                                 onesided::perform_signal,
                                 onesided::perform_put_signal,
                                 find_get,
                                 find_get_strided,
                                 perform_atomic,
                                 decode_answers,
                                 find_key_ask,
                                 land<onesided::find_put, nothing_more>,
                                 land<onesided::find_put_signal, onesided::perform_signal_of>};

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
