#include "results.hpp"

#include <algorithm>

#include "support/stats.hpp"

namespace shmemx::bench {

Figure median(const Samples& samples) { return samples.empty() ? Figure{} : Figure{median_of(samples)}; }

Figure low(const Samples& samples) {
  if (samples.empty()) return {};
  Samples sorted = samples;
  std::sort(sorted.begin(), sorted.end());
  return quantile(sorted, 0.1);
}

Figure Cache::disturbance() const {
  const Figure warm = low(warm_ns), evicted = low(evicted_ns), after = low(after_ns);
  if (!warm || !evicted || !after || *evicted <= *warm) return {};
  return std::clamp((*after - *warm) / (*evicted - *warm), 0.0, 1.0);
}

Chosen choose(const Timing& timing, const std::string& state) {
  const auto wanted = timing.by_state.find(state);
  if (wanted != timing.by_state.end()) return {median(wanted->second), state};
  const auto most = std::max_element(timing.by_state.begin(), timing.by_state.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (most == timing.by_state.end()) return {};
  return {median(most->second), most->first};
}

Chosen time_of(const Results& results, const Measured& measured, std::size_t bytes) {
  const auto timing = measured.times.find(bytes);
  return timing == measured.times.end() ? Chosen{} : choose(timing->second, results.state);
}

Figure mib_per_s(std::size_t bytes, const Figure& us) {
  if (!us || *us <= 0) return {};
  return static_cast<double>(bytes) / *us * 1e6 / static_cast<double>(1 << 20);
}

std::string common_state(const std::vector<Measured>& mechanisms) {
  std::map<std::string, std::size_t> rounds;
  for (const Measured& measured : mechanisms)
    for (const auto& [bytes, timing] : measured.times)
      for (const auto& [state, samples] : timing.by_state)
        if (state != "mixed") rounds[state] += samples.size();
  const auto most =
      std::max_element(rounds.begin(), rounds.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == rounds.end() ? "mixed" : most->first;
}

bool one_sided(const Measured& measured) { return measured.info->direction != Direction::two_sided; }

std::optional<bool> needs_help(const Measured& measured) {
  std::optional<bool> needs;
  for (const auto& [bytes, samples] : measured.help)
    if (const Figure share = median(samples)) needs = needs.value_or(false) || *share > 0.5;
  return needs;
}

}  // namespace shmemx::bench
