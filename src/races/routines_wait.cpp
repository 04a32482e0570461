// Waits and tests.

#include "races/routine.hpp"
#include "races/wrap.hpp"

namespace shmemx::races {
namespace {

template <class T>
void look_at(Routine& routine, const T* words, std::size_t n, const int* status) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    if (status == nullptr || status[i] == 0) note_wait(routine, {words + i, sizeof(T)});
  }
}
// One value for all words, or one for each.
template <class T>
T value_for(T value, std::size_t) noexcept {
  return value;
}
template <class T>
T value_for(const T* values, std::size_t i) noexcept {
  return values[i];
}

template <class T, class Value>
void all_satisfied(Routine& routine, const T* words, std::size_t n, const int* status, int cmp, Value value) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    if (status == nullptr || status[i] == 0)
      note_satisfied(routine, words + i, sizeof(T), condition<T>(cmp, value_for<T>(value, i)));
  }
}
template <class T, class Value>
void some_satisfied(Routine& routine, const T* words, std::size_t n, const std::size_t* indices, int cmp,
                    Value value) noexcept {
  for (std::size_t i = 0; i < n; ++i)
    note_satisfied(routine, words + indices[i], sizeof(T), condition<T>(cmp, value_for<T>(value, indices[i])));
}

// One word.
template <class T, class Real>
void wait_until(Routine& routine, Real real, const T* word, int cmp, T value) noexcept {
  note_wait(routine, {word, sizeof(T)});
  real();
  note_satisfied(routine, word, sizeof(T), condition<T>(cmp, value));
}
template <class T, class Real>
void wait(Routine& routine, Real real, const T* word, T value) noexcept {
  wait_until<T>(routine, real, word, SHMEM_CMP_NE, value);
}
template <class T, class Real>
int test(Routine& routine, Real real, const T* word, int cmp, T value) noexcept {
  note_wait(routine, {word, sizeof(T)});
  const int result = real();
  if (result != 0) note_satisfied(routine, word, sizeof(T), condition<T>(cmp, value));
  return result;
}

// Several words.
template <class T, class Real, class Value>
void wait_until_all(Routine& routine, Real real, const T* words, std::size_t n, const int* status, int cmp,
                    Value value) noexcept {
  look_at(routine, words, n, status);
  real();
  all_satisfied(routine, words, n, status, cmp, value);
}
template <class T, class Real, class Value>
int test_all(Routine& routine, Real real, const T* words, std::size_t n, const int* status, int cmp,
             Value value) noexcept {
  look_at(routine, words, n, status);
  const int result = real();
  if (result != 0) all_satisfied(routine, words, n, status, cmp, value);
  return result;
}
template <class T, class Real, class Value>
std::size_t wait_until_any(Routine& routine, Real real, const T* words, std::size_t n, const int* status, int cmp,
                           Value value) noexcept {
  look_at(routine, words, n, status);
  const std::size_t index = real();
  if (index < n) note_satisfied(routine, words + index, sizeof(T), condition<T>(cmp, value_for<T>(value, index)));
  return index;
}
template <class T, class Real, class Value>
std::size_t wait_until_some(Routine& routine, Real real, const T* words, std::size_t n, std::size_t* indices,
                            const int* status, int cmp, Value value) noexcept {
  look_at(routine, words, n, status);
  const std::size_t found = real();
  if (found != 0 && found <= n) {
    some_satisfied(routine, words, found, indices, cmp, value);
    note_local(routine, {indices, found * sizeof *indices}, Kind::store);
  }
  return found;
}

// clang-format off
#define SHMEMX_SAME(OP, AS)                                                           \
  template <class T, class... Arguments>                                              \
  auto OP(Routine& routine, Arguments... arguments) noexcept { return AS<T>(routine, arguments...); }
// clang-format on
SHMEMX_SAME(wait_until_all_vector, wait_until_all)
SHMEMX_SAME(wait_until_any_vector, wait_until_any)
SHMEMX_SAME(wait_until_some_vector, wait_until_some)
SHMEMX_SAME(test_all_vector, test_all)
SHMEMX_SAME(test_any, wait_until_any)
SHMEMX_SAME(test_some, wait_until_some)
SHMEMX_SAME(test_any_vector, wait_until_any)
SHMEMX_SAME(test_some_vector, wait_until_some)

}  // namespace
}  // namespace shmemx::races

// clang-format off
#define SHMEMX_WRAP_WAIT(TAIL, T, R, OP, ARGS, ...)                                                     \
  extern "C" [[gnu::visibility("default")]] R shmem##TAIL(__VA_ARGS__) {                                \
    shmemx::races::Routine routine({"shmem" #TAIL, __builtin_return_address(0)});                       \
    return shmemx::races::OP<T>(routine, [&] { return pshmem##TAIL ARGS; }, SHMEMX_UNWRAP ARGS);        \
  }
// clang-format on

SHMEMX_WAIT_TABLE(SHMEMX_WRAP_WAIT)
SHMEMX_OLD_WAIT_TABLE(SHMEMX_WRAP_WAIT)
SHMEMX_OLD_WAIT_UNTIL_TABLE(SHMEMX_WRAP_WAIT)
SHMEMX_WRAP_WAIT(_wait, long, void, wait, (ivar_, cmp_value_), long* ivar_, long cmp_value_)
#undef shmem_wait_until
SHMEMX_WRAP_WAIT(_wait_until, long, void, wait_until, (ivar_, cmp_, cmp_value_), long* ivar_, int cmp_, long cmp_value_)
