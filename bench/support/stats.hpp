// Order statistics of a set of samples.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace shmemx::bench {

// The value below which `fraction` of the sorted samples lie; 0 for an empty set.
inline double quantile(const std::vector<double>& sorted, double fraction) {
  if (sorted.empty()) return 0;
  const auto index = static_cast<std::size_t>(fraction * static_cast<double>(sorted.size() - 1) + 0.5);
  return sorted[std::min(index, sorted.size() - 1)];
}

struct Summary {
  double median = 0;
  double p99 = 0;     // of a rate, the first percentile: always the bad end
  double spread = 0;  // distance of the quartiles as a fraction of the median
  std::size_t samples = 0;
};

inline Summary summarize(std::vector<double> samples, bool high_is_good) {
  std::sort(samples.begin(), samples.end());
  Summary summary;
  summary.samples = samples.size();
  summary.median = quantile(samples, 0.5);
  summary.p99 = quantile(samples, high_is_good ? 0.01 : 0.99);
  if (summary.median > 0) summary.spread = (quantile(samples, 0.75) - quantile(samples, 0.25)) / summary.median;
  return summary;
}

inline double median_of(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return quantile(samples, 0.5);
}

}  // namespace shmemx::bench
