#include "runtime/inquiry.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <unordered_map>

#include "am/endpoint.hpp"
#include "base/clock.hpp"
#include "base/fatal.hpp"
#include "base/host_name.hpp"
#include "bootstrap/status.hpp"
#include "progress/policy.hpp"
#include "runtime/matching.hpp"

namespace shmemx::runtime {
namespace {

using bootstrap::CollectiveWait;
using bootstrap::PePhase;
using bootstrap::PeRecord;
using Word = std::uint64_t;
using AtomicWord = std::atomic<Word>;

constexpr std::uint64_t kAgainMs = 50;  // between two requests to one PE

constexpr std::size_t kWaitWords = sizeof(CollectiveWait) / sizeof(Word);
constexpr std::size_t kAwaitedWords = sizeof(bootstrap::AwaitedWords) / sizeof(Word);

struct Request {
  Word turn;  // of the wait of the PE that asks
  Word team[2];
  Word epoch;
  Word call;
  Word is_for_table;
};
constexpr std::size_t kTextWords = sizeof(TextWords) / sizeof(Word);
struct Reply {
  Word turn;        // of the request
  Word lacks_turn;  // the same, if that wait cannot end before this PE goes on, and this PE waits and has no other
                    // thread
  std::uint32_t phase;
  std::int32_t pid;
  Word call_site;
  Word waited_ns;
  Word heap[2];  // in use, limit
  Word host[kTextWords];
  Word doing[kTextWords];
  Word routine[bootstrap::kRoutineWords];
  Word awaited[kAwaitedWords];
  Word wait[kWaitWords];
};

static_assert(sizeof(Reply) <= transport::kMaxHeaderBytes);

struct Inquiries {
  windows::Arena* arena = nullptr;
  PeRecord* record = nullptr;
  const bootstrap::PollingLoop* polling = nullptr;
  CollectiveWait* wait = nullptr;
  std::atomic<bool> site_is_wanted{false};
  // Under the endpoint's lock.
  std::unordered_map<int, ForeignPe*> heard{};
  std::unordered_map<int, std::uint64_t> asked_ms{};
};
// Never destroyed: other threads may still poll while the process exits.
constinit Inquiries* inquiries = nullptr;

template <class Shared, std::size_t kWords>
void read_words(const Shared& from, Word (&to)[kWords]) {
  static_assert(sizeof from == sizeof to);
  const auto* const words = reinterpret_cast<const AtomicWord*>(&from);
  for (std::size_t i = 0; i < kWords; ++i) to[i] = words[i].load(std::memory_order_relaxed);  // the caller says why
}
template <class Shared, std::size_t kWords>
void write_words(const Word (&from)[kWords], Shared& to) {
  static_assert(sizeof from == sizeof to);
  auto* const words = reinterpret_cast<AtomicWord*>(&to);
  for (std::size_t i = 0; i < kWords; ++i) words[i].store(from[i], std::memory_order_relaxed);  // for people
}

void read_wait(const CollectiveWait& from, Word (&to)[kWaitWords]) {
  const std::uint64_t turn = from.turn.load(std::memory_order_acquire);  // said
  read_words(from, to);                                                  // valid if the turn is the same
  std::atomic_thread_fence(std::memory_order_acquire);
  if (from.turn.load(std::memory_order_relaxed) != turn) to[0] = 0;  // after the fence
}

void write_wait(const Word (&from)[kWaitWords], CollectiveWait& to) {
  to.turn.store(0, std::memory_order_relaxed);  // single writer
  std::atomic_thread_fence(std::memory_order_release);
  auto* const words = reinterpret_cast<AtomicWord*>(&to);
  for (std::size_t i = 1; i < kWaitWords; ++i) words[i].store(from[i], std::memory_order_relaxed);  // the turn
  to.turn.store(from[0], std::memory_order_release);                                                // said
}

[[noreturn]] void reject_damaged(int source) {
  fatal(nullptr, "a message of PE %d about what PEs wait for is damaged", source);
}

ForeignPe& entry_of(int pe) {
  ForeignPe*& entry = inquiries->heard[pe];
  if (entry == nullptr) (entry = new ForeignPe)->pe = pe;
  return *entry;
}

void set_text(const char* text, Word (&words)[kTextWords]) {
  std::memcpy(words, text, std::min(std::strlen(text), sizeof words - 1));
}

// What people are shown of this PE. Returns whether it is in a loop of tests.
bool describe_self(Reply& reply) {
  const int pe = diagnostic_identity().pe;
  const bootstrap::PeActivity own =
      bootstrap::activity_of(&inquiries->arena->header(), *inquiries->record, pe, inquiries->polling);
  reply.waited_ns = own.waited_ns;
  reply.heap[0] = own.heap_used;
  reply.heap[1] = own.heap_limit;
  set_text(host_name().text, reply.host);
  set_text(own.doing.c_str(), reply.doing);
  return own.doing == bootstrap::kPolling;
}

SaidCall call_in(const Request& request) {
  return {{request.team[0], request.team[1]}, request.epoch, request.call, 0};
}

am::Verdict handle_request(am::Endpoint& endpoint, const am::Message& message) {
  Request request;
  if (message.payload.size() != sizeof request) reject_damaged(message.source);
  std::memcpy(&request, message.payload.data(), sizeof request);
  inquiries->site_is_wanted.store(true, std::memory_order_relaxed);  // for people
  if (request.is_for_table != 0)
    inquiries->arena->header().reported_ns.store(now_ns(), std::memory_order_relaxed);  // for people
  Reply reply{};
  reply.turn = request.turn;
  const bool is_polling = describe_self(reply);
  read_wait(*inquiries->wait, reply.wait);
  if (reply.wait[0] % 2 != 0 && lacks_this_pe_alone(message.source, call_in(request)) &&
      inquiries->wait->turn.load(std::memory_order_relaxed) == reply.wait[0])
    reply.lacks_turn = request.turn;
  const PeRecord& record = *inquiries->record;
  reply.phase = record.phase.load(std::memory_order_relaxed);  // own
  reply.pid = record.pid;
  reply.call_site = record.call_site.load(std::memory_order_relaxed);  // for people, like the next ones
  read_words(record.routine, reply.routine);
  read_words(record.awaited, reply.awaited);
  if (is_polling) {
    reply.call_site = inquiries->polling->call_site.load(std::memory_order_relaxed);
    read_words(inquiries->polling->routine, reply.routine);
    read_words(inquiries->polling->awaited, reply.awaited);
  }
  endpoint.reply({.pe = message.source, .handler = am::kInquiryReply, .header = am::bytes_of(reply)});
  return am::Verdict::done;
}

am::Verdict handle_reply(am::Endpoint&, const am::Message& message) {
  Reply reply;
  if (message.payload.size() != sizeof reply) reject_damaged(message.source);
  std::memcpy(&reply, message.payload.data(), sizeof reply);
  ForeignPe& heard = entry_of(message.source);
  heard.record.phase.store(reply.phase, std::memory_order_relaxed);  // for people, like the next ones
  heard.record.pid = reply.pid;
  heard.record.call_site.store(reply.call_site, std::memory_order_relaxed);
  heard.waited_ns.store(reply.waited_ns, std::memory_order_relaxed);
  heard.record.heap_used.store(reply.heap[0], std::memory_order_relaxed);
  heard.record.heap_limit.store(reply.heap[1], std::memory_order_relaxed);
  write_words(reply.host, heard.host);
  write_words(reply.doing, heard.doing);
  write_words(reply.routine, heard.record.routine);
  write_words(reply.awaited, heard.record.awaited);
  heard.turn.store(0, std::memory_order_relaxed);  // the handlers are ordered by the lock, as are the readers
  write_wait(reply.wait, heard.wait);
  heard.lacks_turn.store(reply.lacks_turn, std::memory_order_relaxed);
  heard.turn.store(reply.turn, std::memory_order_release);
  heard.replied_ms.store(coarse_now_ms(), std::memory_order_release);
  return am::Verdict::done;
}

void send_request(int pe, const Request& request) {
  if (!progress::is_open() || has_left(pe)) return;
  const am::TryLocked endpoint;
  if (!endpoint) return;
  std::uint64_t& asked_ms = inquiries->asked_ms[pe];
  const std::uint64_t now = coarse_now_ms();
  if (now < asked_ms + kAgainMs) return;
  const am::OutgoingMessage message{
      .pe = pe, .handler = am::kInquiry, .header = am::bytes_of(request), .counting = am::Counting::uncounted};
  if (endpoint->try_send(message)) asked_ms = now;
}

}  // namespace

void open_inquiries(windows::Arena& arena) {
  auto* const made = new Inquiries;
  made->arena = &arena;
  const int pe = diagnostic_identity().pe;
  made->record = &arena.record(pe);
  made->polling = bootstrap::polling_loop_of(&arena.header(), arena.place_of(pe));
  made->wait = bootstrap::collective_wait_of(&arena.header(), arena.place_of(pe));
  inquiries = made;
}

void set_inquiry_handlers() noexcept {
  constexpr am::HandlerTraits kTraits{.counted = false, .is_done_at_once = true};
  am::set_handler(am::kInquiry, handle_request, kTraits);
  am::set_handler(am::kInquiryReply, handle_reply, kTraits);
}

std::string text_in(const TextWords& words) {
  char text[sizeof words + 1] = {};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Word word = words[i].load(std::memory_order_relaxed);  // for people
    std::memcpy(text + i * sizeof word, &word, sizeof word);
  }
  return text;
}

bool has_left(int pe) noexcept {
  const auto& phase = *bootstrap::foreign_phase_of(&inquiries->arena->header(), static_cast<std::size_t>(pe));
  return phase.load(std::memory_order_relaxed) != 0;  // none: it has announced nothing
}

void send_inquiry(int pe, const Said& mine) noexcept {
  send_request(pe, {mine.turn, {mine.team.index_and_size, mine.team.start_and_stride}, mine.epoch, mine.call, 0});
}

void send_inquiry_for_table(int pe) noexcept { send_request(pe, {0, {}, 0, 0, 1}); }

ForeignPe& foreign_pe(int pe) noexcept {
  const am::Locked endpoint;
  return entry_of(pe);
}

std::vector<ForeignPe*> heard_in(std::uint64_t turn) {
  std::vector<ForeignPe*> all;
  const am::Locked endpoint;
  for (const auto& [pe, heard] : inquiries->heard) {
    if (heard->turn.load(std::memory_order_acquire) == turn) all.push_back(heard);
  }
  return all;
}

bool site_is_wanted() noexcept {
  return inquiries != nullptr && inquiries->site_is_wanted.load(std::memory_order_relaxed);
}

}  // namespace shmemx::runtime
