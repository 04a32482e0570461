// What passes through a key-value store while the nodes are found: lists, tables and plans as text, and combining
// trees.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "../support/threads.hpp"
#include "bootstrap/combining.hpp"
#include "bootstrap/host_table.hpp"
#include "bootstrap/placement.hpp"
#include "bootstrap/plan.hpp"
#include "bootstrap/wire.hpp"
#include "fake_kvs.hpp"

namespace boot = shmemx::bootstrap;
using fake_kvs::FakeKvs;
using fake_kvs::Store;

namespace {

boot::HostDescription host_called(const std::string& name, std::uint64_t machine) {
  boot::HostDescription host;
  host.uid = 1000;
  host.net = host.pid = 0xf0000000;
  host.others = 77;
  host.machine = machine;
  host.host = name;
  return host;
}

// The texts that are left when one character is missing, replaced or added, or the end is cut off.
std::vector<std::string> damaged_copies(const std::string& text) {
  std::vector<std::string> copies;
  for (std::size_t at = 0; at < text.size(); ++at) {
    copies.push_back(text.substr(0, at));
    copies.push_back(std::string(text).erase(at, 1));
    for (const char other : {'0', '9', 'z', '-', '_', ':', '.', '!'}) {
      copies.push_back(std::string(text).replace(at, 1, 1, other));
      copies.push_back(std::string(text).insert(at, 1, other));
    }
  }
  std::erase(copies, text);
  return copies;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(placement)

BOOST_AUTO_TEST_CASE(encoded_leaders_are_decoded_unchanged) {
  const boot::HostDescription host = boot::describe_own_host();
  BOOST_CHECK_LE(boot::encode(host).size(), 120U);
  auto read = boot::decode_host(boot::encode(host));
  BOOST_REQUIRE(read.has_value());
  BOOST_CHECK_EQUAL(read->machine, host.machine);
  BOOST_CHECK_EQUAL(read->others, host.others);
  BOOST_CHECK_EQUAL(read->host, host.host);
  const boot::Leaders leaders = {0, 0, 0, 3, boot::kNoGroup, boot::kNoGroup, 3};
  BOOST_CHECK_EQUAL(boot::encode(leaders), "0-3.3-1.x-2.3-1");
  BOOST_CHECK(boot::decode_leaders(boot::encode(leaders), 7).value() == leaders);
  const std::vector<int> pes = {0, 5, 6};
  BOOST_CHECK(boot::decode_pes(boot::encode_pes(pes), 7).value() == pes);
  BOOST_CHECK(boot::decode_pes("", 7).value().empty());
}

BOOST_AUTO_TEST_CASE(regular_placements_are_short_texts) {
  boot::Leaders blocks;
  boot::Leaders cyclic;
  for (int pe = 0; pe < 1'000'000; ++pe) {
    blocks.push_back(pe / 125 * 125);
    cyclic.push_back(pe % 8000);
  }
  BOOST_CHECK_EQUAL(boot::encode(blocks), "0-125_8000_125");
  BOOST_CHECK(boot::decode_leaders(boot::encode(blocks), 1'000'000).value() == blocks);
  BOOST_CHECK_EQUAL(boot::encode(cyclic).size(), 125 * std::string("0-1_8000_1.").size() - 1);
  BOOST_CHECK(boot::decode_leaders(boot::encode(cyclic), 1'000'000).value() == cyclic);
}

BOOST_AUTO_TEST_CASE(any_leaders_are_decoded_unchanged) {
  std::mt19937 random(7);
  for (int turn = 0; turn < 2000; ++turn) {
    const int n_pes = 1 + static_cast<int>(random() % 40);
    boot::Leaders leaders;
    while (static_cast<int>(leaders.size()) < n_pes) {
      const int value = static_cast<int>(random() % static_cast<unsigned>(n_pes + 1)) - 1;
      for (unsigned i = random() % 4; i > 0 && static_cast<int>(leaders.size()) < n_pes; --i)
        leaders.push_back(std::min(value + static_cast<int>(random() % 2), n_pes - 1));
    }
    auto back = boot::decode_leaders(boot::encode(leaders), n_pes);
    BOOST_REQUIRE_MESSAGE(back.has_value(), boot::encode(leaders));
    BOOST_CHECK(*back == leaders);
  }
}

BOOST_AUTO_TEST_CASE(groups_are_those_of_one_machine_and_user) {
  std::vector<boot::HostDescription> hosts = {host_called("a", 1), host_called("b", 2), host_called("a", 1),
                                              host_called("a", 1), host_called("b", 2), host_called("a", 1)};
  hosts[3].net = 5;
  hosts[5].uid = 0;
  const boot::Hosts all(hosts, {0, 1, 2, 3, 4, 5});
  BOOST_CHECK((boot::group_by(boot::Likeness::machine, all, {0, 1, 2, 3, 4, 5}) == boot::Leaders{0, 1, 0, 0, 1, 5}));
  BOOST_CHECK((boot::group_by(boot::Likeness::namespaces, all, {0, 2, 3, 4}) ==
               boot::Leaders{0, boot::kNoGroup, 0, 3, 4, boot::kNoGroup}));
}

BOOST_AUTO_TEST_CASE(malformed_leaders_are_refused) {
  for (const char* bad : {"", "1:2:3:4:5", "1:2:3:4:5:", "x"}) BOOST_CHECK(!boot::decode_host(bad).has_value());
  for (const char* bad : {"",        "0-6",     "0-8",       "7-7",     "0-3.",    "0",        "-1-7",
                          "0-0.0-7", "0x7",     "0-7z",      "0-1_7",   "0-1_7_",  "0-1_7_0",  "0-1_8_1",
                          "0-1_6_1", "x-1_7_1", "0-1_7_2",   "1-1_7_1", "0-1_0_1", "0-1_-1_1", "0-99999999999999999999",
                          "0--7",    "0-1__7",  "0-1_7_1_1", "0- 7"}) {
    BOOST_CHECK_MESSAGE(!boot::decode_leaders(bad, 7).has_value(), bad);
  }
  for (const char* bad : {"7", "-1", "3.2", "3,4", ".", "1.x"}) BOOST_CHECK(!boot::decode_pes(bad, 7).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(host_table)

BOOST_AUTO_TEST_CASE(tables_name_the_host_of_each_pe) {
  const std::vector<boot::HostDescription> hosts = {host_called("node-01", 1), host_called("node-02", 2)};
  boot::HostTable all(hosts[0]);
  std::vector<std::size_t> expected = {0};
  for (const std::size_t host : {1, 1, 0, 1, 0, 0}) {
    auto one = boot::HostTable::of_text(boot::HostTable(hosts[host]).text());
    BOOST_REQUIRE(one.has_value());
    all.append(*one);
    expected.push_back(host);
  }
  auto back = boot::HostTable::of_text(all.text());
  BOOST_REQUIRE(back.has_value());
  auto read = back->hosts();
  BOOST_REQUIRE(read.has_value());
  BOOST_REQUIRE_EQUAL(read->n_pes(), expected.size());
  BOOST_CHECK_EQUAL(read->n_different(), hosts.size());
  for (std::size_t pe = 0; pe < expected.size(); ++pe) {
    BOOST_CHECK_EQUAL(read->of(static_cast<int>(pe)).host, hosts[expected[pe]].host);
    BOOST_CHECK_EQUAL(read->of(static_cast<int>(pe)).machine, hosts[expected[pe]].machine);
  }
}

BOOST_AUTO_TEST_CASE(a_machine_takes_few_bytes_however_many_pes_it_has) {
  std::mt19937_64 random(3);
  boot::HostTable all(host_called("node-00000", random()));
  for (int pe = 1; pe < 4096; ++pe) {
    const auto machine = static_cast<std::uint64_t>(pe / 64);
    all.append(boot::HostTable(host_called("node-" + std::to_string(10'000 + machine), machine * 0x9e3779b97f4a7c15)));
  }
  BOOST_CHECK(fake_kvs::is_allowed(all.text()));
  BOOST_CHECK_LE(all.text().size(), 64U * 40);
}

// No damage is taken for a table of other PEs than there are indices, or leads outside of it.
BOOST_AUTO_TEST_CASE(damaged_tables_are_refused_or_are_tables) {
  boot::HostTable table(host_called("a", 1));
  for (const std::uint64_t machine : {2, 1, 3, 3}) table.append(boot::HostTable(host_called("b", machine)));
  int n_refused = 0;
  for (const std::string& text : damaged_copies(table.text())) {
    auto read = boot::HostTable::of_text(text);
    if (!read || !read->hosts()) {
      ++n_refused;
      continue;
    }
    BOOST_CHECK_EQUAL(read->hosts()->n_pes(), std::strtoul(text.c_str(), nullptr, 10));
  }
  BOOST_CHECK_GT(n_refused, 100);
  for (const char* bad :
       {"", ":", "::", "0::", "1:0-1", "1:0-1:", "1:0-1:!", "2:0-1:C3g6", "-1:0-1:", "16777217:0-16777217:C3g6"})
    BOOST_CHECK_MESSAGE(!boot::HostTable::of_text(bad).has_value(), bad);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(plan)

BOOST_AUTO_TEST_CASE(plans_are_decoded_unchanged) {
  boot::Plan plan;
  plan.leaders = {0, 1, 0, boot::kNoGroup, 1};
  plan.job_id = 0xfedcba9876543210;
  plan.secret[0] = 1;
  plan.secret[1] = ~std::uint64_t{0};
  plan.makers = {{"first-host", "first_host.example"}, "because, as it were: \"that\" is so"};
  const std::string text = boot::encode(plan);
  BOOST_CHECK(fake_kvs::is_allowed(text));
  auto back = boot::decode_plan(text, 5);
  BOOST_REQUIRE(back.has_value());
  BOOST_CHECK(!back->one_group && back->leaders == plan.leaders && back->makers.names == plan.makers.names);
  BOOST_CHECK_EQUAL(back->makers.why, plan.makers.why);
  BOOST_CHECK(back->job_id == plan.job_id && back->secret[0] == 1 && back->secret[1] == ~std::uint64_t{0});
  BOOST_CHECK(!boot::decode_plan(text, 4).has_value());
  int n_refused = 0;
  for (const std::string& bad : damaged_copies(text)) {
    auto read = boot::decode_plan(bad, 5);
    if (!read) ++n_refused;
    if (read) BOOST_CHECK_EQUAL(read->makers.names.size(), boot::makers_of(read->leaders).size());
  }
  BOOST_CHECK_GT(n_refused, 300);
}

BOOST_AUTO_TEST_CASE(a_plan_of_one_group_is_an_offer) {
  boot::Plan plan;
  plan.one_group = true;
  plan.offer = {1, 2, 3, 4, 5, 6};
  auto back = boot::decode_plan(boot::encode(plan), 3);
  BOOST_REQUIRE(back.has_value());
  BOOST_CHECK(back->one_group && back->leaders == boot::Leaders(3, 0));
  BOOST_CHECK_EQUAL(back->offer.nonce, 2U);
  BOOST_CHECK_EQUAL(back->offer.fd, 6U);
  for (const char* bad : {"", "one:", "one:1:2", "many:", "many:1.2.3", "many:1.2.3:0-3", "few:1.2.3:0-3:CwsL"})
    BOOST_CHECK_MESSAGE(!boot::decode_plan(bad, 3).has_value(), bad);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(combining)

BOOST_AUTO_TEST_CASE(lists_of_lines_are_unpacked_unchanged) {
  const std::string longest(5000, 'x');
  const std::vector<std::vector<std::string>> lists = {
      {}, {""}, {"", ""}, {"a", "", "ab", "abc", "ab"}, {longest, longest + "y", longest}, {"\x0b\xff", "\x0b"}};
  for (const auto& lines : lists) {
    auto back = boot::unpack_lines(boot::pack_lines(lines));
    BOOST_REQUIRE(back.has_value());
    BOOST_CHECK(*back == lines);
  }
  for (const char* bad : {"\x0b", "\x0bxy", "\x0c\n", "\x01\n", "\x0bx\n\x0d\n"}) BOOST_CHECK(!boot::unpack_lines(bad));
}

// Contributions are joined in the order of the members, whoever they are; PEs that are no members only wait.
BOOST_AUTO_TEST_CASE(contributions_are_joined_in_order) {
  for (const auto& [n_pes, step] : {std::pair(2, 1), {15, 1}, {16, 1}, {17, 1}, {33, 1}, {40, 3}, {5, 5}}) {
    for (const bool for_all : {false, true}) {
      Store store(n_pes);
      store.lazy_fences = n_pes % 2 == 1;
      std::string expected;
      const int count = (n_pes + step - 1) / step;
      for (int member = 0; member < count; ++member) expected += std::to_string(member) + ".";
      std::vector<std::string> results(static_cast<std::size_t>(n_pes));
      test_support::run_on_threads(n_pes, [&, step = step](int pe) {
        FakeKvs kvs(store, pe);
        const boot::Members members{count, pe % step == 0 ? pe / step : -1,
                                    [step](int member) { return member * step; }};
        const auto join = [](const std::string& lower, const std::string& higher) -> shmemx::Result<std::string> {
          return lower + higher;
        };
        auto all = boot::combine(kvs, "key", members, std::to_string(pe / step) + ".", join, for_all);
        results[static_cast<std::size_t>(pe)] = all ? *all : all.error().text;
        (void)kvs.meet();
      });
      for (int pe = 0; pe < n_pes; ++pe)
        BOOST_CHECK_EQUAL(results[static_cast<std::size_t>(pe)], pe % step == 0 || for_all ? expected : "");
      BOOST_CHECK_EQUAL(store.fences[0], (count > 1) + (count > 16) + 1);
      for (const std::size_t gets : store.gets) BOOST_CHECK_LE(gets, static_cast<std::size_t>(15 * 2 + 2));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_merge_that_fails_is_an_error_at_the_first_member) {
  Store store(2);
  std::vector<bool> failed(2);
  test_support::run_on_threads(2, [&](int pe) {
    FakeKvs kvs(store, pe);
    const boot::Members members{2, pe, [](int member) { return member; }};
    const auto refuse = [](const std::string&, const std::string&) -> shmemx::Result<std::string> {
      return shmemx::Error{shmemx::Errc::protocol, 0, "no"};
    };
    const auto result = boot::combine_at_first(kvs, "key", members, "x", refuse);
    const std::lock_guard lock(store.mutex);
    failed[static_cast<std::size_t>(pe)] = !result.has_value();
  });
  BOOST_CHECK(failed[0] && !failed[1]);
}

BOOST_AUTO_TEST_SUITE_END()
