/* races: always; class: language; pes: 2 */
/* Two names for one block: a struct with a flexible array, and a pointer into the middle of it. */
#include <shmem.h>

struct message {
  long length;
  char text[];
};

int main(void) {
  shmem_init();
  struct message* message = shmem_calloc(1, sizeof(struct message) + 16);
  if (message == NULL) shmem_global_exit(1);
  char* end = (char*)message + sizeof(struct message) + 15;
  if (shmem_my_pe() == 0) shmem_char_p(&message->text[15], 'x', 1);  // race 1
  if (shmem_my_pe() == 1) *end = 'y';                                // race 2
  shmem_free(message);
  shmem_finalize();
  return 0;
}
