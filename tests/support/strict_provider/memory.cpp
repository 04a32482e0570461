#include "memory.hpp"

#include <rdma/fi_errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "domain.hpp"
#include "endpoint.hpp"
#include "no_ops.hpp"
#include "random.hpp"
#include "violation.hpp"

namespace strict_provider {
namespace {

constexpr std::uint64_t kRemote = FI_REMOTE_READ | FI_REMOTE_WRITE;
constexpr std::uint64_t kAllAccess = kRemote | FI_SEND | FI_RECV | FI_READ | FI_WRITE;
constexpr unsigned kSlotBits = 14;
static_assert(kSlots == std::size_t{1} << kSlotBits);

Domain& domain_of(fid* object) noexcept { return *static_cast<Domain*>(reinterpret_cast<fid_domain*>(object)); }
Region& region_of(fid* object) noexcept { return *static_cast<Region*>(reinterpret_cast<fid_mr*>(object)); }

// Returns true if all pages are mapped.
bool is_mapped(std::uint64_t base, std::uint64_t bytes) noexcept {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::array<unsigned char, 4096> resident;
  const std::uint64_t step = resident.size() * page;
  const std::uint64_t end = base + bytes;
  for (std::uint64_t at = base / page * page; at < end; at += step) {
    if (::mincore(reinterpret_cast<void*>(at), std::min(step, end - at), resident.data()) != 0) return false;
  }
  return true;
}

int close_region(fid* object) {
  Region& region = region_of(object);
  Domain& domain = region.domain;
  const Entry entry("fi_close", domain.serial_of_domain(), domain.lock);
  if (const int open = region.operations.load(); open != 0)
    violation("fi_close: the registration of 0x%lx is in use by %d operations", region.base, open);
  domain.regions.remove(region);
  if (region.endpoint != nullptr) --region.endpoint->regions;
  --domain.children;
  delete &region;
  return 0;
}

int bind_region(fid* object, fid* other, std::uint64_t) {
  Region& region = region_of(object);
  const Entry entry("fi_mr_bind", region.domain.serial_of_domain(), region.domain.lock);
  if (!region.domain.mode.requires_mr(FI_MR_ENDPOINT) || other->fclass != FI_CLASS_EP) return -FI_EINVAL;
  region.endpoint = static_cast<Endpoint*>(reinterpret_cast<fid_ep*>(other));
  if (!region.endpoint->is_enabled) violation("fi_mr_bind: the endpoint is not enabled");
  ++region.endpoint->regions;
  return 0;
}

int get_raw(Region& region, struct fi_mr_raw_attr& attributes) {
  const Domain& domain = region.domain;
  const bool is_raw = domain.mode.requires_mr(FI_MR_RAW);
  const std::uint64_t key = region.slot < kSlots ? domain.memory->slots[region.slot].key.load() : FI_KEY_NOTAVAIL;
  const std::uint64_t base = domain.mode.requires_mr(FI_MR_VIRT_ADDR) ? region.base : 0;
  const RawKey raw = {key, domain.memory->number, mix(key ^ domain.memory->number ^ base)};
  const std::size_t bytes = is_raw ? sizeof raw : sizeof key;
  const bool has_room = *attributes.key_size >= bytes;
  *attributes.key_size = bytes;
  if (!has_room) return -FI_ETOOSMALL;
  std::memcpy(attributes.raw_key, &raw, bytes);
  if (attributes.base_addr != nullptr) *attributes.base_addr = base;
  return 0;
}

int control_region(fid* object, int command, void* argument) {
  Region& region = region_of(object);
  const Entry entry("fi_control", region.domain.serial_of_domain(), region.domain.lock);
  if (command == FI_GET_RAW_MR) return get_raw(region, *static_cast<struct fi_mr_raw_attr*>(argument));
  if (command != FI_ENABLE) return -FI_ENOSYS;
  if (region.endpoint == nullptr) violation("fi_mr_enable: the registration is not bound to an endpoint");
  region.is_enabled = true;
  region.domain.regions.enable(region);
  return 0;
}

fi_ops region_fid_ops = {sizeof(fi_ops), close_region, bind_region, control_region, kNo, kNo, kNo};

void check_registration(const Mode& mode, const fi_mr_attr& attributes) {
  const auto base = reinterpret_cast<std::uint64_t>(attributes.mr_iov[0].iov_base);
  const std::uint64_t bytes = attributes.mr_iov[0].iov_len;
  if ((attributes.access & ~kAllAccess) != 0 || attributes.access == 0)
    violation("fi_mr_reg: the access 0x%lx is not valid", attributes.access);
  if (attributes.offset != 0) violation("fi_mr_reg: the offset is %lu, it must be 0", attributes.offset);
  if (mode.requires_mr(FI_MR_ALLOCATED) && !is_mapped(base, bytes))
    violation("fi_mr_reg: %lu bytes at 0x%lx are not mapped, FI_MR_ALLOCATED requires it", bytes, base);
  if (!mode.requires_mr(FI_MR_PROV_KEY) && mode.key_bytes < sizeof(std::uint64_t) &&
      attributes.requested_key >> (8 * mode.key_bytes) != 0)
    violation("fi_mr_reg: the key 0x%lx has more than %zu bytes", attributes.requested_key, mode.key_bytes);
}

int register_attributes(fid* object, const fi_mr_attr* attributes, std::uint64_t flags, fid_mr** opened) {
  Domain& domain = domain_of(object);
  const Entry entry("fi_mr_reg", domain.serial_of_domain(), domain.lock);
  if (attributes->iov_count != 1 || flags != 0) return -FI_EINVAL;
  check_registration(domain.mode, *attributes);
  auto* region = new Region(domain, *attributes);
  if (const int result = domain.regions.add(*region, attributes->requested_key); result != 0) {
    delete region;
    return result;
  }
  ++domain.children;
  ++domain.registrations;
  *opened = region;
  return 0;
}

int register_vector(fid* object, const iovec* parts, std::size_t count, std::uint64_t access, std::uint64_t offset,
                    std::uint64_t requested_key, std::uint64_t flags, fid_mr** opened, void* context) {
  fi_mr_attr attributes{};
  attributes.mr_iov = parts;
  attributes.iov_count = count;
  attributes.access = access;
  attributes.offset = offset;
  attributes.requested_key = requested_key;
  attributes.context = context;
  return register_attributes(object, &attributes, flags, opened);
}

int register_one(fid* object, const void* base, std::size_t bytes, std::uint64_t access, std::uint64_t offset,
                 std::uint64_t requested_key, std::uint64_t flags, fid_mr** opened, void* context) {
  const iovec part{const_cast<void*>(base), bytes};
  return register_vector(object, &part, 1, access, offset, requested_key, flags, opened, context);
}

// A copy of a slot, all of one version.
struct Entitlement {
  std::uint64_t key = 0;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  std::uint64_t access = 0;
  std::uint64_t endpoint = 0;
};

bool read_slot(const Slot& slot, Entitlement& copy) noexcept {
  const std::uint64_t version = slot.version.load();
  copy = {slot.key.load(), slot.base.load(), slot.bytes.load(), slot.access.load(), slot.endpoint.load()};
  return version % 2 == 1 && slot.version.load() == version;
}

bool find_key(const DomainMemory& target, bool is_of_provider, std::uint64_t key, Entitlement& found) noexcept {
  if (is_of_provider) return read_slot(target.slots[key % kSlots], found) && found.key == key;
  const std::uint64_t used = target.used.load();
  for (std::uint64_t i = 0; i < used; ++i) {
    if (target.slots[i].key.load() == key && read_slot(target.slots[i], found) && found.key == key) return true;
  }
  return false;
}

}  // namespace

fi_ops_mr region_ops = {sizeof(fi_ops_mr), register_one, register_vector, register_attributes};

Region::Region(Domain& owner, const fi_mr_attr& attributes)
    : fid_mr{{FI_CLASS_MR, attributes.context, &region_fid_ops}, nullptr, FI_KEY_NOTAVAIL},
      domain(owner),
      base(reinterpret_cast<std::uint64_t>(attributes.mr_iov[0].iov_base)),
      bytes(attributes.mr_iov[0].iov_len),
      access(attributes.access) {
  if (owner.mode.requires_mr(FI_MR_LOCAL)) mem_desc = this;
}

bool Region::covers(const iovec& part) const noexcept {
  const auto at = reinterpret_cast<std::uint64_t>(part.iov_base);
  return at >= base && at - base <= bytes && part.iov_len <= bytes - (at - base);
}

int Regions::choose_key(Region& region, std::uint64_t requested_key) {
  DomainMemory& memory = *region.domain.memory.get();
  const bool is_of_provider = region.domain.mode.requires_mr(FI_MR_PROV_KEY);
  const std::uint64_t used = memory.used.load();
  std::size_t free = used;
  for (std::size_t i = 0; i < used; ++i) {
    const Slot& slot = memory.slots[i];
    if (slot.base.load() == 0) free = std::min(free, i);
    if (!is_of_provider && slot.base.load() != 0 && slot.key.load() == requested_key) return -FI_ENOKEY;
  }
  if (free == kSlots) return -FI_ENOMEM;
  if (free == used) memory.used.store(used + 1);
  Slot& slot = memory.slots[free];
  slot.key.store(is_of_provider ? unique_number() << kSlotBits | free : requested_key);
  slot.base.store(region.base);
  slot.bytes.store(region.bytes);
  slot.access.store(region.access);
  region.slot = free;
  if (!region.domain.mode.requires_mr(FI_MR_RAW)) region.key = slot.key.load();
  return 0;
}

int Regions::add(Region& region, std::uint64_t requested_key) {
  const std::unique_lock guard(lock_);
  static const std::uint64_t limit = chosen_registration_limit();
  if (region.bytes > limit - std::min(bytes_, limit)) return -FI_ENOMEM;
  if ((region.access & kRemote) != 0 || !region.domain.mode.requires_mr(FI_MR_PROV_KEY)) {
    if (const int result = choose_key(region, requested_key); result != 0) return result;
  }
  live_.insert(&region);
  bytes_ += region.bytes;
  if (!region.domain.mode.requires_mr(FI_MR_ENDPOINT)) enable(region);
  return 0;
}

void Regions::enable(Region& region) noexcept {
  region.is_enabled = true;
  if (region.slot == kSlots) return;
  Slot& slot = region.domain.memory->slots[region.slot];
  slot.endpoint.store(region.endpoint != nullptr ? region.endpoint->identity.number : 0);
  slot.version.fetch_add(1);
}

void Regions::remove(Region& region) {
  const std::unique_lock guard(lock_);
  live_.erase(&region);
  bytes_ -= region.bytes;
  if (region.slot == kSlots) return;
  Slot& slot = region.domain.memory->slots[region.slot];
  if (slot.version.load() % 2 == 1) slot.version.fetch_add(1);
  slot.base.store(0);
}

Region* Regions::use(const void* descriptor) noexcept {
  const std::shared_lock guard(lock_);
  if (!live_.contains(descriptor)) return nullptr;
  auto* region = static_cast<Region*>(const_cast<void*>(descriptor));
  ++region->operations;
  return region;
}

int Regions::map(const RawKey& raw, std::uint64_t base, std::uint64_t& key) {
  if (raw.check != mix(raw.key ^ raw.domain ^ base)) return -FI_EINVAL;
  const std::unique_lock guard(lock_);
  key = next_mapped_ += 3;
  mapped_[key] = raw;
  return 0;
}

bool Regions::unmap(std::uint64_t key) {
  const std::unique_lock guard(lock_);
  return mapped_.erase(key) != 0;
}

bool Regions::has_mapped() noexcept {
  const std::shared_lock guard(lock_);
  return !mapped_.empty();
}

bool Regions::find_raw(std::uint64_t key, RawKey& raw) noexcept {
  const std::shared_lock guard(lock_);
  const auto found = mapped_.find(key);
  if (found != mapped_.end()) raw = found->second;
  return found != mapped_.end();
}

std::uint64_t resolve(Domain& domain, const RemoteAccess& what, const fi_rma_iov& part) {
  const Mode& mode = domain.mode;
  RawKey raw{part.key, what.target->number, 0};
  if (mode.requires_mr(FI_MR_RAW) && !domain.regions.find_raw(part.key, raw))
    violation("%s: the key 0x%lx has not been made by fi_mr_map_raw", what.call, part.key);
  Entitlement found;
  if (raw.domain != what.target->number || !find_key(*what.target, mode.requires_mr(FI_MR_PROV_KEY), raw.key, found))
    violation("%s: the key 0x%lx is not registered at the target, or no longer", what.call, part.key);
  if (found.endpoint != 0 && found.endpoint != what.endpoint)
    violation("%s: the key 0x%lx is bound to another endpoint of the target", what.call, part.key);
  if ((found.access & what.access) != what.access)
    violation("%s: the key 0x%lx does not allow %s", what.call, part.key,
              what.access == FI_REMOTE_WRITE ? "FI_REMOTE_WRITE" : "FI_REMOTE_READ");
  const std::uint64_t offset = mode.requires_mr(FI_MR_VIRT_ADDR) ? part.addr - found.base : part.addr;
  if (offset > found.bytes || part.len > found.bytes - offset)
    violation("%s: %zu bytes at 0x%lx are outside of the key's %lu bytes at 0x%lx", what.call, part.len, part.addr,
              found.bytes, mode.requires_mr(FI_MR_VIRT_ADDR) ? found.base : 0);
  return found.base + offset;
}

}  // namespace strict_provider
