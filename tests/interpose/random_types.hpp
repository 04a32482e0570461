// Predefined datatypes with their operators, and random datatypes made of them.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

namespace random_types {

// The same sequence of numbers on all ranks.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  int below(int end) { return static_cast<int>(next() % static_cast<std::uint64_t>(end)); }

 private:
  std::uint64_t state_;
};

// Bytes of an element that have a value; the others are padding.
struct Part {
  int offset;
  int bytes;
};

struct Element {
  MPI_Datatype type;
  int bytes;  // from one to the next
  std::vector<Part> parts;
  std::vector<MPI_Op> ops;
  void (*set)(void* element, long value);

  bool is_equal(const char* a, const char* b) const {
    for (const Part& part : parts)
      if (std::memcmp(a + part.offset, b + part.offset, static_cast<std::size_t>(part.bytes)) != 0) return false;
    return true;
  }
};

template <class T>
void set_number(void* element, long value) {
  // Open MPI's MPI_Reduce_local saturates sums of 8 bits; those of small values fit.
  const T number = static_cast<T>(sizeof(T) == 1 ? value % 10 : value);
  std::memcpy(element, &number, sizeof number);
}
template <class T>
void set_complex(void* element, long value) {
  const std::complex<T> number(static_cast<T>(value % 5), static_cast<T>(value % 3));
  std::memcpy(element, &number, sizeof number);
}
template <class T, class Index>
struct Pair {
  T value;
  Index index;
};
template <class T, class Index>
void set_pair(void* element, long value) {
  Pair<T, Index> pair{};
  pair.value = static_cast<T>(value % 4);
  pair.index = static_cast<Index>(value);
  std::memcpy(element, &pair, sizeof pair);
}

template <class T>
Element number(MPI_Datatype type, std::vector<MPI_Op> ops) {
  constexpr int bytes = std::is_same_v<T, long double> ? 10 : static_cast<int>(sizeof(T));
  return {type, static_cast<int>(sizeof(T)), {{0, bytes}}, std::move(ops), &set_number<T>};
}
template <class T>
Element complex_number(MPI_Datatype type) {
  constexpr int bytes = std::is_same_v<T, long double> ? 10 : static_cast<int>(sizeof(T));
  const std::vector<Part> parts = {{0, bytes}, {static_cast<int>(sizeof(T)), bytes}};
  return {type, 2 * static_cast<int>(sizeof(T)), parts, {MPI_SUM, MPI_PROD}, &set_complex<T>};
}
template <class T, class Index>
Element pair(MPI_Datatype type) {
  constexpr int bytes = std::is_same_v<T, long double> ? 10 : static_cast<int>(sizeof(T));
  using P = Pair<T, Index>;
  const std::vector<Part> parts = {{0, bytes}, {static_cast<int>(offsetof(P, index)), static_cast<int>(sizeof(Index))}};
  return {type, static_cast<int>(sizeof(P)), parts, {MPI_MINLOC, MPI_MAXLOC}, &set_pair<T, Index>};
}

inline const std::vector<Element>& elements() {
  static const std::vector<MPI_Op> of_integers = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX, MPI_BAND,
                                                  MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR};
  static const std::vector<MPI_Op> of_reals = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX};
  static const std::vector<Element> all = {
      number<int>(MPI_INT, of_integers),
      number<long>(MPI_LONG, of_integers),
      number<unsigned>(MPI_UNSIGNED, of_integers),
      number<std::uint64_t>(MPI_UINT64_T, of_integers),
      number<std::int8_t>(MPI_INT8_T, of_integers),
      number<std::uint8_t>(MPI_UNSIGNED_CHAR, of_integers),
      number<short>(MPI_SHORT, of_integers),
      number<std::uint16_t>(MPI_UINT16_T, of_integers),
      number<long long>(MPI_LONG_LONG, of_integers),
      number<MPI_Aint>(MPI_AINT, of_integers),
      number<float>(MPI_FLOAT, of_reals),
      number<double>(MPI_DOUBLE, of_reals),
      number<long double>(MPI_LONG_DOUBLE, of_reals),
      number<bool>(MPI_C_BOOL, {MPI_LAND, MPI_LOR, MPI_LXOR}),
      number<std::uint8_t>(MPI_BYTE, {MPI_BAND, MPI_BOR, MPI_BXOR}),
      complex_number<float>(MPI_C_FLOAT_COMPLEX),
      complex_number<double>(MPI_C_DOUBLE_COMPLEX),
      complex_number<long double>(MPI_C_LONG_DOUBLE_COMPLEX),
      pair<int, int>(MPI_2INT),
      pair<float, int>(MPI_FLOAT_INT),
      pair<double, int>(MPI_DOUBLE_INT),
      pair<long, int>(MPI_LONG_INT),
      pair<short, int>(MPI_SHORT_INT),
      pair<long double, int>(MPI_LONG_DOUBLE_INT),
  };
  return all;
}

// Makes datatypes whose items do not overlap themselves. All but the result are freed here.
class TypeMaker {
 public:
  explicit TypeMaker(Random& random) : random_(random) {}

