// Misuse of collectives that do not block ends the job with one line that says what is wrong, on mapped memory and
// between nodes. misuse_test OSHRUN MISUSE_PE.
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "../../support/job.hpp"

namespace {

struct Misuse {
  const char* name;
  std::vector<const char*> words;  // that the line must contain
  const char* pes = "3";
};

constexpr const char* kSameCalls = "begin its collectives in the same order";

const std::vector<Misuse> kMisuses = {
    {"garbage_team", {"shmemx_barrier_nb:", "'team' is 0x123456789abcdef0", "not a live team", "allowed"}},
    {"invalid_team", {"shmemx_barrier_nb:", "'team' is SHMEM_TEAM_INVALID", "allowed"}},
    {"null_request", {"shmemx_barrier_nb:", "'request'", "allowed"}},
    {"root", {"shmemx_broadcast_nb:", "'root' is 3", "allowed are the numbers of the PEs of the team"}},
    {"root_negative", {"shmemx_broadcast_nb:", "'root' is -1", "allowed"}},
    {"null_dest", {"shmemx_broadcast_nb:", "'dest'", "allowed"}},
    {"null_source", {"shmemx_fcollect_nb:", "'source'", "allowed"}},
    {"too_many_bytes", {"shmemx_alltoall_nb:", "'bytes' is 9223372036854775807", "allowed"}},
    {"too_many_elements", {"shmemx_reduce_nb:", "'count' is 4611686018427387903", "allowed"}},
    {"type", {"shmemx_reduce_nb:", "'type' is 99", "allowed are the element types"}},
    {"operator", {"shmemx_reduce_nb:", "'op' is 5", "allowed are the operators"}},
    {"replace", {"shmemx_reduce_nb:", "'op' is 8", "allowed are the operators"}},
    {"operator_unknown", {"shmemx_reduce_nb:", "'op' is 257", "allowed are the operators"}},
    {"null_counts", {"shmemx_alltoallv:", "'source_counts'", "allowed"}},
    {"no_room", {"shmemx_alltoallv:", "the block of PE 2 of the team, 8 bytes at 16, does not fit", "20 bytes"}},
    {"no_room_for_unknown", {"shmemx_alltoallv:", "the block of PE 2 of the team, 8 bytes at 16", "20 bytes"}},
    {"expects_less", {"shmemx_alltoallv:", "PE 1 has sent more than the 0 bytes that this PE expects", kSameCalls}},
    {"sends_less", {"shmemx_alltoallv:", "PE 2 has sent 0 bytes, this PE expects 8", kSameCalls}},
    {"own_block", {"shmemx_alltoallv:", "this PE sends", "to itself and expects 8"}},
    {"lengths_of_two", {"shmemx::alltoallv: the block_lengths of the source are for 2 members, allowed are 3"}},
    {"places_of_two", {"shmemx::alltoallv: the block_lengths of the source are for 2 members, allowed are 3"}},
    {"beyond_source",
     {"shmemx::alltoallv: the block for member 0 has 8 bytes from byte 8 of the source on, allowed are 0..15"}},
    {"shorter", {"shmemx_broadcast_nb (root 0, 8 bytes) does not match pe 2: shmemx_broadcast_nb (root 0, 4 bytes)"}},
    {"longer", {"shmemx_broadcast_nb (root 0, 8 bytes) does not match pe 2: shmemx_broadcast_nb (root 0, 9 bytes)"}},
    {"empty", {"shmemx_broadcast_nb (root 0, 8 bytes) does not match pe 2: shmemx_broadcast_nb (root 0, 0 bytes)"}},
    {"another_collective", {": shmemx_alltoall_nb (8 bytes) does not match pe 2: shmemx_barrier_nb; called at"}},
    {"cancel", {"shmemx_cancel:", "'request' is a collective", "allowed are receives"}},
    {"wait_twice", {"shmemx_wait:", "'request'", "not an open request"}},
    {"finalize", {"shmem_finalize:", "1 collective that this PE has not completed", "call shmemx_wait"}},
    {"finalize_of_two", {"shmem_finalize:", "2 collectives that this PE has not completed", "call shmemx_wait"}},
    {"destroy", {"shmem_team_destroy:", "'team' has 1 collective that this PE has not completed", "allowed is none"}},
    {"exit", {"shmem_finalize:", "1 collective that this PE has not completed", "call shmemx_wait"}},
    {"departed", {"shmemx_wait:", "PE 2 has left the job without shmem_finalize", "can never complete"}},
    {"before_init", {"shmemx_barrier_nb:", "before shmem_init"}},
    {"after_finalize", {"shmemx_barrier_nb:", "after shmem_finalize"}},
};

int check(const char* oshrun, const char* program, const Misuse& misuse, const std::vector<std::string>& environment) {
  const job::Result result = job::run(
      {.command = {oshrun, "-n", misuse.pes, "--timeout", "30", program, misuse.name}, .environment = environment});
  // Before shmem_init each PE prints a line; of PEs whose arguments differ several may notice.
  std::string error = job::diagnostic_error(result, misuse.words, false);
  if (result.out.find("survived") != std::string::npos) error = "the call returned";
  if (error.empty()) return 0;
  std::printf("FAILED %s: %s; status %d\n%s%s\n", misuse.name, error.c_str(), result.status, result.out.c_str(),
              result.err.c_str());
  return 1;
}

// A folder with an addr2line that never answers, and first stops the PE that has called it for a while. Made after the
// first job, since that may mount another /tmp.
class SlowLookUps {
 public:
  SlowLookUps() {
    if (::mkdtemp(folder_) == nullptr) std::abort();
    const std::string program = std::string(folder_) + "/addr2line";
    std::ofstream(program)
        << "#!/bin/sh\n"
           "if mkdir \"$0.called\" 2>/dev/null; then kill -STOP $PPID; sleep 2; kill -CONT $PPID; fi\n"
           "exec sleep 60\n";
    ::chmod(program.c_str(), 0755);
  }
  ~SlowLookUps() { std::filesystem::remove_all(folder_); }
  SlowLookUps(const SlowLookUps&) = delete;
  SlowLookUps& operator=(const SlowLookUps&) = delete;
  std::string path() const { return std::string("PATH=") + folder_ + ":" + std::getenv("PATH"); }

