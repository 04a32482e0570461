// Registrations of memory with the network, and their keys.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "transport/ofi/fabric.hpp"
#include "transport/transport.hpp"

namespace shmemx::ofi {

using transport::Bytes;

// A registered range: how operations of this PE name it, and how those of others do.
struct Place {
  void* descriptor = nullptr;  // for own operations
  std::uint64_t address = 0;   // for RMA of others
  std::uint64_t key = 0;
  Fid<fid_mr> region;  // null if a longer-lived registration covers the range
};

// Memory of messages, or of puts and gets, that the provider did not register.
struct Refusal {
  std::size_t bytes = 0;  // 0: nothing was refused
  std::string cause;
};

class Memory {
 public:
  Memory(Fabric& fabric, const std::uint64_t (&secret)[2], int me);
  // Of another domain of the same process.
  Memory(Fabric& fabric, const Memory& other) noexcept
      : fabric_(fabric), secret_{other.secret_[0], other.secret_[1]}, counter_(other.counter_) {}

  // Registers memory for reads by others, while the Place lives.
  Result<Place> open_to_others(Bytes memory);
  // Finds the descriptor of a registered range that holds the memory. Returns false if there is none.
  bool find(Bytes memory, void*& descriptor) const noexcept;
  // Registers memory for operations of this PE. Most providers need nothing for that.
  Result<Place> open_to_me(Bytes memory);

  // Returns the first refusal by open_to_others() or open_to_me(), once.
  Refusal take_refusal() { return std::exchange(refusal_, {}); }

  // Registers a range until unregister_range(). Returns the key's bytes: address of the base, and key.
  Result<std::string> register_range(std::byte* base, std::size_t bytes);
  void unregister_range(std::byte* base) noexcept;
  static bool parse_key(Bytes key, std::uint64_t& address, std::uint64_t& name) noexcept;

 private:
  struct Range {
    std::size_t bytes;
    Place place;
  };

  const Range* range_of(Bytes memory, const std::byte*& base) const noexcept;
  std::uint64_t next_key() noexcept;
  Result<Place> enter(Bytes memory, std::uint64_t access);
  Result<Place> enter_or_note(Bytes memory, std::uint64_t access);

  Fabric& fabric_;
  std::uint64_t secret_[2];
  std::uint64_t counter_;
  std::map<const std::byte*, Range> ranges_;
  bool has_refused_ = false;
  Refusal refusal_;
};

}  // namespace shmemx::ofi
