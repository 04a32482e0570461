#include "base/contact_table.hpp"

#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <thread>
#include <vector>

BOOST_AUTO_TEST_SUITE(base_contact_table)

namespace {

using namespace shmemx;

constexpr std::size_t kWorld = std::size_t{1} << 24;

struct State {
  std::uint64_t sent;
  std::uint64_t words[7];
};

// Bytes of this process that are in memory.
std::size_t resident_bytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  BOOST_REQUIRE(file != nullptr);
  unsigned long total = 0;
  unsigned long resident = 0;
  const int read = std::fscanf(file, "%lu %lu", &total, &resident);
  std::fclose(file);
  BOOST_REQUIRE_EQUAL(read, 2);
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

struct Made {
  explicit Made(int& count, int number) : alive(count), pe(number) { ++alive; }
  ~Made() { --alive; }
  int& alive;
  int pe;
};

}  // namespace

BOOST_AUTO_TEST_CASE(entries_are_zero_and_stay_where_they_are) {
  ContactTable<State> table;
  table.open(kWorld);
  BOOST_CHECK_EQUAL(table.size(), kWorld);
  State* const far = &table[70'000];
  for (const int pe : {0, 65'535, 65'536, 70'000, (1 << 20) + 1, static_cast<int>(kWorld) - 1}) {
    BOOST_CHECK_EQUAL(table[pe].sent, 0u);
    table[pe].sent = static_cast<std::uint64_t>(pe) + 1;
  }
  for (const int pe : {0, 65'535, 65'536, 70'000, (1 << 20) + 1, static_cast<int>(kWorld) - 1})
    BOOST_CHECK_EQUAL(table[pe].sent, static_cast<std::uint64_t>(pe) + 1);
  BOOST_CHECK_EQUAL(&table[70'000], far);
  for (const std::size_t n_pes : {8, 64, 65, 1, 1000}) {  // other jobs, up to a page and beyond
    table.open(n_pes);
    for (int pe = 0; pe < static_cast<int>(n_pes); ++pe) {
      BOOST_REQUIRE_EQUAL(table[pe].sent, 0u);
      table[pe].sent = table[pe].words[6] = 1;
    }
    BOOST_CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(&table[0]) % 64, 0u);
  }
}

// Every page that is touched counts; huge pages would take a hundred times as much.
BOOST_AUTO_TEST_CASE(memory_is_taken_for_the_contacts_only) {
  constexpr int kContacts = 24;
  ContactTable<State> table;
  const std::size_t before = resident_bytes();
  table.open(kWorld);  // 1 GiB of address space
  for (int i = 0; i < kContacts; ++i) table[static_cast<int>(kWorld) / kContacts * i].sent = 1;
  const std::size_t after = resident_bytes();
  BOOST_CHECK_LT(after, before + (std::size_t{1} << 20));
}

BOOST_AUTO_TEST_CASE(contacts_are_listed_in_their_order_and_end_with_the_list) {
  int alive = 0;
  {
    Contacts<Made> contacts(kWorld);
    const std::vector<int> met{(1 << 20) + 7, 3, 65'536 + 3};
    for (const int pe : met) {
      BOOST_CHECK(contacts.find(pe) == nullptr);
      Made& made = contacts.add(pe, alive, pe);
      BOOST_CHECK(contacts.find(pe) == &made);
    }
    BOOST_CHECK(contacts.find(7) == nullptr);
    std::vector<int> listed;
    for (const Made* one : contacts.list()) listed.push_back(one->pe);
    BOOST_CHECK(listed == met);
    contacts.clear();
    BOOST_CHECK_EQUAL(alive, 0);
    BOOST_CHECK(contacts.list().empty() && contacts.find(3) == nullptr);
    contacts.add(3, alive, 3);
    BOOST_CHECK_EQUAL(alive, 1);
  }
  BOOST_CHECK_EQUAL(alive, 0);
}

// As the library uses it: entries of their own, also on one page, and atomics of common ones.
BOOST_AUTO_TEST_CASE(threads_use_the_table_like_an_array) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 5000;
  ContactTable<State> table;
  table.open(kWorld);
  std::vector<std::thread> threads;
  for (int me = 0; me < kThreads; ++me) {
    threads.emplace_back([&table, me] {
      for (int i = 0; i < kRounds; ++i) {
        ++table[me].sent;
        std::atomic_ref(table[65'536 + i % 64 * 1000].words[0]).fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::uint64_t all = 0;
  for (int i = 0; i < 64; ++i) all += table[65'536 + i * 1000].words[0];
  BOOST_CHECK_EQUAL(all, std::uint64_t{kThreads} * kRounds);
  for (int me = 0; me < kThreads; ++me) BOOST_CHECK_EQUAL(table[me].sent, std::uint64_t{kRounds});
}

BOOST_AUTO_TEST_SUITE_END()