  // A datatype of `count` elements, made by up to `depth` constructors. The caller commits and frees it.
  MPI_Datatype make(MPI_Datatype element, int count, int depth) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    if (depth == 0 || count == 1) {
      MPI_Type_contiguous(count, element, &made);
      return made;
    }
    const int inner_count = divisor_of(count);
    MPI_Datatype inner = make(element, inner_count, depth - 1);
    const int copies = count / inner_count;
    switch (random_.below(9)) {
      case 0:
        MPI_Type_contiguous(copies, inner, &made);
        break;
      case 1:
        MPI_Type_vector(copies, 1, stride(), inner, &made);
        break;
      case 2:
        MPI_Type_create_hvector(copies, 1, stride() * extent_of(inner), inner, &made);
        break;
      case 3:
        made = indexed(inner, copies);
        break;
      case 4:
        made = structure(inner, copies);
        break;
      case 5:
        made = subarray(inner, copies);
        break;
      case 6:
        made = distributed(inner, copies);
        break;
      case 7:
        made = resized(inner, copies);
        break;
      default:
        made = blocks(inner, copies);
    }
    MPI_Type_free(&inner);
    return made;
  }

 private:
  int divisor_of(int count) {
    std::vector<int> divisors;
    for (int i = 1; i <= count; ++i)
      if (count % i == 0) divisors.push_back(i);
    return divisors[static_cast<std::size_t>(random_.below(static_cast<int>(divisors.size())))];
  }
  int stride() {
    const int forward = 1 + random_.below(3);
#ifdef OPEN_MPI  // 4.1.4 packs blocks with a negative stride in ascending order, and gives 0 as their lower bound
    return forward;
#else
    return random_.below(3) == 0 ? -forward : forward;
#endif
  }
  static MPI_Aint extent_of(MPI_Datatype type) {
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(type, &lower, &extent);
    return extent;
  }
  // Different numbers in any order.
  std::vector<int> places(int count) {
    std::vector<int> all(static_cast<std::size_t>(2 * count));
    std::iota(all.begin(), all.end(), -random_.below(3));
    for (std::size_t i = all.size(); i-- > 1;) std::swap(all[i], all[random_.next() % (i + 1)]);
    all.resize(static_cast<std::size_t>(count));
    return all;
  }

  MPI_Datatype indexed(MPI_Datatype inner, int copies) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    const std::vector<int> at = places(copies);
    const std::vector<int> ones(at.size(), 1);
    if (random_.below(2) == 0) {
      MPI_Type_indexed(copies, ones.data(), at.data(), inner, &made);
      return made;
    }
    std::vector<MPI_Aint> bytes;
    for (const int place : at) bytes.push_back(place * extent_of(inner));
    MPI_Type_create_hindexed(copies, ones.data(), bytes.data(), inner, &made);
    return made;
  }
  MPI_Datatype blocks(MPI_Datatype inner, int copies) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    const std::vector<int> at = places(copies);
    if (random_.below(2) == 0) {
      MPI_Type_create_indexed_block(copies, 1, at.data(), inner, &made);
      return made;
    }
    std::vector<MPI_Aint> bytes;
    for (const int place : at) bytes.push_back(place * extent_of(inner));
    MPI_Type_create_hindexed_block(copies, 1, bytes.data(), inner, &made);
    return made;
  }
  MPI_Datatype structure(MPI_Datatype inner, int copies) {
    const int first = random_.below(copies + 1);
    const int lengths[] = {first, copies - first};
    const MPI_Aint at[] = {0, (first + random_.below(3)) * extent_of(inner)};
    const MPI_Datatype types[] = {inner, inner};
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(2, lengths, at, types, &made);
    return made;
  }
  MPI_Datatype subarray(MPI_Datatype inner, int copies) {
    const int sizes[] = {copies + random_.below(2), 2};
    const int parts[] = {copies, 1};
    const int starts[] = {sizes[0] - copies, random_.below(2)};
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_create_subarray(2, sizes, parts, starts, random_.below(2) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, inner,
                             &made);
    return made;
  }
  MPI_Datatype distributed(MPI_Datatype inner, int copies) {
    const int sizes[] = {2 * copies, 2};
    const int how[] = {random_.below(2) == 0 ? MPI_DISTRIBUTE_CYCLIC : MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK};
    const int arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
    const int processes[] = {2, 2};
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_create_darray(4, random_.below(4), 2, sizes, how, arguments, processes,
                           random_.below(2) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, inner, &made);
    return made;
  }
  MPI_Datatype resized(MPI_Datatype inner, int copies) {
    MPI_Datatype wide = MPI_DATATYPE_NULL;
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(inner, &lower, &extent);
    MPI_Type_create_resized(inner, lower, (1 + random_.below(2)) * extent, &wide);
    MPI_Type_contiguous(copies, wide, &made);
    MPI_Type_free(&wide);
    return made;
  }

  Random& random_;
};

}  // namespace random_types
