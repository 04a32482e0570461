// Conjugate gradients on a random sparse matrix, symmetric and positive definite: each row has a few pairs of entries
// (i, j) and (j, i) of one random value, and a diagonal that exceeds the sum of the others. Rows are distributed in
// blocks; before each product a PE gets those elements of the vector that its rows need, in one gather list for each
// owner. Verified: the residual, computed anew from the solution, and the solution itself, which is known because the
// right side was made from it. --scale: rows of all PEs.
#include <algorithm>
#include <cmath>
#include <map>

#include "kernel.hpp"

namespace {
using namespace shmemx::bench;

constexpr long kDefaultRows = 14000;
constexpr int kPairs = 6;  // entries that a row brings in, beside the diagonal
constexpr int kMostIterations = 200;
constexpr double kTolerance = 1e-10;

struct Entry {
  long column;
  double value;
};

long partner(long row, int k, long rows) {
  return static_cast<long>(random_at(static_cast<std::uint64_t>(row) * kPairs + static_cast<std::uint64_t>(k)) %
                           static_cast<std::uint64_t>(rows));
}
double strength(long row, int k) {
  return uniform_at((std::uint64_t{1} << 40) + static_cast<std::uint64_t>(row) * kPairs +
                    static_cast<std::uint64_t>(k)) -
         0.5;
}

// The rows of this PE. Every PE enumerates all pairs, which takes no communication.
class Matrix {
 public:
  Matrix(long rows, Share mine) : mine_(mine), rows_(static_cast<std::size_t>(mine.count)) {
    std::vector<double> sums(rows_.size());
    const auto add = [&](long i, long j, double value) {
      if (i < mine.first || i >= mine.first + mine.count) return;
      const auto local = static_cast<std::size_t>(i - mine.first);
      rows_[local].push_back({j, value});
      sums[local] += std::abs(value);
    };
    for (long i = 0; i < rows; ++i)
      for (int k = 0; k < kPairs; ++k) {
        const long j = partner(i, k, rows);
        if (i == j) continue;
        add(i, j, strength(i, k));
        add(j, i, strength(i, k));
      }
    for (std::size_t i = 0; i < rows_.size(); ++i)
      rows_[i].push_back({mine.first + static_cast<long>(i), sums[i] * 1.02 + 0.05});
  }

  std::vector<long> columns() const {
    std::vector<long> all;
    for (const auto& row : rows_)
      for (const Entry& entry : row) all.push_back(entry.column);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }
  // Columns become places in a list of those that columns() returned.
  void renumber(const std::vector<long>& columns) {
    for (auto& row : rows_)
      for (Entry& entry : row)
        entry.column = std::lower_bound(columns.begin(), columns.end(), entry.column) - columns.begin();
  }
  void multiply(const std::vector<double>& gathered, double* out) const {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      double sum = 0;
      for (const Entry& entry : rows_[i]) sum += entry.value * gathered[static_cast<std::size_t>(entry.column)];
      out[i] = sum;
    }
  }

 private:
  Share mine_;
  std::vector<std::vector<Entry>> rows_;
};

// A vector that is distributed like the rows; `needed` elements of it are gathered for a product.
class Gathered {
 public:
  Gathered(long rows, const std::vector<long>& needed)
      : me_(shmem_my_pe()), pes_(shmem_n_pes()), outgoing_(static_cast<std::size_t>(pes_)) {
    const auto room = static_cast<std::size_t>(share_of(rows, 0, pes_).count);
    vector_ = allocate<double>(room);
    values_.resize(needed.size());
    arrived_ = allocate<double>(static_cast<std::size_t>(rows));
    counts_ = allocate<long>(static_cast<std::size_t>(pes_) * 2);
    wanted_ = allocate<long>(static_cast<std::size_t>(rows));
    tell_owners(rows, needed);
  }
  Gathered(const Gathered&) = delete;
  Gathered& operator=(const Gathered&) = delete;
  ~Gathered() {
    shmem_free(wanted_);
    shmem_free(counts_);
    shmem_free(arrived_);
    shmem_free(vector_);
  }

  double* vector() { return vector_; }

  // All PEs call it after they have set their part of the vector.
  const std::vector<double>& gather() {
    for (int i = 0; i < pes_; ++i) {
      const int pe = (me_ + i) % pes_;
      const Outgoing& to = outgoing_[static_cast<std::size_t>(pe)];
      if (to.elements.empty()) continue;
      packed_.resize(to.elements.size());
      for (std::size_t k = 0; k < packed_.size(); ++k) packed_[k] = vector_[to.elements[k]];
      shmem_double_put(arrived_ + to.place, packed_.data(), packed_.size(), pe);
    }
    shmem_barrier_all();
    std::copy_n(arrived_, values_.size(), values_.begin());
    shmem_barrier_all();  // before the next elements arrive
    return values_;
  }

