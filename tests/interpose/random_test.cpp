// Random programs compared with a sequential model: all ranks draw the same program from one seed, so each of them
// knows what the others do. In each round every rank accesses one other rank's memory; MPI_Pack, MPI_Unpack and
// MPI_Reduce_local tell what must come of it.
#include <cstdlib>
#include <ctime>
#include <memory>

#include "mpi_test.hpp"
#include "random_types.hpp"

using mpi_test::left;
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::right;
using random_types::Element;
using random_types::elements;
using random_types::Random;
using random_types::TypeMaker;

namespace {

constexpr int kBytes = 64 << 10;  // of a window, and of memory that operations use

using Bytes = std::vector<char>;

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

enum class Kind { put, get, accumulate, get_accumulate, fetch_and_op, compare_and_swap, kinds };
enum class Style { fence, post, lock_all, lock_shared, lock_exclusive, styles };

bool is_active(Style style) { return style == Style::fence || style == Style::post; }

struct Operation {
  Kind kind;
  MPI_Op op;
  int n;
  Side origin;
  Side target;
  Side result;
  bool with_request;

  // In epochs of active targets several operations are accumulates, whose order MPI keeps.
  Operation(Random& random, const Element& element, Style style, bool alone) {
    kind = static_cast<Kind>(random.below(static_cast<int>(Kind::kinds)));
    if (is_active(style) && !alone && (kind == Kind::put || kind == Kind::get)) kind = Kind::accumulate;
    if (kind == Kind::compare_and_swap && !is_integer(element)) kind = Kind::fetch_and_op;
    const int choice = random.below(static_cast<int>(element.ops.size()) + 2);
    op = choice == 0 ? MPI_REPLACE : choice == 1 ? MPI_NO_OP : element.ops[static_cast<std::size_t>(choice - 2)];
    if (kind == Kind::accumulate && op == MPI_NO_OP) op = MPI_REPLACE;
    n = is_single() ? 1 : 1 + random.below(random.below(8) == 0 ? 500 : 24);
    with_request = random.below(3) == 0 && !is_active(style);
    origin.make(random, element, n);
    target.make(random, element, n);
    result.make(random, element, n);
    if (is_single()) target.at = element.bytes * random.below(100);
  }
  ~Operation() {
    MPI_Type_free(&origin.type);
    MPI_Type_free(&target.type);
    MPI_Type_free(&result.type);
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  bool is_single() const { return kind == Kind::fetch_and_op || kind == Kind::compare_and_swap; }
  static bool is_integer(const Element& element) { return element.ops.size() == 10; }
};

struct Round {
  int distance;
  const Element* element;
  Style style;
  std::vector<std::unique_ptr<Operation>> operations;

  explicit Round(Random& random) {
    distance = random.below(ranks);
    element = &elements()[static_cast<std::size_t>(random.below(static_cast<int>(elements().size())))];
    style = static_cast<Style>(random.below(static_cast<int>(Style::styles)));
    const int count = random.below(2) == 0 ? 1 : 1 + random.below(4);
    for (int i = 0; i < count; ++i)
      operations.push_back(std::make_unique<Operation>(random, *element, style, count == 1));
  }
};

// A window of any kind over kBytes of each rank.
class AnyWindow {
 public:
  enum class Memory { allocated, own, dynamic, shared, kinds };

  explicit AnyWindow(Memory memory) : memory_(memory), bases_(static_cast<std::size_t>(ranks), 0) {
    const MPI_Comm all = MPI_COMM_WORLD;
    if (memory != Memory::allocated && memory != Memory::shared) own_.resize(kBytes);
    data = own_.data();
    if (memory == Memory::allocated) MPI_Win_allocate(kBytes, 1, MPI_INFO_NULL, all, &data, &win);
    if (memory == Memory::own) MPI_Win_create(data, kBytes, 1, MPI_INFO_NULL, all, &win);
    if (memory == Memory::shared) MPI_Win_allocate_shared(kBytes, 1, MPI_INFO_NULL, all, &data, &win);
    if (memory != Memory::dynamic) return;
    MPI_Win_create_dynamic(MPI_INFO_NULL, all, &win);
    MPI_Win_attach(win, data, kBytes);
    MPI_Aint base = 0;
    MPI_Get_address(data, &base);
    MPI_Allgather(&base, 1, MPI_AINT, bases_.data(), 1, MPI_AINT, all);
  }
  ~AnyWindow() {
    if (memory_ == Memory::dynamic) MPI_Win_detach(win, data);
    MPI_Win_free(&win);
  }
  AnyWindow(const AnyWindow&) = delete;
  AnyWindow& operator=(const AnyWindow&) = delete;

