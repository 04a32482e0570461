// What shmemx.hpp must not compile: one case for each value of CASE. The comment behind a case is a part of the error
// that compilers show; case 0 compiles.
#include <shmemx/shmemx.hpp>

#include <string>
#include <vector>

struct Node {
  int value;
  Node* next;
};
struct Volatile {
  volatile int value;
};
struct Handle {
  void* address;
};
template <>
inline constexpr bool shmemx::pointers_may_travel<Handle> = true;

static int number;
static double real;
static short small;

void use(const shmemx::team& world) {
#if CASE == 0
  shmemx::p(shmemx::symmetric_array<Handle>(1), Handle{&number}, 0);
#elif CASE == 1   // this type is not trivially copyable: its bytes alone are no copy of it on another PE
  shmemx::symmetric_array<std::string> texts(4);
#elif CASE == 2   // this type is not trivially copyable
  static std::vector<int> list;
  shmemx::symmetric_ptr at(&list);
#elif CASE == 3   // this type is or has a pointer, which means nothing on another PE
  shmemx::symmetric_array<int*> addresses(4);
#elif CASE == 4   // this type is or has a pointer, which means nothing on another PE
  shmemx::symmetric_array<Node> nodes(4);
#elif CASE == 5   // volatile objects are not transferred
  static volatile int flag;
  shmemx::symmetric_ptr at(&flag);
#elif CASE == 6   // the standard has no atomics of this type
  shmemx::atomic_set(shmemx::symmetric_ptr(&small), short{1}, 0);
#elif CASE == 7   // the standard has this atomic for int, long, long long
  shmemx::atomic_fetch_add(shmemx::symmetric_ptr(&real), 1.0, 0);
#elif CASE == 8   // the standard has atomics on bits for int, long and unsigned
  static long long wide;
  shmemx::atomic_or(shmemx::symmetric_ptr(&wide), 1, 0);
#elif CASE == 9   // the standard has no reduction of this type by this operation
  shmemx::reduce(world, shmemx::symmetric_span(shmemx::symmetric_ptr(&real), 1),
                 shmemx::symmetric_span(shmemx::symmetric_ptr(&real), 1), shmemx::ops::bit_or);
#elif CASE == 10  // the standard has no waits on this type
  shmemx::wait_until(shmemx::symmetric_ptr(&real), shmemx::cmp::eq, 1.0);
#elif CASE == 11  // the target of this operation is const
  const shmemx::symmetric_ptr<const int> read(&number);
  shmemx::p(read, 1, 0);
#elif CASE == 12  // deleted
  const shmemx::team copy(world);
#elif CASE == 13  // deleted
  const shmemx::context ctx;
  const shmemx::context copy = ctx;
#elif CASE == 14  // no matching function
  shmemx::p(&number, 1, 0);
#elif CASE == 15  // span<const int>
  shmemx::put(shmemx::symmetric_ptr(&number), std::vector<double>{1.5}, 0);
#elif CASE == 16  // the standard has alltoalls for its own types only
  static Handle handles[2];
  shmemx::alltoalls(world, shmemx::symmetric_span(handles), shmemx::symmetric_span(handles), 1, 1, 1);
#endif
}
