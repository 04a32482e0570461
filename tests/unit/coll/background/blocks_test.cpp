// Schedules that move data.
#include <boost/test/unit_test.hpp>

#include "simulated_schedules.hpp"

BOOST_AUTO_TEST_SUITE(coll_background_blocks)

using namespace simulated_schedules;

namespace {

using Bytes = std::vector<std::uint8_t>;

std::uint8_t byte_of(int from, int to, std::size_t i) {
  return static_cast<std::uint8_t>(from * 53 + to * 17 + static_cast<int>(i % 251));
}
std::byte* data_of(Bytes& bytes) { return reinterpret_cast<std::byte*>(bytes.data()); }

// Checks an exchange of equal blocks: `all_blocks`: the source has one for each member, else one for all.
void check_blocks(int n, int node_pes, std::size_t bytes, bool all_blocks,
                  ScheduleOwner (*make)(const Members&, const Equal&) noexcept) {
  const auto count = static_cast<std::size_t>(n);
  std::vector<Bytes> sources(count);
  std::vector<Bytes> dests(count, Bytes(count * bytes));
  for (int pe = 0; pe < n; ++pe) {
    for (int to = 0; to < (all_blocks ? n : 1); ++to) {
      for (std::size_t i = 0; i < bytes; ++i) sources[static_cast<std::size_t>(pe)].push_back(byte_of(pe, to, i));
    }
  }
  Simulation job(kSumOfLongs, static_cast<unsigned>(n));
  make_all(job, n, node_pes, [&](const Members& members) {
    const auto me = static_cast<std::size_t>(members.me);
    return make(members, {data_of(dests[me]), data_of(sources[me]), bytes});
  });
  BOOST_REQUIRE(job.run());
  std::size_t wrong = 0;
  for (int pe = 0; pe < n; ++pe) {
    for (int from = 0; from < n; ++from) {
      for (std::size_t i = 0; i < bytes; ++i)
        wrong += dests[static_cast<std::size_t>(pe)][static_cast<std::size_t>(from) * bytes + i] !=
                 byte_of(from, all_blocks ? pe : 0, i);
    }
  }
  BOOST_TEST(wrong == 0U);
}

void check_broadcast(int n, int node_pes, int root, std::size_t bytes) {
  Bytes source(bytes);
  for (std::size_t i = 0; i < bytes; ++i) source[i] = byte_of(root, 1, i);
  std::vector<Bytes> dests(static_cast<std::size_t>(n), Bytes(bytes));
  Simulation job(kSumOfLongs, static_cast<unsigned>(root));
  make_all(job, n, node_pes, [&](const Members& members) {
    return make_broadcast(members, {data_of(dests[static_cast<std::size_t>(members.me)]),
                                    members.me == root ? data_of(source) : nullptr, bytes, root});
  });
  BOOST_REQUIRE(job.run());
  for (const Bytes& dest : dests) BOOST_TEST((dest == source));
}

// In units of `unit` bytes.
std::size_t length_of(int from, int to, std::size_t unit) {
  return static_cast<std::size_t>((from * 5 + to * 3) % 7) * unit;
}

// What one member has of an alltoall of different lengths, with a gap in front of each block if it has displacements.
struct VariableMember {
  std::vector<std::size_t> out, out_at, in, in_at, received;
  Bytes source, dest;

  VariableMember(int me, int n, bool has_gaps, std::size_t unit) : received(static_cast<std::size_t>(n)) {
    for (int pe = 0; pe < n; ++pe) {
      out.push_back(length_of(me, pe, unit));
      in.push_back(length_of(pe, me, unit));
      source.resize(source.size() + (has_gaps ? 3 : 0));
      dest.resize(dest.size() + (has_gaps ? 5 : 0));
      out_at.push_back(source.size());
      in_at.push_back(dest.size());
      for (std::size_t i = 0; i < out.back(); ++i) source.push_back(byte_of(me, pe, i));
      dest.resize(dest.size() + in.back());
    }
  }
};

// Both schedules of an alltoallv, one after the other.
class WholeAlltoallv final : public Schedule {
 public:
  WholeAlltoallv(ScheduleOwner first, ScheduleOwner second) : first_(std::move(first)), second_(std::move(second)) {}
  bool next(Round& out) noexcept override { return first_->next(out) || (second_ != nullptr && second_->next(out)); }

