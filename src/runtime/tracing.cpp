#include "runtime/tracing.hpp"

#include <execinfo.h>
#include <limits.h>
#include <shmemx/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/fatal.hpp"
#include "base/host_name.hpp"
#include "base/object_name.hpp"
#include "coll/barrier.hpp"
#include "coll/common/team.hpp"
#include "context/route.hpp"
#include "onesided/update.hpp"
#include "progress/wait.hpp"
#include "runtime/job.hpp"
#include "stats/ring.hpp"
#include "stats/trace_file.hpp"

namespace shmemx::runtime {
namespace {

// Never destroyed, since PEs may still end at exit.
struct Trace {
  std::string output;  // an absolute path
  int lives = 0;       // of the library
};
Trace& trace() {
  static Trace* const instance = new Trace;
  return *instance;
}

// Later lives of the library have a file of their own each.
std::string output_of(const char* path, int life) {
  std::string absolute = path;
  char directory[PATH_MAX];
  if (path[0] != '/' && ::getcwd(directory, sizeof directory) != nullptr)
    absolute = std::string(directory) + "/" + path;
  return life < 2 ? absolute : absolute + "." + std::to_string(life);
}

std::string file_of_node(int node) { return trace().output + ".node" + std::to_string(node); }

void fill_program(stats::RingProgram& program) {
  program.begin = reinterpret_cast<std::uintptr_t>(executable_begin());
  program.end = executable_end();
  program.load_bias = load_bias();
  const ssize_t bytes = ::readlink("/proc/self/exe", program.path, sizeof program.path - 1);
  program.path[bytes > 0 ? bytes : 0] = 0;
}

void fill_header(stats::RingHeader& header, const config::Config& config, const Nodes& nodes,
                 const windows::Arena& arena) {
  header.magic = stats::kRingMagic;
  header.job = arena.header().job_id;
  header.begun_ns = static_cast<std::uint64_t>(::time(nullptr)) * 1'000'000'000U;
  header.n_parts = static_cast<std::uint32_t>(nodes.here.size());
  header.capacity = std::bit_ceil(static_cast<std::uint32_t>(config.trace_events));
  header.owner.pe = static_cast<std::uint32_t>(nodes.setup.me);
  header.owner.n_pes = static_cast<std::uint32_t>(nodes.setup.n_pes);
  header.owner.node = static_cast<std::uint32_t>(context::places.my_node);
  header.owner.n_nodes = static_cast<std::uint32_t>(nodes.n_nodes);
  constexpr int kMostOfName = sizeof header.owner.host - 1;
  std::snprintf(header.owner.host, sizeof header.owner.host, "%.*s", kMostOfName, host_name().text);
  fill_program(header.program);
}

// ---- clocks ----

// In the symmetric heap while clocks are compared. Each word is written by swaps of one other PE at a time.
struct ClockWords {
  std::uint64_t ping;    // the number of a round, from PE 0
  std::uint64_t reply;   // on PE 0: the other one's time
  std::uint64_t error;   // the result, from PE 0
  std::uint64_t offset;  // the same: twice the difference, plus 1
};
constexpr int kRounds = 16;

std::uint64_t word_now(const std::uint64_t& word) {
  return std::atomic_ref(const_cast<std::uint64_t&>(word)).load(std::memory_order_acquire);
}

void swap_word(const char* routine, const std::uint64_t& word, std::uint64_t value, int pe) {
  const context::Location found =
      context::resolve(context::default_context(), {routine, "word"}, &word, sizeof word, pe);
  static_cast<void>(onesided::fetch(routine, found.place, atomic::operation(atomic::ElementOp::replace, value)));
}

// The round with the shortest way there and back says most: what it took is twice the largest error.
void compare_clock(const char* routine, ClockWords& words, int pe) {
  std::uint64_t best_ns = UINT64_MAX;
  std::uint64_t offset = 0;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    const std::uint64_t before = word_now(words.reply);
    const std::uint64_t begin = now_ns();
    swap_word(routine, words.ping, round, pe);
    progress::wait_for(routine, [&] { return word_now(words.reply) != before; });
    const std::uint64_t ns = now_ns() - begin;
    if (ns >= best_ns) continue;
    best_ns = ns;
    offset = begin + ns / 2 - word_now(words.reply);
  }
  swap_word(routine, words.error, best_ns / 2, pe);
  swap_word(routine, words.offset, offset * 2 + 1, pe);
}

stats::ClockReading answer_with_clock(const char* routine, ClockWords& words) {
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    progress::wait_for(routine, [&] { return word_now(words.ping) == round; });
    swap_word(routine, words.reply, now_ns(), 0);
  }
  progress::wait_for(routine, [&] { return word_now(words.offset) != 0; });
  return {now_ns(), static_cast<std::int64_t>(word_now(words.offset)) >> 1, word_now(words.error)};
}

