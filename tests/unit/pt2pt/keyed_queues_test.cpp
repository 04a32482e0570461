#include "pt2pt/keyed_queues.hpp"

#include <time.h>

#include <boost/test/unit_test.hpp>
#include <deque>
#include <random>
#include <vector>

BOOST_AUTO_TEST_SUITE(pt2pt_keyed_queues)

using namespace shmemx::pt2pt;

namespace {

unsigned seed() {
  static const unsigned value = std::random_device{}();
  return value;
}

struct Entry {
  Key key;
  QueueEntry entry{};
  UnexpectedEntries entries{};
  bool in = false;
};

Key random_key(std::mt19937& random, bool wild) {
  const auto pick = [&](int most) { return static_cast<std::int32_t>(random() % static_cast<unsigned>(most)); };
  Key key{pick(3), pick(5)};
  if (wild && random() % 4 == 0) key.source = kAny;
  if (wild && random() % 4 == 0) key.tag = kAny;
  return key;
}

double thread_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_of(const auto& work) {
  const double begin = thread_seconds();
  work();
  return thread_seconds() - begin;
}

}  // namespace

BOOST_AUTO_TEST_CASE(posted_receives_match_like_a_linear_search) {
  BOOST_TEST_MESSAGE("seed " << seed());
  std::mt19937 random(seed());
  PostedQueue queue;
  std::deque<Entry> entries;
  std::deque<Entry*> model;  // oldest first
  std::uint64_t stamp = 0;
  for (int turn = 0; turn < 50'000; ++turn) {
    if (random() % 2 == 0 && model.size() < 300) {
      Entry& entry = entries.emplace_back();
      entry.key = random_key(random, true);
      queue.push(entry.entry, entry.key, ++stamp, &entry);
      model.push_back(&entry);
    } else if (random() % 8 == 0 && !model.empty()) {  // cancelled
      const auto at = model.begin() + static_cast<std::ptrdiff_t>(random() % model.size());
      queue.erase((*at)->entry);
      model.erase(at);
    } else {
      const Key message = random_key(random, false);
      auto at = model.begin();
      while (at != model.end() && !(*at)->key.fits(message.source, message.tag)) ++at;
      QueueEntry* const found = queue.find(message.source, message.tag);
      BOOST_REQUIRE_EQUAL(found != nullptr, at != model.end());
      if (found == nullptr) continue;
      BOOST_REQUIRE_EQUAL(found->owner, static_cast<void*>(*at));
      queue.erase(*found);
      model.erase(at);
    }
    BOOST_REQUIRE_EQUAL(queue.size(), model.size());
  }
}

BOOST_AUTO_TEST_CASE(unexpected_messages_match_like_a_linear_search) {
  BOOST_TEST_MESSAGE("seed " << seed());
  std::mt19937 random(seed() + 1);
  UnexpectedQueue queue;
  std::deque<Entry> entries;
  std::deque<Entry*> model;
  std::uint64_t stamp = 0;
  for (int turn = 0; turn < 50'000; ++turn) {
    if (random() % 2 == 0 && model.size() < 300) {
      Entry& entry = entries.emplace_back();
      entry.key = random_key(random, false);
      queue.push(entry.entries, entry.key, ++stamp, &entry);
      model.push_back(&entry);
      continue;
    }
    const Key wanted = random_key(random, true);
    auto at = model.begin();
    while (at != model.end() && !wanted.fits((*at)->key.source, (*at)->key.tag)) ++at;
    QueueEntry* const found = queue.find(wanted);
    BOOST_REQUIRE_EQUAL(found != nullptr, at != model.end());
    if (found == nullptr) continue;
    BOOST_REQUIRE_EQUAL(found->owner, static_cast<void*>(*at));
    queue.erase((*at)->entries);
    model.erase(at);
    BOOST_REQUIRE_EQUAL(queue.size(), model.size());
  }
}

BOOST_AUTO_TEST_CASE(a_receive_competes_when_it_could_take_the_same_message) {
  PostedQueue queue;
  Entry entry;
  BOOST_TEST(!queue.competes({kAny, kAny}));
  queue.push(entry.entry, {1, 7}, 1, &entry);
  BOOST_TEST(queue.competes({1, 7}));
  BOOST_TEST(!queue.competes({1, 8}));
  BOOST_TEST(!queue.competes({2, 7}));
  BOOST_TEST(queue.competes({kAny, 7}));
  queue.erase(entry.entry);
  queue.push(entry.entry, {kAny, 7}, 2, &entry);
  BOOST_TEST(queue.competes({2, 7}));
  BOOST_TEST(!queue.competes({2, 8}));
}

// With a linear search, matching the last of 10,000 entries would take some thousand times as long as a single one.
BOOST_AUTO_TEST_CASE(many_entries_do_not_slow_a_match_down) {
  constexpr int kMany = 10'000;
  constexpr int kTurns = 20'000;
  for (const bool same_tag : {false, true}) {
    std::vector<Entry> entries(kMany + 1);
    PostedQueue queue;
    Entry& last = entries[kMany];
    const auto turns = [&] {
      for (int turn = 0; turn < kTurns; ++turn) {
        queue.push(last.entry, {1, 1'000'000}, 1'000'000, &last);
        queue.erase(*queue.find(1, 1'000'000));
      }
    };
    const double with_one = seconds_of(turns);
    for (int i = 0; i < kMany; ++i)
      queue.push(entries[static_cast<std::size_t>(i)].entry, {1, same_tag ? 5 : i}, static_cast<std::uint64_t>(i),
                 &last);
    const double with_many = seconds_of(turns);
    BOOST_TEST(with_many < 100 * with_one + 0.01);
    queue.clear();
    BOOST_TEST(queue.size() == 0U);
  }
}

BOOST_AUTO_TEST_SUITE_END()
