// Fourier transform in three dimensions of a cube of random complex numbers, of any number of PEs. Each PE holds planes
// of equal z; it transforms them in x and y, the cube is transposed so that each PE holds planes of equal y, and the
// third dimension follows. A transposition puts to each PE what its planes need, one row of x for each pair (y, z).
// Verified: the sum of the squares of all numbers, by Parseval's theorem; one element by the definition of the
// transform; and the inverse restores the cube. --scale: the length of an edge, a power of two.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "kernel.hpp"

namespace {
using namespace shmemx::bench;

using Complex = std::complex<double>;
constexpr long kDefaultEdge = 64;

// One dimension, in place, by decimation in time: sorted by reversed indices, then butterflies of growing length.
class Fourier {
 public:
  explicit Fourier(std::size_t n) : n_(n), reversed_(n), roots_(n / 2) {
    for (std::size_t i = 1; i < n; ++i) reversed_[i] = reversed_[i / 2] / 2 | ((i & 1) != 0 ? n / 2 : 0);
    for (std::size_t i = 0; i < n / 2; ++i)
      roots_[i] = std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
  }

  void transform(Complex* values, bool inverse) const {
    for (std::size_t i = 0; i < n_; ++i)
      if (i < reversed_[i]) std::swap(values[i], values[reversed_[i]]);
    for (std::size_t half = 1; half < n_; half *= 2)
      for (std::size_t block = 0; block < n_; block += 2 * half)
        for (std::size_t i = 0; i < half; ++i) {
          const Complex root = roots_[i * (n_ / 2 / half)];
          const Complex odd = (inverse ? std::conj(root) : root) * values[block + half + i];
          values[block + half + i] = values[block + i] - odd;
          values[block + i] += odd;
        }
  }

 private:
  std::size_t n_;
  std::vector<std::size_t> reversed_;
  std::vector<Complex> roots_;
};

class Cube {
 public:
  explicit Cube(std::size_t n)
      : n_(n),
        me_(shmem_my_pe()),
        pes_(shmem_n_pes()),
        share_(share_of(static_cast<long>(n), me_, pes_)),
        fourier_(n),
        column_(n) {
    const auto most = static_cast<std::size_t>(share_of(static_cast<long>(n), 0, pes_).count);
    planes_ = allocate<Complex>(most * n * n);
    turned_ = allocate<Complex>(most * n * n);
  }
  Cube(const Cube&) = delete;
  Cube& operator=(const Cube&) = delete;
  ~Cube() {
    shmem_free(turned_);
    shmem_free(planes_);
  }

  static Complex initial(std::size_t index) { return {uniform_at(2 * index) - 0.5, uniform_at(2 * index + 1) - 0.5}; }
  std::size_t first_index() const { return static_cast<std::size_t>(share_.first) * n_ * n_; }
  std::size_t size() const { return static_cast<std::size_t>(share_.count) * n_ * n_; }

  void fill() {
    for (std::size_t i = 0; i < size(); ++i) planes_[i] = initial(first_index() + i);
  }

  // Planes of equal z become planes of equal y of the transform.
  void forward() {
    for_planes(planes_, [&](Complex* plane) {
      for (std::size_t y = 0; y < n_; ++y) fourier_.transform(plane + y * n_, false);
      transform_columns(plane, false);
    });
    transpose(planes_, turned_);
    for_planes(turned_, [&](Complex* plane) { transform_columns(plane, false); });
  }

  void backward() {
    for_planes(turned_, [&](Complex* plane) { transform_columns(plane, true); });
    transpose(turned_, planes_);
    for_planes(planes_, [&](Complex* plane) {
      transform_columns(plane, true);
      for (std::size_t y = 0; y < n_; ++y) fourier_.transform(plane + y * n_, true);
    });
    const double volume = static_cast<double>(n_ * n_ * n_);
    for (std::size_t i = 0; i < size(); ++i) planes_[i] /= volume;
  }

  void check(Sum& sum, bool spoil) {
    fill();
    const double before = sum.of(squares(planes_));
    forward();
    const double after = sum.of(squares(turned_)) / static_cast<double>(n_ * n_ * n_);
    verify(sum, std::abs(after - before) < 1e-9 * before, "Parseval's theorem does not hold");
    check_element(sum, 3 % n_, 5 % n_, 1 % n_);
    check_element(sum, n_ - 1, n_ / 2, n_ / 4);
    backward();
    if (spoil) planes_[0] += 1e-6;
    double error = 0;
    for (std::size_t i = 0; i < size(); ++i) error = std::max(error, std::abs(planes_[i] - initial(first_index() + i)));
    verify(sum, error < 1e-11, "the inverse does not restore the cube");
  }

