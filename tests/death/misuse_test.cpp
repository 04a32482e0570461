// Every misuse ends the job with one line that describes it, and with a status that is not zero.
// misuse_test OSHRUN MISUSE_PE ...: a driver, not a PE.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../support/job.hpp"

namespace {

struct Misuse {
  const char* name;
  // Words that the line must contain: the routine, the quoted argument, the value, the allowed values.
  std::vector<const char*> words;
};

const std::vector<Misuse> kMisuses = {
    {"put_pe", {"shmem_int_put:", "'pe'", "12", "allowed are 0..2", "; called at "}},
    {"p_pe_negative", {"shmem_long_p:", "'pe'", "-1", "allowed are 0..2"}},
    {"g_pe", {"shmem_long_g:", "'pe'", "4096", "allowed are 0..2"}},
    {"get_pe", {"shmem_getmem:", "'pe'", "99", "allowed are 0..2"}},
    {"iput_pe", {"shmem_long_iput:", "'pe'", "77", "allowed are 0..2"}},
    {"atomic_pe", {"shmem_long_atomic_inc:", "'pe'", "5000", "allowed are 0..2"}},
    {"fetch_pe", {"shmem_long_atomic_fetch_add:", "'pe'", "-7", "allowed are 0..2"}},
    {"put_signal_pe", {"shmem_long_put_signal:", "'pe'", "44", "allowed are 0..2"}},
    {"signal_add_pe", {"shmem_signal_add:", "'pe'", "45", "allowed are 0..2"}},
    {"pe_quiet_pe", {"shmem_pe_quiet:", "target_pes", "33", "allowed are 0..2"}},
    {"put_to_stack",
     {"shmem_long_put:", "'dest'", "not a symmetric address: it is on this thread's stack; allowed",
      "make the variable static, or allocate it with shmem_malloc"}},
    {"put_to_library",
     {"shmem_long_p:", "'dest'",
      "not a symmetric address: it is a global 'library_words' of libdeath_misuse_library.so", "allowed",
      "move it into the executable, or allocate it with shmem_malloc"}},
    {"p_to_constant",
     {"shmem_long_p:", "'dest'", "not a symmetric address: it is a constant", "death_misuse_pe", "allowed"}},
    {"get_from_malloc",
     {"shmem_getmem:", "'source'", "not a symmetric address: it is private memory", "allowed",
      "allocate it with shmem_malloc"}},
    {"p_to_null", {"shmem_long_p:", "'dest'", "not a symmetric address: it is null", "allowed"}},
    {"p_to_thread_local",
     {"shmem_long_p:", "'dest'", "not a symmetric address: it is a thread-local variable; allowed", "make it static"}},
    {"p_behind_the_heap",
     {"shmem_long_p:", "'dest'", "not a symmetric address: it is ", "it is at the end of the symmetric heap; allowed",
      "SHMEM_SYMMETRIC_SIZE"}},
    {"atomic_on_stack", {"shmem_long_atomic_add:", "'dest'", "not a symmetric address", "allowed"}},
    {"put_to_mapped_peer", {"shmem_long_p:", "'dest'", "not a symmetric address: it is ", "allowed"}},
    {"signal_on_stack", {"shmem_signal_set:", "'sig_addr'", "not a symmetric address", "allowed"}},
    {"put_past_the_heap", {"shmem_putmem:", "'dest'", "past the end", "allowed"}},
    {"bytes_negative",
     {"shmem_putmem:", "'dest'", ", -8 (as size_t 18446744073709551608) bytes from there go past the end", "allowed"}},
    {"static_bytes_negative",
     {"shmem_getmem:", "'source'", ", -8 (as size_t 18446744073709551608) bytes from there go past the end"}},
    {"get_past_static", {"shmem_getmem:", "'source'", "global_words", " bytes)", "past the end", "allowed"}},
    {"nelems_overflow", {"shmem_long_put:", "'nelems'", "allowed"}},
    {"nelems_negative", {"shmem_long_put:", "'nelems' is -3 (as size_t 18446744073709551613)", "allowed"}},
    {"misaligned_atomic", {"shmem_long_atomic_inc:", "'dest' is 0x", "3, allowed", "a multiple of the type's size, 8"}},
    {"misaligned_global",
     {"shmem_long_atomic_inc:", "'dest' is 0x", " (9 bytes into ", "::global_words', 64 bytes)", "allowed"}},
    {"p_to_null_of_a_full_heap",
     {"shmem_long_p:", "it is null, and shmem_malloc had returned NULL for 1125899906842624 bytes", "allowed",
      "SHMEM_SYMMETRIC_SIZE"}},
    {"iput_stride_zero", {"shmem_long_iput:", "'dst'", "0", "allowed"}},
    {"iget_stride_negative", {"shmem_long_iget:", "'sst'", "-2", "allowed"}},
    {"ibput_stride_small", {"shmem_long_ibput:", "'dst'", "1", "allowed"}},
    {"bad_comparison", {"shmem_long_test:", "'cmp'", "77", "allowed"}},
    {"bad_comparison_wait", {"shmem_long_wait_until:", "'cmp'", "-3", "allowed"}},
    {"bad_signal_operator", {"shmem_long_put_signal:", "'sig_op'", "99", "allowed"}},
    {"garbage_ctx_put", {"shmem_ctx_long_p:", "'ctx'", "0xdeadbeefdeadbeef", "allowed"}},
    {"garbage_ctx_quiet", {"shmem_ctx_quiet:", "'ctx'", "0xdeadbeefdeadbeef", "allowed"}},
    {"invalid_ctx_put", {"shmem_ctx_long_p:", "'ctx'", "allowed"}},
    {"destroyed_ctx", {"shmem_ctx_long_atomic_inc:", "'ctx'", "allowed"}},
    {"garbage_team_query", {"shmem_team_n_pes:", "'team'", "0x123456789abcdef0", "allowed"}},
    {"garbage_team_sync", {"shmem_team_sync:", "'team'", "0x123456789abcdef0", "allowed"}},
    {"bad_context_options", {"shmem_ctx_create:", "'options'", "1099511627776", "allowed"}},
    {"destroy_world", {"shmem_team_destroy:", "'team'", "SHMEM_TEAM_WORLD", "allowed"}},
    {"destroy_default_ctx", {"shmem_ctx_destroy:", "'ctx'", "SHMEM_CTX_DEFAULT", "allowed"}},
    {"clear_lock_not_held", {"shmem_clear_lock:", "'lock'", "not held"}},
    {"set_lock_twice", {"shmem_set_lock:", "'lock'", "already held"}},
    {"lock_on_stack", {"shmem_set_lock:", "'lock'", "not a symmetric address", "allowed"}},
    {"misaligned_lock", {"shmem_set_lock:", "'lock'", "not a lock", "allowed"}},
    {"misaligned_test_lock", {"shmem_test_lock:", "'lock'", "not a lock", "allowed"}},
    {"garbage_lock", {"shmem_set_lock:", "'lock'", "not a lock", "allowed"}},
    {"garbage_lock_cleared", {"shmem_clear_lock:", "'lock'", "not a lock", "allowed"}},
    {"garbage_lock_all_ones", {"shmem_set_lock:", "'lock'"}},
    {"wait_on_null", {"shmem_long_wait_until:", "'ivar'", "not a symmetric address", "allowed"}},
    {"wait_all_on_null", {"shmem_int_wait_until_all:", "'ivars'", "not a symmetric address", "allowed"}},
    {"test_of_null", {"shmem_long_test:", "'ivar'", "not a symmetric address", "allowed"}},
    {"signal_wait_on_null", {"shmem_signal_wait_until:", "'sig_addr'", "not a symmetric address", "allowed"}},
    {"signal_fetch_of_null", {"shmem_signal_fetch:", "'sig_addr'", "not a symmetric address", "allowed"}},
    {"iput_huge", {"shmem_int_iput:", "'dest'", "9223372036854775808", "past the end", "allowed"}},
    {"iget_huge", {"shmem_int_iget:", "'source'", "9223372036854775808", "past the end", "allowed"}},
    {"iput_overflow", {"shmem_int_iput:", "'nelems'", "2305843009213693952", "allowed"}},
    {"iget_overflow", {"shmem_int_iget:", "'nelems'", "2305843009213693952", "allowed"}},
    {"malloc_beside_barrier", {"shmem_malloc", " does not match pe ", "shmem_barrier_all"}},
    {"ctx_create_null", {"shmem_ctx_create:", "'ctx'", "allowed"}},
    {"team_create_ctx_null", {"shmem_team_create_ctx:", "'ctx'", "allowed"}},
    {"ctx_get_team_null", {"shmem_ctx_get_team:", "'team'", "allowed"}},
    {"query_initialized_null", {"shmem_query_initialized:", "'initialized'", "allowed"}},
    {"query_thread_null", {"shmem_query_thread:", "'provided'", "allowed"}},
    {"info_version_null", {"shmem_info_get_version:", "'minor'", "allowed"}},
    {"info_name_null", {"shmem_info_get_name:", "'name'", "allowed"}},
    {"heap_query_null", {"shmemx_heap_query:", "'info'", "allowed"}},
    {"net_stats_null", {"shmemx_net_stats:", "'stats'", "allowed"}},
    {"stats_null", {"shmemx_stats_get:", "'stats'", "allowed"}},
    {"stats_of_a_missing_pe", {"shmemx_stats_get_peer:", "'pe'", "allowed"}},
    {"route_null", {"shmemx_route:", "'route'", "allowed"}},
    {"route_pe", {"shmemx_route:", "'pe'", "allowed are 0.."}},
    {"wait_some_null", {"shmem_long_wait_until_some:", "'indices'", "allowed"}},
    {"test_some_null", {"shmem_long_test_some:", "'indices'", "allowed"}},
    {"test_some_vector_null", {"shmem_long_test_some_vector:", "'indices'", "allowed"}},
    {"pe_quiet_null", {"shmem_pe_quiet:", "'target_pes'", "allowed"}},
    {"p_far_away", {"shmem_long_p:", "'dest'", "not a symmetric address", "allowed"}},
    {"alltoall_overflow", {"shmem_alltoallmem:", "'nelems'", "is 9223372036854775808", "allowed"}},
    {"fcollect_overflow", {"shmem_fcollectmem:", "'nelems'", "is 9223372036854775808", "allowed"}},
    {"fcollect_typed_overflow", {"shmem_long_fcollect:", "'nelems'", "allowed"}},
    {"collect_overflow", {"shmem_collectmem:", "'source'", "past the end", "allowed"}},
    {"alltoalls_overflow", {"shmem_long_alltoalls:", "'nelems'", "allowed"}},
    {"alltoalls_stride_overflow", {"shmem_long_alltoalls:", "'nelems'", "allowed"}},
    {"broadcast_overflow", {"shmem_long_broadcast:", "'nelems'", "allowed"}},
    {"reduce_overflow", {"shmem_long_sum_reduce:", "'nelems'", "allowed"}},
    {"size_zero_on_one_pe", {"shmem_malloc", " does not match pe ", "asks for 0 bytes"}},
    {"size_zero_on_one_pe_that_ends", {"shmem_malloc:", "PE 2"}},
    {"free_of_null_on_one_pe", {"shmem_free", " does not match pe ", "null pointer"}},
    {"split_strided_null", {"shmem_team_split_strided:", "'new_team'", "allowed"}},
    {"psync_not_set",
     {"shmem_barrier:", "element 0 of argument 'pSync' is -1, allowed is SHMEM_SYNC_VALUE, 0: set all elements"}},
    {"split_strided_sizes",
     {"shmem_team_split_strided:", "the first new team has start 0, stride 1 and size",
      "here, and start 0, stride 1 and size",
      "of the parent; all members of the parent have to pass the same arguments"}},
    {"split_strided_strides", {"shmem_team_split_strided:", "stride 2 and size 2", "stride 1 and size 2"}},
    {"split_2d_ranges", {"shmem_team_split_2d:", "size 1 ", "size 2 ", "on PE", "of the parent"}},
    {"split_2d_null_x", {"shmem_team_split_2d:", "'xaxis_team'", "allowed"}},
    {"split_2d_null_y", {"shmem_team_split_2d:", "'yaxis_team'", "allowed"}},
    {"init_thread_null", {"shmem_init_thread:", "'provided'", "allowed"}},
    {"broadcast_root", {"shmem_long_broadcast:", "root'", "100", "allowed"}},
    {"alltoalls_stride", {"shmem_long_alltoalls:", "'dst'", "0", "allowed"}},
    {"double_free", {"shmem_free:", "'ptr'", "freed"}},
    {"free_inside_a_block", {"shmem_free:", "'ptr'", "inside a block", "allowed"}},
    {"free_of_a_global", {"shmem_free:", "'ptr'", "not in the symmetric heap", "allowed"}},
    {"realloc_of_a_global", {"shmem_realloc:", "'ptr'", "not in the symmetric heap", "allowed"}},
    {"unequal_malloc", {"shmem_malloc:", "'size'", "64", "128"}},
    {"unequal_calloc", {"shmem_calloc:", "128", "256"}},
    {"unequal_free", {"shmem_free:", "'ptr'", "same block"}},
    {"reduce_on_garbage_team", {"shmem_long_sum_reduce:", "'team'", "0x123456789abcdef0", "allowed"}},
    {"reduce_into_stack", {"shmem_long_sum_reduce:", "'dest'", "not a symmetric address", "allowed"}},
    {"active_set_start", {"shmem_barrier:", "'PE_start'", "50", "allowed"}},
    {"active_set_size", {"shmem_barrier:", "'PE_size'", "50", "allowed"}},
    {"after_finalize_put", {"shmem_long_p:", "finalize"}},
    {"after_finalize_barrier", {"shmem_barrier_all:", "finalize"}},
    {"before_init_put", {"shmem_long_p:", "init"}},
    {"before_init_my_pe", {"shmem_my_pe:", "init"}},
    {"before_init_malloc", {"shmem_malloc:", "init"}},
    {"before_init_barrier", {"shmem_barrier_all:", "init"}},
    {"before_init_atomic", {"shmem_long_atomic_inc:", "init"}},
    {"before_init_finalize", {"shmem_finalize:", "init"}},
    {"before_init_team", {"shmem_team_my_pe:", "init"}},
};

// With SHMEM_SYMMETRIC_SIZE=0 there is no heap: no address is accepted as one in it.
const std::vector<Misuse> kWithoutHeap = {
    {"p_far_away", {"shmem_long_p:", "'dest'", "not a symmetric address", "allowed"}},
    {"g_far_away", {"shmem_long_g:", "'source'", "not a symmetric address", "allowed"}},
    {"put_far_away", {"shmem_putmem:", "'dest'", "not a symmetric address", "allowed"}},
    {"get_far_away", {"shmem_getmem:", "'source'", "not a symmetric address", "allowed"}},
    {"put_word_far_away", {"shmem_long_put:", "'dest'", "not a symmetric address", "allowed"}},
    {"atomic_far_away", {"shmem_long_atomic_add:", "'dest'", "not a symmetric address", "allowed"}},
    {"p_to_null", {"shmem_long_p:", "'dest'", "not a symmetric address", "allowed"}},
    {"put_to_stack", {"shmem_long_put:", "'dest'", "not a symmetric address", "allowed"}},
    {"get_from_malloc", {"shmem_getmem:", "'source'", "not a symmetric address", "allowed"}},
};

struct Variable {
  const char* setting;
  std::vector<const char*> words;
};

const std::vector<Variable> kVariables = {
    {"SHMEM_SYMMETRIC_SIZE=12q", {"SHMEM_SYMMETRIC_SIZE", "12q", "llowed"}},
    {"SHMEM_SYMMETRIC_SIZE=-5m", {"SHMEM_SYMMETRIC_SIZE", "-5m", "llowed"}},
    {"SHMEM_SYMMETRIC_SIZE=", {"SHMEM_SYMMETRIC_SIZE", "llowed"}},
    {"SHMEM_WAIT=sometimes", {"SHMEM_WAIT", "sometimes", "llowed"}},
};

int failures = 0;

void fail(const std::string& name, const std::string& why, const job::Result& result) {
  ++failures;
  std::fprintf(stderr, "%s: %s (status %d, signal %d, %.2f s)\n%s", name.c_str(), why.c_str(), result.status,
               result.signal, result.seconds, result.err.c_str());
}

// Checks that the job ended soon, with one line that contains `words`.
void expect_one_line(const std::string& name, const std::vector<const char*>& words, const job::Result& result) {
  const std::string error = job::diagnostic_error(result, words);
  if (!error.empty()) return fail(name, error, result);
  if (result.seconds > 20) fail(name, "the job took too long to end", result);
}

void expect(bool ok, const std::string& name, const job::Result& result) {
  if (!ok) fail(name, "not as expected; stdout: " + result.out, result);
}

// The process dies of the store; oshrun knows what had been refused to it.
void a_store_to_null_is_explained(const std::string& oshrun, const std::string& program) {
#if defined(__SANITIZE_ADDRESS__)
  return;  // the sanitizer ends the process before
#endif
  const job::Result result = job::run({.command = {oshrun, "-n", "2", program, "store_to_null_of_a_full_heap"}});
  for (const char* words :
       {"died of signal 11", "had returned NULL for 1125899906842624 bytes", "SHMEM_SYMMETRIC_SIZE"})
    expect(result.err.find(words) != std::string::npos, std::string("a store to null: ") + words, result);
}

void a_null_pointer_of_shmem_ptr_is_explained(const std::string& oshrun, const std::string& program) {
#if defined(__SANITIZE_ADDRESS__)
  return;  // the sanitizer ends the process before
#endif
  const auto expect_cause = [&](const char* name, const std::vector<std::string>& environment, const char* cause) {
    const job::Result result = job::run({.command = {oshrun, "-n", "2", program, name}, .environment = environment});
    const std::string text = std::string(": its last shmem_ptr that failed had returned NULL for PE ") + cause;
    expect(result.err.find(text) != std::string::npos && result.status == 139, name, result);
  };
  expect_cause("store_by_a_pointer_to_malloc", {}, "0, as the address was not symmetric\n");
  expect_cause("store_by_a_null_pointer", {"SHMEMX_PES_PER_NODE=1", "SHMEMX_TRANSPORT=tcp"},
               "0, whose memory loads and stores cannot reach\n");
}

// Whatever path the operation takes: the process dies of the fault after the line.
void a_fault_in_a_routine_names_the_argument(const std::string& oshrun, const std::string& program) {
#if defined(__SANITIZE_ADDRESS__)
  return;  // the sanitizer ends the process before
#endif
  const struct {
    const char* name;
    const char* line;
  } faults[] = {
      {"put_from_near_null",
       "] shmem_putmem: argument 'source' leads to 0x10, where no memory is (null plus 16 bytes); called at "},
      {"get_to_nowhere", "] shmem_long_iget: argument 'dest' leads to an address that does not exist; called at "}};
  for (const char* path : {"SHMEMX_NODE_PATH=auto", "SHMEMX_NODE_PATH=queue"}) {
    for (const auto& fault : faults) {
      const job::Result result =
          job::run({.command = {oshrun, "-n", "2", program, fault.name}, .environment = {"SHMEM_BACKTRACE=1", path}});
      expect(result.err.find(fault.line) != std::string::npos, std::string(fault.name) + ", " + path, result);
      expect(result.err.find("the calls, innermost first") != std::string::npos, "the calls follow", result);
      expect(result.status == 139, "the signal ends it", result);
    }
  }
}

// The C library ends the process.
void a_block_given_to_free_is_explained(const std::string& oshrun, const std::string& program) {
#if defined(__SANITIZE_ADDRESS__)
  return;  // the sanitizer ends the process before
#endif
  const job::Result result = job::run(
      {.command = {oshrun, "-n", "2", program, "free_of_a_symmetric_block"}, .environment = {"OSHRUN_QUIET=0"}});
  for (const char* words : {"died of signal 6", "memory of shmem_malloc is for shmem_free and shmem_realloc"})
    expect(result.err.find(words) != std::string::npos, std::string("a block for free: ") + words, result);
}

// Where the standard defines an error value, the job continues.
void errors_that_are_returned(const std::string& oshrun, const std::string& program) {
  job::Result result = job::run({.command = {oshrun, "-n", "2", program, "init_thread_returns"},
                                 .environment = {"SHMEM_SYMMETRIC_SIZE=many", "SHMEM_INIT_ERRORS=return"}});
  const std::string failed = "init_thread failed, not initialised";
  std::size_t failures_seen = 0;
  for (const std::string& line : job::lines(result.out)) failures_seen += line == failed;
  expect(result.status == 0 && failures_seen == 6, "init_thread returns for a bad variable if so configured, each time",
         result);
  expect(job::lines(result.err).size() == 1 && result.err.find("SHMEM_SYMMETRIC_SIZE") != std::string::npos,
         "one PE reports once why init_thread fails", result);
  result = job::run({.command = {oshrun, "-n", "2", program, "align_not_power"}});
  expect(result.status == 0 && result.out.find("align gave null") != std::string::npos &&
             result.out.find("a block") == std::string::npos &&
             result.err.find("'alignment' is 24") != std::string::npos,
         "align with an alignment that is no power of two gives null and a reason", result);
  result = job::run({.command = {oshrun, "-n", "2", program, "unknown_hints"}});
  expect(result.status == 0 && result.err.empty() && result.out.find("hints gave a block") != std::string::npos &&
             result.out.find("null") == std::string::npos,
         "unknown hints are ignored", result);
  result = job::run({.command = {oshrun, "-n", "2", program, "unknown_hints"}, .environment = {"SHMEM_DEBUG=1"}});
  expect(result.status == 0 && result.err.find("0x4000000000000") != std::string::npos,
         "unknown hints are reported when SHMEM_DEBUG is set", result);
  result = job::run({.command = {oshrun, "-n", "2", program, "exhausted_heap"}});
  expect(result.status == 0 && result.err.empty() && result.out.find("malloc gave null") != std::string::npos,
         "an exhausted heap is silent", result);
  result = job::run({.command = {oshrun, "-n", "2", program, "exhausted_heap"},
                     .environment = {"SHMEM_DEBUG=1", "SHMEM_SYMMETRIC_SIZE=64m"}});
  expect(result.status == 0 && result.err.find("shmem_malloc") != std::string::npos &&
             result.err.find("35184372088832") != std::string::npos &&
             result.err.find("SHMEM_SYMMETRIC_SIZE") != std::string::npos,
         "an exhausted heap is reported when SHMEM_DEBUG is set", result);
}

void no_heap(const std::string& oshrun, const std::string& program) {
  for (const Misuse& misuse : kWithoutHeap) {
    expect_one_line(std::string(misuse.name) + " without a heap", misuse.words,
                    job::run({.command = {oshrun, "-n", "3", "--timeout", "40", program, misuse.name},
                              .environment = {"SHMEM_SYMMETRIC_SIZE=0"},
                              .limit_seconds = 50}));
  }
  const job::Result result = job::run(
      {.command = {oshrun, "-n", "3", program, "malloc_of_little"}, .environment = {"SHMEM_SYMMETRIC_SIZE=0"}});
  std::size_t good = 0;
  for (const std::string& line : job::lines(result.out)) good += line == "malloc gave null, static data works";
  expect(result.status == 0 && result.err.empty() && good == 3, "without a heap malloc gives null, globals work",
         result);
}

// The heap is symmetric in a job of two executables; their globals are not, and the line gives the reason.
void two_executables(const std::string& oshrun, const std::string& program) {
  const std::string other = program + "_other";
  const auto both = [&](const char* name) {
    return job::run({.command = {oshrun, "-n", "1", program, name, ":", "-n", "1", other, name}, .limit_seconds = 50});
  };
  expect_one_line("p_to_global of two executables",
                  {"shmem_long_p:", "'dest'", "not a symmetric address: it is a global", "private since PE 0 runs",
                   "death_misuse_pe'", "this PE", "death_misuse_pe_other'", "allocate it with shmem_malloc"},
                  both("p_to_global"));
  expect_one_line("p_to_global without static data",
                  {"shmem_long_p:", "'dest'", "it is a global", "private since SHMEMX_STATIC_DATA=0"},
                  job::run({.command = {oshrun, "-n", "2", program, "p_to_global"},
                            .environment = {"SHMEMX_STATIC_DATA=0"},
                            .limit_seconds = 50}));
  const job::Result result = both("sound");
  expect(result.status == 0 && result.err.empty(), "the heap of two executables", result);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string oshrun = argv[1], program = argv[2];
  const char* const only = argc > 4 ? argv[4] : nullptr;
  int run = 0;
  for (const Misuse& misuse : kMisuses) {
    if (only != nullptr && std::strcmp(only, misuse.name) != 0) continue;
    ++run;
    std::vector<std::string> command = {oshrun, "-n", "3", "--timeout", "40", program, misuse.name};
    // Before shmem_init each PE prints its own line, so this runs one PE.
    if (std::strncmp(misuse.name, "before_init", 11) == 0) command.erase(command.begin(), command.begin() + 5);
    expect_one_line(misuse.name, misuse.words, job::run({.command = command, .limit_seconds = 50}));
  }
  for (const Variable& variable : kVariables) {
    if (only != nullptr && std::strcmp(only, variable.setting) != 0) continue;
    ++run;
    expect_one_line(variable.setting, variable.words,
                    job::run({.command = {oshrun, "-n", "3", "--timeout", "40", program, "just_init"},
                              .environment = {variable.setting},
                              .limit_seconds = 50}));
  }
  if (only == nullptr && std::getenv("SHMEMX_NODE_PATH") == nullptr) {
    expect_one_line("put_to_mapped_peer, mapped",
                    {"it is in the heap of PE 0, as shmem_ptr", "pass the address that the object has on this PE"},
                    job::run({.command = {oshrun, "-n", "3", program, "put_to_mapped_peer"}, .limit_seconds = 50}));
  }
  if (only == nullptr) {
    a_store_to_null_is_explained(argv[1], argv[2]);
    a_null_pointer_of_shmem_ptr_is_explained(argv[1], argv[2]);
    a_fault_in_a_routine_names_the_argument(argv[1], argv[2]);
    a_block_given_to_free_is_explained(argv[1], argv[2]);
    errors_that_are_returned(oshrun, program);
    no_heap(oshrun, program);
    two_executables(oshrun, program);
    // A single PE without a launcher prints the same line.
    expect_one_line("alone", {"shmem_int_put:", "'pe'", "12", "allowed are 0..0"},
                    job::run({.command = {program, "put_pe"}, .limit_seconds = 50}));
  }
  std::printf("%d misuses, %d failures\n", run, failures);
  return failures == 0 ? 0 : 1;
}
