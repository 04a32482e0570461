// Comparing memory of this PE, of any integer type of the interface, with a value: what waits for values look at.
#pragma once

#include <shmemx/window_updates.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "atomic/elements.hpp"
#include "bootstrap/awaited.hpp"
#include "sync/compare.hpp"

namespace shmemx::api {

class Waitable {
 public:
  // Returns SHMEMX_SUCCESS, or what is wrong with the arguments.
  static int check(const void* address, int type, int cmp) noexcept {
    const bool is_integer = type > 0 && type < static_cast<int>(atomic::ElementType::end) &&
                            atomic::is_integer(static_cast<atomic::ElementType>(type));
    if (address == nullptr || !is_integer || !sync::valid_comparison(cmp)) return SHMEMX_ERR_ARGUMENT;
    const std::size_t bytes = atomic::element_bytes(static_cast<atomic::ElementType>(type));
    return reinterpret_cast<std::uintptr_t>(address) % bytes == 0 ? SHMEMX_SUCCESS : SHMEMX_ERR_ALIGNMENT;
  }

  // The arguments have been checked.
  Waitable(const void* address, int type, int cmp, const void* value) noexcept
      : address_(address), type_(atomic::value_type(static_cast<atomic::ElementType>(type))), cmp_(cmp) {
    std::memcpy(&value_, value, atomic::element_bytes(type_));
  }
  Waitable(const void* address, int type, int cmp, std::int64_t value) noexcept
      : address_(address),
        type_(atomic::value_type(static_cast<atomic::ElementType>(type))),
        cmp_(cmp),
        value_(static_cast<std::uint64_t>(value)) {}

  // As people are shown it.
  bootstrap::Awaited awaited() const noexcept {
    const std::size_t bytes = std::min<std::size_t>(atomic::element_bytes(type_), sizeof value_);
    std::uint64_t now = 0;
    std::memcpy(&now, address_, bytes);
    bootstrap::Awaited awaited =
        bootstrap::awaited_word(static_cast<const std::uint64_t*>(address_), cmp_, value_, now);
    awaited.word_bytes = static_cast<std::uint8_t>(bytes);
    awaited.is_signed = type_ == atomic::ElementType::int8 || type_ == atomic::ElementType::int16 ||
                        type_ == atomic::ElementType::int32 || type_ == atomic::ElementType::int64;
    return awaited;
  }

  bool holds() const noexcept {
    switch (type_) {
      case atomic::ElementType::int8:
        return compare<std::int8_t>();
      case atomic::ElementType::uint8:
      case atomic::ElementType::bool_:
        return compare<std::uint8_t>();
      case atomic::ElementType::int16:
        return compare<std::int16_t>();
      case atomic::ElementType::uint16:
        return compare<std::uint16_t>();
      case atomic::ElementType::int32:
        return compare<std::int32_t>();
      case atomic::ElementType::uint32:
        return compare<std::uint32_t>();
      case atomic::ElementType::int64:
        return compare<std::int64_t>();
      default:
        return compare<std::uint64_t>();
    }
  }

 private:
  template <class T>
  bool compare() const noexcept {
    return sync::compares(sync::load(static_cast<const T*>(address_)), cmp_, static_cast<T>(value_));
  }

  const void* address_;
  atomic::ElementType type_;
  int cmp_;
  std::uint64_t value_ = 0;  // in the low bytes
};

}  // namespace shmemx::api