 private:
  template <class Function>
  void for_planes(Complex* planes, const Function& function) {
    for (long k = 0; k < share_.count; ++k) function(planes + static_cast<std::size_t>(k) * n_ * n_);
  }

  // In the second of the two dimensions of a plane.
  void transform_columns(Complex* plane, bool inverse) {
    for (std::size_t x = 0; x < n_; ++x) {
      for (std::size_t k = 0; k < n_; ++k) column_[k] = plane[k * n_ + x];
      fourier_.transform(column_.data(), inverse);
      for (std::size_t k = 0; k < n_; ++k) plane[k * n_ + x] = column_[k];
    }
  }

  // from[a][b][x] becomes to[b][a][x], where the first index is distributed.
  void transpose(const Complex* from, Complex* to) {
    shmem_barrier_all();  // nobody reads `to` any more
    for (int i = 0; i < pes_; ++i) {
      const int pe = (me_ + i) % pes_;
      const Share theirs = share_of(static_cast<long>(n_), pe, pes_);
      for (long b = theirs.first; b < theirs.first + theirs.count; ++b)
        send_rows(from, to, static_cast<std::size_t>(b), b - theirs.first, pe);
    }
    shmem_barrier_all();
  }

  // The rows b of all my planes follow each other in plane b of `pe`; they are packed, so that one put carries them.
  void send_rows(const Complex* from, Complex* to, std::size_t b, long plane, int pe) {
    const auto count = static_cast<std::size_t>(share_.count);
    packed_.resize(count * n_);
    for (std::size_t a = 0; a < count; ++a) std::copy_n(from + (a * n_ + b) * n_, n_, packed_.data() + a * n_);
    Complex* const place = to + (static_cast<std::size_t>(plane) * n_ + static_cast<std::size_t>(share_.first)) * n_;
    shmem_putmem(place, packed_.data(), packed_.size() * sizeof(Complex), pe);
  }

  double squares(const Complex* values) const {
    double sum = 0;
    for (std::size_t i = 0; i < size(); ++i) sum += std::norm(values[i]);
    return sum;
  }

  // By the definition; each PE sums over the planes that it held.
  void check_element(Sum& sum, std::size_t kx, std::size_t ky, std::size_t kz) {
    Complex mine = 0;
    const double step = -2 * std::numbers::pi / static_cast<double>(n_);
    for (std::size_t i = 0; i < size(); ++i) {
      const std::size_t index = first_index() + i;
      const std::size_t x = index % n_, y = index / n_ % n_, z = index / n_ / n_;
      mine += initial(index) * std::polar(1.0, step * static_cast<double>((kx * x + ky * y + kz * z) % n_));
    }
    const Complex expected(sum.of(mine.real()), sum.of(mine.imag()));
    bool right = true;
    if (const auto y = static_cast<long>(ky); y >= share_.first && y < share_.first + share_.count)
      right = std::abs(turned_[(static_cast<std::size_t>(y - share_.first) * n_ + kz) * n_ + kx] - expected) < 1e-8;
    verify(sum, right, "an element of the transform");
  }

  std::size_t n_;
  int me_, pes_;
  Share share_;
  Fourier fourier_;
  std::vector<Complex> column_, packed_;
  Complex *planes_, *turned_;
};
}  // namespace

int main(int argc, char** argv) {
  shmem_init();
  const KernelOptions options = kernel_options(argc, argv);
  const auto edge = static_cast<std::size_t>(options.scale > 0 ? options.scale : kDefaultEdge);
  if (edge < 4 || (edge & (edge - 1)) != 0) die("kernel_ft takes an edge that is a power of two");
  {
    Cube cube(edge);
    Sum sum;
    cube.fill();
    repeat_kernel("kernel_ft", edge * edge * edge * sizeof(Complex), options, [&] {
      cube.forward();
      cube.backward();
    });
    cube.check(sum, options.spoil);
  }
  shmem_finalize();
  return 0;
}