// Of the lowest PE of each node but PE 0's.
void keep_reading(const stats::ClockReading& reading, ClockTime time) {
  if (!stats::has_ring()) return;
  stats::ClockMap& clock = stats::ring_header().clock;
  (time == ClockTime::start ? clock.first : clock.last) = reading;
}

// Returns the lowest PE of each node.
std::vector<int> node_leaders(const Nodes& nodes) {
  std::vector<int> found(static_cast<std::size_t>(nodes.n_nodes), -1);
  for (int pe = nodes.setup.n_pes - 1; pe >= 0; --pe) found[static_cast<std::size_t>(context::node_of(pe))] = pe;
  return found;
}

void meet_for_trace(const char* routine) { coll::barrier(coll::team_table[coll::kEndTeam], routine); }

// ---- the end ----

void remove_all(const std::vector<std::string>& files) {
  for (const std::string& file : files) ::unlink(file.c_str());
}

// Files of other machines may be out of reach, and then all stay.
void write_output(const Nodes& nodes) {
  stats::TraceSource source;
  for (int node = 0; node < nodes.n_nodes; ++node) source.files.push_back(file_of_node(node));
  const std::string& output = trace().output;
  const auto result = stats::write_trace(source, output);
  if (!result) return warn("SHMEM_TRACE: %s", result.error().text.c_str());
  if (result.value().n_missing == 0) return remove_all(source.files);
  warn(
      "SHMEM_TRACE: %s holds %zu of %d PEs, as PE 0 cannot read the files of all nodes; shmem_trace_join makes one "
      "trace of them, %s.node0 and so on",
      output.c_str(), result.value().n_pes, nodes.setup.n_pes, output.c_str());
}

}  // namespace

bool open_trace(const config::Config& config, const Nodes& nodes, const windows::Arena& arena) noexcept {
  if (config.trace.text[0] == 0) return false;
  trace().output = output_of(config.trace.text.data(), ++trace().lives);
  // The place among the PEs of the node; nodes that are pretended share an arena, and so the numbers there.
  const auto place = std::lower_bound(nodes.here.begin(), nodes.here.end(), nodes.setup.me) - nodes.here.begin();
  stats::RingHeader header{};
  fill_header(header, config, nodes, arena);
  const std::string file = file_of_node(context::places.my_node);
  const Status opened =
      stats::open_ring(file.c_str(), static_cast<std::size_t>(place), header, thread_level() == SHMEM_THREAD_MULTIPLE);
  if (!opened && nodes.here.front() == nodes.setup.me)
    warn("%s: %s; there is no trace of this node", opened.error().text.c_str(),
         std::strerror(opened.error().system_errno));
  void* frames[1];
  static_cast<void>(::backtrace(frames, 1));  // the first call loads a library
  return opened.has_value();
}

void align_clocks(const char* routine, const Nodes& nodes, ClockTime time) noexcept {
  if (!nodes.several()) return;
  const auto offset = allocator().allocate(sizeof(ClockWords), kCacheLine);
  if (!offset) return;
  const int me = context::default_context().my_pe;
  auto* const words = ::new (reinterpret_cast<void*>(context::default_context().heap_base + *offset)) ClockWords{};
  meet_for_trace(routine);
  const std::vector<int> all = node_leaders(nodes);
  if (me == 0) {
    for (const int pe : all) {
      if (pe > 0) compare_clock(routine, *words, pe);
    }
  } else if (nodes.here.front() == me) {
    keep_reading(answer_with_clock(routine, *words), time);
  }
  meet_for_trace(routine);
  *words = {};  // as memory that nobody has used
  static_cast<void>(allocator().release(*offset));
}

void finish_trace(const char* routine, const Nodes& nodes) noexcept {
  meet_for_trace(routine);  // all PEs have stopped
  align_clocks(routine, nodes, ClockTime::end);
  if (context::default_context().my_pe == 0) write_output(nodes);
}

}  // namespace shmemx::runtime
