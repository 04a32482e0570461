// One misuse of two-sided messages for each name; run by misuse_test on 3 PEs. The last PE makes the error.
#include <shmem.h>
#include <shmemx.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

char memory[64];
shmemx_status_t status;
shmemx_request_t request;

struct Misuse {
  const char* name;
  void (*run)();
};

const Misuse kMisuses[] = {
    {"send_pe", [] { shmemx_send(memory, 8, 12, 0); }},
    {"send_pe_any", [] { shmemx_send(memory, 8, SHMEMX_ANY_SOURCE, 0); }},
    {"send_tag", [] { shmemx_send(memory, 8, 0, -1); }},
    {"send_null", [] { shmemx_send(nullptr, 8, 0, 0); }},
    {"recv_pe", [] { shmemx_recv(memory, 8, 3, 0, &status); }},
    {"recv_pe_negative", [] { shmemx_recv(memory, 8, -2, 0, &status); }},
    {"recv_tag", [] { shmemx_recv(memory, 8, 0, -5, &status); }},
    {"recv_null", [] { shmemx_recv(nullptr, 1, 0, 0, &status); }},
    {"probe_pe", [] { shmemx_probe(77, 0, &status); }},
    {"iprobe_flag", [] { shmemx_iprobe(0, 0, nullptr, &status); }},
    {"sendrecv_source", [] { shmemx_sendrecv(memory, 8, 0, 0, memory + 8, 8, 99, 0, &status); }},
    {"irecv_request", [] { shmemx_irecv(memory, 8, 0, 0, nullptr); }},
    {"wait_garbage",
     [] {
       request = reinterpret_cast<shmemx_request_t>(std::uintptr_t{0xdeadbeefdeadbeef});
       shmemx_wait(&request, &status);
     }},
    {"wait_twice",
     [] {
       shmemx_irecv(memory, 8, 0, 0, &request);
       shmemx_request_t copy = request;
       shmemx_cancel(&request);
       shmemx_wait(&request, nullptr);
       shmemx_wait(&copy, nullptr);
     }},
    {"waitall_twice",
     [] {
       shmemx_isend(memory, 8, 0, 0, &request);
       shmemx_request_t copies[] = {request, request};
       shmemx_waitall(2, copies, nullptr);
     }},
    {"cancel_sent",
     [] {
       shmemx_isend(memory, 8, 0, 0, &request);
       shmemx_cancel(&request);
     }},
    {"test_garbage",
     [] {
       int flag;
       request = reinterpret_cast<shmemx_request_t>(std::uintptr_t{77});
       shmemx_test(&request, &flag, &status);
     }},
    {"waitany_garbage",
     [] {
       size_t index;
       request = reinterpret_cast<shmemx_request_t>(std::uintptr_t{0x100000001});
       shmemx_waitany(1, &request, &index, &status);
     }},
    {"cancel_send",
     [] {
       shmemx_issend(memory, 8, 0, 0, &request);
       shmemx_cancel(&request);
     }},
    {"list_overflow",
     [] {
       const shmemx_iov_t list[] = {{memory, SIZE_MAX}, {memory, 2}};
       shmemx_sendv(list, 2, 0, 0);
     }},
    {"list_null_piece",
     [] {
       const shmemx_iov_t list[] = {{memory, 4}, {nullptr, 2}};
       shmemx_recvv(list, 2, 0, 0, &status);
     }},
    {"list_null", [] { shmemx_sendv(nullptr, 2, 0, 0); }},
    {"strided_overflow", [] { shmemx_send_strided(memory, SIZE_MAX / 2, 8, 3, 0, 0); }},
    {"strided_reach", [] { shmemx_recv_strided(memory, 1, PTRDIFF_MAX, 3, 0, 0, &status); }},
    {"unexpected_limit",
     [] {
       static char block[8000];
       for (int i = 0; i < 1000; ++i) shmemx_send(block, sizeof block, shmem_my_pe(), i);
     }},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "before_init") == 0) shmemx_send(memory, 8, 0, 0);
  shmem_init();
  if (argc > 1 && std::strcmp(argv[1], "after_finalize") == 0) {
    shmem_finalize();
    shmemx_recv(memory, 8, 0, 0, &status);
  }
  for (const Misuse& misuse : kMisuses) {
    if (argc > 1 && std::strcmp(argv[1], misuse.name) == 0 && shmem_my_pe() == shmem_n_pes() - 1) misuse.run();
  }
  shmem_barrier_all();
  if (shmem_my_pe() == shmem_n_pes() - 1) {
    std::printf("survived\n");
    std::fflush(stdout);
  }
  shmem_finalize();
  return 0;
}
