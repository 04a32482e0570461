// Misuse of two-sided messages ends the job with one line that says what is wrong. misuse_test OSHRUN MISUSE_PE.
#include <cstdio>
#include <string>
#include <vector>

#include "../../support/job.hpp"

namespace {

struct Misuse {
  const char* name;
  std::vector<const char*> words;  // that the line must contain
};

const std::vector<Misuse> kMisuses = {
    {"send_pe", {"shmemx_send:", "'pe'", "12", "allowed are 0..2"}},
    {"send_pe_any", {"shmemx_send:", "'pe'", "-1", "allowed are 0..2"}},
    {"send_tag", {"shmemx_send:", "'tag'", "-1", "allowed are 0..2147483647"}},
    {"send_null", {"shmemx_send:", "'source'", "allowed"}},
    {"recv_pe", {"shmemx_recv:", "'pe'", "3", "allowed are 0..2", "SHMEMX_ANY_SOURCE"}},
    {"recv_pe_negative", {"shmemx_recv:", "'pe'", "-2", "allowed are 0..2"}},
    {"recv_tag", {"shmemx_recv:", "'tag'", "-5", "SHMEMX_ANY_TAG"}},
    {"recv_null", {"shmemx_recv:", "'dest'", "allowed"}},
    {"probe_pe", {"shmemx_probe:", "'pe'", "77", "allowed are 0..2"}},
    {"iprobe_flag", {"shmemx_iprobe:", "'flag'", "allowed"}},
    {"sendrecv_source", {"shmemx_sendrecv:", "'source_pe'", "99", "allowed are 0..2"}},
    {"irecv_request", {"shmemx_irecv:", "'request'", "allowed"}},
    {"wait_garbage", {"shmemx_wait:", "'request'", "0xdeadbeefdeadbeef", "not an open request"}},
    {"wait_twice", {"shmemx_wait:", "'request'", "not an open request"}},
    {"waitall_twice", {"shmemx_waitall:", "'request'", "not an open request"}},
    {"cancel_sent", {"shmemx_cancel:", "'request'", "is a send", "allowed are receives"}},
    {"test_garbage", {"shmemx_test:", "'request'", "0x4d", "not an open request"}},
    {"waitany_garbage", {"shmemx_waitany:", "'request'", "0x100000001", "not an open request"}},
    {"cancel_send", {"shmemx_cancel:", "'request'", "is a send", "allowed are receives"}},
    {"list_overflow", {"shmemx_sendv:", "'list'", "2 pieces", "allowed"}},
    {"list_null_piece", {"shmemx_recvv:", "'list[1].base'", "null", "allowed"}},
    {"list_null", {"shmemx_sendv:", "'list'", "allowed"}},
    {"strided_overflow", {"shmemx_send_strided:", "'blocks'", "3", "allowed"}},
    {"strided_reach", {"shmemx_recv_strided:", "'blocks'", "3", "allowed"}},
    {"unexpected_limit", {"no receive has asked for", "1048576", "SHMEMX_UNEXPECTED_MAX"}},
    {"before_init", {"shmemx_send:", "before shmem_init"}},
    {"after_finalize", {"shmemx_recv:", "after shmem_finalize"}},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int failures = 0;
  for (const Misuse& misuse : kMisuses) {
    const job::Result result =
        job::run({.command = {argv[1], "-n", "3", argv[2], misuse.name}, .environment = {"SHMEMX_UNEXPECTED_MAX=1m"}});
    std::string error = job::diagnostic_error(result, misuse.words, false);  // before shmem_init each PE prints a line
    if (result.out.find("survived") != std::string::npos) error = "the call returned";
    if (error.empty()) continue;
    ++failures;
    std::printf("FAILED %s: %s; status %d\n%s%s\n", misuse.name, error.c_str(), result.status, result.out.c_str(),
                result.err.c_str());
  }
  std::printf("%zu misuses, %d failures\n", kMisuses.size(), failures);
  return failures == 0 ? 0 : 1;
}