 private:
  ScheduleOwner first_, second_;
};
ScheduleOwner make_whole_alltoallv(const Members& members, const AlltoallV& arguments) {
  return std::make_unique<WholeAlltoallv>(make_alltoallv(members, arguments), make_alltoallv_apart(members, arguments));
}

void check_alltoallv(int n, int node_pes, bool knows_lengths, bool has_gaps, std::size_t unit) {
  std::vector<VariableMember> all;
  for (int pe = 0; pe < n; ++pe) all.emplace_back(pe, n, has_gaps, unit);
  Simulation job(kSumOfLongs, static_cast<unsigned>(n));
  make_all(job, n, node_pes, [&](const Members& members) {
    VariableMember& own = all[static_cast<std::size_t>(members.me)];
    return make_whole_alltoallv(members,
                                {"test", data_of(own.dest), own.dest.size(), knows_lengths ? own.in.data() : nullptr,
                                 has_gaps ? own.in_at.data() : nullptr, data_of(own.source), own.out.data(),
                                 has_gaps ? own.out_at.data() : nullptr, own.received.data()});
  });
  BOOST_REQUIRE(job.run());
  std::size_t wrong = 0;
  for (int pe = 0; pe < n; ++pe) {
    const VariableMember& own = all[static_cast<std::size_t>(pe)];
    BOOST_TEST((own.received == own.in));
    for (int from = 0; from < n; ++from) {
      for (std::size_t i = 0; i < length_of(from, pe, unit); ++i)
        wrong += own.dest[own.in_at[static_cast<std::size_t>(from)] + i] != byte_of(from, pe, i);
    }
  }
  BOOST_TEST(wrong == 0U);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_broadcast_gets_to_all_members_from_each_root) {
  for_each_layout([](int n, int node_pes) {
    for (int root = 0; root < n; ++root) check_broadcast(n, node_pes, root, static_cast<std::size_t>(root % 4));
  });
}

BOOST_AUTO_TEST_CASE(a_long_broadcast_travels_in_segments) {
  for (const auto& [n, node_pes] : {std::pair{1, 1}, {2, 2}, {8, 3}, {17, 5}})
    check_broadcast(n, node_pes, n / 2, 2'000'003);
}

BOOST_AUTO_TEST_CASE(a_collect_concatenates_blocks) {
  for_each_layout([](int n, int node_pes) {
    for (const std::size_t bytes : {0, 1, 9, 40'000}) {
      if (bytes > 1000 && n % 4 != 1) continue;
      check_blocks(n, node_pes, bytes, false, make_fcollect);
      if (bytes < 1000) check_blocks(n, node_pes, bytes, false, make_short_fcollect);
    }
  });
}

BOOST_AUTO_TEST_CASE(the_mesh_of_an_alltoall_may_be_set) {
  // Rounds of the first member of five: log2 with the mesh, at most eight others in one without it.
  const auto rounds = [](std::optional<std::uint64_t> most_bytes) {
    set_alltoall_mesh(most_bytes);
    std::vector<std::byte> source(5 * 8), dest(source.size());
    const TeamNodes nodes = nodes_of_member(5, 5, 0);
    const ScheduleOwner schedule = make_alltoall({0, 5, &nodes, false}, {dest.data(), source.data(), 8});
    int count = 0;
    for (Round round; schedule->next(round); round = Round()) ++count;
    set_alltoall_mesh(std::nullopt);
    return count;
  };
  BOOST_CHECK_EQUAL(rounds(0), 1);
  BOOST_CHECK_EQUAL(rounds(7), 1);
  BOOST_CHECK_GT(rounds(8), 2);
  BOOST_CHECK_EQUAL(rounds(std::nullopt), rounds(512));
}

BOOST_AUTO_TEST_CASE(an_alltoall_exchanges_blocks) {
  for_each_layout([](int n, int node_pes) {
    for (const std::size_t bytes : {0, 1, 9, 3000}) {
      check_blocks(n, node_pes, bytes, true, make_alltoall);
      if (bytes < 1000) check_blocks(n, node_pes, bytes, true, make_short_alltoall);
      check_blocks(n, node_pes, bytes, true, make_gathered_alltoall);
    }
  });
}

BOOST_AUTO_TEST_CASE(a_short_exchange_takes_a_logarithmic_number_of_rounds) {
  const TeamNodes nodes = nodes_of_member(16, 16, 3);
  Bytes memory(16 * 8);
  for (const auto make : {make_short_fcollect, make_short_alltoall}) {
    const ScheduleOwner schedule = make({3, 16, &nodes, false}, {data_of(memory), data_of(memory), 8});
    std::size_t messages = 0;
    for (Round round; schedule->next(round); round.clear()) messages += round.messages.size();
    BOOST_TEST(messages == 2U * 4U);
  }
}

namespace {

struct Crossings {
  std::size_t messages = 0;
  std::size_t bytes = 0;
};

// What the members of four nodes of four send to other nodes, with blocks of `bytes`.
Crossings crossings(std::size_t bytes, ScheduleOwner (*make)(const Members&, const Equal&) noexcept) {
  Crossings all;
  Bytes source(16 * bytes), dest(16 * bytes);
  for (int me = 0; me < 16; ++me) {
    const TeamNodes nodes = nodes_of_member(16, 4, me);
    const ScheduleOwner schedule = make({me, 16, &nodes, false}, {data_of(dest), data_of(source), bytes});
    for (Round round; schedule->next(round); round.clear()) {
      for (const Message& message : round.messages) {
        if (message.kind == Message::Kind::receive || message.member / 4 == me / 4) continue;
        ++all.messages;
        all.bytes += message.bytes;
      }
    }
  }
  return all;
}

// The messages of all members to other nodes, in an alltoallv of blocks of `bytes` on four nodes of four.
std::size_t crossings_of_alltoallv(std::size_t bytes) {
  const std::vector<std::size_t> counts(16, bytes);
  Bytes source(16 * bytes);
  std::vector<Bytes> dests(16, Bytes(16 * bytes));
  Simulation job(kSumOfLongs, 1);
  job.node_pes = 4;
  make_all(job, 16, 4, [&](const Members& members) {
    Bytes& dest = dests[static_cast<std::size_t>(members.me)];
    return make_whole_alltoallv(members, {"test", data_of(dest), dest.size(), counts.data(), nullptr, data_of(source),
                                          counts.data(), nullptr, nullptr});
  });
  BOOST_TEST(job.run());
  return job.crossings;
}

}  // namespace

// Each block crosses to each of three other nodes, or once for each member there.
BOOST_AUTO_TEST_CASE(blocks_cross_to_a_node_once) {
  for (const std::size_t bytes : {8, 512, 40'000}) {
    const Crossings collect = crossings(bytes, make_fcollect);
    BOOST_TEST(collect.bytes == 16 * 3 * bytes);
    BOOST_TEST(collect.messages == (bytes == 40'000 ? 16U * 3U : 4U * 2U));
  }
  const Crossings exchange = crossings(64, make_alltoall);
  BOOST_TEST(exchange.bytes == 16U * 12U * 64U);
  BOOST_TEST(exchange.messages == 4U * 3U);
  const Crossings gathered = crossings(4096, make_alltoall);
  BOOST_TEST(gathered.bytes == 16U * 12U * 4096U);
  BOOST_TEST(gathered.messages == 16U * 3U);
  BOOST_TEST(crossings(40'000, make_alltoall).messages == 16U * 12U);
}

// A message crosses to each member from each other node; longer blocks follow.
BOOST_AUTO_TEST_CASE(short_blocks_of_different_lengths_cross_together) {
  BOOST_TEST(crossings_of_alltoallv(100) == 16U * 3U);
  BOOST_TEST(crossings_of_alltoallv(0) == 16U * 3U);
  BOOST_TEST(crossings_of_alltoallv(5000) == 16U * 3U + 16U * 12U);
}

BOOST_AUTO_TEST_CASE(an_alltoall_exchanges_blocks_of_different_lengths) {
  for_each_layout([](int n, int node_pes) {
    for (const bool knows_lengths : {true, false}) {
      for (const bool has_gaps : {true, false}) check_alltoallv(n, node_pes, knows_lengths, has_gaps, 11);
    }
  });
}

// Some blocks travel with others of their node, and some apart.
BOOST_AUTO_TEST_CASE(an_alltoall_exchanges_short_and_long_blocks) {
  for (const auto& [n, node_pes] : {std::pair{3, 2}, {8, 3}, {9, 5}, {24, 1}, {30, 2}})
    check_alltoallv(n, node_pes, n % 2 == 0, n % 4 == 0, 1500);
}

BOOST_AUTO_TEST_SUITE_END()
