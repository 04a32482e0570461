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

// A key of another PE that operations of one domain can name. A raw key, which is longer than the 8 bytes that they
// have room for, is mapped to one by the provider, as long as this lives.
class UsableKey {
 public:
  UsableKey() = default;
  // `raw_of`: the domain that has mapped it; null: it is no raw key.
  UsableKey(std::uint64_t name, fid_domain* raw_of) noexcept : name_(name), raw_of_(raw_of) {}
  UsableKey(UsableKey&& other) noexcept : name_(other.name_), raw_of_(std::exchange(other.raw_of_, nullptr)) {}
  UsableKey& operator=(UsableKey&& other) noexcept {
    std::swap(name_, other.name_);
    std::swap(raw_of_, other.raw_of_);
    return *this;
  }
  ~UsableKey() {
    if (raw_of_ != nullptr) fi_mr_unmap_key(raw_of_, name_);
  }

  std::uint64_t name() const noexcept { return name_; }

 private:
  std::uint64_t name_ = 0;
  fid_domain* raw_of_ = nullptr;
};

// Place::key is no longer.
inline constexpr std::size_t kMaxPlaceKeyBytes = transport::kMaxKeyBytes - sizeof(std::uint64_t);

// A registered range: how operations of this PE name it, and how those of others do.
struct Place {
  void* descriptor = nullptr;  // for own operations
  std::uint64_t address = 0;   // for RMA of others
  std::string key;             // the bytes that others need: 8, or a RawKey
  Fid<fid_mr> region;          // null if a longer-lived registration covers the range
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
  // Takes such bytes apart: the address, and the bytes of Place::key. Returns false if there are not enough.
  static bool parse_key(Bytes bytes, std::uint64_t& address, Bytes& key) noexcept;
  // Makes a key usable with this domain.
  Result<UsableKey> use_key(Bytes key);

 private:
  struct Range {
    std::size_t bytes;
    Place place;
  };

  const Range* range_of(Bytes memory, const std::byte*& base) const noexcept;
  std::uint64_t next_key() noexcept;
  Status read_key(Place& place);
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
