/* races: always; class: language; pes: 2 */
/* recv stores the contents of a socket into an array that the other PE gets from. */
#include <shmem.h>
#include <sys/socket.h>

static char box[16];

int main(void) {
  shmem_init();
  int ends[2];
  char text[16] = "from the socket";
  int wrong = socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || send(ends[1], text, sizeof text, 0) != sizeof text;
  shmem_barrier_all();
  if (shmem_my_pe() == 0) shmem_getmem(text, box, sizeof text, 1);  // race 1
  if (shmem_my_pe() == 1) wrong |= recv(ends[0], box, sizeof box, 0) < 0;  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return wrong;
}
