#include "base/object_name.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>
#include <optional>
#include <span>

#include "base/unique_fd.hpp"

namespace shmemx {
namespace {

// The executable's file, mapped. Offsets and sizes in it are checked, since the file may have been replaced.
class Executable {
 public:
  Executable() {
    const UniqueFd fd(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
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

// By how much the executable lies above the addresses in its file.
std::uintptr_t load_bias() {
  std::uintptr_t bias = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* found) {
        *static_cast<std::uintptr_t*>(found) = info->dlpi_addr;
        return 1;  // the executable is the first one
      },
      &bias);
  return bias;
}

// Calls visit(section) for each section header of the file.
template <class Visit>
void for_each_section(const Executable& file, Visit visit) {
  const auto header = file.read<ElfW(Ehdr)>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    if (const auto section = file.read<ElfW(Shdr)>(header->e_shoff + i * sizeof(ElfW(Shdr)))) visit(*header, *section);
  }
}

}  // namespace

NamedObject variable_at(std::uintptr_t address) {
  const Executable file;
  const std::uintptr_t in_file = address - load_bias();
  NamedObject found;
  for_each_section(file, [&](const ElfW(Ehdr) & header, const ElfW(Shdr) & table) {
    if (table.sh_type != SHT_SYMTAB || !found.name.empty()) return;
    const auto names = file.read<ElfW(Shdr)>(header.e_shoff + table.sh_link * sizeof(ElfW(Shdr)));
    if (!names) return;
    for (std::uint64_t at = 0; at + sizeof(ElfW(Sym)) <= table.sh_size; at += sizeof(ElfW(Sym))) {
      const auto symbol = file.read<ElfW(Sym)>(table.sh_offset + at);
      if (!symbol) return;
      const bool is_it = ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_shndx != SHN_UNDEF &&
                         in_file - symbol->st_value < symbol->st_size;
      if (!is_it) continue;
      found = {file.text(names->sh_offset + symbol->st_name), symbol->st_value + load_bias(), symbol->st_size};
      return;
    }
  });
  return found;
}

}  // namespace shmemx
