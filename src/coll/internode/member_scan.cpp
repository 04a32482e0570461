#include "coll/internode/member_scan.hpp"

#include "base/bulk_copy.hpp"

namespace shmemx::coll {

void MemberScan::sum_of_node(std::size_t at, std::size_t nelems, ScanBuffer& total) const {
  combine_node(team_, {source_ + at * element_bytes(), nelems}, scan_.sum, total.data());
}

const std::byte* MemberScan::source_of(int pe, std::size_t at) const {
  return mapped_copy(team_.route, source_ + at * element_bytes(), pe);
}

void MemberScan::scan_node(std::size_t at, std::size_t nelems, ScanBuffer& sum) const {
  ScanBuffer elements(nelems * element_bytes());
  for (const int pe : nodes_.here()) {
    copy_block(elements.data(), source_of(pe, at), elements.size());  // dest may be the same memory
    scan_member(pe, at, elements.data(), sum);
  }
}

void MemberScan::scan_member(int pe, std::size_t at, const std::byte* elements, ScanBuffer& sum) const {
  std::byte* const dest =
      context::is_mapped(team_.route, pe) ? mapped_copy(team_.route, dest_ + at * element_bytes(), pe) : nullptr;
  if (dest != nullptr && scan_.exclusive) copy_block(dest, sum.data(), sum.size());
  scan_.sum.accumulate(sum.data(), elements, sum.size() / element_bytes());
  if (dest != nullptr && !scan_.exclusive) copy_block(dest, sum.data(), sum.size());
}

}  // namespace shmemx::coll
