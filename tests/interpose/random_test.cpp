// Random programs compared with a sequential model: all ranks draw the same program from one seed, so each of them
// knows what the others do. In each round every rank accesses one other rank's memory; MPI_Pack, MPI_Unpack and
// MPI_Reduce_local tell what must come of it.
#include <cstdlib>
#include <ctime>

#include "mpi_test.hpp"
#include "random_types.hpp"

using mpi_test::left;
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::right;
using mpi_test::TestWindow;
using random_types::Element;
using random_types::elements;
using random_types::Random;
using random_types::TypeMaker;

namespace {

constexpr int kBytes = 64 << 10;  // of a window, and of memory that operations use

using Memory = std::vector<char>;

// A random datatype with the place of its items in memory of kBytes.
struct Side {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int count = 1;
  MPI_Aint at = 0;  // of the first item

  void make(Random& random, const Element& element, int elements) {
    for (int depth = 3;; --depth) {
      count = depth != 0 && elements % 2 == 0 && random.below(2) == 0 ? 2 : 1;
      type = TypeMaker(random).make(element.type, elements / count, random.below(depth + 1));
      MPI_Type_commit(&type);
      MPI_Aint lower = 0;
      MPI_Aint true_lower = 0;
      MPI_Aint extent = 0;
      MPI_Aint true_extent = 0;
      MPI_Type_get_extent(type, &lower, &extent);
      MPI_Type_get_true_extent(type, &true_lower, &true_extent);
      at = (true_lower < 0 ? -true_lower : 0) + element.bytes * random.below(4);
      // One element more than needed, since pairs' padding counts for nothing in the true extent.
      const MPI_Aint end = at + true_lower + true_extent + (count - 1) * extent + element.bytes;
      if (extent >= 0 && end <= kBytes) return;
      MPI_Type_free(&type);
    }
  }
};

enum class Kind { put, get, accumulate, get_accumulate, fetch_and_op, kinds };

struct Round {
  Kind kind;
  int distance;
  const Element* element;
  MPI_Op op;
  int n;
  Side origin;
  Side target;
  Side result;
  bool with_request;

