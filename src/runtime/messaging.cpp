#include "runtime/messaging.hpp"

#include <shmemx/types.h>

#include "am/endpoint.hpp"
#include "am/net_channel.hpp"
#include "base/doorbell.hpp"
#include "coll/background/begin.hpp"
#include "coll/common/flag_messages.hpp"
#include "coll/internode/collect.hpp"
#include "onesided/operations.hpp"
#include "onesided/rdma.hpp"
#include "progress/policy.hpp"
#include "progress/threads.hpp"
#include "pt2pt/messages.hpp"
#include "runtime/inquiry.hpp"
#include "runtime/leaving.hpp"
#include "tasks/active.hpp"
#include "tasks/tasks.hpp"
#include "windows/exposure.hpp"

namespace shmemx::runtime {
namespace {

constinit progress::MessagePolls polls_before;  // flush_messages()

nemesis::Parts parts_of(const windows::Arena& arena, const StartParameters& parameters) {
  return {arena.channel(), channel_layout(parameters), parameters.nodes.index_of(arena)};
}

bool by_messages(const StartParameters& parameters) { return parameters.path == NodePath::queue; }

void expose_memory(const windows::Arena& arena, const StartParameters& parameters, const context::Context& world) {
  const NodeIndex pe = parameters.nodes.index;
  windows::expose_builtin(windows::kHeapWindow, arena.heap(pe), world.window_bytes);
  windows::expose_builtin(windows::kStaticWindow, reinterpret_cast<std::byte*>(world.static_base), world.static_bytes);
}

void hide_memory() {
  for (std::uint32_t i = 0; i < windows::kBuiltinWindows; ++i) windows::expose_builtin({i, 0}, nullptr, 0);
}

// For the endpoint, which asks at the first contact. Never changes: the nodes of the process stay.
constinit const Nodes* nodes_of_paths = nullptr;
std::uint8_t paths_of(int pe) { return nodes_of_paths->paths_of(pe); }

void set_handlers() {
  tasks::set_active_handlers();
  onesided::set_handlers();
  coll::set_handlers();
  set_inquiry_handlers();
}

}  // namespace

nemesis::Layout channel_layout(const StartParameters& parameters) noexcept {
  const config::Config& config = parameters.config;
  return nemesis::make_layout(parameters.nodes.sharing.n_node_pes, config.queue_cell_bytes, config.queue_cells);
}

Doorbells doorbells_of(const windows::Arena& arena, const StartParameters& parameters) noexcept {
  const NodePes pes = parameters.nodes.index_of(arena);
  if (!by_messages(parameters))
    return {reinterpret_cast<std::byte*>(&arena.doorbell(NodeIndex{0})),
            static_cast<std::ptrdiff_t>(arena.geometry().stride), pes};
  const nemesis::Parts parts = parts_of(arena, parameters);
  return {reinterpret_cast<std::byte*>(&parts.control(parameters.nodes.here.front()).doorbell),
          static_cast<std::ptrdiff_t>(parts.layout().part_bytes), pes};
}

void open_messages(const windows::Arena& arena, StartParameters& parameters, int thread_level) noexcept {
  const config::Config& config = parameters.config;
  Nodes& nodes = parameters.nodes;
  nodes_of_paths = &nodes;
  am::set_up({.parts = parts_of(arena, parameters),
              .me = parameters.identity.pe,
              .n_pes = parameters.identity.n_pes,
              .doorbells = doorbells_of(arena, parameters),
              .many_threads = thread_level == SHMEM_THREAD_MULTIPLE,
              .pending_max = config.pending_max,
              .route = nodes.several() ? nodes.route.entries().data() : nullptr,
              .paths_of = nodes.several() ? paths_of : nullptr,
              .networks = nodes.open,
              .probe_ms = nodes.probe_ms,
              .net_bypass = config.net_bypass,
              .lost = end_for_lost,
              .stage_of = note_stage});
  name_hosts(nodes);
  set_handlers();
  // The thread that watches memory must not keep the process alive, which the progress threads see to.
  const bool may_help = config.progress != config::Progress::off;
  onesided::open_rdma(config.net_rma, nodes.open, may_help ? config.registration_cache : 0);
  pt2pt::open({.parts = parts_of(arena, parameters),
               .me = parameters.identity.pe,
               .n_pes = parameters.identity.n_pes,
               .unexpected_max = config.unexpected_max,
               .lmt = config.lmt,
               .receive_bypass = config.receive_bypass,
               .crowded = progress::policy().crowded});
  coll::set_collect({config.collect_leaders, static_cast<int>(config.collect_group)});
  coll::background::set_alltoall_mesh(config.alltoall_mesh);
  coll::background::open();
  tasks::open({.me = parameters.identity.pe,
               .n_pes = parameters.identity.n_pes,
               .tasks_max = config.tasks_max,
               .gathers = config.tasks_gather,
               .node_of = context::node_of,
               .passes_on = may_help && nodes.several()});
  expose_memory(arena, parameters, context::default_context());
  am::rest(false);
  if (by_messages(parameters) || nodes.several()) progress::open();
  const bool needs_help = by_messages(parameters) && parameters.identity.n_pes > 1;
  if (may_help && (needs_help || config.progress == config::Progress::on)) progress::start_node_thread();
  if (may_help && nodes.several()) progress::start_network_thread(nodes.here.size() > 1);
}

void flush_messages(const char* routine) noexcept {
  polls_before = progress::message_polls();
  progress::open();  // others may have sent to a PE that has not looked yet
  tasks::leave(routine);
  tasks::flush_active(routine);
}

void close_messages() noexcept {
  while (am::poll()) {
  }
  progress::stop_node_thread();
  am::rest(
      true);  // the networks' progress thread goes on, for what is still on its way and for those that ask for a sign
  coll::background::close();
  pt2pt::close();
  onesided::close_rdma();
  hide_memory();
  progress::set_message_polls(polls_before);
}

}  // namespace shmemx::runtime
