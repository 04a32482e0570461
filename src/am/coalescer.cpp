#include "am/coalescer.hpp"

#include <utility>

namespace shmemx::am {

Coalescer::~Coalescer() {
  for (const std::int32_t pe : pes_) delete batches_[pe];
}

Batch& Coalescer::begin(int pe, std::uint16_t handler, Bytes header, Bytes payload) {
  if (unused_.empty()) unused_.emplace_back(new Batch);  // without clearing its bytes
  Batch* const batch = unused_.back().release();
  unused_.pop_back();
  batches_[pe] = batch;
  batch->append(handler, header, payload);
  pes_.push_back(pe);
  return *batch;
}

void Coalescer::release(int pe) {
  Batch* const batch = std::exchange(batches_[pe], nullptr);
  batch->clear();
  unused_.emplace_back(batch);
  std::erase(pes_, pe);
}

}  // namespace shmemx::am
