#include "transport/ethernet/loans.hpp"

#include <algorithm>

#include "base/bulk_copy.hpp"

namespace shmemx::ethernet {

std::uint64_t Loans::lend(Bytes payload, transport::Outgoing* outgoing) {
  Loan loan{last_ + 1, payload, nullptr, outgoing};
  if (outgoing == nullptr) {
    loan.copy = transport::allocate_aligned(payload.size());
    if (loan.copy == nullptr) return 0;
    copy_block(loan.copy.get(), payload.data(), payload.size());
    loan.payload = {loan.copy.get(), payload.size()};
    copied_bytes_ += payload.size();
  }
  loans_.push_back(std::move(loan));
  return ++last_;
}

Bytes Loans::packet(std::uint64_t handle, std::uint32_t index, std::size_t packet_bytes) const noexcept {
  const auto found =
      std::find_if(loans_.begin(), loans_.end(), [&](const Loan& loan) { return loan.handle == handle; });
  if (found == loans_.end()) return {};
  const std::uint64_t begin = std::uint64_t{index} * packet_bytes;
  if (begin >= found->payload.size()) return {};
  return found->payload.subspan(begin, std::min<std::size_t>(packet_bytes, found->payload.size() - begin));
}

bool Loans::end(std::uint64_t handle) noexcept {
  const auto found =
      std::find_if(loans_.begin(), loans_.end(), [&](const Loan& loan) { return loan.handle == handle; });
  if (found == loans_.end()) return false;
  finish(*found);
  loans_.erase(found);
  return true;
}

void Loans::finish(Loan& loan) noexcept {
  if (loan.outgoing != nullptr) loan.outgoing->done = true;
  if (loan.copy != nullptr) copied_bytes_ -= loan.payload.size();
}

void Loans::end_all() noexcept {
  for (Loan& loan : loans_) finish(loan);
  loans_.clear();
}

}  // namespace shmemx::ethernet
