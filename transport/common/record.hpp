// Messages that travel together: records, one behind the other. A record is this fixed part, the content, and padding
// to a multiple of 16 bytes, so that contents are aligned where they arrive. All PEs of a job have one byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/cache_line.hpp"
#include "transport/transport.hpp"

namespace shmemx::transport {

struct Record {
  Header fixed;
  std::uint32_t bytes;  // of the content, without padding
  std::uint32_t kind;   // kMessageRecord: header and payload follow; other kinds are a transport's own
};
static_assert(sizeof(Record) == 16);

inline constexpr std::uint32_t kMessageRecord = 0;
inline constexpr std::size_t kRecordAlign = 16;

constexpr std::size_t record_bytes(std::size_t content_bytes) noexcept {
  return sizeof(Record) + round_up(content_bytes, kRecordAlign);
}

// Reads the records of a packet. Trusts nothing: a record that does not fit ends the reading with a fault.
class RecordReader {
 public:
  explicit RecordReader(Bytes records) noexcept : rest_(records) {}

  // Returns false at the end, or at a fault.
  bool next(Record& record, Bytes& content) noexcept {
    if (rest_.empty()) return false;
    if (rest_.size() < sizeof record) return fail("a record that is cut off");
    std::memcpy(&record, rest_.data(), sizeof record);
    if (record.bytes > rest_.size() - sizeof record || record_bytes(record.bytes) > rest_.size())
      return fail("a record that is longer than its packet");
    if (record.kind == kMessageRecord && record.fixed.header_bytes > record.bytes)
      return fail("a header that is longer than its message");
    if (record.fixed.header_bytes > kMaxHeaderBytes) return fail("a header that is too long");
    content = rest_.subspan(sizeof record, record.bytes);
    rest_ = rest_.subspan(record_bytes(record.bytes));
    return true;
  }
  // Says what is wrong with the packet; null if nothing is.
  const char* fault() const noexcept { return fault_; }

 private:
  bool fail(const char* what) noexcept {
    fault_ = what;
    return false;
  }

  Bytes rest_;
  const char* fault_ = nullptr;
};

}  // namespace shmemx::transport
