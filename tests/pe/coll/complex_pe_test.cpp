// Reductions and scans of complex numbers in C++ programs, which may use std::complex and C99's types.
#include <complex>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

__extension__ typedef float _Complex C99Float;
__extension__ typedef double _Complex C99Double;

constexpr std::size_t kCount = 3;

template <class Real, class T>
Real* parts(T* at) {
  static_assert(sizeof(T) == 2 * sizeof(Real));
  return reinterpret_cast<Real*>(at);
}

// Small whole numbers: exact in float for the few factors that differ from 1.
std::complex<double> term(int pe, std::size_t i) { return {double(pe + 1), double(i) - pe}; }
std::complex<double> factor(int pe, std::size_t i) { return pe % 4 == int(i) ? std::complex<double>(0, 1) : 1.0; }

template <class Real, class T>
class Rig {
 public:
  Rig() : source_(kCount), dest_(kCount), work_(64), sync_(SHMEM_REDUCE_SYNC_SIZE) {
    for (std::size_t i = 0; i < sync_.size(); ++i) sync_[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
  }
  T* dest() const { return dest_.get(); }
  T* work() const { return work_.get(); }
  long* sync() const { return sync_.get(); }
  const T* source() const { return source_.get(); }

  template <class Value>
  void fill(Value value) {
    shmem_sync_all();  // all PEs have read the previous terms
    for (std::size_t i = 0; i < kCount; ++i) {
      parts<Real>(&source_[i])[0] = static_cast<Real>(value(me(), i).real());
      parts<Real>(&source_[i])[1] = static_cast<Real>(value(me(), i).imag());
      parts<Real>(&dest_[i])[0] = parts<Real>(&dest_[i])[1] = -99;
    }
    shmem_sync_all();
  }

  // dest is the fold of the values of PEs 0..end-1.
  template <class Value, class Op>
  void check(const char* what, int end, std::complex<double> start, Value value, Op op) {
    const Note note(what);
    for (std::size_t i = 0; i < kCount; ++i) {
      std::complex<double> expected = start;
      for (int pe = 0; pe < end; ++pe) expected = op(expected, value(pe, i));
      CHECK_EQUAL(double(parts<Real>(&dest_[i])[0]), expected.real());
      CHECK_EQUAL(double(parts<Real>(&dest_[i])[1]), expected.imag());
    }
  }

 private:
  Symmetric<T> source_, dest_, work_;
  Symmetric<long> sync_;
};

const auto plus = [](auto a, auto b) { return a + b; };
const auto times = [](auto a, auto b) { return a * b; };

// One call, then the fold of PEs 0..END-1.
#define RUN(CALL, VALUE, END, START, OP) \
  rig.fill(VALUE);                       \
  CALL;                                  \
  rig.check(#CALL, END, START, VALUE, OP);

#define TEAM(NAME) CHECK_EQUAL(NAME(SHMEM_TEAM_WORLD, rig.dest(), rig.source(), kCount), 0)
#define ACTIVE(NAME) NAME(rig.dest(), rig.source(), int{kCount}, 0, 0, pes(), rig.work(), rig.sync())

#define ALL_CALLS(N, REAL, T)                                 \
  Rig<REAL, T> rig;                                           \
  RUN(TEAM(shmem_##N##_sum_reduce), term, pes(), 0, plus)     \
  RUN(TEAM(shmem_sum_reduce), term, pes(), 0, plus)           \
  RUN(TEAM(shmem_##N##_prod_reduce), factor, pes(), 1, times) \
  RUN(TEAM(shmem_prod_reduce), factor, pes(), 1, times)       \
  RUN(TEAM(shmem_##N##_sum_inscan), term, me() + 1, 0, plus)  \
  RUN(TEAM(shmem_sum_inscan), term, me() + 1, 0, plus)        \
  RUN(TEAM(shmem_##N##_sum_exscan), term, me(), 0, plus)      \
  RUN(TEAM(shmem_sum_exscan), term, me(), 0, plus)            \
  RUN(ACTIVE(shmem_##N##_sum_to_all), term, pes(), 0, plus)   \
  RUN(ACTIVE(shmem_##N##_prod_to_all), factor, pes(), 1, times)

}  // namespace

PE_TEST(std_complex_of_float){ALL_CALLS(complexf, float, std::complex<float>)}

PE_TEST(std_complex_of_double){ALL_CALLS(complexd, double, std::complex<double>)}

PE_TEST(c99_complex_of_float){ALL_CALLS(complexf, float, C99Float)}

PE_TEST(c99_complex_of_double) {
  ALL_CALLS(complexd, double, C99Double)
}
