#include "progress/test_loop.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "base/clock.hpp"
#include "base/doorbell.hpp"
#include "progress/failed_test.hpp"
#include "progress/hints.hpp"
#include "progress/steps.hpp"

namespace shmemx::progress {
namespace {

// Tests of one word that got the same answer.
struct Tests {
  const void* what;
  std::uint64_t answer;
  std::uint32_t count;
  std::uint64_t last_ns;  // of the last test; known from kTimedFrom on
};
constexpr std::size_t kWords = 16;  // a program may test several words in turn
constexpr std::uint32_t kTimedFrom = 8;
constexpr std::uint32_t kPatience = 16;        // tests in a row before the core is given away
constexpr std::uint32_t kPatienceAlone = 128;  // the same where no PE is known to need the core
constexpr std::uint64_t kBetweenNs = 5'000;    // a program that takes longer between two tests works
constexpr std::uint64_t kLoopSleepNs = 50'000;
constinit thread_local Tests tests_by_word[kWords] = {};

constexpr std::uint64_t kPollIntervalNs = 5'000;
constinit thread_local std::uint64_t last_poll_ns = 0;
constinit thread_local Yields yields;

// Two words that a program tests in turn have entries of their own.
Tests& tests_of(const void* what) {
  const std::size_t first = (reinterpret_cast<std::uintptr_t>(what) * 0x9e3779b97f4a7c15U) >> 60;
  Tests& one = tests_by_word[first];
  Tests& other = tests_by_word[first ^ 1U];
  if (one.what == what || other.what == what) return one.what == what ? one : other;
  return one.count <= other.count ? one : other;
}

// The program waits, perhaps for a PE that needs this core.
void give_core_away() {
  Seen seen;
  yield_once(seen);
  const Yields::Effect effect = yields.note(hints.cores, seen.yield_ns, seen.now_ns, seen.cpu);
  const bool may_yield =
      effect == Yields::Effect::useful || (effect == Yields::Effect::in_vain && !is_woken_directly());
  if (!may_yield && own_doorbell() != nullptr) {
    sleep_once([](void*) { return false; }, nullptr, kLoopSleepNs);
  } else if (may_yield && hints.cores.is_shared(seen.now_ns)) {
    part_from_pes();
  }
}

// A word that fails its tests, or is read with the same answer, over and over.
struct LoopWord {
  bootstrap::Awaited awaited;
  std::uint64_t since_ns = 0;
  std::uint64_t last_ns = 0;  // noted
  bool is_noted = false;
};
// A loop looks at several of them in turn.
struct Loop {
  static constexpr std::size_t kMostWords = 8;
  std::array<LoopWord, kMostWords> words;
  std::size_t n_words = 0;
  std::uint32_t answers = 0;  // that were the same
};
thread_local std::unique_ptr<Loop> loop;
constexpr std::uint64_t kPauseNs = 2'000'000'000;  // a program that takes longer does something else meanwhile

bool has_loop() { return loop != nullptr && loop->n_words != 0; }

bool is_same_test(const bootstrap::Awaited& one, const bootstrap::Awaited& other) {
  return one.at == other.at && one.comparison == other.comparison && one.value == other.value;
}
bool is_same(const bootstrap::Awaited& one, const bootstrap::Awaited& other) {
  return is_same_test(one, other) && (one.comparison != 0 || one.now == other.now);
}

LoopWord* find_word(const bootstrap::Awaited& awaited) {
  if (loop == nullptr) return nullptr;
  for (std::size_t i = 0; i < loop->n_words; ++i) {
    if (is_same_test(loop->words[i].awaited, awaited)) return &loop->words[i];
  }
  return nullptr;
}

// Returns the entry of a word, a new one in place of the one that was looked at first.
LoopWord& word_of(const bootstrap::Awaited& awaited, std::uint64_t now) {
  if (loop == nullptr) loop = std::make_unique<Loop>();
  LoopWord* word = find_word(awaited);
  if (word != nullptr && is_same(word->awaited, awaited) && now - word->last_ns <= kPauseNs) return *word;
  if (word == nullptr && loop->n_words < Loop::kMostWords) word = &loop->words[loop->n_words++];
  if (word == nullptr)
    word = &*std::min_element(loop->words.begin(), loop->words.end(),
                              [](const LoopWord& a, const LoopWord& b) { return a.last_ns < b.last_ns; });
  *word = {awaited, now, now, false};
  return *word;
}

// Is it the one that people are shown? It has been tested for the longest time.
bool is_shown(const LoopWord& word, std::uint64_t now) {
  return std::none_of(loop->words.begin(), loop->words.begin() + loop->n_words, [&](const LoopWord& other) {
    return other.is_noted && now - other.last_ns <= kPauseNs && other.since_ns < word.since_ns;
  });
}

void note(const char* routine, const bootstrap::Awaited& awaited) {
  const std::uint64_t now = now_ns();
  LoopWord& word = word_of(awaited, now);
  word.awaited = awaited;
  word.last_ns = now;
  word.is_noted = true;
  if (!is_shown(word, now)) return;
  if (policy().hooks.on_vain_tests != nullptr) policy().hooks.on_vain_tests(routine, awaited, word.since_ns);
}

void end_loop() {
  if (!has_loop()) return;
  const auto end = loop->words.begin() + loop->n_words;
  const bool is_known = std::any_of(loop->words.begin(), end, [](const LoopWord& word) { return word.is_noted; });
  loop->n_words = 0;
  loop->answers = 0;
  if (is_known && policy().hooks.on_vain_tests != nullptr) policy().hooks.on_vain_tests(nullptr, {}, 0);
}

// Has the word changed, or is it one more than a loop looks at? `word`: its entry, null if there is none.
bool ends_loop(const LoopWord* word, const bootstrap::Awaited& awaited) {
  return word != nullptr ? !is_same(word->awaited, awaited) : has_loop() && loop->n_words == Loop::kMostWords;
}

std::uint64_t load(const void* at, std::uint8_t bytes) {
  switch (bytes) {
    case 1:
      return __atomic_load_n(static_cast<const std::uint8_t*>(at), __ATOMIC_RELAXED);  // for people, like the others
    case 2:
      return __atomic_load_n(static_cast<const std::uint16_t*>(at), __ATOMIC_RELAXED);
    case 4:
      return __atomic_load_n(static_cast<const std::uint32_t*>(at), __ATOMIC_RELAXED);
    default:
      return __atomic_load_n(static_cast<const std::uint64_t*>(at), __ATOMIC_RELAXED);
  }
}

// The program has tested a word again.
void count_repetition(Tests& tests) {
  if (++tests.count < kTimedFrom) return;
  const std::uint32_t patience = policy().crowded ? kPatience : kPatienceAlone;
  if (tests.count > kTimedFrom && tests.count < patience) return;
  const std::uint64_t now = now_ns();
  const std::uint64_t tests_since = tests.count > patience ? 1 : patience - kTimedFrom;
  if (tests.count == kTimedFrom) {
    tests.last_ns = now;
  } else if (now - tests.last_ns > tests_since * kBetweenNs) {
    tests.count = 0;
  } else {
    give_core_away();
    tests.last_ns = now_ns();
    // If no other process has taken the core, it is offered less often: the program may just measure its tests.
    tests.count = tests.last_ns - now > kSwitchNs ? patience : kTimedFrom;
  }
}

}  // namespace

bool repeated_test(const void* what, std::uint64_t answer) noexcept {
  Tests& tests = tests_of(what);
  if (tests.what != what || tests.answer != answer) {
    tests = {what, answer, 1, 0};
    return false;
  }
  if (policy().mode != WaitMode::spin) count_repetition(tests);
  return true;
}

void poll_at_intervals() noexcept {
  bool (*const poll)() = message_poll();
  const std::uint64_t now = now_ns();
  if (poll == nullptr || now - last_poll_ns < kPollIntervalNs) return;
  poll();
  last_poll_ns = now_ns();
}

void test_succeeded_slow() noexcept {
  if (bool (*const poll)() = message_poll()) poll();
  tests_of(nullptr).count = 0;
  end_loop();
}

void test_failed_slow() noexcept {
  bool (*const poll)() = message_poll();
  if (poll != nullptr) poll();
  if (poll != nullptr || policy().crowded) repeated_test(nullptr, 0);
}

void note_failed(const char* routine, const bootstrap::Awaited& awaited) noexcept { note(routine, awaited); }

void note_failed_test(const char* routine, const void* at, std::uint64_t value, bootstrap::WordForm form,
                      std::size_t count) noexcept {
  bootstrap::Awaited awaited = bootstrap::awaited_word(at, form);
  awaited.value = value;
  if (count != bootstrap::Awaited::kNoCount) {
    awaited.kind = bootstrap::Awaited::Kind::words;
    awaited.count = count;
  } else {
    awaited.now = load(at, form.word_bytes);
  }
  note(routine, awaited);
}

void note_same_answer(const char* routine, const void* at, std::uint64_t answer, bootstrap::WordForm form) noexcept {
  bootstrap::Awaited awaited = bootstrap::awaited_word(at, form);
  awaited.now = answer;
  const LoopWord* const word = find_word(awaited);
  const bool ends = ends_loop(word, awaited);
  if (ends) end_loop();
  if (ends || word == nullptr) word_of(awaited, now_ns());
  if (++loop->answers % kFailedTests == 0) note(routine, awaited);
}

}  // namespace shmemx::progress
