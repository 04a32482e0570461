// Every put, get, p, g, iput, iget, ibput, ibget and non-blocking routine of section 9.6, for every type and size,
// plain and with a context, under both the shmem_ and the pshmem_ name.
#include <vector>

#include "../../support/pe_test.hpp"
#include "rma_rows.hpp"

namespace {

using namespace pe_test;

constexpr std::size_t kWords = 400;  // elements of the symmetric buffer
constexpr std::size_t kLengths[] = {0, 1, 2, 3, 7, 64, 129, 300};

alignas(16) unsigned char heap_free_static[kWords * 16];  // globals of the program are symmetric, section 3

// Fills with `guard`, which differs from every value() of the seeds in use.
template <class T>
void fill(T* data, std::size_t count, std::size_t seed) {
  for (std::size_t i = 0; i < count; ++i) data[i] = value<T>(seed);
}

template <class T>
std::size_t mismatches(const T* data, std::size_t first, std::size_t count, std::size_t seed, bool constant) {
  std::size_t bad = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (!(data[first + i] == value<T>(constant ? seed : seed + i))) ++bad;
  return bad;
}

constexpr std::size_t kGuard = 5000;

std::size_t seed_of(int pe) { return 100 + static_cast<std::size_t>(pe) * 3; }

template <class T, class A>
void puts_land_whole_and_nowhere_else(const RmaRow<T, A>& row, const Via& via, T* shared, bool nbi) {
  std::vector<T> source(kWords);
  for (std::size_t i = 0; i < kWords; ++i) source[i] = value<T>(seed_of(me()) + i);
  for (const std::size_t n : kLengths) {
    fill(shared, kWords, kGuard);
    shmem_barrier_all();
    if (nbi)
      call(via, row.put_nbi, row.ctx_put_nbi, static_cast<A*>(shared + 5), static_cast<const A*>(source.data()), n,
           right());
    else
      call(via, row.put, row.ctx_put, static_cast<A*>(shared + 5), static_cast<const A*>(source.data()), n, right());
    via.quiet();
    shmem_barrier_all();
    CHECK_EQUAL(mismatches(shared, 0, 5, kGuard, true), 0u);
    CHECK_EQUAL(mismatches(shared, 5, n, seed_of(left()), false), 0u);
    CHECK_EQUAL(mismatches(shared, 5 + n, kWords - 5 - n, kGuard, true), 0u);
    shmem_barrier_all();
  }
}

template <class T, class A>
void gets_bring_the_peers_data(const RmaRow<T, A>& row, const Via& via, T* shared, bool nbi) {
  for (std::size_t i = 0; i < kWords; ++i) shared[i] = value<T>(seed_of(me()) + i);
  shmem_barrier_all();
  for (const std::size_t n : kLengths) {
    std::vector<T> dest(kWords, value<T>(kGuard));
    if (nbi) {
      call(via, row.get_nbi, row.ctx_get_nbi, static_cast<A*>(dest.data() + 1), static_cast<const A*>(shared + 2), n,
           right());
      via.quiet();
    } else {
      call(via, row.get, row.ctx_get, static_cast<A*>(dest.data() + 1), static_cast<const A*>(shared + 2), n, right());
    }
    CHECK_EQUAL(mismatches(dest.data(), 0, 1, kGuard, true), 0u);
    CHECK_EQUAL(mismatches(dest.data(), 1, n, seed_of(right()) + 2, false), 0u);
    CHECK_EQUAL(mismatches(dest.data(), 1 + n, kWords - 1 - n, kGuard, true), 0u);
  }
  shmem_barrier_all();
}

// Section 9.6.1.3 and 9.6.1.7: element i goes from source[i * sst] to dest[i * dst].
template <class T, class A>
void strided_elements_go_where_they_belong(const RmaRow<T, A>& row, const Via& via, T* shared) {
  constexpr ptrdiff_t dst = 3, sst = 2;
  constexpr std::size_t n = 50;
  std::vector<T> source(kWords), dest(kWords, value<T>(kGuard));
  for (std::size_t i = 0; i < kWords; ++i) source[i] = value<T>(seed_of(me()) + i);
  fill(shared, kWords, kGuard);
  shmem_barrier_all();
  call(via, row.iput, row.ctx_iput, static_cast<A*>(shared), static_cast<const A*>(source.data()), dst, sst, n,
       right());
  call(via, row.iput, row.ctx_iput, static_cast<A*>(shared + 300), static_cast<const A*>(source.data()), dst, sst,
       std::size_t{0}, right());
  via.quiet();
  shmem_barrier_all();
  std::size_t bad = 0;
  for (std::size_t i = 0; i < kWords; ++i) {
    const bool written = i % 3 == 0 && i / 3 < n;
    const T expected = written ? value<T>(seed_of(left()) + i / 3 * 2) : value<T>(kGuard);
    if (!(shared[i] == expected)) ++bad;
  }
  CHECK_EQUAL(bad, 0u);
  shmem_barrier_all();
  for (std::size_t i = 0; i < kWords; ++i) shared[i] = value<T>(seed_of(me()) + i);
  shmem_barrier_all();
  call(via, row.iget, row.ctx_iget, static_cast<A*>(dest.data()), static_cast<const A*>(shared), sst, dst, n, right());
  bad = 0;
  for (std::size_t i = 0; i < kWords; ++i) {
    const bool written = i % 2 == 0 && i / 2 < n;
    const T expected = written ? value<T>(seed_of(right()) + i / 2 * 3) : value<T>(kGuard);
    if (!(dest[i] == expected)) ++bad;
  }
  CHECK_EQUAL(bad, 0u);
  shmem_barrier_all();
}

// Sections 9.6.1.4 and 9.6.1.8: strides count elements between the starts of blocks of bsize elements.
template <class T, class A>
void strided_blocks_go_where_they_belong(const RmaRow<T, A>& row, const Via& via, T* shared) {
  constexpr std::size_t bsize = 3, blocks = 20;
  constexpr ptrdiff_t dst = 5, sst = 3;
  std::vector<T> source(kWords), dest(kWords, value<T>(kGuard));
  for (std::size_t i = 0; i < kWords; ++i) source[i] = value<T>(seed_of(me()) + i);
  fill(shared, kWords, kGuard);
  shmem_barrier_all();
  call(via, row.ibput, row.ctx_ibput, static_cast<A*>(shared), static_cast<const A*>(source.data()), dst, sst, bsize,
       blocks, right());
  via.quiet();
  shmem_barrier_all();
  std::size_t bad = 0;
  for (std::size_t i = 0; i < kWords; ++i) {
    const bool written = i / 5 < blocks && i % 5 < bsize;
    const T expected = written ? value<T>(seed_of(left()) + i / 5 * 3 + i % 5) : value<T>(kGuard);
    if (!(shared[i] == expected)) ++bad;
  }
  CHECK_EQUAL(bad, 0u);
  shmem_barrier_all();
  for (std::size_t i = 0; i < kWords; ++i) shared[i] = value<T>(seed_of(me()) + i);
  shmem_barrier_all();
  call(via, row.ibget, row.ctx_ibget, static_cast<A*>(dest.data()), static_cast<const A*>(shared), sst, dst, bsize,
       blocks, right());
  bad = 0;
  for (std::size_t i = 0; i < kWords; ++i) {
    const bool written = i / 3 < blocks;
    const T expected = written ? value<T>(seed_of(right()) + i / 3 * 5 + i % 3) : value<T>(kGuard);
    if (!(dest[i] == expected)) ++bad;
  }
  CHECK_EQUAL(bad, 0u);
  shmem_barrier_all();
}

template <class T>
void single_elements_travel(const RmaRow<T, T>& row, const Via& via, T* shared) {
  fill(shared, 8, kGuard);
  shmem_barrier_all();
  for (std::size_t i = 0; i < 4; ++i) call(via, row.p, row.ctx_p, shared + 2 * i, value<T>(seed_of(me()) + i), right());
  via.quiet();
  shmem_barrier_all();
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(shared[2 * i] == value<T>(seed_of(left()) + i));
    CHECK(shared[2 * i + 1] == value<T>(kGuard));
    const T got = call(via, row.g, row.ctx_g, static_cast<const T*>(shared + 2 * i), right());
    CHECK(got == value<T>(seed_of(me()) + i));
  }
  shmem_barrier_all();
}