 private:
  struct Outgoing {
    std::vector<std::size_t> elements;  // of my part
    std::size_t place = 0;              // in the receiver's list
  };

  // `needed` ascends, so those of one owner follow each other, and their place in it says where they belong.
  void tell_owners(long rows, const std::vector<long>& needed) {
    std::copy(needed.begin(), needed.end(), wanted_);
    for (int pe = 0; pe < pes_; ++pe) {
      const Share theirs = share_of(rows, pe, pes_);
      const auto begin = std::lower_bound(needed.begin(), needed.end(), theirs.first);
      const auto end = std::lower_bound(begin, needed.end(), theirs.first + theirs.count);
      const long what[2] = {begin - needed.begin(), end - begin};
      shmem_long_put(counts_ + 2 * me_, what, 2, pe);
    }
    shmem_barrier_all();
    const Share mine = share_of(rows, me_, pes_);
    for (int pe = 0; pe < pes_; ++pe) {
      Outgoing& to = outgoing_[static_cast<std::size_t>(pe)];
      to.place = static_cast<std::size_t>(counts_[2 * pe]);
      std::vector<long> asked(static_cast<std::size_t>(counts_[2 * pe + 1]));
      if (!asked.empty()) shmem_long_get(asked.data(), wanted_ + to.place, asked.size(), pe);
      for (const long row : asked) to.elements.push_back(static_cast<std::size_t>(row - mine.first));
    }
    shmem_barrier_all();
  }

  int me_, pes_;
  std::vector<Outgoing> outgoing_;
  std::vector<double> values_, packed_;
  double *vector_, *arrived_;
  long *counts_, *wanted_;
};

double dot(const std::vector<double>& a, const double* b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

class Solver {
 public:
  explicit Solver(long rows)
      : share_(share_of(rows, shmem_my_pe(), shmem_n_pes())),
        matrix_(rows, share_),
        columns_(matrix_.columns()),
        direction_(rows, columns_),
        right_(size()),
        solution_(size()),
        residual_(size()),
        product_(size()) {
    matrix_.renumber(columns_);
    for (std::size_t i = 0; i < size(); ++i) direction_.vector()[i] = exact(i);
    matrix_.multiply(direction_.gather(), right_.data());
  }

  void solve() {
    double* const p = direction_.vector();
    std::fill(solution_.begin(), solution_.end(), 0.0);
    residual_ = right_;
    std::copy(right_.begin(), right_.end(), p);
    double rho = sum_.of(dot(residual_, residual_.data()));
    const double enough = kTolerance * kTolerance * rho;
    for (iterations_ = 0; iterations_ < kMostIterations && rho > enough; ++iterations_) {
      matrix_.multiply(direction_.gather(), product_.data());
      const double alpha = rho / sum_.of(dot(product_, p));
      for (std::size_t i = 0; i < size(); ++i) {
        solution_[i] += alpha * p[i];
        residual_[i] -= alpha * product_[i];
      }
      const double next = sum_.of(dot(residual_, residual_.data()));
      for (std::size_t i = 0; i < size(); ++i) p[i] = residual_[i] + next / rho * p[i];
      rho = next;
    }
  }

  void check(bool spoil) {
    if (spoil) solution_[0] += 1e-3;
    std::copy(solution_.begin(), solution_.end(), direction_.vector());
    matrix_.multiply(direction_.gather(), product_.data());
    double residual = 0, right = 0, error = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      residual += (right_[i] - product_[i]) * (right_[i] - product_[i]);
      right += right_[i] * right_[i];
      error = std::max(error, std::abs(solution_[i] - exact(i)));
    }
    const double relative = std::sqrt(sum_.of(residual) / sum_.of(right));
    verify(sum_, relative < 100 * kTolerance, "the residual is too large");
    verify(sum_, error < 1e-6, "the solution is not the one that the right side was made of");
    verify(sum_, iterations_ > 1 && iterations_ < kMostIterations, "the number of iterations");
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(share_.count); }
  double exact(std::size_t i) const {
    return uniform_at((std::uint64_t{1} << 50) + static_cast<std::uint64_t>(share_.first) + i) + 0.5;
  }

  Share share_;
  Matrix matrix_;
  std::vector<long> columns_;
  Gathered direction_;
  Sum sum_;
  std::vector<double> right_, solution_, residual_, product_;
  int iterations_ = 0;
};
}  // namespace

int main(int argc, char** argv) {
  shmem_init();
  const KernelOptions options = kernel_options(argc, argv);
  const long rows = options.scale > 0 ? options.scale : kDefaultRows;
  if (rows < shmem_n_pes()) die("kernel_cg takes a row of each PE at least");
  {
    Solver solver(rows);
    repeat_kernel("kernel_cg", static_cast<std::size_t>(rows) * sizeof(double), options, [&] { solver.solve(); });
    solver.check(options.spoil);
  }
  shmem_finalize();
  return 0;
}
