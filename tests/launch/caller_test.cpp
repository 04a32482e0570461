// The key-value store over the functions of a calling program: threads as PEs, which gather in the memory of the
// process.
#include <algorithm>
#include <barrier>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../support/all_descriptors.hpp"
#include "../support/threads.hpp"
#include "bootstrap/backends.hpp"
#include "bootstrap/kvs_text.hpp"

BOOST_AUTO_TEST_SUITE(caller)

namespace boot = shmemx::bootstrap;

namespace {

// The calling program: its processes are threads here.
struct Program {
  explicit Program(int n_pes) : size(n_pes), places(static_cast<std::size_t>(n_pes)), meeting(n_pes) {}
  int size;
  std::vector<const void*> places;  // by PE: what it gathers from
  std::barrier<> meeting;
  std::size_t longest = 0;  // of all calls of allgather, as PE 0 sees them
};

// What a PE passes to the library.
struct Member {
  Program& program;
  int pe;
  int place;  // where allgather puts its data
  int gather_result;
};

int gather(const void* mine, void* all, std::size_t bytes, void* user) {
  const auto& self = *static_cast<Member*>(user);
  Program& program = self.program;
  program.places[static_cast<std::size_t>(self.place)] = mine;
  program.meeting.arrive_and_wait();
  for (std::size_t pe = 0; pe < program.places.size(); ++pe)
    std::memcpy(static_cast<char*>(all) + pe * bytes, program.places[pe], bytes);
  if (self.place == 0) program.longest = std::max(program.longest, bytes);
  program.meeting.arrive_and_wait();
  return self.gather_result;
}

int meet(void* user) {
  static_cast<Member*>(user)->program.meeting.arrive_and_wait();
  return 0;
}

boot::Caller caller_of(Member& member) { return {{member.pe, member.program.size}, gather, meet, nullptr, &member}; }

std::string text_of(int pe, std::size_t bytes) { return std::string(bytes, static_cast<char>('a' + pe)); }

// Returns what a PE finds wrong with texts of the given lengths: text i comes from PE i modulo their number.
std::string exchange_texts(Member& member, const std::vector<std::size_t>& lengths) {
  const boot::KvsPtr kvs = boot::make_caller_kvs(caller_of(member));
  const int n = member.program.size;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (static_cast<int>(i) % n != member.pe) continue;
    if (auto put = boot::put_text(*kvs, "t" + std::to_string(i), text_of(member.pe, lengths[i])); !put)
      return put.error().text;
  }
  if (auto fence = kvs->fence(); !fence) return fence.error().text;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const int owner = static_cast<int>(i) % n;
    auto got = boot::get_text(*kvs, owner, "t" + std::to_string(i));
    if (!got) return got.error().text;
    if (*got != text_of(owner, lengths[i])) return "text " + std::to_string(i) + " is damaged";
  }
  return kvs->get(0, "unknown") ? "a value that nobody has put" : "";
}

// What the library finds: PEs of odd and of even number are on different machines.
struct Found {
  std::string error;
  boot::NodeMap nodes;
  std::string combined;
  std::vector<std::string> blobs;
};

Found find_two_machines(Member& member) {
  boot::HostDescription host = boot::describe_own_host();
  host.machine = static_cast<std::uint64_t>(1000 + member.pe % 2);
  const auto bootstrap = boot::make_kvs_bootstrap(boot::make_caller_kvs(caller_of(member)), host);
  Found found;
  const auto arena = bootstrap->arena();
  if (!arena) {
    found.error = arena.error().text;
    return found;
  }
  found.nodes = bootstrap->nodes();
  const std::string mine = text_of(member.pe, 300'000);
  if (member.pe < 2 && !bootstrap->publish(std::as_bytes(std::span<const char>(mine)))) found.error = "publish";
  const auto join = [](const std::string& lower, const std::string& higher) -> shmemx::Result<std::string> {
    return lower + higher;
  };
  auto combined = bootstrap->combine(member.pe < 2 ? std::to_string(member.pe) : std::string(), join);
  if (!combined) found.error = combined.error().text;
  if (combined) found.combined = *combined;
  for (int node = 0; node < 2; ++node) {
    auto blob = bootstrap->fetch(node);
    if (!blob) found.error = blob.error().text;
    if (blob) found.blobs.push_back(*blob);
  }
  return found;
}

}  // namespace

BOOST_AUTO_TEST_CASE(all_pes_get_texts_of_all_lengths) {
  const std::vector<std::size_t> lengths = {0, 1, 200, 239, 240, 241, 256, 70'000, 1'000'000, 5, 3'000'000};
  for (const int n : {1, 2, 3, 8}) {
    Program program(n);
    std::vector<std::string> wrong(static_cast<std::size_t>(n));
    test_support::run_on_threads(n, [&](int pe) {
      Member member{program, pe, pe, 0};
      wrong[static_cast<std::size_t>(pe)] = exchange_texts(member, lengths);
    });
    for (const std::string& text : wrong) BOOST_CHECK_EQUAL(text, "");
    BOOST_CHECK_LE(program.longest, 65536U);
  }
}

BOOST_AUTO_TEST_CASE(machines_are_found_and_their_bytes_exchanged) {
  for (const int n : {2, 3, 8}) {
    Program program(n);
    std::vector<Found> found(static_cast<std::size_t>(n));
    test_support::run_on_threads(n, [&](int pe) {
      Member member{program, pe, pe, 0};
      found[static_cast<std::size_t>(pe)] = find_two_machines(member);
    });
    for (int pe = 0; pe < n; ++pe) {
      const Found& own = found[static_cast<std::size_t>(pe)];
      BOOST_CHECK_EQUAL(own.error, "");
      BOOST_CHECK_EQUAL(own.nodes.n_nodes(), 2);
      BOOST_CHECK_EQUAL(own.nodes.node(pe), pe % 2);
      BOOST_CHECK_EQUAL(own.combined, pe < 2 ? "01" : "");
      BOOST_CHECK_EQUAL(own.blobs.size(), 2U);
      for (std::size_t node = 0; node < own.blobs.size(); ++node)
        BOOST_CHECK(own.blobs[node] == text_of(static_cast<int>(node), 300'000));
    }
  }
}

BOOST_AUTO_TEST_CASE(numbers_that_contradict_the_order_are_an_error_on_all_pes) {
  constexpr int kPes = 4;
  Program program(kPes);
  std::vector<std::string> errors(kPes);
  test_support::run_on_threads(kPes, [&](int pe) {
    const int place = pe < 2 ? pe : 5 - pe;  // 2 and 3 are exchanged
    Member member{program, pe, place, 0};
    const auto status = boot::make_caller_kvs(caller_of(member))->fence();
    if (!status) errors[static_cast<std::size_t>(pe)] = status.error().text;
  });
  for (const std::string& text : errors)
    BOOST_CHECK_MESSAGE(text.find("delivers data of PE 3 of 4 in the place of PE 2 of 4") != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(results_of_the_functions_are_errors) {
  Program program(1);
  Member member{program, 0, 0, 12};
  const auto status = boot::make_caller_kvs(caller_of(member))->fence();
  BOOST_REQUIRE(!status.has_value());
  BOOST_CHECK_EQUAL(status.error().text, "the calling program's allgather returned 12");
}

BOOST_AUTO_TEST_SUITE_END()
