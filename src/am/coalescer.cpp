#include "am/coalescer.hpp"

#include <utility>

namespace shmemx::am {

Coalescer::~Coalescer() {
  for (const std::int32_t pe : pes_) delete batches_[pe];
}

Batch& Coalescer::begin(int pe, std::size_t batch_bytes) {
  if (unused_.empty()) unused_.emplace_back(new Batch);  // without clearing its bytes
  Batch* const batch = unused_.back().release();
  unused_.pop_back();
  batch->limit(batch_bytes);
  batches_[pe] = batch;
  pes_.push_back(pe);
  return *batch;
}

std::unique_ptr<Batch> Coalescer::take(int pe) {
  std::erase(pes_, pe);
  return std::unique_ptr<Batch>(std::exchange(batches_[pe], nullptr));
}

void Coalescer::give_back(std::unique_ptr<Batch> batch) {
  batch->clear();
  unused_.push_back(std::move(batch));
}

}  // namespace shmemx::am
