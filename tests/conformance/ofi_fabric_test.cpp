// The plug-in for libfabric over a provider that is played here: its keys are in use, and messages fail.
#include <rdma/fi_errno.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <set>
#include <tuple>
#include <vector>

#include "base/clock.hpp"
#include "endpoints.hpp"
#include "transport/ofi/inbound.hpp"

BOOST_AUTO_TEST_SUITE(ofi_fabric)

namespace {

using namespace shmemx::ofi;

// What the plug-in has requested.
struct Asked {
  std::vector<std::uint64_t> keys;
  int keys_in_use = 0;  // the number of the next ones that are refused
  std::vector<Buffer*> posted;
};
Asked asked;

fi_ops fid_ops{};

int register_with(std::uint64_t key, fid_mr** place) {
  static fid_mr made{};
  asked.keys.push_back(key);
  if (asked.keys_in_use-- > 0) return -FI_ENOKEY;
  made.fid.ops = &fid_ops;
  made.key = key;
  *place = &made;
  return 0;
}
int set_option(fid*, int, int, const void*, std::size_t) { return 0; }
ssize_t receive(fid_ep*, const fi_msg* message, std::uint64_t) {
  asked.posted.push_back(static_cast<Buffer*>(static_cast<Operation*>(message->context)));
  return 0;
}

// An endpoint that accepts registrations and receive buffers, and nothing else.
struct PlayedFabric {
  PlayedFabric() {
    asked = {};
    fid_ops.close = [](fid*) { return 0; };
    memory_ops.reg = [](fid*, auto... arguments) {
      constexpr std::size_t kKey = 4;
      constexpr std::size_t kPlace = 6;
      const std::tuple all(arguments...);
      return register_with(std::get<kKey>(all), std::get<kPlace>(all));
    };
    ep_ops.setopt = set_option;
    message_ops.recvmsg = receive;
    domain.fid.ops = ep.fid.ops = &fid_ops;
    domain.mr = &memory_ops;
    ep.ops = &ep_ops;
    ep.msg = &message_ops;
    library.freeinfo = [](fi_info*) {};
    library.strerror = [](int) { return "played"; };
    info.caps = FI_MULTI_RECV;
    info.tx_attr = &tx;
    info.ep_attr = &ep_attributes;
    info.domain_attr = &domain_attributes;
    domain_attributes.mr_key_size = 2;
    ep_attributes.max_msg_size = 1 << 20;
    fabric.library = &library;
    fabric.info = Info(&info, FreeInfo{&library});
    fabric.domain.reset(&domain);
    fabric.ep.reset(&ep);
  }

  fi_ops_mr memory_ops{};
  fi_ops_ep ep_ops{};
  fi_ops_msg message_ops{};
  fid_domain domain{};
  fid_ep ep{};
  Library library{};
  fi_tx_attr tx{};
  fi_ep_attr ep_attributes{};
  fi_domain_attr domain_attributes{};
  fi_info info{};
  Fabric fabric;
};

// A PE that receives.
struct Receiver : PlayedFabric {
  Receiver() { BOOST_REQUIRE(inbound.open(setup)); }
  // All of the buffer behind `begin` is one message, with which the provider releases it.
  void fill_behind(Buffer& buffer, std::size_t begin) {
    std::byte* const at = buffer.memory.get() + begin;
    inbound.on_received(buffer, {&buffer.context, FI_MULTI_RECV, buffer.bytes - begin, at, 0});
  }

  transport_test::Recorder sink;
  Setup setup{.me = 0, .n_pes = 2, .silence_ms = 1000, .sink = &sink};
  Memory memory{fabric, setup.secret, 0};
  Peers peers{fabric, setup};
  Outbound outbound{fabric, memory, peers, setup};
  BouncePool bounces{memory};
  Transfers transfers{fabric, memory, peers, bounces};
  Inbound inbound{fabric, memory, peers, outbound, transfers};
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_key_that_is_in_use_is_followed_by_another_one) {
  PlayedFabric played;
  const std::uint64_t secret[2] = {1, 2};
  Memory memory(played.fabric, secret, 0);
  std::byte place[64];
  asked.keys_in_use = 10;
  BOOST_CHECK(memory.register_range(place, sizeof place));
  BOOST_CHECK_EQUAL(asked.keys.size(), 11u);
  BOOST_CHECK_GT(std::set<std::uint64_t>(asked.keys.begin(), asked.keys.end()).size(), 8u);  // of 16 bits
  asked.keys_in_use = 1'000'000;
  BOOST_CHECK(!memory.register_range(place, sizeof place));
}

// Where it was to be is not known, nor whether other messages are still on their way to the buffer.
BOOST_AUTO_TEST_CASE(a_buffer_with_a_failed_message_is_replaced_and_its_memory_returned) {
  Receiver receiver;
  const std::size_t n = asked.posted.size();
  Buffer& buffer = *asked.posted.front();
  std::byte& late = buffer.memory[buffer.bytes / 2];
  receiver.inbound.on_failed(buffer, 0);
  BOOST_CHECK_EQUAL(asked.posted.size(), n);  // it is still posted
  receiver.fill_behind(buffer, 10'000);
  BOOST_REQUIRE_EQUAL(asked.posted.size(), n + 1);
  BOOST_CHECK(asked.posted.back() != &buffer);
  late = std::byte{7};
  const std::uint64_t now = shmemx::now_ns();
  receiver.inbound.free_lost(now);
  BOOST_CHECK(late == std::byte{7});
  receiver.inbound.free_lost(now + 3'000'000'000);
  BOOST_CHECK(late == std::byte{0});
}

BOOST_AUTO_TEST_CASE(a_buffer_whose_messages_are_all_here_is_used_again) {
  Receiver receiver;
  const std::size_t n = asked.posted.size();
  Buffer& buffer = *asked.posted.front();
  receiver.inbound.on_failed(buffer, 0);  // something that was to take no room
  receiver.fill_behind(buffer, 10'000);
  BOOST_CHECK_EQUAL(asked.posted.size(), n + 1);
  receiver.inbound.on_received(buffer, {&buffer.context, 0, 10'000, buffer.memory.get(), 0});  // was on its way
  receiver.fill_behind(*asked.posted[1], 0);
  BOOST_REQUIRE_EQUAL(asked.posted.size(), n + 2);
  BOOST_CHECK(asked.posted.back() == &buffer || asked.posted.back() == asked.posted[1]);
  buffer.memory[5000] = std::byte{7};
  receiver.inbound.free_lost(shmemx::now_ns() + 3'000'000'000);
  BOOST_CHECK(buffer.memory[5000] == std::byte{7});
}

BOOST_AUTO_TEST_SUITE_END()
