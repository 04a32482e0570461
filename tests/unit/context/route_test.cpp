#include "context/route.hpp"

#include <boost/test/unit_test.hpp>
#include <span>
#include <string>

#include "coll/common/group.hpp"
#include "context/location.hpp"
#include "support/child.hpp"
#include "support/node.hpp"
#include "support/waiting.hpp"

BOOST_AUTO_TEST_SUITE(context_route)

namespace {

using namespace shmemx;
using context::Context;

constexpr int kPes = 4;
constexpr context::Site kSite{"shmem_test", "dest"};
constexpr std::uint64_t kMost = ~std::uint64_t{0};

const unit::Node& node() {
  static const unit::Node instance(kPes);
  return instance;
}

// Returns the diagnostic with which resolve() ends the process; empty if it returns.
std::string diagnostic(const Context& context, const void* address, std::uint64_t bytes, int pe) {
  const auto end = unit::in_child([&] {
    context::resolve(context, kSite, address, bytes, pe);
    return 0;
  });
  return end.status == 0 ? "" : end.text;
}

// Sets the process up as if the other PEs' memory were not mapped.
class QueuePath {
 public:
  static inline Doorbell own_doorbell{};

  QueuePath() : waiting_(with_doorbell()) { context::all_mapped = false; }
  ~QueuePath() { context::all_mapped = true; }
  QueuePath(const QueuePath&) = delete;
  QueuePath& operator=(const QueuePath&) = delete;

 private:
  static unit::WaitSettings with_doorbell() {
    unit::WaitSettings policy;
    policy.own_doorbell = &own_doorbell;
    return policy;
  }
  unit::WaitingGuard waiting_;
};

// Sets the process up as PE `me` of a job of several nodes. The blocks of the node are the first ones of node().
class NodesPath : QueuePath {
 public:
  NodesPath(std::span<const PeLocation> locations, int me) : me_(me) {
    const std::uint32_t mine = locations[static_cast<std::size_t>(me)].node;
    context::places = {.location = locations.data(),
                       .n_nodes = 3,
                       .my_node = static_cast<int>(mine),
                       .node_is_mapped = true,
                       .index = NodePes(locations.data()),
                       .block_step = static_cast<std::int64_t>(node().arena().geometry().stride)};
    world_ = unit::make_world(node().arena(), index());
    world_.my_pe = me;
    world_.n_pes = static_cast<std::uint32_t>(locations.size());
    world_.set = team::PeSet(Pe{0}, 1, static_cast<int>(locations.size()));
    context::set_hot_limits(world_);
    const windows::Arena& arena = node().arena();
    context::set_near(world_, {NodeIndex{index()}, arena.heap(NodeIndex{index()}), arena.statics(NodeIndex{index()}),
                               context::places.block_step});
  }
  ~NodesPath() { context::places = {}; }

  int index() const { return context::node_index(me_).value; }
  const Context& world() const { return world_; }
  Context team(int start, int stride, int size) const {
    const team::PeSet set = *world_.set.subset(start, stride, size);
    return coll::route_of(world_, set, set.find(Pe{me_})->value);
  }

