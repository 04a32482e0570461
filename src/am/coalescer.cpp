#include "am/coalescer.hpp"

#include <utility>

namespace shmemx::am {

Batch& Coalescer::begin(int pe, std::uint16_t handler, Bytes header, Bytes payload) {
  if (unused_.empty()) unused_.emplace_back(new Batch);  // without clearing its bytes
  std::unique_ptr<Batch>& batch = batches_[static_cast<std::size_t>(pe)];
  batch = std::move(unused_.back());
  unused_.pop_back();
  batch->append(handler, header, payload);
  pes_.push_back(pe);
  return *batch;
}

void Coalescer::release(int pe) {
  std::unique_ptr<Batch>& batch = batches_[static_cast<std::size_t>(pe)];
  batch->clear();
  unused_.push_back(std::move(batch));
  std::erase(pes_, pe);
}

}  // namespace shmemx::am
