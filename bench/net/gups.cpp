// Random updates by the rules of HPC Challenge's RandomAccess: every PE exchanges random words of a table that lies on
// all PEs with their exclusive or with a random number, and holds at most kLookAhead updates back. The numbers are one
// sequence, of which each PE takes a part: the powers of x modulo x^64 + x^2 + x + 1 over the field of two elements.
// Unlike there, the table may not be wrong anywhere: the same updates once more must restore it. Ends after a time and
// not after four updates for each word. Prints million updates per second of all PEs together.
#include "../support/program.hpp"

namespace {
using namespace shmemx::bench;

constexpr std::uint64_t kPolynomial = 7;  // x^2 + x + 1: what x^64 is
constexpr long kLookAhead = 1024;
constexpr std::size_t kWords = std::size_t{1} << 21;  // of one PE

std::uint64_t times_x(std::uint64_t value) { return value << 1 ^ (value >> 63 != 0 ? kPolynomial : 0); }

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  for (; b != 0; b >>= 1, a = times_x(a))
    if ((b & 1) != 0) result ^= a;
  return result;
}

// x to the power of n.
std::uint64_t number_at(std::uint64_t n) {
  std::uint64_t result = 1;
  for (std::uint64_t square = 2; n != 0; n >>= 1, square = product(square, square))
    if ((n & 1) != 0) result = product(result, square);
  return result;
}

struct Table {
  std::uint64_t* words;  // symmetric
  std::uint64_t pes;
  std::uint64_t first;  // number of the calling PE
};

// Performs kLookAhead updates from `number` on and returns the number behind the last one.
std::uint64_t update(const Table& table, std::uint64_t number) {
  for (long i = 0; i < kLookAhead; ++i) {
    const std::uint64_t index = number & (table.pes * kWords - 1);
    shmem_uint64_atomic_xor(&table.words[index % kWords], number, static_cast<int>(index / kWords));
    number = times_x(number);
  }
  shmem_quiet();
  return number;
}

std::uint64_t initial(std::size_t i) { return i * 3; }

std::int64_t words_changed(const Table& table) {
  std::int64_t changed = 0;
  for (std::size_t i = 0; i < kWords; ++i) changed += table.words[i] != initial(i) ? 1 : 0;
  return changed;
}

// All updates of this PE within a time. Returns how many.
long updates_for(const Table& table, std::int64_t ns) {
  long done = 0;
  std::uint64_t number = table.first;
  for (const std::int64_t until = now_ns() + ns; now_ns() < until; done += kLookAhead) number = update(table, number);
  return done;
}

void undo(const Table& table, long updates) {
  std::uint64_t number = table.first;
  for (long done = 0; done < updates; done += kLookAhead) number = update(table, number);
}

long count;  // symmetric

// The sum of `mine` over all PEs, on PE 0.
long sum_at_zero(long mine) {
  count = mine;
  shmem_barrier_all();
  long sum = 0;
  for (int pe = 0; shmem_my_pe() == 0 && pe < shmem_n_pes(); ++pe) sum += shmem_long_g(&count, pe);
  shmem_barrier_all();
  return sum;
}

bool is_power_of_two(int n) { return (n & (n - 1)) == 0; }

// Returns whether the table was right.
bool measure(const Table& table, std::int64_t ns) {
  for (std::size_t i = 0; i < kWords; ++i) table.words[i] = initial(i);
  shmem_barrier_all();
  const std::int64_t begin = now_ns();
  const long updates = updates_for(table, ns);
  shmem_barrier_all();
  const double us = static_cast<double>(now_ns() - begin) * 1e-3;
  const long all = sum_at_zero(updates);
  const long changed = sum_at_zero(words_changed(table));
  undo(table, updates);
  shmem_barrier_all();
  const long wrong = sum_at_zero(words_changed(table));
  if (shmem_my_pe() != 0) return true;
  const double rate = static_cast<double>(all) / us;
  print_result({"net_gups", shmem_n_pes(), sizeof(std::uint64_t), "Mops/s", "verified", "", {rate, rate, 0, 1}});
  return wrong == 0 && changed != 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  shmem_init();
  const int pes = shmem_n_pes();
  if (!is_power_of_two(pes)) die("net_gups takes a power of two of PEs");
  const auto per_pe = number_at(static_cast<std::uint64_t>(shmem_my_pe()) * 4 * kWords);
  const Table table{static_cast<std::uint64_t*>(shmem_malloc(kWords * sizeof(std::uint64_t))),
                    static_cast<std::uint64_t>(pes), per_pe};
  const bool right = measure(table, static_cast<std::int64_t>(options.limits.budget_ms * 1e6));
  if (!right) die("the updates did not restore the table");
  shmem_finalize();
  return 0;
}
