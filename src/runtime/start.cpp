#include "runtime/start.hpp"

#include <limits.h>
#include <shmemx/types.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "am/network_thread.hpp"
#include "base/affinity.hpp"
#include "base/doorbell.hpp"
#include "base/fatal.hpp"
#include "base/futex.hpp"
#include "base/machine.hpp"
#include "base/wait_mode.hpp"
#include "coll/common/team.hpp"
#include "config/config_report.hpp"
#include "context/route.hpp"
#include "onesided/rdma.hpp"
#include "progress/hints.hpp"
#include "progress/policy.hpp"
#include "progress/threads.hpp"
#include "rma/copy.hpp"
#include "runtime/crash.hpp"
#include "runtime/debugger.hpp"
#include "runtime/globals.hpp"
#include "runtime/leaving.hpp"
#include "runtime/messaging.hpp"
#include "runtime/processors.hpp"
#include "runtime/waiting.hpp"
#include "windows/heap_address.hpp"
#include "windows/node_path.hpp"
#include "windows/static_holes.hpp"

namespace shmemx::runtime {
namespace {

constexpr std::uint64_t kMeetCheckNs = 100'000'000;

constexpr std::uint64_t kHeapUnderValgrind = std::uint64_t{64} << 20;

// Returns the size of the heap for "auto": the machine's memory. The range is only reserved; shmem_malloc checks the
// memory that is available. Under valgrind it is small, since valgrind takes minutes to record reserved memory.
std::uint64_t default_heap_bytes() {
  if (runs_under_valgrind()) return kHeapUnderValgrind;
  return std::max<std::uint64_t>(round_up(total_memory_bytes(), kHugePageBytes), kHugePageBytes);
}

void fill_record(bootstrap::PeRecord& record, const StartParameters& parameters) {
  record.static_bytes = parameters.statics.span_bytes();
  record.static_digest = parameters.statics.digest();
  record.static_data = parameters.static_data;
  record.heap_bytes = parameters.heap_bytes;
  record.heap_asked = parameters.config.symmetric_size.has_value() ? 1 : 0;
  record.address_limit = address_space_limit();
  record.cpu_quota_milli = cpu_quota_milli();
  if (!read_affinity(record.affinity)) std::memset(record.affinity, 0xff, sizeof record.affinity);
  record.node_path = parameters.config.node_path;
  record.queue_cells = static_cast<std::uint32_t>(parameters.config.queue_cells);
  record.queue_cell_bytes = static_cast<std::uint32_t>(parameters.config.queue_cell_bytes);
  record.pes_per_node = static_cast<std::uint16_t>(parameters.config.pes_per_node);
  record.node_order = static_cast<std::uint16_t>(parameters.config.node_order);
  record.networks = parameters.config.transport.code();
  record.checks = parameters.config.check.bits();
  record.free_zones = windows::free_zones();
  char path[PATH_MAX] = "";
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path - 1);
  const auto tail =
      static_cast<std::size_t>(std::max<ssize_t>(0, length - static_cast<ssize_t>(sizeof record.executable) + 1));
  std::snprintf(record.executable, sizeof record.executable, "%s", path + tail);
  record.phase.store(static_cast<std::uint32_t>(bootstrap::PePhase::attached), std::memory_order_release);
}

// Returns true if the kernel backs shared memory with huge pages after MADV_HUGEPAGE. The file reads "always
// within_size [advise] never ...".
bool shared_memory_can_be_huge() {
  const std::string modes = read_small_file("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  return !modes.empty() && modes.find("[never]") == std::string::npos && modes.find("[deny]") == std::string::npos;
}

void request_huge_pages(const windows::Arena& arena, const StartParameters& parameters) {
  using config::HugePages;
  if (parameters.config.huge_pages == HugePages::never) return;
  const bool asked = ::madvise(arena.heap(parameters.nodes.index), arena.geometry().heap_bytes, MADV_HUGEPAGE) == 0;
  if (parameters.config.huge_pages == HugePages::automatic || parameters.identity.pe != 0) return;
  if (asked && shared_memory_can_be_huge()) return;
  warn(
      "SHMEMX_HUGE_PAGES=always, but the kernel backs shared memory with small pages: see "
      "/sys/kernel/mm/transparent_hugepage/shmem_enabled");
}

// Makes the pages of a PE's block come from its own NUMA node, whichever PE touches them first.
void prefer_own_node(const windows::Arena& arena, NodeIndex pe) {
  const std::string nodes = read_small_file("/sys/devices/system/node/online");
  if (nodes.empty() || parse_cpu_list(nodes).size() < 2) return;
  unsigned node = 0;
  if (::syscall(SYS_getcpu, nullptr, &node, nullptr) != 0) return;
  constexpr int kPreferred = 1;  // MPOL_PREFERRED
  constexpr std::size_t kWordBits = 64;
  std::uint64_t mask[16] = {};
  if (node >= std::size(mask) * kWordBits) return;
  mask[node / kWordBits] = std::uint64_t{1} << (node % kWordBits);
  ::syscall(SYS_mbind, arena.block(pe), arena.geometry().stride, kPreferred, mask, std::size(mask) * kWordBits, 0);
}

// If many PEs share a core, each of them has to run once within the yielding phase: for longer with networks, whose
// polls are system calls. PEs of other machines may run on these cores unnoticed. The bound leaves the turn of a PE
// shorter than a time slice.
std::uint64_t default_yield_us(std::uint64_t pes, bool by_network) {
  const std::uint64_t network_us = by_network ? std::clamp<std::uint64_t>(100 * pes, 800, 2000) : 0;
  return std::max({std::uint64_t{200}, 20 * pes, network_us});
}

void set_places(const windows::Arena& arena, const StartParameters& parameters) {
  const Nodes& nodes = parameters.nodes;
  const bool is_direct = parameters.path == NodePath::direct;
  context::all_mapped = is_direct && !nodes.several();
  if (!nodes.several()) return;
  context::places = {.location = arena.locations(),
                     .n_nodes = nodes.n_nodes,
                     .my_node = nodes.mine,
                     .node_is_mapped = is_direct,
                     .index = nodes.index_of(arena),
                     .block_step = static_cast<std::int64_t>(arena.geometry().stride)};
  if (nodes.map->real_nodes.empty()) return;
  static constinit const bootstrap::NodeMap* map = nullptr;  // the launcher's, which stays
  map = nodes.map;
  context::places.is_real = [](int pe) { return map->is_real(map->node(pe)); };
}

// Returns the zones of the address space that all PEs of the job have free.
std::uint64_t common_zones(const windows::Arena& arena, const bootstrap::NodeMap& nodes) {
  std::uint64_t zones = nodes.n_nodes() > 1 ? arena.header().foreign_zones : ~std::uint64_t{0};
  for (const auto& [pe, record] : arena.records()) {
    if (arena.has(pe)) zones &= record->free_zones;
  }
  return zones;
}

// Maps the memory. All PEs compute the same path and layout from the records.
Status map_memory(windows::Arena& arena, StartParameters& parameters, const bootstrap::NodeMap& map) {
  const std::vector<bootstrap::RecordOfPe> records = arena.records();
  SHMEMX_TRY(windows::check_agreement(records));
  const nemesis::Layout layout = channel_layout(parameters);
  const Nodes& nodes = parameters.nodes;
  SHMEMX_TRY_ASSIGN(plan, windows::plan_node(records, nodes.sharing, layout.total_bytes));
  parameters.path = plan.path;
  parameters.path_reason = plan.why;
  parameters.path_warning = plan.warning;
  parameters.common_heap = windows::common_heap_address(common_zones(arena, map), plan.geometry);
  const windows::HeapAt heap{nodes.index, parameters.common_heap};
  SHMEMX_TRY(plan.path == NodePath::direct
                 ? arena.map_blocks(plan.geometry, nodes.in_file, heap)
                 : arena.map_own_block(plan.geometry, nodes.in_file, heap, plan.room_for_all));
  arena.record(parameters.identity.pe).heap_address = reinterpret_cast<std::uintptr_t>(arena.heap(nodes.index));
  set_places(arena, parameters);
  return {};
}

// Returns a line on where the heaps lie.
std::string describe_heap_address(const windows::Arena& arena, const StartParameters& parameters) {
  bool is_common = parameters.common_heap != 0;
  for (const auto& [pe, record] : arena.records())
    is_common = is_common && (!arena.has(pe) || record->heap_address == parameters.common_heap);
  char line[128];
  std::snprintf(line, sizeof line, "shmemx: the symmetric heap begins at %#llx on all PEs\n",
                static_cast<unsigned long long>(parameters.common_heap));
  return is_common ? line : "shmemx: the symmetric heap begins at another address on each PE\n";
}

// Writes this PE's record and endpoint addresses into the arena, and waits until those of all PEs are there.
Status exchange_start_data(windows::Arena& arena, StartParameters& parameters, bootstrap::Bootstrap& launcher,
                           const char* routine) {
  const bootstrap::Identity identity = parameters.identity;
  bootstrap::PeRecord& record = arena.record(identity.pe);
  divide(parameters.nodes, launcher.nodes(), identity, parameters.config, arena);
  SHMEMX_TRY(open_networks(parameters.nodes, arena, launcher, parameters.config));
  find_statics(parameters);
  fill_record(record, parameters);
  SHMEMX_TRY(meet_node_pes(arena, routine));
  if (launcher.nodes().n_nodes() == 1) return {};
  launcher.look_up_nodes_in(arena.locations(), std::move(parameters.nodes.machines));
  SHMEMX_TRY(exchange_records(parameters.nodes, arena, launcher));
  SHMEMX_TRY(meet_node_pes(arena, routine));
  return launcher.may_fetch_later() ? Status() : parameters.nodes.peer_addresses->read_all();
}

}  // namespace

Status read_parameters(StartParameters& parameters) {
  SHMEMX_TRY_ASSIGN(config, config::parse_environment(environ));
  parameters.config = std::move(config);
  diagnostic_identity().debug = parameters.config.debug;
  stop_before_the_end(parameters.config);
  if (parameters.config.backtrace) {
    report_crashes(CrashReports::all);
  } else if (parameters.config.check.any()) {
    report_crashes(CrashReports::of_arguments);
  }
  parameters.heap_bytes = parameters.config.symmetric_size.value_or(default_heap_bytes());
  const CopySizes sizes = copy_sizes_for(last_cache_bytes());
  copy_sizes = {parameters.config.copy_large.value_or(sizes.large_bytes),
                parameters.config.copy_stream.value_or(sizes.stream_bytes), sizes.loops};
  return {};
}

Status share_memory(windows::Arena& arena, StartParameters& parameters, bootstrap::Bootstrap& launcher,
                    const char* routine) {
  const int pe = parameters.identity.pe;
  SHMEMX_TRY(exchange_start_data(arena, parameters, launcher, routine));
  SHMEMX_TRY(map_memory(arena, parameters, launcher.nodes()));
  SHMEMX_TRY(choose_networks(parameters.nodes, arena));
  const windows::Geometry& geometry = arena.geometry();
  if (const std::string directory = bootstrap::directory_of_file(arena.fd()); pe == 0 && !directory.empty())
    debug_line("memfd_create is refused: the PEs' memory lies in a file without a name in %s", directory.c_str());
  if (!arena.follow_locking())
    parameters.config.warnings.push_back(
        "the program locks its memory (mlockall), but symmetric memory stays unlocked: the limit on locked memory "
        "(ulimit "
        "-l) is " +
        std::to_string(locked_memory_limit()) + " bytes");
  prefer_own_node(arena, parameters.nodes.index);
  request_huge_pages(arena, parameters);
  // Rounded to pages, but no more than the least that a PE requests.
  parameters.heap_limit_bytes = geometry.heap_bytes;
  for (const auto& of_pe : arena.records())
    parameters.heap_limit_bytes = std::min<std::uint64_t>(parameters.heap_limit_bytes, of_pe.record->heap_bytes);
  parameters.statics_are_symmetric = agree_on_statics(arena, parameters);
  if (!parameters.statics_are_symmetric || parameters.statics.span_bytes() == 0) {
    if (parameters.nodes.setup.stop_signal != 0) windows::stop_no_more();
    return {};
  }
  windows::set_static_holes(parameters.statics.holes());
  return parameters.statics.share(arena.fd(), arena.offset_of_block(parameters.nodes.index) + geometry.static_offset);
}

context::Context make_world(const windows::Arena& arena, const StartParameters& parameters) noexcept {
  const windows::Geometry& geometry = arena.geometry();
  const int pe = parameters.identity.pe;
  const NodeIndex index = parameters.nodes.index;
  context::Context world{};
  world.heap_base = reinterpret_cast<std::uintptr_t>(arena.heap(index));
  world.window_bytes = parameters.heap_limit_bytes;
  world.n_pes = arena.header().n_pes;
  context::set_hot_limits(world);
  const bool has_statics = parameters.statics_are_symmetric;
  if (has_statics) {
    world.static_base = reinterpret_cast<std::uintptr_t>(parameters.statics.base());
    world.static_bytes = parameters.statics.span_bytes();
  }
  world.handle = context::kDefaultContext;
  world.team_index = static_cast<std::uint32_t>(coll::kWorldTeam);
  world.my_pe = pe;
  world.set = team::PeSet(Pe{0}, 1, static_cast<int>(world.n_pes));
  context::set_near(world, {index, arena.heap(index), has_statics ? arena.statics(index) : nullptr,
                            static_cast<std::int64_t>(geometry.stride)});
  return world;
}

namespace {

// Returns whether a network brings something and wakes nobody: it has no descriptor, or PEs put by its RMA.
bool needs_polls(const Nodes& nodes, config::NetRma choice) {
  return std::any_of(nodes.open.begin(), nodes.open.end(), [choice](transport::Transport* network) {
    return !network->capabilities().waits || onesided::uses_rdma(*network, choice);
  });
}

// A yield lets others run that wait, too: with very many PEs on a core a waiter sleeps at once, for so long that the
// others have their turns meanwhile. It is woken when it can go on; the bounds on its sleep are for the wake-ups that
// are missed.
void configure_sleeping(progress::Policy& policy, const config::Config& config, std::uint64_t n_pes,
                        const Nodes& nodes) {
  constexpr std::uint64_t kYieldingPesPerCore = 16;
  constexpr std::uint64_t kFirstSleepNsPerPe = 40'000;  // on the same core
  constexpr std::uint64_t kLastSleepUsPerPe = 200;
  constexpr std::uint64_t kUnwokenYieldNs = 110'000'000;
  const std::uint64_t turns_us = default_yield_us(n_pes, nodes.several());
  const std::uint64_t per_core = policy.crowded ? n_pes / static_cast<std::uint64_t>(usable_cpus()) : 1;
  const bool very_many = per_core > kYieldingPesPerCore;
  policy.yield_ns = 1000 * config.yield_us.value_or(very_many ? 0 : turns_us);
  progress::hints.cores.set_turn_ns(std::max(progress::kDefaultTurnNs, 250 * config.yield_us.value_or(turns_us)));
  progress::SleepSteps& sleep = policy.sleep;
  if (very_many) sleep.first_ns = kFirstSleepNsPerPe * per_core;
  const std::uint64_t step_us = very_many ? kLastSleepUsPerPe * per_core : 1000;
  sleep.max_ns = 1000 * config.sleep_max_us.value_or(step_us);
  sleep.first_ns = std::min(sleep.first_ns, sleep.max_ns);
  if (needs_polls(nodes, config.net_rma)) {
    policy.unwoken.longest_sleep_ns = 1000 * step_us;
    policy.unwoken.yield_ns = config.yield_us.has_value() ? 0 : kUnwokenYieldNs;
  }
  // Without a progress thread nothing but the end of a step tells that a network has brought a message.
  const bool is_woken = !nodes.several() || config.progress != config::Progress::off;
  sleep.may_grow_long = is_woken && !very_many && !config.sleep_max_us.has_value();
}

}  // namespace

void configure_waiting(const windows::Arena& arena, const StartParameters& parameters) noexcept {
  const config::Config& config = parameters.config;
  const windows::Geometry& geometry = arena.geometry();
  const bool crowded = pes_outnumber_cores(arena);
  progress::Policy& policy = progress::policy();
  policy.mode = config.wait;
  policy.crowded = crowded && config.wait != WaitMode::spin;
  policy.tests_are_watched = policy.crowded || config.watchdog.seconds != 0;
  doorbell_hooks = {.own = &doorbells_of(arena, parameters).at(parameters.identity.pe),
                    .wake_network_sleeper = progress::wake_network_sleeper};
  am::network_thread.wake = progress::wake_network_thread;
  set_watchdog(config.watchdog);
  policy.hooks.on_sleep = note_waiting;
  policy.hooks.on_wake = forget_waiting;
  policy.hooks.on_vain_tests = note_vain_tests;
  policy.hooks.serve = answer_other_processes;
  policy.hooks.part_from_pes = policy.crowded || policy.mode == WaitMode::spin ? nullptr : part_from_pes;
  watch_doorbells(doorbells_of(arena, parameters), parameters.nodes.here, parameters.identity.pe);
  context::calls_make_progress = config.progress == config::Progress::off && parameters.nodes.several();
  context::alone_on_node = parameters.nodes.several() && parameters.nodes.here.size() == 1;
  context::reads_are_watched = policy.tests_are_watched || context::calls_make_progress || context::alone_on_node;
  constexpr std::uint64_t kPauseNs = 25;
  const std::uint64_t spin_ns = config.spin_ns.value_or(crowded ? 0 : 2000);
  policy.store_polls = spin_ns == 0 ? 1 : 200;
  policy.bare_polls = context::all_mapped ? policy.store_polls : 1;
  policy.pause_polls = static_cast<std::uint32_t>(std::min<std::uint64_t>(spin_ns / kPauseNs, 1U << 30));
  // About a round trip between nodes, unless the user sets it. PEs of other machines may run on these cores unnoticed.
  policy.poll_ns = parameters.nodes.several() ? std::max<std::uint64_t>(config.spin_ns.value_or(12'000), 1) : 0;
  configure_sleeping(policy, config, arena.header().n_node_pes, parameters.nodes);
  coll::node_slots = {geometry.heap_offset, geometry.slot_bytes, crowded};
}

Status meet_node_pes(const windows::Arena& arena, const char* routine) noexcept {
  bootstrap::JobHeader& header = arena.header();
  const std::uint32_t n_pes = header.n_node_pes;
  const std::uint32_t ticket = header.arrived.fetch_add(1, std::memory_order_acq_rel);
  const std::uint32_t complete = (ticket / n_pes + 1) * n_pes;
  if (ticket + 1 == complete) {
    futex_wake(header.arrived, FutexScope::node);
    return {};
  }
  Status met;
  while (met) {
    const std::uint32_t seen = header.arrived.load(std::memory_order_acquire);
    if (seen >= complete) break;
    note_waiting(routine, {});
    futex_sleep(header.arrived, seen, kMeetCheckNs, FutexScope::node);
    if (header.init_error_printed.load(std::memory_order_relaxed) != 0)
      met = Error{Errc::unsupported, 0, "another PE of this node cannot start, see its message"};
  }
  forget_waiting();
  return met;
}

void report_start(const windows::Arena& arena, const StartParameters& parameters,
                  const bootstrap::Bootstrap& launcher) noexcept {
  if (parameters.identity.pe != 0) return;
  debug_line("the node path is %s: %s; %llu cells of %llu bytes for messages of each PE",
             parameters.path == NodePath::direct ? "direct" : "queue", parameters.path_reason.c_str(),
             static_cast<unsigned long long>(parameters.config.queue_cells),
             static_cast<unsigned long long>(parameters.config.queue_cell_bytes));
  if (!parameters.config.symmetric_size && runs_under_valgrind())
    debug_line("under valgrind the default heap is %llu bytes; SHMEM_SYMMETRIC_SIZE sets another size",
               static_cast<unsigned long long>(kHeapUnderValgrind));
  for (const std::string& warning : parameters.config.warnings) warn("%s", warning.c_str());
  if (!parameters.path_warning.empty()) warn("%s", parameters.path_warning.c_str());
  if (parameters.config.version)
    std::printf("%s, OpenSHMEM %d.%d\n", SHMEM_VENDOR_STRING, SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION);
  using config::kind::InfoLevel;
  const InfoLevel info = parameters.config.info;
  const config::Config& config = parameters.config;
  if (info == InfoLevel::every_variable)
    std::fputs((config::render_info(config, config::kAllGroups) + describe_heap_address(arena, parameters)).c_str(),
               stdout);
  if (info == InfoLevel::variables || info == InfoLevel::all)
    std::fputs((config::render_summary(config) + describe_heap_address(arena, parameters)).c_str(), stdout);
  if (info == InfoLevel::peers || info == InfoLevel::all)
    std::fputs(
        (describe_peers(parameters.nodes, parameters.path_reason, parameters.config) + describe_launcher(launcher))
            .c_str(),
        stdout);
  std::fflush(stdout);
}

void report_end(const StartParameters& parameters, const bootstrap::Bootstrap& launcher) noexcept {
  const bool is_asked = parameters.config.info == config::kind::InfoLevel::all && parameters.identity.pe == 0;
  if (!is_asked || !parameters.nodes.several()) return;
  std::printf("what PE 0 has sent\n%s%s%s%s", describe_links(parameters.nodes).c_str(),
              describe_gathering(gather_counts()).c_str(), describe_frames(frame_counts()).c_str(),
              describe_launcher(launcher).c_str());
  std::fflush(stdout);
}

}  // namespace shmemx::runtime