 private:
  char folder_[32] = "/tmp/background_misuse_XXXXXX";
};

// Members gather short blocks for other nodes, with their lengths; of 3 PEs if they do not know these.
const std::vector<Misuse> kMisusesOfSharedNodes = {
    {"no_room_for_unknown", {"shmemx_alltoallv:", "the block of PE 2 of the team, 8 bytes at 16", "20 bytes"}},
    {"expects_less_of_ten", {"shmemx_alltoallv:", "PE 1 of the team has sent 8 bytes, this PE expects 0"}, "10"},
    {"expects_long_of_ten", {"shmemx_alltoallv:", "PE 1 of the team has sent 8 bytes, this PE expects 8192"}, "10"},
};

// All PEs notice, and the others leave the line to the one that looks up where the calls were made, however long it
// takes.
int check_slow_look_ups(const char* oshrun, const char* program) {
  const SlowLookUps slow;
  const Misuse misuse{"another_collective", {"does not match pe 2: shmemx_barrier_nb; called at", " and at "}};
  return check(oshrun, program, misuse, {slow.path()});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int failures = 0;
  for (const Misuse& misuse : kMisuses) {
    failures += check(argv[1], argv[2], misuse, {});
    failures += check(argv[1], argv[2], misuse, {"SHMEMX_PES_PER_NODE=1", "SHMEMX_TRANSPORT=tcp"});
  }
  for (const Misuse& misuse : kMisusesOfSharedNodes)
    failures += check(argv[1], argv[2], misuse, {"SHMEMX_PES_PER_NODE=2", "SHMEMX_TRANSPORT=tcp"});
  failures += check_slow_look_ups(argv[1], argv[2]);
  std::printf("%zu misuses, %d failures\n", kMisuses.size(), failures);
  return failures == 0 ? 0 : 1;
}
