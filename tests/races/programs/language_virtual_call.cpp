/* races: always; class: language; pes: 2 */
/* The accesses are behind a virtual function and a template. */
#include <shmem.h>

namespace {
long word;

struct Action {
  virtual ~Action() = default;
  virtual void run(long* where) const = 0;
};

struct Put : Action {
  void run(long* where) const override {
    shmem_long_p(where, 3, 1);  // race 1
  }
};

struct Store : Action {
  void run(long* where) const override {
    *where = 4;  // race 2
  }
};

template <class Kind>
void perform() {
  const Kind kind;
  const Action& action = kind;
  action.run(&word);
}
}  // namespace

int main() {
  shmem_init();
  shmem_barrier_all();
  shmem_my_pe() == 0 ? perform<Put>() : perform<Store>();
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
