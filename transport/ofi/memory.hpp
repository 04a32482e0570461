// Memory that the network may touch, and the names under which it may.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.hpp"
#include "transport/ofi/fabric.hpp"
#include "transport/transport.hpp"

namespace shmemx::ofi {

using transport::Bytes;

// A place in memory as this PE's operations name it, and as those of others do.
struct Place {
  void* descriptor = nullptr;  // for own operations
  std::uint64_t address = 0;   // for RMA of others
  std::uint64_t key = 0;
  Fid<fid_mr> region;  // null where a range registered for longer covers it
};

class Memory {
 public:
  Memory(Fabric& fabric, const std::uint64_t (&secret)[2], int me);

  // For as long as the Place lives.
  Result<Place> open_to_others(Bytes memory);
  // For own operations only: nothing to do for most providers.
  Result<Place> open_to_me(Bytes memory);

  // Ranges that stay. The key's bytes travel: address of the base, and key.
  Result<std::string> register_range(std::byte* base, std::size_t bytes);
  void unregister_range(std::byte* base) noexcept;
  static bool parse_key(Bytes key, std::uint64_t& address, std::uint64_t& name) noexcept;

 private:
  struct Range {
    std::size_t bytes;
    Place place;
  };

  const Range* range_of(Bytes memory, const std::byte*& base) const noexcept;
  Result<Place> enter(Bytes memory, std::uint64_t access);

  Fabric& fabric_;
  std::uint64_t secret_[2];
  std::uint64_t counter_;
  std::map<const std::byte*, Range> ranges_;
};

}  // namespace shmemx::ofi
