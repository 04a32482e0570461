// An object that is made at compile time and never destroyed: threads may still use it while the process exits. It is
// reached without the guard that a function's static variable has.
#pragma once

namespace shmemx {

template <class T>
union Immortal {
  T object;
  constexpr Immortal() noexcept : object() {}
  ~Immortal() {}
};

}  // namespace shmemx
