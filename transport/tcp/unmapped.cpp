#include "transport/tcp/unmapped.hpp"

#include <algorithm>

#include "base/fatal.hpp"

namespace shmemx::tcp {

void end_with_unmapped(const iovec* areas, std::size_t n, const char* access) noexcept {
  const iovec& area = *std::max_element(
      areas, areas + n, [](const iovec& one, const iovec& other) { return one.iov_len < other.iov_len; });
  fatal(nullptr,
        "a buffer of a put, get or message that is under way cannot be %s: of %zu bytes at %p not all are mapped",
        access, area.iov_len, area.iov_base);
}

}  // namespace shmemx::tcp
