#include "transport/tcp/decoder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bulk_copy.hpp"

namespace shmemx::tcp {

namespace {

// Bytes of one read after short messages, and after long ones: the part of a long payload that lies in the buffer has
// to be copied once more. Up to kCopiedPayload that costs less than another read.
constexpr std::size_t kReadMany = std::size_t{64} << 10;
constexpr std::size_t kReadFew = std::size_t{8} << 10;
constexpr std::size_t kCopiedPayload = std::size_t{20} << 10;
constexpr std::size_t kAloneBytes = std::size_t{2}
                                    << 10;  // after a short message that has come alone, few bytes are read
// Bytes of one read of a long payload. Packets that arrive during a read are acknowledged at its end, and the sender
// keeps what is not acknowledged.
constexpr std::size_t kReadLong = std::size_t{128} << 10;
static_assert(ReadBuffer::kBytes >= kReadMany + 2 * ReadBuffer::kLongestFrame);

}  // namespace

int Decoder::areas(iovec (&out)[2]) noexcept {
  if (!buffer_.is_allocated()) {
    if (!buffer_.allocate()) return 0;
    read_bytes_ = kReadMany;
  }
  if (long_) {
    if (long_->missing > kReadLong) {
      out[0] = {long_->place, kReadLong};
      return 1;
    }
    out[0] = {long_->place, long_->missing};
    // Behind the payload: read the padding so that the next frame begins at a multiple of 16.
    buffer_.make_room();
    out[1] = {buffer_.end(), kReadFew};
    return reads_parts_ ? 1 : 2;
  }
  buffer_.make_room();
  if (reads_parts_) [[unlikely]]
    read_bytes_ = missing_bytes();
  out[0] = {buffer_.end(), std::min(read_bytes_, buffer_.room())};
  return 1;
}

// Returns how much is missing of the next header, or of the message behind it, of a long one only what precedes its
// payload. parse() has checked a header that is complete.
std::size_t Decoder::missing_bytes() const noexcept {
  const std::size_t here = buffer_.size();
  if (buffer_.padding() != 0 || here < sizeof(FrameHeader)) return buffer_.padding() + sizeof(FrameHeader) - here;
  FrameHeader header;
  std::memcpy(&header, buffer_.data(), sizeof header);
  const bool is_long = header.message_bytes - header.fixed.header_bytes >= kLongBytes;
  std::size_t behind = is_long ? header.fixed.header_bytes : header.message_bytes;
  if (header.kind == FrameKind::split) behind = sizeof(SplitHeader) + header.fixed.header_bytes;
  return sizeof header + behind - here;
}

bool Decoder::advance(std::size_t bytes) noexcept {
  if (long_) {
    const std::size_t taken = std::min(bytes, long_->missing);
    long_->place += taken;
    long_->missing -= taken;
    bytes -= taken;
    if (long_->missing != 0) return true;
  }
  buffer_.add(bytes);  // before the sink is called: between_frames()
  if (long_) {
    if (long_->stops_behind) return true;
    end_long();
  }
  is_stream_ = bytes >= kReadFew;
  return parse();
}

bool Decoder::parse() noexcept {
  while (buffer_.skip_padding() && buffer_.size() >= sizeof(FrameHeader)) {
    std::byte* const frame = buffer_.data();
    FrameHeader header;
    std::memcpy(&header, frame, sizeof header);
    if (const char* broken = check(header)) {
      broken_ = broken;
      return false;
    }
    if (take_control(header)) continue;
    const std::size_t here = buffer_.size() - sizeof header;
    if (header.kind != FrameKind::message) [[unlikely]] {
      const bool is_part = header.kind == FrameKind::part;
      if (here < (is_part ? 0 : sizeof(SplitHeader)) + header.fixed.header_bytes) break;
      return is_part ? begin_part(header) : begin_split(header);
    }
    if (header.message_bytes - header.fixed.header_bytes >= kLongBytes) {
      if (here < header.fixed.header_bytes) break;
      if (!begin_long(header)) return false;
      if (long_) break;
      continue;
    }
    if (here < header.message_bytes) break;
    sink_->deliver(source_, header.fixed, {frame + sizeof header, header.message_bytes});
    buffer_.drop(sizeof header + header.message_bytes);
    buffer_.expect_padding(header.message_bytes);
    read_bytes_ = is_stream_ || header.message_bytes > kAloneBytes ? kReadMany : kReadFew;
  }
  return true;
}

namespace {

bool has_message(FrameKind kind) noexcept {
  return kind == FrameKind::message || kind == FrameKind::split || kind == FrameKind::part;
}

}  // namespace

// Takes a frame without a message. Returns false if it has one.
bool Decoder::take_control(const FrameHeader& header) noexcept {
  if (has_message(header.kind)) return false;
  has_shut_down_ |= header.kind == FrameKind::shutdown;
  if (header.kind == FrameKind::suspend) suspends_ = std::bit_cast<std::uint64_t>(header.fixed);
  buffer_.drop(sizeof header);
  return true;
}

namespace {

// Takes what nobody reads any more.
class Drop final : public transport::Sink {
 public:
  void deliver(int, const Header&, Bytes) noexcept override {}
  std::byte* placement(int, const Header&, Bytes, std::size_t) noexcept override { return nullptr; }
  void placed(int, const Header&, Bytes, std::size_t) noexcept override {}
  void lost(int, const std::string&) noexcept override {}
};
constinit Drop dropping_sink;

bool is_control(FrameKind kind) noexcept { return kind == FrameKind::shutdown || kind == FrameKind::suspend; }

}  // namespace

void Decoder::drop_messages() noexcept { sink_ = &dropping_sink; }

void Decoder::free_memory() noexcept {
  buffer_.free();
  spare_.reset();
}

// Returns what is wrong with a frame, or null if nothing is.
const char* Decoder::check(const FrameHeader& header) const noexcept {
  if (has_shut_down_) return "a frame behind the shutdown frame";
  if (header.reserved != 0) return "a frame with reserved bits";
  if (is_control(header.kind))
    return header.message_bytes == 0 ? nullptr : "a frame with a payload that it must not have";
  if (!has_message(header.kind)) return "a frame of an unknown kind";
  if ((header.kind == FrameKind::part) != is_of_parts_) return "a frame on the wrong one of two links";
  if (header.fixed.header_bytes > kMaxHeaderBytes) return "a frame whose header is too long";
  if (header.fixed.header_bytes > header.message_bytes) return "a frame whose header is longer than itself";
  if (header.message_bytes - header.fixed.header_bytes > kMaxPayloadBytes) return "a frame that is too long";
  return nullptr;
}

// Begins a long message whose header lies in the buffer. Leaves long_ set if a part of the payload is missing.
bool Decoder::begin_long(const FrameHeader& header) noexcept {
  next_long(header);
  const std::size_t first_bytes = header.message_bytes - header.fixed.header_bytes;
  spare_->payload_bytes = first_bytes;
  buffer_.drop(sizeof header);
  return take_payload(header, first_bytes);
}

bool Decoder::begin_split(const FrameHeader& header) noexcept {
  SplitHeader split;
  std::memcpy(&split, buffer_.data() + sizeof header, sizeof split);
  const std::size_t in_front = sizeof split + header.fixed.header_bytes;
  if (header.message_bytes < in_front || split.payload_bytes > kMaxPayloadBytes || split.payload_bytes < kLongBytes ||
      header.message_bytes - in_front >= split.payload_bytes) {
    broken_ = "a split message whose parts do not fit";
    return false;
  }
  next_long(header);
  Long& next = *spare_;
  next.stops_behind = true;
  next.number = split.number;
  next.payload_bytes = split.payload_bytes;
  buffer_.drop(sizeof header + sizeof split);
  return take_payload(header, header.message_bytes - in_front);
}

bool Decoder::begin_part(const FrameHeader& header) noexcept {
  const std::size_t bytes = header.message_bytes - header.fixed.header_bytes;
  if (header.fixed.header_bytes != sizeof(PartHeader) || bytes < kLongBytes) {
    broken_ = "a part that is none";
    return false;
  }
  next_long(header);
  Long& next = *spare_;
  PartHeader part;
  std::memcpy(&part, buffer_.data() + sizeof header, sizeof part);
  buffer_.drop(sizeof header + sizeof part);
  buffer_.expect_padding(header.message_bytes);
  next.stops_behind = true;
  next.number = part.number;
  next.first_bytes = part.offset;
  next.missing = next.payload_bytes = bytes;
  next.place = nullptr;
  long_ = std::move(spare_);
  return true;
}

void Decoder::next_long(const FrameHeader& header) noexcept {
  const bool is_copied = header.message_bytes - header.fixed.header_bytes <= kCopiedPayload;
  read_bytes_ = is_copied ? kReadMany : kReadFew;
  if (!spare_) spare_ = std::make_unique<Long>();
  Long& next = *spare_;
  next.fixed = header.fixed;
  next.stops_behind = false;
}

// Takes the message's header and what is here of its payload, or of the first part of that.
bool Decoder::take_payload(const FrameHeader& header, std::size_t first_bytes) noexcept {
  Long& next = *spare_;
  std::memcpy(next.header, buffer_.data(), header.fixed.header_bytes);
  next.place = sink_->placement(source_, header.fixed, {next.header, header.fixed.header_bytes}, next.payload_bytes);
  if (next.place == nullptr) {
    next.own.reset(static_cast<std::byte*>(std::malloc(header.fixed.header_bytes + next.payload_bytes)));
    if (!next.own) {
      broken_ = "no memory for a long message";
      return false;
    }
    std::memcpy(next.own.get(), next.header, header.fixed.header_bytes);
    next.place = next.own.get() + header.fixed.header_bytes;
  }
  buffer_.drop(header.fixed.header_bytes);
  next.begin = next.place;
  next.missing = next.first_bytes = first_bytes;
  fill(next);
  buffer_.expect_padding(header.message_bytes);
  long_ = std::move(spare_);
  if (long_->missing == 0 && !long_->stops_behind) end_long();
  return true;
}

// Takes what is in the buffer of a payload.
void Decoder::fill(Long& next) noexcept {
  const std::size_t here = std::min(next.missing, buffer_.size());
  copy_block(next.place, buffer_.data(), here);
  buffer_.drop(here);
  next.place += here;
  next.missing -= here;
}

std::byte* Decoder::place_of(const Decoder& second) const noexcept {
  const Long& part = *second.long_;
  const bool fits = part.number == long_->number && part.first_bytes == long_->first_bytes &&
                    part.payload_bytes == long_->payload_bytes - long_->first_bytes;
  return fits ? long_->begin + long_->first_bytes : nullptr;
}

bool Decoder::place_part(std::byte* place) noexcept {
  long_->place = place;
  fill(*long_);
  return take_kept();
}

bool Decoder::complete_part() noexcept {
  long_->stops_behind = false;
  if (long_->missing != 0) return true;
  end_long();
  return parse() && take_kept();
}

// Takes what was read while it was waiting.
bool Decoder::take_kept() noexcept {
  std::vector<std::byte> kept;
  kept.swap(kept_);
  std::size_t at = 0;
  while (at < kept.size() && !is_waiting()) {
    iovec out[2];
    if (areas(out) == 0) {
      broken_ = "more than there is memory for";
      return false;
    }
    const std::size_t bytes = std::min(out[0].iov_len, kept.size() - at);
    copy_block(out[0].iov_base, kept.data() + at, bytes);
    at += bytes;
    if (!advance(bytes)) return false;
  }
  kept_.insert(kept_.begin(), kept.begin() + static_cast<std::ptrdiff_t>(at), kept.end());
  return true;
}

void Decoder::end_long() noexcept {
  spare_ = std::move(long_);
  Long& done = *spare_;
  if (is_of_parts_) return;
  const std::size_t header_bytes = done.fixed.header_bytes;
  if (done.own) {
    sink_->deliver(source_, done.fixed, {done.own.get(), header_bytes + done.payload_bytes});
    done.own.reset();
  } else {
    sink_->placed(source_, done.fixed, {done.header, header_bytes}, done.payload_bytes);
  }
}

}  // namespace shmemx::tcp
