#include <bit>
#include <cstdio>

#include "am/endpoint.hpp"
#include "context/context.hpp"
#include "onesided/keys.hpp"
#include "onesided/rdma.hpp"
#include "onesided/rdma_probe.hpp"
#include "runtime/nodes.hpp"

namespace shmemx::runtime {
namespace {

// A list of PEs as text, with ranges: "0..3, 6".
class PeList {
 public:
  void add(int pe) {
    if (count_ != 0 && pe == last_ + 1) {
      last_ = pe;
    } else {
      close();
      first_ = last_ = pe;
    }
    ++count_;
  }
  int count() const { return count_; }
  std::string text() {
    close();
    first_ = -1;
    return text_;
  }

 private:
  void close() {
    if (first_ < 0) return;
    text_ += (text_.empty() ? "" : ", ") + std::to_string(first_);
    if (last_ != first_) text_ += ".." + std::to_string(last_);
  }
  std::string text_;
  int first_ = -1;
  int last_ = -1;
  int count_ = 0;
};

std::string line(const char* name, const std::string& text) {
  char begin[64];
  std::snprintf(begin, sizeof begin, "  %-18s", name);
  return begin + text + "\n";
}

const char* progress_of(const config::Config& config, const transport::Transport& network) {
  if (network.capabilities().rma && !network.capabilities().probes_rma)
    return "hardware, and a thread for what it cannot do";
  if (config.progress == config::Progress::off) return "calls of the library only (SHMEMX_PROGRESS=off)";
  return network.capabilities().waits ? "a thread that sleeps until something comes"
                                      : "a thread that looks at intervals (this network cannot wake it)";
}

std::string refusal_of(transport::Transport& network) {
  const am::Locked endpoint;
  return onesided::why_not_registered(network);
}

std::string blocks_of(const config::Config& config, transport::Transport& network) {
  const transport::Capabilities can = network.capabilities();
  const std::string long_ones = "puts and gets from " + std::to_string(onesided::kRdmaBytes) + " bytes: ";
  const bool is_probed = onesided::needs_probe(network, config.net_rma);
  const std::string why_not = is_probed || onesided::uses_rdma(network, config.net_rma) ? refusal_of(network) : "";
  if (!why_not.empty()) return "puts and gets: by messages, as memory like PE 0's heap is not registered: " + why_not;
  if (is_probed)
    return "puts and gets: by the network's own, if a probe at the first one shows that they need no CPU of the "
           "target; else by messages";
  if (onesided::uses_rdma(network, config.net_rma)) {
    const char* const by = can.probes_rma ? "by the network's own (SHMEMX_NET_RMA=on)"
                           : can.rma      ? "by the network's hardware"
                                          : "by the network's software (SHMEMX_NET_RMA=on)";
    return std::string("puts and gets: ") + by + ", where the target opens its memory to it";
  }
  const char* const reason = network.rma() == nullptr                ? "this network has messages only"
                             : config.net_rma == config::NetRma::off ? "SHMEMX_NET_RMA=off"
                                                                     : "this network's own are software";
  return long_ones + "by messages (" + reason + ")";
}

std::string of_node(const Nodes& nodes, const std::string& path_reason) {
  PeList list;
  for (const int pe : nodes.here) {
    if (pe != nodes.setup.me) list.add(pe);
  }
  if (list.count() == 0) return line("same node", "no other PE");
  const bool direct = context::node_is_mapped();
  const std::string path = direct ? "mapped memory: loads, stores and the processor's atomics; progress: none needed"
                                  : "messages through cells, executed by the target; progress: a thread";
  return line("same node", "PE " + list.text() + ": " + path) + line("", "because: " + path_reason);
}

std::size_t first_network(const Nodes& nodes, int pe) {
  return static_cast<std::size_t>(std::countr_zero(nodes.paths_of(pe)));
}

std::string of_network(const Nodes& nodes, const config::Config& config, std::size_t index) {
  transport::Transport& network = *nodes.open[index];
  PeList list;
  int first = -1;
  for (int pe = 0; pe < nodes.setup.n_pes; ++pe) {
    if (nodes.is_here(pe) || first_network(nodes, pe) != index) continue;
    list.add(pe);
    if (first < 0 && context::is_real(pe)) first = pe;
  }
  const int count = list.count();
  if (count == 0)
    return line("in reserve", network.name() + std::string(": for PEs to which the networks above do not lead"));
  std::string text = line("other nodes", "PE " + list.text() + (count > 1 ? " (" + std::to_string(count) + ")" : "") +
                                             ": " + network.name());
  if (first >= 0)
    text += line("", "PE " + std::to_string(first) + " on " + nodes.host_of(first) + ": " + network.describe(first));
  text += line("", "payloads: eager up to " + std::to_string(network.capabilities().short_bytes) +
                       " bytes, long messages from " + std::to_string(transport::kLongBytes) +
                       " bytes on, placed without a copy");
  text += line("", blocks_of(config, network));
  return text + line("", std::string("progress: ") + progress_of(config, network));
}

std::string alternatives(const std::vector<transport::Candidate>& networks) {
  std::string text;
  for (const std::string& name : transport::known_transports()) {
    const transport::Candidate* found = nullptr;
    for (const transport::Candidate& network : networks) {
      if (network.name == name) found = &network;
    }
    if (found == nullptr) {
      text += line("not", name + ": not asked for (SHMEMX_TRANSPORT; without RDMA hardware tcp alone is tried)");
    } else if (found->transport == nullptr) {
      text += line("not", name + ": " + found->why_not);
    }
  }
  return text;
}

std::string order_of(const transport::AutomaticOrder& order) {
  std::string names;
  for (const std::string& name : order.names) names += (names.empty() ? "" : ", ") + name;
  return line("networks", "tried in the order " + names + " (because: " + order.why + ")");
}

// Lists the networks that a job over several nodes could use on this machine.
std::string possible_networks(const Nodes& nodes) {
  transport::Setup setup = nodes.setup;
  setup.one_machine = false;
  auto found = transport::open_transports(transport::known_transports(), setup);
  if (!found) return line("other nodes", found.error().text);
  std::string text = line("other nodes", "none; what could lead to some:");
  for (const transport::Candidate& network : *found) {
    text += line("", network.name + ": " +
                         (network.transport == nullptr ? "cannot be used, " + network.why_not
                                                       : std::string("can be used, progress by a thread")));
    if (network.transport != nullptr) network.transport->close(0);
  }
  return text;
}

}  // namespace

std::string describe_peers(const Nodes& nodes, const std::string& path_reason, const config::Config& config) {
  std::string text = "how PE " + std::to_string(nodes.setup.me) + " reaches the " + std::to_string(nodes.setup.n_pes) +
                     " PEs of this job, on " + std::to_string(nodes.n_nodes) +
                     (nodes.n_nodes == 1 ? " node" : " nodes") + (nodes.why.empty() ? "" : " (" + nodes.why + ")") +
                     "\n";
  text += line("itself", "loads and stores");
  text += of_node(nodes, path_reason);
  if (!nodes.several()) return text + possible_networks(nodes);
  text += order_of(network_order(config));
  for (std::size_t i = 0; i < nodes.open.size(); ++i) text += of_network(nodes, config, i);
  return text + alternatives(nodes.networks);
}

std::string describe_launcher(const bootstrap::Bootstrap& launcher) {
  const bootstrap::Traffic traffic = launcher.traffic();
  if (traffic.fences == 0) return {};
  return line("launcher", std::string(launcher.name()) + ": " + std::to_string(traffic.puts) + " puts of " +
                              std::to_string(traffic.put_bytes) + " bytes, " + std::to_string(traffic.gets) +
                              " gets of " + std::to_string(traffic.got_bytes) + " bytes, " +
                              std::to_string(traffic.fences) + " fences");
}

std::string describe_links(const Nodes& nodes) {
  constexpr std::size_t kMostPes = 4;
  const am::Locked endpoint;
  const am::NetChannel* const net = endpoint->net();
  std::string text;
  if (net == nullptr) return text;
  for (std::size_t i = 0; i < net->contacts().size() && i < kMostPes; ++i) {
    const int pe = net->contacts()[i];
    const transport::Transport& network = net->network_of(pe);
    text += line(i == 0 ? "connections" : "", "PE " + std::to_string(pe) + " on " + nodes.host_of(pe) + ": " +
                                                  network.name() + ": " + network.describe(pe));
  }
  for (const transport::Transport* network : nodes.open) {
    const std::string shown = onesided::describe_proof(*network);
    if (!shown.empty()) text += line("", network->name() + (": " + shown));
  }
  return text;
}

std::string describe_route(int pe) {
  if (pe == context::default_context().my_pe) return "itself: loads and stores";
  if (context::is_mapped(context::default_context(), pe)) return "mapped: loads, stores and the processor's atomics";
  if (!context::is_real(pe)) return "none: this PE is pretended";
  if (context::node_of(pe) == context::places.my_node) return "queue: messages through cells, executed by the target";
  const am::Locked endpoint;
  const transport::Transport& network = endpoint->net()->network_of(pe);
  return network.name() + (": " + network.describe(pe));
}

am::GatherCounts gather_counts() noexcept {
  const am::Locked endpoint;
  return endpoint->net() == nullptr ? am::GatherCounts{} : endpoint->net()->counts();
}

transport::FrameCounts frame_counts() noexcept {
  const am::Locked endpoint;
  return endpoint->net() == nullptr ? transport::FrameCounts{} : endpoint->net()->frames();
}

std::string describe_frames(const transport::FrameCounts& counts) {
  if (counts.sent + counts.received + counts.refused() == 0) return {};
  const auto of = [](std::uint64_t count, const char* what) { return std::to_string(count) + " " + what; };
  return line("frames", of(counts.sent, "sent, ") + of(counts.resent, "of them again; ") +
                            of(counts.received, "received, ") + of(counts.duplicates, "of them again")) +
         line("", "dropped: " + of(counts.truncated, "truncated, ") + of(counts.foreign, "foreign, ") +
                      of(counts.forged, "with a wrong proof, ") + of(counts.stale, "of an earlier life, ") +
                      of(counts.overflowed, "without room in the ring"));
}

std::string describe_gathering(const am::GatherCounts& counts) {
  std::string text = line("small operations", std::to_string(counts.operations) + " to other nodes, in " +
                                                  std::to_string(counts.messages) + " messages");
  if (counts.messages == 0) return text;
  return text + line("", std::to_string(counts.operations / counts.messages) + " operations and " +
                             std::to_string(counts.bytes / counts.messages) + " bytes a message");
}

}  // namespace shmemx::runtime