 private:
  int me_;
  Context world_{};
};

// Every member of the node's is found at its block, by heap and static data; every other member by messages.
void check_routes(const NodesPath& nodes, const Context& route) {
  for (int pe = 0; pe < static_cast<int>(route.n_pes); ++pe) {
    const int world = context::world_pe(route, pe);
    std::byte* const in_heap = node().at<std::byte>(nodes.index(), 64);
    std::byte* const in_statics = node().arena().statics(NodeIndex{nodes.index()}) + 8;
    const auto heap = context::resolve(route, kSite, in_heap, 8, pe);
    const auto statics = context::resolve(route, kSite, in_statics, 8, pe);
    const bool is_here = context::node_of(world) == context::places.my_node;
    BOOST_TEST_CONTEXT("PE " << pe) BOOST_CHECK_EQUAL(heap.is_mapped(), is_here);
    if (!is_here) continue;
    const NodeIndex index = context::node_index(world);
    BOOST_CHECK_EQUAL(heap.address, node().arena().heap(index) + 64);
    BOOST_CHECK_EQUAL(statics.address, node().arena().statics(index) + 8);
    if (pe != route.my_pe) BOOST_CHECK_EQUAL(heap.doorbell, &node().arena().doorbell(index));
    BOOST_CHECK_EQUAL(context::peer_heap(route, pe), node().arena().heap(index));
  }
}

bool names(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_CASE(in_heap_is_exact_at_both_ends) {
  const Context& world = node().world(1);
  const std::uintptr_t base = world.heap_base;
  const std::uint64_t size = world.heap_bytes;
  BOOST_CHECK(context::in_heap(world, base, 0));
  BOOST_CHECK(context::in_heap(world, base, size));
  BOOST_CHECK(!context::in_heap(world, base, size + 1));
  BOOST_CHECK(!context::in_heap(world, base - 1, 1));
  BOOST_CHECK(!context::in_heap(world, base - 1, size + 1));
  BOOST_CHECK(context::in_heap(world, base + size - 1, 1));
  BOOST_CHECK(!context::in_heap(world, base + size - 1, 2));
  BOOST_CHECK(!context::in_heap(world, base + size, 1));
  BOOST_CHECK(!context::in_heap(world, base + 8, kMost));
  BOOST_CHECK(!context::in_heap(world, base + 8, kMost - base - 7));  // address + bytes wraps to 0
  BOOST_CHECK(!context::in_heap(world, 0, 1));
}

BOOST_AUTO_TEST_CASE(heap_addresses_are_translated_to_the_same_offset_of_the_peer) {
  for (int me = 0; me < kPes; ++me) {
    const Context& world = node().world(me);
    for (int pe = 0; pe < kPes; ++pe) {
      for (const std::size_t offset : {std::size_t{0}, std::size_t{12345}, unit::kNodeHeapBytes - 8}) {
        const auto target = context::resolve(world, kSite, node().at<void>(me, offset), 8, pe);
        BOOST_REQUIRE_EQUAL(target.address, node().arena().heap(NodeIndex{pe}) + offset);
        BOOST_REQUIRE_EQUAL(target.doorbell, &node().arena().doorbell(NodeIndex{pe}));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(static_addresses_are_translated_to_the_same_offset_of_the_peer) {
  const Context& world = node().world(2);
  for (int pe = 0; pe < kPes; ++pe) {
    for (const std::size_t offset : {std::size_t{0}, unit::kNodeStaticBytes - 4}) {
      const auto target = context::resolve(world, kSite, node().arena().statics(NodeIndex{2}) + offset, 4, pe);
      BOOST_REQUIRE_EQUAL(target.address, node().arena().statics(NodeIndex{pe}) + offset);
      BOOST_REQUIRE_EQUAL(target.doorbell, &node().arena().doorbell(NodeIndex{pe}));
    }
  }
}

BOOST_AUTO_TEST_CASE(any_address_is_accepted_with_zero_bytes) {
  int automatic = 0;
  const Context& world = node().world(0);
  BOOST_CHECK(context::resolve(world, kSite, &automatic, 0, 3).address != nullptr);
  BOOST_CHECK(context::resolve(world, kSite, nullptr, 0, 3).address != nullptr);
  BOOST_CHECK_EQUAL(context::resolve(world, kSite, nullptr, 0, 3).doorbell, &node().arena().doorbell(NodeIndex{3}));
  BOOST_CHECK(names(diagnostic(world, nullptr, 0, kPes), "argument 'pe' is 4"));
}

BOOST_AUTO_TEST_CASE(pe_numbers_of_reversed_and_strided_teams_are_translated) {
  const team::PeSet reversed = *node().world(0).set.subset(3, -1, 4);
  const Context back = coll::route_of(node().world(1), reversed, 2);
  BOOST_CHECK_LT(back.pe_step, 0);
  const team::PeSet odd = *node().world(0).set.subset(1, 2, 2);
  const Context odds = coll::route_of(node().world(3), odd, 1);
  for (int pe = 0; pe < 4; ++pe) {
    BOOST_CHECK_EQUAL(context::resolve(back, kSite, node().at<void>(1, 64), 8, pe).address,
                      node().arena().heap(NodeIndex{3 - pe}) + 64);
    BOOST_CHECK_EQUAL(context::resolve(back, kSite, node().arena().statics(NodeIndex{1}) + 8, 8, pe).address,
                      node().arena().statics(NodeIndex{3 - pe}) + 8);
  }
  BOOST_CHECK_EQUAL(context::resolve(odds, kSite, node().at<void>(3, 64), 8, 0).address,
                    node().arena().heap(NodeIndex{1}) + 64);
  BOOST_CHECK_EQUAL(context::resolve(odds, kSite, node().at<void>(3, 64), 8, 1).address,
                    node().arena().heap(NodeIndex{3}) + 64);
  BOOST_CHECK(names(diagnostic(odds, node().at<void>(3, 64), 8, 2), "argument 'pe' is 2, allowed are 0..1"));
}

BOOST_AUTO_TEST_CASE(near_pes_are_those_of_the_node_around_this_one) {
  static constexpr PeLocation kWhere[] = {{0, 0}, {1, 0}, {1, 1}, {1, 2}, {2, 0}};
  for (const int me : {1, 2, 3}) {
    const NodesPath nodes(kWhere, me);
    const Context& world = nodes.world();
    BOOST_CHECK_EQUAL(world.heap_bytes, unit::kNodeHeapBytes);
    BOOST_CHECK_EQUAL(world.first_near, 1U);
    BOOST_CHECK_EQUAL(world.n_near, 3U);
    const Context back = nodes.team(4, -1, 5);
    BOOST_CHECK_LT(back.pe_step, 0);
    BOOST_CHECK_EQUAL(back.first_near, 1U);
    BOOST_CHECK_EQUAL(back.n_near, 3U);
    check_routes(nodes, world);
    check_routes(nodes, back);
    const std::byte* const other_heap = node().at<std::byte>(nodes.index() == 0 ? 1 : 0, 64);
    const char* const owner = nodes.index() == 0 ? "it is in the heap of PE 2" : "it is in the heap of PE 1";
    BOOST_CHECK(names(diagnostic(world, other_heap, 8, 1), owner));
    for (const int pe : {-1, 5, 2147483647, -2147483647 - 1})
      BOOST_CHECK(names(diagnostic(world, node().at<void>(nodes.index(), 64), 8, pe),
                        ("'pe' is " + std::to_string(pe)).c_str()));
  }
}

BOOST_AUTO_TEST_CASE(pes_dealt_out_in_turn_are_mapped_and_near_in_a_team_of_their_own) {
  static constexpr PeLocation kWhere[] = {{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}, {0, 2}, {1, 2}, {2, 2}};
  for (const int me : {1, 4, 7}) {
    const NodesPath nodes(kWhere, me);
    BOOST_CHECK_EQUAL(nodes.world().first_near, static_cast<std::uint32_t>(me));
    BOOST_CHECK_EQUAL(nodes.world().n_near, 1U);
    check_routes(nodes, nodes.world());
    for (const int stride : {3, -3}) {
      const Context team = nodes.team(stride > 0 ? 1 : 7, stride, 3);
      BOOST_CHECK(context::all_near(team));
      BOOST_CHECK_EQUAL(team.pe_step > 0, stride > 0);
      check_routes(nodes, team);
    }
  }
}

// The node index of neighbours differs by 1, by 2 or by more: near are those at one distance.
BOOST_AUTO_TEST_CASE(pes_at_any_place_are_found) {
  static constexpr PeLocation kWhere[] = {{0, 0}, {0, 1}, {1, 0}, {0, 2}, {1, 1}, {0, 3}, {2, 0}, {2, 1}};
  for (const int me : {0, 1, 3, 5}) {
    const NodesPath nodes(kWhere, me);
    check_routes(nodes, nodes.world());
    check_routes(nodes, nodes.team(7, -1, 8));
    if (me == 0) continue;
    const Context odd = nodes.team(1, 2, 4);
    BOOST_CHECK_EQUAL(odd.n_near, 3U);
    check_routes(nodes, odd);
  }
  static constexpr PeLocation kGap[] = {{0, 0}, {1, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 1}};
  const NodesPath nodes(kGap, 2);
  const Context evens = nodes.team(0, 2, 3);  // at distances of 1 and 2
  BOOST_CHECK(!context::all_near(evens));
  for (int pe = 0; pe < 3; ++pe) BOOST_CHECK(context::is_mapped(evens, pe));
  check_routes(nodes, evens);
}

BOOST_AUTO_TEST_CASE(a_pe_out_of_range_is_named) {
  const Context& world = node().world(0);
  BOOST_CHECK_EQUAL(diagnostic(world, node().at<void>(0, 0), 8, 3), "");
  for (const int pe : {-1, 4, 2147483647, -2147483647 - 1}) {
    const std::string text = diagnostic(world, node().at<void>(0, 0), 8, pe);
    BOOST_CHECK_MESSAGE(
        names(text, ("shmem_test: argument 'pe' is " + std::to_string(pe) + ", allowed are 0..3").c_str()), text);
  }
}

BOOST_AUTO_TEST_CASE(a_range_past_the_end_is_named) {
  const Context& world = node().world(2);
  std::byte* const heap_end = node().arena().heap(NodeIndex{2}) + unit::kNodeHeapBytes;
  std::byte* const static_end = node().arena().statics(NodeIndex{2}) + unit::kNodeStaticBytes;
  BOOST_CHECK_EQUAL(diagnostic(world, heap_end - 8, 8, 0), "");
  BOOST_CHECK(names(diagnostic(world, heap_end - 8, 9, 0),
                    "9 bytes from there go past the end of the symmetric heap, allowed are 8 bytes"));
  BOOST_CHECK(names(diagnostic(world, heap_end - 8, kMost, 0), "past the end of the symmetric heap"));
  BOOST_CHECK(names(diagnostic(world, static_end - 4, 8, 0),
                    "8 bytes from there go past the end of the static data, allowed are 4 bytes"));
  BOOST_CHECK(names(diagnostic(world, static_end - 4, kMost - 2, 0), "past the end of the static data"));
}

BOOST_AUTO_TEST_CASE(an_address_that_is_not_symmetric_is_named) {
  int automatic = 0;
  const Context& world = node().world(2);
  BOOST_CHECK(names(diagnostic(world, &automatic, 4, 0), "argument 'dest' is 0x"));
  BOOST_CHECK(names(diagnostic(world, &automatic, 4, 0), "not a symmetric address"));
  BOOST_CHECK(names(diagnostic(world, nullptr, 4, 0), "not a symmetric address"));
  BOOST_CHECK(
      names(diagnostic(world, node().at<void>(1, 64), 4, 0), "not a symmetric address"));  // memory of another PE
  BOOST_CHECK(names(diagnostic(world, node().arena().heap(NodeIndex{2}) + unit::kNodeHeapBytes, 1, 0),
                    "not a symmetric address"));
}

BOOST_AUTO_TEST_CASE(is_symmetric_is_exact_at_the_ends) {
  const Context& world = node().world(1);
  for (const auto& [begin, bytes] : {std::pair{node().arena().heap(NodeIndex{1}), unit::kNodeHeapBytes},
                                     std::pair{node().arena().statics(NodeIndex{1}), unit::kNodeStaticBytes}}) {
    BOOST_CHECK(context::is_symmetric(world, begin, bytes));
    BOOST_CHECK(!context::is_symmetric(world, begin, bytes + 1));
    BOOST_CHECK(!context::is_symmetric(world, begin - 1, 1));
    BOOST_CHECK(context::is_symmetric(world, begin + bytes - 1, 1));
    BOOST_CHECK(!context::is_symmetric(world, begin + bytes, 1));
    BOOST_CHECK(!context::is_symmetric(world, begin + 1, kMost));
  }
}

BOOST_AUTO_TEST_CASE(addresses_are_checked_even_if_memory_is_not_mapped) {
  const QueuePath queue_path;
  Context world = node().world(1);
  context::set_hot_limits(world);
  BOOST_CHECK_EQUAL(world.heap_bytes, 0U);
  for (const std::uint64_t limit : world.heap_limit) BOOST_CHECK_EQUAL(limit, 0U);
  for (const std::uint64_t elements : world.heap_elements) BOOST_CHECK_EQUAL(elements, 0U);
  BOOST_CHECK(!context::in_heap(world, world.heap_base, 1));
  std::byte* const in_heap = node().arena().heap(NodeIndex{1}) + 64;
  std::byte* const in_statics = node().arena().statics(NodeIndex{1}) + 8;
  for (int pe = 0; pe < kPes; ++pe) {
    BOOST_CHECK_EQUAL(context::is_mapped(world, pe), pe == 1);
    for (std::byte* const address : {in_heap, in_statics}) {
      const auto target = context::resolve(world, kSite, address, 8, pe);
      BOOST_CHECK_EQUAL(target.address, pe == 1 ? address : nullptr);
      BOOST_CHECK_EQUAL(target.doorbell, pe == 1 ? &QueuePath::own_doorbell : nullptr);
      BOOST_CHECK_EQUAL(target.place.pe, pe);
      BOOST_CHECK_EQUAL(target.place.offset, address == in_heap ? 64u : 8u);
    }
    const auto nothing = context::resolve(world, kSite, nullptr, 0, pe);
    BOOST_CHECK_EQUAL(nothing.address, pe == 1 ? node().arena().heap(NodeIndex{1}) : nullptr);
    BOOST_CHECK(nothing.place.window == windows::kHeapWindow && nothing.place.offset == 0);
  }
  BOOST_CHECK(context::is_symmetric(world, node().at<void>(1, 0), unit::kNodeHeapBytes));
  BOOST_CHECK(!context::is_symmetric(world, node().at<void>(1, 0), unit::kNodeHeapBytes + 1));
  int automatic = 0;
  std::byte* const heap_end = node().arena().heap(NodeIndex{1}) + unit::kNodeHeapBytes;
  BOOST_CHECK(names(diagnostic(world, in_heap, 8, kPes), "argument 'pe' is 4, allowed are 0..3"));
  BOOST_CHECK(names(diagnostic(world, heap_end - 8, 9, 0), "past the end of the symmetric heap, allowed are 8 bytes"));
  BOOST_CHECK(names(diagnostic(world, &automatic, 4, 0), "not a symmetric address"));
  BOOST_CHECK(names(diagnostic(world, node().at<void>(2, 64), 4, 2), "not a symmetric address"));
  context::make_unusable(world);
  BOOST_CHECK_EQUAL(diagnostic(world, in_heap, 1, 0), "shmem_test: called before shmem_init. Job ended.\n");
}

BOOST_AUTO_TEST_CASE(a_location_is_mapped_or_a_place_in_a_window) {
  Context world = node().world(1);
  std::byte* const in_heap = node().arena().heap(NodeIndex{1}) + 64;
  std::byte* const in_statics = node().arena().statics(NodeIndex{1}) + 8;
  const context::Location mapped = context::resolve(world, kSite, in_heap, 8, 2);
  BOOST_CHECK(mapped.is_mapped());
  BOOST_CHECK_EQUAL(mapped.address, node().arena().heap(NodeIndex{2}) + 64);
  const QueuePath queue_path;
  context::set_hot_limits(world);
  const context::Location heap = context::resolve(world, kSite, in_heap, 8, 2);
  BOOST_CHECK(!heap.is_mapped());
  BOOST_CHECK(heap.place.window == windows::kHeapWindow && heap.place.offset == 64 && heap.place.pe == 2);
  const context::Location statics = context::resolve(world, kSite, in_statics, 8, 3);
  BOOST_CHECK(statics.place.window == windows::kStaticWindow && statics.place.offset == 8 && statics.place.pe == 3);
  const Context back = coll::route_of(world, *world.set.subset(3, -1, 4), 2);
  BOOST_CHECK_EQUAL(context::place_of(back, in_heap, 0).pe, 3);
}

BOOST_AUTO_TEST_CASE(windows_and_addresses_translate_both_ways) {
  const Context& world = node().world(1);
  for (std::byte* const own : {node().arena().heap(NodeIndex{1}) + 4096, node().arena().statics(NodeIndex{1}) + 16}) {
    const auto found = context::find_place(world, reinterpret_cast<std::uintptr_t>(own), 8, 3);
    BOOST_REQUIRE(found);
    BOOST_CHECK_EQUAL(found->pe, 3);
    BOOST_CHECK_EQUAL(context::mapped_address(world, *found, 1), own);
    BOOST_CHECK_EQUAL(context::mapped_address(world, *found, 3),
                      own - node().arena().block(NodeIndex{1}) + node().arena().block(NodeIndex{3}));
  }
  int automatic = 0;
  BOOST_CHECK(!context::find_place(world, reinterpret_cast<std::uintptr_t>(&automatic), 4, 3));
}

BOOST_AUTO_TEST_CASE(members_of_teams_are_translated_to_world_numbers) {
  const Context& world = node().world(3);
  const Context back = coll::route_of(world, *world.set.subset(3, -1, 4), 0);
  const Context odds = coll::route_of(world, *world.set.subset(1, 2, 2), 1);
  for (int pe = 0; pe < kPes; ++pe) {
    BOOST_CHECK_EQUAL(context::world_pe(world, pe), pe);
    BOOST_CHECK_EQUAL(context::world_pe(back, pe), 3 - pe);
    BOOST_CHECK(context::is_mapped(back, pe));
  }
  BOOST_CHECK_EQUAL(context::world_pe(odds, 0), 1);
  BOOST_CHECK_EQUAL(context::world_pe(odds, 1), 3);
  const QueuePath queue_path;
  for (int pe = 0; pe < kPes; ++pe) BOOST_CHECK_EQUAL(context::is_mapped(back, pe), pe == 0);
  BOOST_CHECK(!context::is_mapped(odds, 0) && context::is_mapped(odds, 1));
}

BOOST_AUTO_TEST_CASE(hot_limits_are_exact_for_all_sizes) {
  Context context{};
  for (const std::uint64_t bytes : {0, 1, 7, 8, 15, 16, 4096}) {
    context.window_bytes = bytes;
    context::set_hot_limits(context);
    for (int k = 0; k < context::kSizeClasses; ++k) {
      const std::uint64_t size = std::uint64_t{1} << k;
      for (std::uint64_t offset = 0; offset < 20; ++offset) {
        BOOST_REQUIRE_EQUAL(offset < context.heap_limit[k], offset + size <= bytes);
      }
    }
    BOOST_CHECK_EQUAL(context.heap_elements[0], bytes / 4);
    BOOST_CHECK_EQUAL(context.heap_elements[1], bytes / 8);
  }
}

BOOST_AUTO_TEST_CASE(an_unusable_context_has_no_pe_or_address_in_range) {
  Context context = node().world(1);
  context::make_unusable(context);
  BOOST_CHECK(!context::in_heap(context, context.heap_base, 0));
  BOOST_CHECK(!context::is_symmetric(context, node().at<void>(1, 0), 1));
  BOOST_CHECK_EQUAL(diagnostic(context, node().at<void>(1, 0), 1, 0),
                    "shmem_test: called before shmem_init. Job ended.\n");
  const auto end = unit::in_child([&] {
    context::set_unusable_reason("called after shmem_finalize");
    context::resolve(context, kSite, nullptr, 1, 0);
    return 0;
  });
  BOOST_CHECK_EQUAL(end.text, "shmem_test: called after shmem_finalize. Job ended.\n");
}

BOOST_AUTO_TEST_CASE(a_destroyed_context_is_reported) {
  Context dead = node().world(1);
  context::make_unusable(dead);
  dead.handle = 0x5002;
  const auto end = unit::in_child([&] {
    context::default_context() = node().world(1);
    context::resolve(dead, kSite, node().at<void>(1, 0), 8, 0);
    return 0;
  });
  BOOST_CHECK_EQUAL(end.status, 1);
  BOOST_CHECK(names(end.text, "shmem_test: argument 'ctx' is 0x5002, which is not a live context"));
}

BOOST_AUTO_TEST_CASE(the_owner_of_a_heap_is_woken) {
  Doorbell& doorbell = node().arena().doorbell(NodeIndex{3});
  doorbell.sleepers = 1;
  const std::uint32_t before = doorbell.wake_seq;
  context::wake_heap(node().arena().heap(NodeIndex{3}));
  BOOST_CHECK_EQUAL(doorbell.sleepers.load(), 0U);
  BOOST_CHECK_EQUAL(doorbell.wake_seq.load(), before + 1);
}

BOOST_AUTO_TEST_SUITE_END()
