/* races: none; class: hybrid; pes: 2; flags: -pthread */
/* What one thread has stored is behind the message that the other one receives with recvmsg. */
#include <pthread.h>
#include <shmem.h>
#include <sys/socket.h>
#include <sys/uio.h>

static int ends[2];
static long data, dest;

static void* produce(void* unused) {
  data = 6;
  char text[2] = {'o', 'k'};
  struct iovec list = {text, sizeof text};
  struct msghdr message = {.msg_iov = &list, .msg_iovlen = 1};
  if (sendmsg(ends[0], &message, 0) != 2) shmem_global_exit(1);
  return unused;
}

int main(void) {
  int provided;
  shmem_init_thread(SHMEM_THREAD_SERIALIZED, &provided);
  pthread_t thread;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) shmem_global_exit(1);
  if (pthread_create(&thread, NULL, produce, NULL) != 0) shmem_global_exit(1);
  char text[8];
  struct iovec list = {text, sizeof text};
  struct msghdr message = {.msg_iov = &list, .msg_iovlen = 1};
  const ssize_t got = recvmsg(ends[1], &message, 0);
  shmem_long_put(&dest, &data, 1, 1 - shmem_my_pe());
  pthread_join(thread, NULL);
  shmem_barrier_all();
  const int wrong = got < 1 || dest != 6;
  shmem_finalize();
  return wrong;
}
