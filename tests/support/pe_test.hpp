// A small test harness for programs that run on many PEs at once.
//
// A case is a function that every PE runs; cases run in the order of the source, with a barrier before and after each.
// Checks count and report failures; they never leave the case, because a PE that leaves between two collective calls
// hangs the others. The exit status of a PE is 1 if one of its checks failed, and the launcher passes that on.
#pragma once

#include <shmem.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <type_traits>

namespace pe_test {

struct Case {
  const char* name;
  int min_pes;
  void (*run)();
  Case* next;
};

// Links a case into the list that run_all() walks.
struct Registrar {
  Registrar(const char* name, int min_pes, void (*run)());
  Case entry;
};

// Text that is added to the reports of failing checks while the object exists, e.g. the routine under test.
class Note {
 public:
  explicit Note(std::string text);
  ~Note();
  Note(const Note&) = delete;
  Note& operator=(const Note&) = delete;

 private:
  std::string previous_;
};

void count_check() noexcept;
void report_failure(const char* file, int line, const std::string& text);
bool check_true(bool ok, const char* expression, const char* file, int line);

// Runs the registered cases whose name contains `filter`, and not the text in SHMEMX_TEST_WITHOUT; returns the number
// of failed checks of this PE.
int run_all(const char* area, const char* filter);

template <class T>
std::string show(const T& value) {
  std::ostringstream out;
  if constexpr (std::is_same_v<T, char> || std::is_same_v<T, signed char> || std::is_same_v<T, unsigned char>)
    out << static_cast<int>(value);
  else if constexpr (std::is_pointer_v<T>)
    out << static_cast<const void*>(value);
  else if constexpr (std::is_null_pointer_v<T>)
    out << "null";
  else if constexpr (requires { out << value; })
    out << value;
  else
    out << "(object of " << sizeof(T) << " bytes)";
  return out.str();
}

template <class A, class B>
bool equal(const A& a, const B& b) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B> && std::is_signed_v<A> != std::is_signed_v<B>) {
    if constexpr (std::is_signed_v<A>) {
      if (a < 0) return false;
    } else {
      if (b < 0) return false;
    }
    return static_cast<std::make_unsigned_t<std::conditional_t<std::is_same_v<A, bool>, int, A>>>(a) ==
           static_cast<std::make_unsigned_t<std::conditional_t<std::is_same_v<B, bool>, int, B>>>(b);
  } else {
    return a == b;
  }
}

template <class A, class B>
bool check_equal(const A& a, const B& b, const char* expression, const char* file, int line) {
  count_check();
  if (equal(a, b)) return true;
  report_failure(file, line, std::string(expression) + ": " + show(a) + " != " + show(b));
  return false;
}

inline int me() { return shmem_my_pe(); }
inline int pes() { return shmem_n_pes(); }
inline int right() { return (me() + 1) % pes(); }
inline int left() { return (me() + pes() - 1) % pes(); }

// A symmetric array. Construction and destruction are collective.
template <class T>
class Symmetric {
 public:
  explicit Symmetric(std::size_t count = 1) : data_(static_cast<T*>(shmem_calloc(count, sizeof(T)))), count_(count) {}
  ~Symmetric() { shmem_free(data_); }
  Symmetric(const Symmetric&) = delete;
  Symmetric& operator=(const Symmetric&) = delete;
  T* get() const { return data_; }
  T& operator[](std::size_t i) const { return data_[i]; }
  T& operator*() const { return *data_; }
  std::size_t size() const { return count_; }

 private:
  T* data_;
  std::size_t count_;
};

// Returns seconds since a fixed time.
double now();

// Returns the duration of a stress loop in seconds: SHMEMX_TEST_SECONDS, or the given default.
double stress_seconds(double fallback);

}  // namespace pe_test

#define PE_TEST_NAMED(NAME, MIN_PES)                                   \
  static void NAME();                                                  \
  static ::pe_test::Registrar registrar_##NAME(#NAME, MIN_PES, &NAME); \
  static void NAME()

// PE_TEST(name) runs with any number of PEs, PE_TEST_MIN(name, n) only with at least n.
#define PE_TEST(NAME) PE_TEST_NAMED(NAME, 1)
#define PE_TEST_MIN(NAME, MIN_PES) PE_TEST_NAMED(NAME, MIN_PES)

#define CHECK(...) ::pe_test::check_true(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define CHECK_EQUAL(A, B) ::pe_test::check_equal((A), (B), #A " == " #B, __FILE__, __LINE__)
