#include "transport/ethernet/inbound.hpp"

#include <algorithm>
#include <utility>

#include "base/bulk_copy.hpp"

namespace shmemx::ethernet {

const char* Inbound::take(Bytes records) {
  transport::RecordReader reader(records);
  transport::Record record;
  Bytes content;
  while (reader.next(record, content)) {
    if (const char* fault = take_record(record, content)) return fault;
  }
  return reader.fault();
}

const char* Inbound::take_record(const transport::Record& record, Bytes content) {
  if (const char* fault = check_record(record, content)) return fault;
  if (has_shut_down_) return "a record behind the shutdown";
  const RecordKind kind = kind_of(record);
  if (kind == RecordKind::next_part) return add_part(content);
  if (whole_bytes_ != 0) return "a message without its last part";
  switch (kind) {
    case RecordKind::message:
      queue_.add_whole(record.fixed, content);
      break;
    case RecordKind::first_part:
      return begin_whole(record, content);
    case RecordKind::announced: {
      const Announcement announcement = announcement_of(content);
      announced_ = announcement.handle;
      pushed_ = announcement.pushed;
      queue_.add_announced(record.fixed, content.subspan(sizeof announcement), announcement.payload_bytes,
                           {announcement.handle});
      announced_ = 0;
      break;
    }
    case RecordKind::pulled:
      owner_.ended_loan(queue_.source(), handle_of(content));
      break;
    default:
      has_shut_down_ = true;
  }
  return nullptr;
}

const char* Inbound::begin_whole(const transport::Record& record, Bytes content) {
  if (whole_ == nullptr) whole_ = transport::allocate_aligned(kMediumBytes + kMaxHeaderBytes);
  if (whole_ == nullptr) return "a message for which there is no memory";
  fixed_ = record.fixed;
  whole_bytes_ = whole_bytes_of(record);
  here_ = 0;
  find_place(content);
  return add_part(content);
}

// Asks for the place of a long payload, if the first part has all of the header.
void Inbound::find_place(Bytes content) noexcept {
  const std::size_t header_bytes = fixed_.header_bytes;
  place_ = nullptr;
  has_place_answer_ =
      whole_bytes_ - header_bytes >= kLongBytes && content.size() >= header_bytes && queue_.may_place_parts();
  if (has_place_answer_) place_ = queue_.place_parts(fixed_, content.first(header_bytes), whole_bytes_ - header_bytes);
}

const char* Inbound::add_part(Bytes content) {
  if (content.size() > whole_bytes_ - here_) return "a part that is too long";
  const std::size_t of_whole =
      place_ == nullptr ? content.size() : fixed_.header_bytes - std::min<std::size_t>(here_, fixed_.header_bytes);
  copy_block(whole_.get() + here_, content.data(), of_whole);
  if (of_whole != content.size())
    copy_block(place_ + (here_ + of_whole - fixed_.header_bytes), content.data() + of_whole, content.size() - of_whole);
  here_ += content.size();
  if (here_ == whole_bytes_) end_whole();
  return nullptr;
}

void Inbound::end_whole() {
  const Bytes message(whole_.get(), std::exchange(whole_bytes_, 0));
  const Bytes header = message.first(fixed_.header_bytes);
  if (place_ != nullptr) {
    queue_.add_placed(fixed_, header, message.size() - header.size());
  } else if (has_place_answer_) {
    queue_.add_without_place(fixed_, message);
  } else {
    queue_.add_whole(fixed_, message);
  }
}

}  // namespace shmemx::ethernet