  MPI_Aint base_of(int target) const { return bases_[static_cast<std::size_t>(target)]; }

  MPI_Win win = MPI_WIN_NULL;
  char* data = nullptr;

 private:
  Memory memory_;
  Bytes own_;
  std::vector<MPI_Aint> bases_;
};

void fill(const Element& element, long seed, char* memory) {
  std::memset(memory, 0, kBytes);
  for (int i = 0; (i + 1) * element.bytes <= kBytes; ++i) element.set(memory + i * element.bytes, (seed + i * 7) % 100);
}

Bytes pack(const Side& side, const char* memory) {
  int bytes = 0;
  int position = 0;
  MPI_Pack_size(side.count, side.type, MPI_COMM_WORLD, &bytes);
  Bytes packed(static_cast<std::size_t>(bytes) + 1);
  MPI_Pack(memory + side.at, side.count, side.type, packed.data(), bytes, &position, MPI_COMM_WORLD);
  packed.resize(static_cast<std::size_t>(position));
  return packed;
}
void unpack(const Side& side, const Bytes& packed, char* memory) {
  int position = 0;
  MPI_Unpack(packed.data(), static_cast<int>(packed.size()), &position, memory + side.at, side.count, side.type,
             MPI_COMM_WORLD);
}

// The data of a side as an array of elements, and back.
Bytes gather(const Element& element, int n, const Side& side, const char* memory) {
  Bytes dense(static_cast<std::size_t>(n * element.bytes));
  const Side whole{element.type, n, 0};
  unpack(whole, pack(side, memory), dense.data());
  return dense;
}
void scatter(const Element& element, int n, const Side& side, const Bytes& dense, char* memory) {
  const Side whole{element.type, n, 0};
  unpack(side, pack(whole, dense.data()), memory);
}

// What an operation makes of the target's memory; `result` is what the origin receives, `compared` what it compares
// with.
void model(const Element& element, const Operation& o, const char* origin, const char* compared, char* target,
           char* result) {
  const Side one{element.type, 1, 0};
  const Side there = o.is_single() ? Side{element.type, 1, o.target.at} : o.target;
  const Bytes before = gather(element, o.n, there, target);
  if (o.kind == Kind::get) return scatter(element, o.n, o.origin, before, result);
  if (o.kind == Kind::get_accumulate) scatter(element, o.n, o.result, before, result);
  if (o.is_single()) scatter(element, 1, one, before, result);
  Bytes operand = gather(element, o.n, o.is_single() ? one : o.origin, origin);
  if (o.kind == Kind::compare_and_swap) {
    if (std::memcmp(compared, before.data(), before.size()) == 0) scatter(element, 1, there, operand, target);
    return;
  }
  if (o.kind != Kind::put && o.op == MPI_NO_OP) return;
  if (o.kind != Kind::put && o.op != MPI_REPLACE) {
    Bytes updated = before;
    MPI_Reduce_local(operand.data(), updated.data(), o.n, element.type, o.op);
    operand = updated;
  }
  scatter(element, o.n, there, operand, target);
}

int compare(const Element& element, const char* here, const char* expected) {
  int different = 0;
  for (int i = 0; (i + 1) * element.bytes <= kBytes; ++i)
    different += element.is_equal(here + i * element.bytes, expected + i * element.bytes) ? 0 : 1;
  return different;
}

// Memory of this rank that the operations of a round use; each has a result of its own.
struct Locals {
  Bytes origin = Bytes(kBytes);
  Bytes compared = Bytes(kBytes);
  std::vector<Bytes> results;
};

MPI_Request start_request(const Operation& operation, char* origin, char* result, int to, MPI_Aint at, MPI_Win win) {
  MPI_Request request = MPI_REQUEST_NULL;
  const Side& o = operation.origin;
  const Side& t = operation.target;
  const Side& r = operation.result;
  switch (operation.kind) {
    case Kind::put:
      MPI_Rput(origin + o.at, o.count, o.type, to, at, t.count, t.type, win, &request);
      break;
    case Kind::get:
      MPI_Rget(result + o.at, o.count, o.type, to, at, t.count, t.type, win, &request);
      break;
    case Kind::accumulate:
      MPI_Raccumulate(origin + o.at, o.count, o.type, to, at, t.count, t.type, operation.op, win, &request);
      break;
    default:
      MPI_Rget_accumulate(origin + o.at, o.count, o.type, result + r.at, r.count, r.type, to, at, t.count, t.type,
                          operation.op, win, &request);
  }
  return request;
}

void start(const Operation& operation, char* origin, char* result, int to, MPI_Aint at, MPI_Win win) {
  const Side& o = operation.origin;
  const Side& t = operation.target;
  const Side& r = operation.result;
  switch (operation.kind) {
    case Kind::put:
      MPI_Put(origin + o.at, o.count, o.type, to, at, t.count, t.type, win);
      break;
    case Kind::get:
      MPI_Get(result + o.at, o.count, o.type, to, at, t.count, t.type, win);
      break;
    case Kind::accumulate:
      MPI_Accumulate(origin + o.at, o.count, o.type, to, at, t.count, t.type, operation.op, win);
      break;
    default:
      MPI_Get_accumulate(origin + o.at, o.count, o.type, result + r.at, r.count, r.type, to, at, t.count, t.type,
                         operation.op, win);
  }
}

void operate(const Round& round, std::size_t i, Locals& locals, const AnyWindow& window) {
  const Operation& operation = *round.operations[i];
  const int to = right(round.distance);
  const MPI_Aint at = window.base_of(to) + operation.target.at;
  char* const origin = locals.origin.data();
  char* const result = locals.results[i].data();
  const MPI_Datatype type = round.element->type;
  if (operation.kind == Kind::fetch_and_op) {
    MPI_Fetch_and_op(origin, result, type, to, at, operation.op, window.win);
  } else if (operation.kind == Kind::compare_and_swap) {
    MPI_Compare_and_swap(origin, locals.compared.data() + operation.target.at, result, type, to, at, window.win);
  } else if (operation.with_request) {
    MPI_Request request = start_request(operation, origin, result, to, at, window.win);
    int done = 0;
    while (round.distance % 2 != 0 && done == 0) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    start(operation, origin, result, to, at, window.win);
  }
}

// All operations; where a flush is allowed it orders them.
void operate_all(const Round& round, Locals& locals, const AnyWindow& window) {
  for (std::size_t i = 0; i < round.operations.size(); ++i) {
    operate(round, i, locals, window);
    if (is_active(round.style) || i + 1 == round.operations.size()) continue;
    if (i % 2 == 0) MPI_Win_flush(right(round.distance), window.win);
    if (i % 2 != 0) MPI_Win_flush_all(window.win);
  }
}

void in_posted_epoch(const Round& round, Locals& locals, const AnyWindow& window) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group origins = MPI_GROUP_NULL;
  MPI_Group targets = MPI_GROUP_NULL;
  const int from = left(round.distance);
  const int to = right(round.distance);
  MPI_Win_get_group(window.win, &world);
  MPI_Group_incl(world, 1, &from, &origins);
  MPI_Group_incl(world, 1, &to, &targets);
  MPI_Win_post(origins, 0, window.win);
  MPI_Win_start(targets, 0, window.win);
  operate_all(round, locals, window);
  MPI_Win_complete(window.win);
  MPI_Win_wait(window.win);
  for (MPI_Group* const group : {&world, &origins, &targets}) MPI_Group_free(group);
}

// One epoch, in one of the ways that MPI has.
void in_epoch(const Round& round, Locals& locals, const AnyWindow& window) {
  const int to = right(round.distance);
  switch (round.style) {
    case Style::fence:
      MPI_Win_fence(0, window.win);
      operate_all(round, locals, window);
      MPI_Win_fence(MPI_MODE_NOSUCCEED, window.win);
      break;
    case Style::post:
      in_posted_epoch(round, locals, window);
      break;
    case Style::lock_all:
      MPI_Win_lock_all(0, window.win);
      operate_all(round, locals, window);
      MPI_Win_unlock_all(window.win);
      break;
    default:
      MPI_Win_lock(round.style == Style::lock_shared ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, to, 0, window.win);
      operate_all(round, locals, window);
      MPI_Win_unlock(to, window.win);
  }
}

// Returns how many elements of the target's memory, and of what its origin receives, are wrong. `content` fills memory
// of a rank; what it compares with is the target's memory as it was.
template <class Content>
int check_round(const Round& round, const char* data, const Locals& locals, Content content) {
  const Element& element = *round.element;
  Bytes theirs(kBytes);  // what this rank's origin sends
  Bytes compared(kBytes);
  Bytes expected(kBytes);
  Bytes unused(kBytes);
  fill(element, content(left(round.distance), 0), theirs.data());
  fill(element, content(rank, 2), compared.data());
  fill(element, content(rank, 2), expected.data());
  Bytes there(kBytes);  // the memory of this rank's target
  fill(element, content(right(round.distance), 2), there.data());
  int wrong = 0;
  for (std::size_t i = 0; i < round.operations.size(); ++i) {
    const Operation& operation = *round.operations[i];
    model(element, operation, theirs.data(), compared.data() + operation.target.at, expected.data(), unused.data());
    Bytes result(kBytes);
    fill(element, content(rank, 1), result.data());
    model(element, operation, locals.origin.data(), locals.compared.data() + operation.target.at, there.data(),
          result.data());
    wrong += compare(element, locals.results[i].data(), result.data());
  }
  return wrong + compare(element, data, expected.data());
}

void run_round(std::uint64_t seed, AnyWindow& window) {
  Random random(seed);
  const Round round(random);
  const Element& element = *round.element;
  const auto content = [&](int of, int what) { return static_cast<long>(seed % 1000) + 13 * of + 31 * what; };
  Locals locals;
  fill(element, content(rank, 0), locals.origin.data());
  fill(element, content(right(round.distance), 2), locals.compared.data());
  for (std::size_t i = 0; i < round.operations.size(); ++i) {
    locals.results.emplace_back(kBytes);
    fill(element, content(rank, 1), locals.results.back().data());
  }
  fill(element, content(rank, 2), window.data);
  MPI_Win_fence(0, window.win);
  in_epoch(round, locals, window);
  MPI_Barrier(MPI_COMM_WORLD);
  const int wrong = check_round(round, window.data, locals, content);
  if (wrong != 0)
    std::fprintf(stderr, "[rank %d] seed %llu: element %d, %d operations, style %d\n", rank,
                 static_cast<unsigned long long>(seed), static_cast<int>(round.element - elements().data()),
                 static_cast<int>(round.operations.size()), static_cast<int>(round.style));
  CHECK_EQUAL(wrong, 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

// Returns true if all ranks can map each other's memory. Otherwise the window is left to the MPI, and Open MPI 4.1.4
// computes MPI_SHORT_INT in another way than its MPI_Reduce_local.
bool share_memory() {
  MPI_Comm node = MPI_COMM_NULL;
  int size = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &size);
  MPI_Comm_free(&node);
  for (const char* const name : {"SHMEMX_PES_PER_NODE", "SHMEMX_NODE_PATH", "SHMEMX_WINDOW_PATH"})
    if (std::getenv(name) != nullptr) return false;
  return size == ranks;
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
  for (int kind = 0; kind < static_cast<int>(AnyWindow::Memory::kinds); ++kind) {
    const auto memory = static_cast<AnyWindow::Memory>(kind);
    if (memory == AnyWindow::Memory::shared && !share_memory()) continue;
    AnyWindow window(memory);
    for (unsigned long long i = 0; i < 80; ++i) run_round(seed + 1000 * i + 7 * static_cast<unsigned>(kind), window);
  }
}

int main(int argc, char** argv) { return mpi_test::run(argc, argv); }
