// PEs whose collective calls do not match end the job with one line that shows two of the calls, and where they were
// made. matching_test OSHRUN MISUSE_PE MATCHING_PE PES [CASE...]: a driver, not a PE. With vhosts in place of oshrun,
// PES are those of each virtual host, such as 1,2.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "../support/job.hpp"

namespace {

using job_check::checks;
using job_check::expect;
using job_check::failures;
std::string oshrun, program, on_hosts;

// The calls of most PEs and of the last one as the line shows them, and the functions of matching_pe that make them;
// null: that PE does not say which one. `N` stands for the number of the last PE, `M` for that of the one before,
// `SIZE` for the number of PEs.
struct Expected {
  const char* name;
  const char* usual;
  const char* other;
  const char* usual_place;
  const char* other_place;
  bool is_checked = false;  // by SHMEM_CHECK only
  int least_pes = 2;
  bool not_by_leaders = false;  // not where members of a node leave it to one of them to meet those of other nodes
};

const std::vector<Expected> kExpected = {
    {"barrier_reduce", "shmem_barrier_all", "shmem_int_sum_reduce (4 elements)", "barrier", "reduce"},
    {"barrier_reduce_first", "shmem_barrier_all", "shmem_int_sum_reduce (4 elements)", "barrier", "reduce"},
    {"reduce_barrier", "shmem_int_sum_reduce (4 elements)", "shmem_barrier_all", "reduce", "barrier"},
    {"roots", "shmem_int_broadcast (root 0, 4 elements)", "shmem_int_broadcast (root N, 4 elements)", "broadcast",
     "broadcast_last"},
    {"reduce_counts", "shmem_int_sum_reduce (4 elements)", "shmem_int_sum_reduce (64 elements)", "reduce",
     "reduce_many"},
    {"reduce_one_many", "shmem_int_sum_reduce (1 element)", "shmem_int_sum_reduce (64 elements)", "reduce_one",
     "reduce_many"},
    {"broadcast_counts", "shmem_int_broadcast (root 0, 4 elements)", "shmem_int_broadcast (root 0, 64 elements)",
     "broadcast", "broadcast_many"},
    {"broadcast_sizes", "shmem_int_broadcast (root 0, 4 elements)", "shmem_broadcastmem (root 0, 4 bytes)", "broadcast",
     "broadcast_bytes"},
    {"fcollect_counts", "shmem_int_fcollect (4 elements)", "shmem_int_fcollect (64 elements)", "fcollect",
     "fcollect_many"},
    {"alltoall_counts", "shmem_int_alltoall (1 element)", "shmem_int_alltoall (2 elements)", "alltoall",
     "alltoall_more"},
    {"broadcast_fcollect", "shmem_int_broadcast (root 0, 4 elements)", "shmem_int_fcollect (4 elements)", "broadcast",
     "fcollect"},
    {"fcollect_broadcast", "shmem_int_fcollect (4 elements)", "shmem_int_broadcast (root 0, 4 elements)", "fcollect",
     "broadcast"},
    {"fcollect_collect", "shmem_int_fcollect (4 elements)", "shmem_int_collect", "fcollect", "collect"},
    {"alltoall_alltoalls", "shmem_int_alltoall (1 element)", "shmem_int_alltoalls (1 element, dst 1, sst 1)",
     "alltoall", "alltoalls"},
    {"operators", "shmem_int_sum_reduce (4 elements)", "shmem_int_max_reduce (4 elements)", "reduce", "reduce_max"},
    {"types", "shmem_int_sum_reduce (4 elements)", "shmem_float_sum_reduce (4 elements)", "reduce", "reduce_floats"},
    {"reduce_scan", "shmem_int_sum_reduce (4 elements)", "shmem_int_sum_inscan (4 elements)", "reduce", "scan"},
    {"barrier_broadcast", "shmem_barrier_all", "shmem_int_broadcast (root N, 4 elements)", "barrier", "broadcast_last"},
    {"barrier_receive", "shmem_barrier_all", "shmem_int_broadcast (root 0, 4 elements)", "barrier", "broadcast"},
    {"broadcast_barrier", "shmem_int_broadcast (root 0, 4 elements)", "shmem_barrier_all", "broadcast", "barrier"},
    {"broadcast_wait", "shmem_int_broadcast (root 0, 4 elements)", "shmem_barrier_all", "broadcast", "barrier"},
    {"broadcasts_wait", "shmem_int_broadcast (root 0, 4 elements)", "shmem_barrier_all", "broadcast", "barrier", false,
     3, true},
    {"roots_wait", "shmem_int_broadcast (root 0, 4 elements)", "shmem_int_broadcast (root N, 4 elements)", "broadcast",
     "broadcast_last"},
    {"broadcast_compute", "shmem_broadcast (root 0, 4 elements of 4 bytes)", "shmem_barrier_all", nullptr, "barrier"},
    {"broadcast_compute", "another collective", "shmem_barrier_all", nullptr, "barrier", true, 3},
    {"finalize_barrier", "shmem_finalize", "shmem_barrier_all", "finalize", "barrier"},
    {"barrier_finalize", "shmem_barrier_all", "shmem_finalize", "barrier", "finalize"},
    {"reduce_finalize", "shmem_int_sum_reduce (4 elements)", "shmem_finalize", "reduce", "finalize"},
    {"malloc_finalize", "shmem_malloc", "shmem_finalize", "allocate", "finalize"},
    {"malloc_barrier", "shmem_malloc", "shmem_barrier_all", "allocate", "barrier"},
    {"malloc_reduce", "shmem_malloc", "shmem_int_sum_reduce (4 elements)", "allocate", "reduce"},
    {"free_barrier", "shmem_free", "shmem_barrier_all", "release", "barrier"},
    {"realloc_free", "shmem_realloc", "shmem_free", "reallocate", "release"},
    {"split_barrier", "shmem_team_split_strided", "shmem_barrier_all", "split", "barrier"},
    {"split_split_2d", "shmem_team_split_strided", "shmem_team_split_2d", "split", "split_2d"},
    {"destroy_sync", "shmem_team_destroy", "shmem_team_sync", "destroy_same_team", "sync_same_team"},
    {"other_team", "shmem_barrier_all", "shmem_team_sync of PEs ALL", "barrier", "sync_same_team"},
    {"finalize_team", "shmem_finalize", "shmem_team_sync of PEs ALL", "finalize", "sync_same_team"},
    {"active_barrier_reduce", "shmem_barrier", "shmem_int_sum_to_all (4 elements)", "active_barrier", "active_reduce"},
    {"active_counts", "shmem_int_sum_to_all (4 elements)", "shmem_int_sum_to_all (64 elements)", "active_reduce",
     "active_reduce_many"},
    {"active_roots", "shmem_broadcast32 (root 0, 4 elements)", "shmem_broadcast32 (root N, 4 elements)",
     "active_broadcast", "active_broadcast_last"},
    {"active_first", "shmem_int_sum_to_all (4 elements)", "shmem_int_sum_to_all (64 elements)", "active_reduce",
     "active_reduce_many"},
    {"nb_barrier_reduce", "shmemx_barrier_nb", "shmemx_reduce_nb (4 elements, int32 sum)", "barrier_nb", "reduce_nb"},
    {"nb_operators", "shmemx_reduce_nb (4 elements, int32 sum)", "shmemx_reduce_nb (4 elements, int32 max)",
     "reduce_nb", "reduce_nb_max"},
    {"nb_types", "shmemx_reduce_nb (4 elements, int32 sum)", "shmemx_reduce_nb (4 elements, float sum)", "reduce_nb",
     "reduce_nb_floats"},
    {"nb_counts", "shmemx_reduce_nb (4 elements, int32 sum)", "shmemx_reduce_nb (100000 elements, int32 sum)",
     "reduce_nb", "reduce_nb_many"},
    {"nb_long_short", "shmemx_reduce_nb (100000 elements, int32 sum)", "shmemx_reduce_nb (4 elements, int32 sum)",
     "reduce_nb_many", "reduce_nb"},
    {"nb_fcollect_alltoall", "shmemx_fcollect_nb (16 bytes)", "shmemx_alltoall_nb (4 bytes)", "fcollect_nb",
     "alltoall_nb"},
    {"nb_broadcast_barrier", "shmemx_broadcast_nb (root 0, 16 bytes)", "shmemx_barrier_nb", "broadcast_nb",
     "barrier_nb"},
    {"active_other", "shmem_barrier of PEs ALL", "shmem_barrier_all", "active_barrier", "barrier"},
    {"active_arrays", "shmem_barrier (PE_start 0, logPE_stride 0, PE_size SIZE, pSync at psync)",
     "shmem_barrier (PE_start 0, logPE_stride 0, PE_size SIZE, pSync at other_psync)", "active_barrier",
     "active_barrier_other_array"},
    {"active_finalize", "shmem_barrier (PE_start 0, logPE_stride 0, PE_size SIZE)", "shmem_finalize", "active_barrier",
     "finalize"},
    {"active_sizes", "shmem_barrier (PE_start 0, logPE_stride 0, PE_size SIZE)",
     "shmem_barrier (PE_start M, logPE_stride 0, PE_size 2)", "active_barrier", "active_barrier_of_last", false, 3},
    {"nb_blocking_barrier", "shmemx_barrier_nb", "shmem_barrier_all", "barrier_nb", "barrier"},
    {"blocking_nb_barrier", "shmem_barrier_all", "shmemx_barrier_nb", "barrier", "barrier_nb"},
    {"nb_blocking_reduce", "shmemx_reduce_nb (4 elements, int32 sum)", "shmem_int_sum_reduce (4 elements)", "reduce_nb",
     "reduce"},
    {"nb_blocking_other", "shmemx_fcollect_nb (16 bytes)", "shmem_barrier_all", "fcollect_nb", "barrier"},
    {"nb_finalize", "shmemx_barrier_nb", "shmem_finalize", "barrier_nb", "finalize"},
    {"nb_other_team", "shmemx_barrier_nb", "shmem_team_sync of PEs ALL", "barrier_nb", "sync_same_team"},
    {"roots_of_pair", "shmem_int_broadcast (root 0, 4 elements)", "shmem_int_broadcast (root 1, 4 elements)",
     "broadcast_of_pair", "broadcast_of_pair_last"},
    {"realloc_nothing", "shmem_realloc", "shmem_realloc (0 bytes: a free)", "reallocate", "reallocate_to_nothing"},
    {"same_routine", "shmem_team_sync of team WORLD", "shmem_team_sync of PEs ALL", "sync_world", "sync_same_team"},
    {"same_members", "shmem_team_sync of PEs ALL (team 0x4003)", "shmem_team_sync of PEs ALL (team 0x8004)",
     "sync_same_team", "sync_other_team"},
    {"malloc_calloc", "shmem_malloc", "shmem_calloc", "allocate", "allocate_zeros"},
    {"malloc_align", "shmem_malloc", "shmem_align", "allocate", "allocate_aligned"},
    {"alltoalls_strides", "shmem_int_alltoalls (1 element, dst 1, sst 1)",
     "shmem_int_alltoalls (1 element, dst 2, sst 1)", "alltoalls", "alltoalls_apart"},
    {"barrier_sync", "shmem_barrier_all", "shmem_sync_all", "barrier", "sync_all"},
    {"active_barrier_sync", "shmem_barrier", "shmem_sync", "active_barrier", "active_sync"},
    {"dest_reduce", "shmem_int_sum_reduce (4 elements) with 'dest' at dest",
     "shmem_int_sum_reduce (4 elements) with 'dest' at dest+0x10", "reduce", "reduce_behind", true},
    {"dest_broadcast", "shmem_int_broadcast (root 0, 4 elements) with 'dest' at dest",
     "shmem_int_broadcast (root 0, 4 elements) with 'dest' at dest+0x10", "broadcast", "broadcast_behind", true},
    {"dest_spaces", "shmem_int_broadcast (root 0, 4 elements) with 'dest' at dest",
     "shmem_int_broadcast (root 0, 4 elements) with 'dest' at heap+0x50", "broadcast", "broadcast_to_block", true},
    {"dest_fcollect", "shmem_int_fcollect (4 elements) with 'dest' at dest",
     "shmem_int_fcollect (4 elements) with 'dest' at dest+0x10", "fcollect", "fcollect_behind", true},
    {"dest_collect", "shmem_int_collect with 'dest' at dest", "shmem_int_collect with 'dest' at dest+0x10", "collect",
     "collect_behind", true},
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

std::string call_of(const char* call, int pes) {
  const std::string last = std::to_string(pes - 1);
  const std::string text = replaced(replaced(call, "root N", "root " + last), "SIZE", std::to_string(pes));
  const std::string all = pes == 2 ? "PEs 0, 1" : "PEs 0.." + last;
  return replaced(replaced(text, "PEs ALL", all), "PE_start M", "PE_start " + std::to_string(pes - 2));
}

// Without the numbers of lines.
std::string without_lines(const std::string& line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    text += line[i];
    if (line[i] != ':') continue;
    while (i + 1 < line.size() && line[i + 1] >= '0' && line[i + 1] <= '9') ++i;
  }
  return text;
}

std::string place_of(const char* function) {
  return std::string("(anonymous namespace)::") + function + "() (matching_pe.cpp:)";
}

bool is_of_memory(const std::string& call) {
  return call == "shmem_malloc" || call == "shmem_calloc" || call == "shmem_align" || call == "shmem_free" ||
         call.starts_with("shmem_realloc");
}

// A message tells the type of the other PE's call, not the name of its routine, which its record may tell a little
// later.
std::string with_names_of_types(std::string line) {
  constexpr std::string_view kPrefix = "shmem_int32_";
  for (std::size_t at; (at = line.find(kPrefix)) != std::string::npos;) line.replace(at, kPrefix.size(), "shmem_int_");
  return line;
}

std::vector<std::string> command_of(const char* name, int pes) {
  if (on_hosts.empty()) return {oshrun, "-n", std::to_string(pes), "--timeout", "40", program, name};
  const auto hosts = std::to_string(std::count(on_hosts.begin(), on_hosts.end(), ',') + 1);
  return {oshrun, "run", "--hosts", hosts, "--pes", on_hosts, "--timeout", "40", "--", program, name};
}

bool has_leaders() {
  const char* const pes_per_node = std::getenv("SHMEMX_PES_PER_NODE");
  return !on_hosts.empty() || (pes_per_node != nullptr && std::atoi(pes_per_node) > 1);
}

// The lines of the library.
std::vector<std::string> diagnostics(const std::string& text) {
  auto lines = job::lines(text);
  std::erase_if(lines, [](const std::string& line) { return !line.ends_with("Job ended."); });
  return lines;
}

// Both places with their lines. On a busy machine addr2line may take longer than the PE waits for it.
bool has_both_places(const std::string& text, const Expected& expected) {
  constexpr std::string_view kPlace = "(matching_pe.cpp:";
  const bool has_one = text.find(kPlace) != std::string::npos;
  return expected.usual_place == nullptr ? has_one : has_one && text.find(kPlace) != text.rfind(kPlace);
}

job::Result run(const Expected& expected, int pes) {
  constexpr int kMostRuns = 3;
  job::Spec spec{.command = command_of(expected.name, pes), .limit_seconds = 45};
  if (expected.is_checked) spec.environment = {"SHMEM_CHECK=1"};
  job::Result result;
  for (int i = 0; i < kMostRuns && !has_both_places(result.err, expected); ++i) result = job::run(spec);
  return result;
}

void check(const Expected& expected, int pes) {
  const std::string what = std::string(expected.name) + " on " + std::to_string(pes);
  const job::Result result = run(expected, pes);
  const std::string usual = call_of(expected.usual, pes), other = call_of(expected.other, pes);
  const std::string remark = is_of_memory(usual) != is_of_memory(other)
                                 ? "; a call that asks for 0 bytes or names a null pointer is none"
                                 : "";
  const auto lines = on_hosts.empty() ? job::lines(result.err) : diagnostics(result.err);
  expect(result.status == 1 && lines.size() == 1, what + ": ends with one line", result);
  std::vector<std::string> allowed;
  const std::string last = std::to_string(pes - 1), other_place = place_of(expected.other_place);
  const std::string places = expected.usual_place == nullptr
                                 ? other_place + " by pe " + last
                                 : place_of(expected.usual_place) + " and at " + other_place;
  for (int pe = 0; pe + 1 < pes; ++pe) {
    allowed.push_back("pe " + std::to_string(pe) + ": " + usual + " does not match pe " + last + ": " + other + remark +
                      "; called at " + places + ". Job ended.");
  }
  const std::string line = lines.empty() ? "" : with_names_of_types(without_lines(lines[0]));
  const bool is_allowed = std::any_of(allowed.begin(), allowed.end(), [&](const std::string& text) {
    return line.ends_with("] " + without_lines(text));
  });
  expect(is_allowed, what + ": is not like\n" + without_lines(allowed[0]), result);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  oshrun = argv[1];
  program = argv[3];
  int pes = std::atoi(argv[4]);
  if (const char* next = std::strchr(argv[4], ','); next != nullptr) {
    on_hosts = argv[4];
    for (; next != nullptr; next = std::strchr(next + 1, ',')) pes += std::atoi(next + 1);
  }
  for (const Expected& expected : kExpected) {
    const bool is_chosen = argc == 5 || std::any_of(argv + 5, argv + argc, [&](const char* name) {
                             return name == std::string(expected.name);
                           });
    if (is_chosen && pes >= expected.least_pes && !(expected.not_by_leaders && has_leaders())) check(expected, pes);
  }
  std::printf("%d checks, %d failures\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
