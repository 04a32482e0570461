// Entries of libfabric's tables of functions for what the provider does not have.
#pragma once

#include <rdma/fi_errno.h>

#include <type_traits>

namespace strict_provider {

template <class Result, class... Arguments>
using Function = Result (*)(Arguments...);

// Converts to a function of any type that fails with -FI_ENOSYS; one that returns a pointer returns null.
struct NotSupported {
  template <class Result, class... Arguments>
  constexpr operator Function<Result, Arguments...>() const noexcept {
    return [](Arguments...) -> Result {
      if constexpr (std::is_pointer_v<Result>) {
        return nullptr;
      } else {
        return static_cast<Result>(-FI_ENOSYS);
      }
    };
  }
};
inline constexpr NotSupported kNo;

}  // namespace strict_provider
