#include <shmem.h>

int main(void) {
  static int box[64];
  shmem_init();
  const int next = (shmem_my_pe() + 1) % shmem_n_pes();
  shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, NULL, 0);
  for (int i = 0; i < 64; ++i) shmem_int_p(&box[i], i, next);
  shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
  shmem_barrier_all();
  const int wrong = box[63] != 63;
  shmem_finalize();
  return wrong;
}
