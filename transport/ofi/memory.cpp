#include "transport/ofi/memory.hpp"

#include <rdma/fi_errno.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <utility>

#include "transport/common/authentication.hpp"

namespace shmemx::ofi {
namespace {

constexpr int kTries = 64;  // keys may have few bits

// What the provider needs to make a usable key of a raw one.
struct RawKey {
  std::uint64_t base;  // of the registered range
  std::uint8_t key[kMaxPlaceKeyBytes - sizeof(std::uint64_t)];
};
static_assert(sizeof(RawKey) == kMaxPlaceKeyBytes);
constexpr std::uint64_t kAll = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;

}  // namespace

Memory::Memory(Fabric& fabric, const std::uint64_t (&secret)[2], int me)
    : fabric_(fabric),
      secret_{secret[0], secret[1]},
      counter_((static_cast<std::uint64_t>(me) << 32) + static_cast<std::uint64_t>(::getpid())) {}

const Memory::Range* Memory::range_of(Bytes memory, const std::byte*& base) const noexcept {
  auto next = ranges_.upper_bound(memory.data());
  if (next == ranges_.begin()) return nullptr;
  --next;
  base = next->first;
  const auto offset = static_cast<std::size_t>(memory.data() - base);
  const Range& range = next->second;
  return offset <= range.bytes && memory.size() <= range.bytes - offset ? &range : nullptr;
}

// If the provider lets us choose the key, chooses one that nobody else can guess.
std::uint64_t Memory::next_key() noexcept {
  const std::uint64_t words[] = {++counter_};
  const std::uint64_t key = transport::prove(secret_, transport::Purpose::memory_key, words);
  const std::size_t bytes = fabric_.info->domain_attr->mr_key_size;
  return bytes < sizeof key ? key & ((std::uint64_t{1} << (8 * bytes)) - 1) : key;
}

Result<Place> Memory::enter(Bytes memory, std::uint64_t access) {
  fid_mr* region = nullptr;
  int result = -FI_ENOKEY;  // the key is in use
  for (int tries = 0; result == -FI_ENOKEY && tries < kTries; ++tries) {
    result = fi_mr_reg(fabric_.domain.get(), memory.data(), memory.size(), access, 0, next_key(), 0, &region, nullptr);
  }
  if (result != 0) return fabric_.failure("fi_mr_reg", result);
  Place place;
  place.region.reset(region);
  if (fabric_.wants(FI_MR_ENDPOINT)) {
    result = fi_mr_bind(region, &fabric_.ep->fid, 0);
    if (result == 0) result = fi_mr_enable(region);
    if (result != 0) return fabric_.failure("fi_mr_enable", result);
  }
  place.descriptor = fi_mr_desc(region);
  if ((access & (FI_REMOTE_READ | FI_REMOTE_WRITE)) != 0) SHMEMX_TRY(read_key(place));
  place.address = fabric_.wants(FI_MR_VIRT_ADDR) ? reinterpret_cast<std::uintptr_t>(memory.data()) : 0;
  return place;
}

// Finds the bytes by which others name the place.
Status Memory::read_key(Place& place) {
  std::size_t bytes = sizeof(std::uint64_t);
  if (fabric_.wants(FI_MR_RAW)) {
    RawKey raw;
    bytes = sizeof raw.key;
    const int result = fi_mr_raw_attr(place.region.get(), &raw.base, raw.key, &bytes, 0);
    if (result != 0) return fabric_.failure("fi_mr_raw_attr", result);
    place.key.assign(reinterpret_cast<const char*>(&raw), offsetof(RawKey, key) + bytes);
  } else {
    const std::uint64_t key = fi_mr_key(place.region.get());
    place.key.assign(reinterpret_cast<const char*>(&key), bytes);
  }
  return {};
}

Result<UsableKey> Memory::use_key(Bytes key) {
  const bool is_raw = fabric_.wants(FI_MR_RAW);
  RawKey raw;
  const std::size_t least = is_raw ? sizeof raw.base : sizeof(std::uint64_t);
  if (key.size() < least || key.size() > (is_raw ? sizeof raw : least))
    return Error{Errc::protocol, 0, "a memory key of " + std::to_string(key.size()) + " bytes"};
  std::uint64_t name = 0;
  if (!is_raw) {
    std::memcpy(&name, key.data(), sizeof name);
    return UsableKey(name, nullptr);
  }
  std::memcpy(&raw, key.data(), key.size());
  const int result =
      fi_mr_map_raw(fabric_.domain.get(), raw.base, raw.key, key.size() - offsetof(RawKey, key), &name, 0);
  if (result != 0) return fabric_.failure("fi_mr_map_raw", result);
  return UsableKey(name, fabric_.domain.get());
}

Result<Place> Memory::enter_or_note(Bytes memory, std::uint64_t access) {
  Result<Place> place = enter(memory, access);
  if (!place && !std::exchange(has_refused_, true)) refusal_ = {memory.size(), place.error().text};
  return place;
}

Result<Place> Memory::open_to_others(Bytes memory) {
  const std::byte* base = nullptr;
  if (const Range* range = range_of(memory, base)) {
    Place place;
    place.descriptor = range->place.descriptor;
    place.key = range->place.key;
    place.address = range->place.address + static_cast<std::uint64_t>(memory.data() - base);
    return place;
  }
  return enter_or_note(memory, FI_REMOTE_READ);
}

bool Memory::find(Bytes memory, void*& descriptor) const noexcept {
  const std::byte* base = nullptr;
  const Range* const range = range_of(memory, base);
  if (range != nullptr) descriptor = range->place.descriptor;
  return range != nullptr;
}

Result<Place> Memory::open_to_me(Bytes memory) {
  Place place;
  if (!fabric_.wants(FI_MR_LOCAL) || find(memory, place.descriptor)) return place;
  return enter_or_note(memory, FI_SEND | FI_RECV | FI_READ | FI_WRITE);
}

Result<std::string> Memory::register_range(std::byte* base, std::size_t bytes) {
  SHMEMX_TRY_ASSIGN(place, enter(Bytes(base, bytes), kAll));
  std::string key(reinterpret_cast<const char*>(&place.address), sizeof place.address);
  key += place.key;
  ranges_.insert_or_assign(base, Range{bytes, std::move(place)});
  return key;
}

void Memory::unregister_range(std::byte* base) noexcept { ranges_.erase(base); }

bool Memory::parse_key(Bytes bytes, std::uint64_t& address, Bytes& key) noexcept {
  if (bytes.size() <= sizeof address) return false;
  std::memcpy(&address, bytes.data(), sizeof address);
  key = bytes.subspan(sizeof address);
  return true;
}

}  // namespace shmemx::ofi
