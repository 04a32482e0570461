#include "transport/ethernet/inbound.hpp"

#include <cstring>

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
      queue_.add_announced(record.fixed, content.subspan(sizeof announcement), announcement.payload_bytes,
                           {announcement.handle});
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
  return add_part(content);
}

const char* Inbound::add_part(Bytes content) {
  if (content.size() > whole_bytes_ - here_) return "a part that is too long";
  std::memcpy(whole_.get() + here_, content.data(), content.size());
  here_ += content.size();
  if (here_ != whole_bytes_) return nullptr;
  whole_bytes_ = 0;
  queue_.add_whole(fixed_, {whole_.get(), here_});
  return nullptr;
}

}  // namespace shmemx::ethernet