template <class T, class A>
void exercise(const RmaRow<T, A>& row) {
  const Note note(row.name);
  Symmetric<T> heap(kWords);
  T* const global = reinterpret_cast<T*>(heap_free_static);
  shmem_ctx_t own = SHMEM_CTX_INVALID;
  const bool has_own = shmem_ctx_create(SHMEM_CTX_PRIVATE, &own) == 0;
  const Via forms[] = {{false, SHMEM_CTX_DEFAULT}, {true, has_own ? own : SHMEM_CTX_DEFAULT}};
  for (const Via& via : forms) {
    const Note form(via.with_ctx ? "ctx form" : "plain form");
    for (T* const shared : {heap.get(), global}) {
      const Note where(shared == global ? "static data" : "heap");
      for (const bool nbi : {false, true}) {
        puts_land_whole_and_nowhere_else(row, via, shared, nbi);
        gets_bring_the_peers_data(row, via, shared, nbi);
      }
      if (row.iput != nullptr) {
        strided_elements_go_where_they_belong(row, via, shared);
        strided_blocks_go_where_they_belong(row, via, shared);
      }
      if constexpr (std::is_same_v<T, A>) single_elements_travel(row, via, shared);
    }
  }
  shmem_ctx_destroy(own);
}

}  // namespace

#define EXERCISE_TYPED(P, N, T) exercise(RMA_TYPED_ROW(P, N, T));
#define EXERCISE_SIZED(P, N, T) exercise(RMA_SIZED_ROW(P, N, T));

PE_TEST(every_typed_routine_moves_the_right_elements){
    TEST_RMA_TYPES(EXERCISE_TYPED, shmem)} PE_TEST(every_sized_routine_moves_the_right_elements) {
  TEST_SIZES(EXERCISE_SIZED, shmem)
  exercise(RMA_MEM_ROW(shmem));
}
PE_TEST(profiling_names_of_typed_routines_do_the_same){
    TEST_RMA_TYPES(EXERCISE_TYPED, pshmem)} PE_TEST(profiling_names_of_sized_routines_do_the_same) {
  TEST_SIZES(EXERCISE_SIZED, pshmem)
  exercise(RMA_MEM_ROW(pshmem));
}
