#include "base/object_name.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "base/unique_fd.hpp"

namespace shmemx {
namespace {

// The executable's file, mapped. Offsets and sizes in it are checked, since the file may have been replaced.
class Executable {
 public:
  explicit Executable(const std::string& path) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat about {};
    if (!fd.valid() || ::fstat(fd.get(), &about) != 0 || about.st_size <= 0) return;
    const auto bytes = static_cast<std::size_t>(about.st_size);
    void* const at = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (at != MAP_FAILED) file_ = {static_cast<const std::byte*>(at), bytes};
  }
  ~Executable() {
    if (!file_.empty()) ::munmap(const_cast<std::byte*>(file_.data()), file_.size());
  }
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  // Returns nothing if the file has none there.
  template <class T>
  std::optional<T> read(std::uint64_t offset) const {
    if (offset > file_.size() || file_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, file_.data() + offset, sizeof value);
    return value;
  }
  std::string text(std::uint64_t offset) const {
    if (offset >= file_.size()) return {};
    const auto* const begin = reinterpret_cast<const char*>(file_.data() + offset);
    return {begin, ::strnlen(begin, file_.size() - offset)};
  }

 private:
  std::span<const std::byte> file_;
};

// Calls visit(section) for each section header of the file.
template <class Visit>
void for_each_section(const Executable& file, Visit visit) {
  const auto header = file.read<ElfW(Ehdr)>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    if (const auto section = file.read<ElfW(Shdr)>(header->e_shoff + i * sizeof(ElfW(Shdr)))) visit(*header, *section);
  }
}

// Calls visit(symbol, offset of the names) for each symbol of that type until it returns true.
template <class Visit>
void find_symbol(const Executable& file, unsigned type, Visit visit) {
  bool is_found = false;
  for_each_section(file, [&](const ElfW(Ehdr) & header, const ElfW(Shdr) & table) {
    if (table.sh_type != SHT_SYMTAB || is_found) return;
    const auto names = file.read<ElfW(Shdr)>(header.e_shoff + table.sh_link * sizeof(ElfW(Shdr)));
    if (!names) return;
    for (std::uint64_t at = 0; at + sizeof(ElfW(Sym)) <= table.sh_size && !is_found; at += sizeof(ElfW(Sym))) {
      const auto symbol = file.read<ElfW(Sym)>(table.sh_offset + at);
      if (!symbol) return;
      if (ELF64_ST_TYPE(symbol->st_info) == type && symbol->st_shndx != SHN_UNDEF)
        is_found = visit(*symbol, names->sh_offset);
    }
  });
}

// Returns the symbol of that type that holds the address.
NamedObject symbol_at(const Executable& file, unsigned type, std::uintptr_t address) {
  NamedObject found;
  find_symbol(file, type, [&](const ElfW(Sym) & symbol, std::uint64_t names) {
    if (address - symbol.st_value >= symbol.st_size) return false;
    found = {file.text(names + symbol.st_name), symbol.st_value, symbol.st_size};
    return true;
  });
  return found;
}

}  // namespace

std::uintptr_t load_bias() noexcept {
  std::uintptr_t bias = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* found) {
        *static_cast<std::uintptr_t*>(found) = info->dlpi_addr;
        return 1;  // the executable is the first one
      },
      &bias);
  return bias;
}

std::uintptr_t executable_end() noexcept {
  std::uintptr_t end = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* found) {
        auto& last = *static_cast<std::uintptr_t*>(found);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          if (part.p_type == PT_LOAD)
            last = std::max<std::uintptr_t>(last, info->dlpi_addr + part.p_vaddr + part.p_memsz);
        }
        return 1;  // the executable is the first one
      },
      &end);
  return end;
}

// Where dladdr finds the executable's own objects.
const void* executable_begin() noexcept {
  Dl_info info{};
  const auto* const entry = reinterpret_cast<const void*>(::getauxval(AT_ENTRY));
  return ::dladdr(entry, &info) != 0 ? info.dli_fbase : nullptr;
}

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;  // a name such as "d" would be that of a type
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr),
                                                    std::free);
  return text != nullptr ? text.get() : name;
}

NamedObject function_at(const std::string& executable, std::uintptr_t address) {
  return symbol_at(Executable(executable), STT_FUNC, address);
}

NamedObject variable_in(const std::string& executable, std::uintptr_t address) {
  return symbol_at(Executable(executable), STT_OBJECT, address);
}

NamedObject variable_at(std::uintptr_t address) {
  NamedObject found = variable_in("/proc/self/exe", address - load_bias());
  found.begin += load_bias();
  return found;
}

std::vector<AddressSpan> variables_of_executable() {
  std::vector<AddressSpan> all;
  const std::uintptr_t bias = load_bias();
  find_symbol(Executable("/proc/self/exe"), STT_OBJECT, [&](const ElfW(Sym) & symbol, std::uint64_t) {
    if (symbol.st_size != 0) all.push_back({bias + symbol.st_value, bias + symbol.st_value + symbol.st_size});
    return false;
  });
  std::sort(all.begin(), all.end(), [](const AddressSpan& a, const AddressSpan& b) { return a.begin < b.begin; });
  std::vector<AddressSpan> apart;
  for (const AddressSpan& one : all) {
    if (!apart.empty() && one.begin < apart.back().end) {
      apart.back().end = std::max(apart.back().end, one.end);
    } else {
      apart.push_back(one);
    }
  }
  return apart;
}

std::vector<AddressSpan> constants_of_executable() {
  std::vector<AddressSpan> all;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* found) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
          if (part.p_type == PT_LOAD && (part.p_flags & PF_W) == 0)
            static_cast<std::vector<AddressSpan>*>(found)->push_back({begin, begin + part.p_memsz});
        }
        return 1;  // the executable is the first one
      },
      &all);
  return all;
}

}  // namespace shmemx
