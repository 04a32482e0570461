#include "base/mappings.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace shmemx {
namespace {

constexpr int kEnd = -1;

int digit(int character) noexcept {
  if (character >= '0' && character <= '9') return character - '0';
  if (character >= 'a' && character <= 'f') return character - 'a' + 10;
  return 16;
}

}  // namespace

MappingReader::MappingReader() noexcept : file_(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}

int MappingReader::get() noexcept {
  if (at_ == filled_) {
    ssize_t got = 0;
    do {
      got = file_.valid() ? ::read(file_.get(), buffer_, sizeof buffer_) : 0;
    } while (got < 0 && errno == EINTR);
    if (got <= 0) return kEnd;
    at_ = 0;
    filled_ = static_cast<std::size_t>(got);
  }
  return static_cast<unsigned char>(buffer_[at_++]);
}

std::uint64_t MappingReader::number(unsigned base, int& delimiter) noexcept {
  std::uint64_t value = 0;
  for (delimiter = get(); digit(delimiter) < static_cast<int>(base); delimiter = get())
    value = value * base + static_cast<unsigned>(digit(delimiter));
  return value;
}

// A line is "7f0c5000-7f0c6000 rw-s 00001000 00:01 1044 /memfd:name (deleted)".
bool MappingReader::next(Mapping& mapping, std::string* path) noexcept {
  int delimiter = kEnd;
  mapping.begin = static_cast<std::uintptr_t>(number(16, delimiter));
  if (delimiter != '-') return false;
  mapping.end = static_cast<std::uintptr_t>(number(16, delimiter));
  mapping.protection = get() == 'r' ? PROT_READ : PROT_NONE;
  if (get() == 'w') mapping.protection |= PROT_WRITE;
  if (get() == 'x') mapping.protection |= PROT_EXEC;
  mapping.is_shared = get() == 's';
  if (get() != ' ') return false;
  static_cast<void>(number(16, delimiter));  // the offset in the file
  const std::uint64_t major = number(16, delimiter);
  mapping.device = major << 32 | number(16, delimiter);
  mapping.inode = number(10, delimiter);
  if (path != nullptr) path->clear();
  for (; delimiter != '\n' && delimiter != kEnd; delimiter = get()) {
    if (path != nullptr && (delimiter != ' ' || !path->empty())) path->push_back(static_cast<char>(delimiter));
  }
  return true;
}

std::string path_of_mapping(std::uintptr_t address) {
  MappingReader reader;
  Mapping mapping;
  std::string path;
  while (reader.next(mapping, &path)) {
    if (address >= mapping.end) continue;
    return address >= mapping.begin && path.front() == '/' ? path : std::string();
  }
  return {};
}

bool find_mapping(std::uintptr_t address, Mapping& mapping) noexcept {
  MappingReader reader;
  while (reader.next(mapping)) {
    if (address < mapping.end) return address >= mapping.begin;
  }
  return false;
}

}  // namespace shmemx