  explicit Round(Random& random) {
    kind = static_cast<Kind>(random.below(static_cast<int>(Kind::kinds)));
    distance = random.below(ranks);
    element = &elements()[static_cast<std::size_t>(random.below(static_cast<int>(elements().size())))];
    const int choice = random.below(static_cast<int>(element->ops.size()) + 2);
    op = choice == 0 ? MPI_REPLACE : choice == 1 ? MPI_NO_OP : element->ops[static_cast<std::size_t>(choice - 2)];
    if (kind == Kind::accumulate && op == MPI_NO_OP) op = MPI_REPLACE;
    n = kind == Kind::fetch_and_op ? 1 : 1 + random.below(random.below(8) == 0 ? 500 : 24);
    with_request = random.below(3) == 0;
    origin.make(random, *element, n);
    target.make(random, *element, n);
    result.make(random, *element, n);
    if (kind == Kind::fetch_and_op) target.at = element->bytes * random.below(100);
  }
  ~Round() {
    MPI_Type_free(&origin.type);
    MPI_Type_free(&target.type);
    MPI_Type_free(&result.type);
  }
};

void fill(const Element& element, long seed, char* memory) {
  std::memset(memory, 0, kBytes);
  for (int i = 0; (i + 1) * element.bytes <= kBytes; ++i) element.set(memory + i * element.bytes, (seed + i * 7) % 100);
}

Memory pack(const Side& side, const char* memory) {
  int bytes = 0;
  int position = 0;
  MPI_Pack_size(side.count, side.type, MPI_COMM_WORLD, &bytes);
  Memory packed(static_cast<std::size_t>(bytes) + 1);
  MPI_Pack(memory + side.at, side.count, side.type, packed.data(), bytes, &position, MPI_COMM_WORLD);
  packed.resize(static_cast<std::size_t>(position));
  return packed;
}
void unpack(const Side& side, const Memory& packed, char* memory) {
  int position = 0;
  MPI_Unpack(packed.data(), static_cast<int>(packed.size()), &position, memory + side.at, side.count, side.type,
             MPI_COMM_WORLD);
}

// The data of a side as an array of elements, and back.
Memory gather(const Round& round, const Side& side, const char* memory) {
  Memory dense(static_cast<std::size_t>(round.n * round.element->bytes));
  Side whole{round.element->type, round.n, 0};
  unpack(whole, pack(side, memory), dense.data());
  return dense;
}
void scatter(const Round& round, const Side& side, const Memory& dense, char* memory) {
  const Side whole{round.element->type, round.n, 0};
  unpack(side, pack(whole, dense.data()), memory);
}

// What the round makes of the target's memory; `result` is what the origin receives.
void model(const Round& round, const char* origin, char* target, char* result) {
  Side there = round.target;
  const Side one{round.element->type, 1, 0};
  const bool single = round.kind == Kind::fetch_and_op;
  if (single) there = {round.element->type, 1, round.target.at};
  const Memory before = gather(round, there, target);
  if (round.kind == Kind::get) return scatter(round, round.origin, before, result);
  if (round.kind == Kind::get_accumulate) scatter(round, round.result, before, result);
  if (single) scatter(round, one, before, result);
  Memory operand = gather(round, single ? one : round.origin, origin);
  if (round.kind != Kind::put && round.op == MPI_NO_OP) return;
  if (round.kind != Kind::put && round.op != MPI_REPLACE) {
    Memory updated = before;
    MPI_Reduce_local(operand.data(), updated.data(), round.n, round.element->type, round.op);
    operand = updated;
  }
  scatter(round, there, operand, target);
}

int compare(const Element& element, const char* here, const char* expected) {
  int different = 0;
  for (int i = 0; (i + 1) * element.bytes <= kBytes; ++i)
    different += element.is_equal(here + i * element.bytes, expected + i * element.bytes) ? 0 : 1;
  return different;
}

void operate(const Round& round, char* origin, char* result, MPI_Win win) {
  const int to = right(round.distance);
  const Side& o = round.origin;
  const Side& t = round.target;
  const Side& r = round.result;
  MPI_Request request = MPI_REQUEST_NULL;
  switch (round.kind) {
    case Kind::put:
      if (!round.with_request) MPI_Put(origin + o.at, o.count, o.type, to, t.at, t.count, t.type, win);
      if (round.with_request) MPI_Rput(origin + o.at, o.count, o.type, to, t.at, t.count, t.type, win, &request);
      break;
    case Kind::get:
      if (!round.with_request) MPI_Get(result + o.at, o.count, o.type, to, t.at, t.count, t.type, win);
      if (round.with_request) MPI_Rget(result + o.at, o.count, o.type, to, t.at, t.count, t.type, win, &request);
      break;
    case Kind::accumulate:
      if (!round.with_request) MPI_Accumulate(origin + o.at, o.count, o.type, to, t.at, t.count, t.type, round.op, win);
      if (round.with_request)
        MPI_Raccumulate(origin + o.at, o.count, o.type, to, t.at, t.count, t.type, round.op, win, &request);
      break;
    case Kind::get_accumulate:
      if (!round.with_request)
        MPI_Get_accumulate(origin + o.at, o.count, o.type, result + r.at, r.count, r.type, to, t.at, t.count, t.type,
                           round.op, win);
      if (round.with_request)
        MPI_Rget_accumulate(origin + o.at, o.count, o.type, result + r.at, r.count, r.type, to, t.at, t.count, t.type,
                            round.op, win, &request);
      break;
    default:
      MPI_Fetch_and_op(origin, result, round.element->type, to, t.at, round.op, win);
  }
  int done = 0;
  while (round.distance % 2 != 0 && done == 0) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// One epoch, in one of the ways that MPI has. Requests need passive ones.
void in_epoch(const Round& round, int style, char* origin, char* result, MPI_Win win) {
  const int to = right(round.distance);
  if (round.with_request || style == 1) {
    MPI_Win_lock_all(0, win);
    operate(round, origin, result, win);
    MPI_Win_unlock_all(win);
    return;
  }
  if (style == 0) {
    MPI_Win_fence(0, win);
    operate(round, origin, result, win);
    MPI_Win_fence(0, win);
    return;
  }
  MPI_Win_lock(style == 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, to, 0, win);
  operate(round, origin, result, win);
  MPI_Win_unlock(to, win);
}

void run_round(std::uint64_t seed, TestWindow<char>& window) {
  Random random(seed);
  const Round round(random);
  const int style = random.below(4);
  const auto content = [&](int of, int what) { return static_cast<long>(seed % 1000) + 13 * of + 31 * what; };
  Memory origin(kBytes);
  Memory result(kBytes);
  Memory expected(kBytes);
  Memory expected_result(kBytes);
  fill(*round.element, content(rank, 0), origin.data());
  fill(*round.element, content(rank, 1), result.data());
  fill(*round.element, content(rank, 2), window.data);
  MPI_Barrier(MPI_COMM_WORLD);
  in_epoch(round, style, origin.data(), result.data(), window.win);
  MPI_Barrier(MPI_COMM_WORLD);

  // This rank's memory, as its origin leaves it.
  Memory theirs(kBytes);
  Memory unused(kBytes);
  fill(*round.element, content(left(round.distance), 0), theirs.data());
  fill(*round.element, content(rank, 2), expected.data());
  model(round, theirs.data(), expected.data(), unused.data());
  // What this rank has received.
  Memory there(kBytes);
  fill(*round.element, content(right(round.distance), 2), there.data());
  fill(*round.element, content(rank, 1), expected_result.data());
  model(round, origin.data(), there.data(), expected_result.data());
  const int wrong = compare(*round.element, window.data, expected.data());
  const int wrong_results = compare(*round.element, result.data(), expected_result.data());
  if (wrong + wrong_results != 0)
    std::fprintf(stderr, "[rank %d] seed %llu: kind %d, element %d, %d elements, style %d, request %d\n", rank,
                 static_cast<unsigned long long>(seed), static_cast<int>(round.kind),
                 static_cast<int>(round.element - elements().data()), round.n, style, round.with_request ? 1 : 0);
  CHECK_EQUAL(wrong, 0);
  CHECK_EQUAL(wrong_results, 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

unsigned long long first_seed() {
  unsigned long long seed = static_cast<unsigned long long>(std::time(nullptr));
  if (const char* const text = std::getenv("SHMEMX_TEST_SEED"); text != nullptr)
    seed = std::strtoull(text, nullptr, 10);
  MPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("SHMEMX_TEST_SEED=%llu\n", seed);
  return seed;
}

}  // namespace

CASE(random_rounds_match_the_model) {
  const unsigned long long seed = first_seed();
  for (const auto memory : {TestWindow<char>::Memory::allocated, TestWindow<char>::Memory::own}) {
    TestWindow<char> window(kBytes, memory);
    for (unsigned long long i = 0; i < 150; ++i) run_round(seed + 1000 * i, window);
  }
}

int main(int argc, char** argv) { return mpi_test::run(argc, argv); }
