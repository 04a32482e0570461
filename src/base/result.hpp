// Result<T> and Status: how set-up and other cold code reports failure without exceptions. Shaped like std::expected.
// The function that first detects an error fills in the text; callers pass the error on unchanged, and runtime/ logs
// it once.
#pragma once

#include <cerrno>
#include <string>
#include <utility>
#include <variant>

namespace shmemx {

enum class Errc {
  invalid_argument,  // a variable or argument has a value that is not allowed
  no_memory,         // memory, address space or descriptors are used up
  no_launcher,       // a launcher was seen, but none of its interfaces answers
  protocol,          // a peer or launcher sent data that violate the protocol
  system,            // a system call failed; system_errno says how
  unsupported        // not possible on this machine or with this build
};

struct Error {
  Errc code;
  int system_errno;  // 0 where no system call was involved
  std::string text;  // one line without newline: what was requested and what is allowed
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  T& value() noexcept { return *std::get_if<0>(&state_); }
  const T& value() const noexcept { return *std::get_if<0>(&state_); }
  T& operator*() noexcept { return value(); }
  T* operator->() noexcept { return &value(); }
  const Error& error() const noexcept { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

class [[nodiscard]] Status {
 public:
  Status() noexcept = default;
  Status(Error error) : error_(std::move(error)), ok_(false) {}

  bool has_value() const noexcept { return ok_; }
  explicit operator bool() const noexcept { return ok_; }
  const Error& error() const noexcept { return error_; }

 private:
  Error error_{};
  bool ok_ = true;
};

// Returns the error of a failed system call: `action` is its text, errno is kept.
inline Error system_error(std::string action) { return Error{Errc::system, errno, std::move(action)}; }

}  // namespace shmemx

#define SHMEMX_CONCAT_INNER(a, b) a##b
#define SHMEMX_CONCAT(a, b) SHMEMX_CONCAT_INNER(a, b)

// Both return the callee's error unchanged.
#define SHMEMX_TRY(expression)                               \
  do {                                                       \
    if (auto shmemx_status = (expression); !shmemx_status) { \
      return shmemx_status.error();                          \
    }                                                        \
  } while (false)

#define SHMEMX_TRY_ASSIGN(name, expression)                                       \
  auto SHMEMX_CONCAT(name, _result) = (expression);                               \
  if (!SHMEMX_CONCAT(name, _result)) return SHMEMX_CONCAT(name, _result).error(); \
  auto name = std::move(*SHMEMX_CONCAT(name, _result))
