// A process with an endpoint whose only network plays the other PE (played_network.hpp), and one life of the library on
// it, for tests of long blocks.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "am/net_channel.hpp"
#include "base/doorbell.hpp"
#include "onesided/direct.hpp"
#include "onesided/keys.hpp"
#include "onesided/operations.hpp"
#include "onesided/rdma.hpp"
#include "onesided/rdma_probe.hpp"
#include "onesided/wire.hpp"
#include "played_network.hpp"
#include "progress/policy.hpp"

namespace shmemx::unit {

inline constexpr std::size_t kLong = onesided::kRdmaBytes;

// The channel of the process goes on from case to case, as it does from init to init; so the network does, and counts.
struct Process {
  Process() {
    const nemesis::Layout layout = nemesis::make_layout(2, 1024, 16);
    memory.resize(layout.total_bytes + kCacheLine);
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    const nemesis::Parts parts(memory.data() + (kCacheLine - address % kCacheLine) % kCacheLine, layout);
    doorbell_hooks.own = &parts.control(0).doorbell;
    progress::policy().bare_polls = 1;
    static std::uint8_t via[2] = {am::kNodeRoute, 0};
    static transport::Transport* const networks[1] = {&network};
    am::set_up({.parts = parts,
                .me = 0,
                .n_pes = 2,
                .doorbells = {reinterpret_cast<std::byte*>(&parts.control(0).doorbell),
                              static_cast<std::ptrdiff_t>(layout.part_bytes),
                              {}},
                .many_threads = false,
                .pending_max = 1U << 20,
                .route = via,
                .networks = networks});
    onesided::set_handlers();
    progress::open();
  }
  std::vector<std::byte> memory;
  PlayedNetwork network;
};
inline Process& process() {
  static auto* const instance = new Process;
  return *instance;
}

// One life of the library.
struct Life {
  enum class Network : std::uint8_t { hardware, unproven, software, messages };
  explicit Life(config::NetRma choice = config::NetRma::automatic, Network kind = Network::hardware)
      : network(process().network) {
    network.can.rma = kind == Network::hardware || kind == Network::unproven;
    network.can.probes_rma = kind == Network::unproven;
    network.has_rma = kind != Network::messages;
    transport::Transport* const networks[] = {&network};
    for (const std::size_t index : {context::kDefaultContext, std::size_t{7}, std::size_t{9}, std::size_t{20}})
      onesided::open_direct(context::context_table[index]);
    onesided::open_rdma(choice, networks, std::uint64_t{1} << 20);
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 7 + (i >> 8));
  }
  ~Life() {
    onesided::flush("the end", {});
    onesided::close_rdma();
    network.log.clear();
    network.answers.clear();
    network.lists.clear();
    network.can = PlayedNetwork::kHardware;
    network.has_rma = true;
    network.opens = network.registers = network.names_itself = true;
    network.key_range = kRemoteBytes;
    network.keys_at_once = 1;
    network.most_registered = 1000;
    network.most_lanes = 100;
    network.lane_bytes = kRemoteBytes;
    network.lanes_opened = 0;
    network.message_polls = network.transfer_polls = 1;
    network.puts_alone = network.gets_alone = true;
    network.order = transport::FenceOrder::nothing;
    network.fences = 0;
    network.reads_later = false;
    network.probe_answers.clear();
    const am::Locked endpoint;
    onesided::forget_proofs();
  }
  bool has(std::size_t offset, std::size_t bytes) const {
    return std::memcmp(network.remote.data() + offset, source.data(), bytes) == 0;
  }
  void put(std::size_t offset, std::size_t bytes, am::SendOptions options = {}) {
    onesided::put("put", at(offset), source.data(), bytes, options);
  }
  // As the program does it.
  void put_of_program(std::size_t offset, std::size_t bytes) {
    onesided::put("put", context::default_context(), at(offset), source.data(), bytes);
  }
  void put_nbi(std::size_t offset, std::size_t bytes) {
    onesided::put_nbi("put_nbi", context::default_context(), at(offset), source.data(), bytes);
  }
  static context::Place at(std::size_t offset) { return {kOther, windows::kHeapWindow, offset}; }

  PlayedNetwork& network;
  std::vector<std::byte> source = std::vector<std::byte>(kRemoteBytes);
};

using Log = std::vector<std::string>;

}  // namespace shmemx::unit
