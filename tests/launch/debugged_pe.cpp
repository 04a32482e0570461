// A program for a debugger to look at: PE 1 ends the job by a wrong call, or waits, while it has a block of the heap, a
// context, a team, a public window, a posted receive and a message that no receive has matched; or it stores to null.
// debugged_pe [wait|null]
#include <shmem.h>
#include <shmemx.h>

#include <cstring>

namespace {

long flag;
char exposed[1000];

}  // namespace

int main(int argc, char** argv) {
  shmem_init();
  auto* const block = static_cast<long*>(shmem_malloc(4096));
  shmem_team_t team = SHMEM_TEAM_INVALID;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, shmem_n_pes() - 1, nullptr, 0, &team);
  shmem_ctx_t context = SHMEM_CTX_INVALID;
  shmem_ctx_create(0, &context);
  shmemx_window_t window = SHMEMX_WINDOW_INVALID;
  shmemx_window_expose(exposed, sizeof exposed, &window);
  shmemx_request_t request = SHMEMX_REQUEST_NULL;
  char received[8];
  shmemx_irecv(received, sizeof received, 0, 77, &request);
  if (shmem_my_pe() == 0) shmemx_send(block, 300, 1, 55);
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, block, block + 8, 3);
  // The message has arrived when a later one has.
  if (shmem_my_pe() == 0) shmemx_send(block, 8, 1, 56);
  if (shmem_my_pe() == 1) shmemx_recv(block, 8, 0, 56, nullptr);
  if (argc > 1 && std::strcmp(argv[1], "null") == 0) {
    auto* const refused = static_cast<volatile long*>(shmem_malloc(std::size_t{1} << 50));
    if (shmem_my_pe() == 1) *refused = 1;
  }
  if (shmem_my_pe() == 1 && argc > 1 && std::strcmp(argv[1], "wait") == 0)
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 5);
  if (shmem_my_pe() == 1) shmem_long_p(&flag, 1, -3);
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
