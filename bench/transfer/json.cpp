#include <fstream>
#include <nlohmann/json.hpp>

#include "output.hpp"

namespace shmemx::bench {
namespace {

using Json = nlohmann::ordered_json;

// More than four digits exceed the clock's precision.
Json figure(const Figure& value) {
  if (!value) return nullptr;
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.4g", *value);
  return std::stod(digits);
}
Json figure(const Samples& samples) { return figure(median(samples)); }
Json paper(double value) { return value < 0 ? Json(nullptr) : Json(value); }

Json timings(const std::map<std::size_t, Timing>& list, const std::string& state, std::size_t bytes_moved) {
  Json out = Json::array();
  for (const auto& [bytes, timing] : list) {
    const Chosen chosen = choose(timing, state);
    out.push_back({{"bytes", bytes},
                   {"us", figure(chosen.us)},
                   {"mib_per_s", figure(mib_per_s(bytes_moved != 0 ? bytes_moved : bytes, chosen.us))},
                   {"state", chosen.state},
                   {"samples", timing.samples}});
  }
  return out;
}

Json cache(const Cache& cache) {
  return {{"warm_ns", figure(low(cache.warm_ns))},
          {"evicted_ns", figure(low(cache.evicted_ns))},
          {"after_ns", figure(low(cache.after_ns))},
          {"disturbance", figure(cache.disturbance())}};
}

Json help(const Measured& measured) {
  Json out = Json::array();
  for (const auto& [bytes, samples] : measured.help)
    if (const Figure share = median(samples)) out.push_back({{"bytes", bytes}, {"needed", *share > 0.5}});
  return out;
}

Json mechanism(const Results& results, const Measured& measured) {
  const MechanismInfo& info = *measured.info;
  Json out = {{"name", info.name},
              {"direction", direction_name(info.direction)},
              {"available", measured.started},
              {"why_not", measured.why},
              {"checks", measured.checks},
              {"failures", measured.failures},
              {"permission", info.permission},
              {"region_specific", info.region_specific},
              {"paper",
               {{"latency_us", paper(info.paper.latency_us)},
                {"mib_per_s", paper(info.paper.mib_per_s)},
                {"set_up_us", paper(info.paper.set_up_us)},
                {"tear_down_us", paper(info.paper.tear_down_us)},
                {"cache", info.paper.cache}}}};
  if (!measured.started) return out;
  out["latency_us"] = figure(time_of(results, measured, 1).us);
  out["times"] = timings(measured.times, results.state, 0);
  if (info.chunk_bytes != 0) {
    out["chunk_bytes"] = measured.chunk_bytes;
    out["sweep"] = timings(measured.sweep, results.state, results.sweep_bytes);
  }
  out["set_up"] = {{"init_us", figure(measured.set_up.init_us)},
                   {"register_us", figure(measured.set_up.register_us)},
                   {"deregister_us", figure(measured.set_up.deregister_us)},
                   {"finalize_us", figure(measured.set_up.finalize_us)}};
  out["processor_us"] = {{"bytes", results.processor_bytes},
                         {"source", figure(measured.source_cpu_us)},
                         {"dest", figure(measured.dest_cpu_us)}};
  out["cache"] = {{"transfer_bytes", results.disturb_bytes},
                  {"working_set_bytes", results.working_set_bytes},
                  {"source", cache(measured.source_cache)},
                  {"dest", cache(measured.dest_cache)}};
  out["target_help"] = help(measured);
  out["target_speed"] = figure(measured.overlap);
  return out;
}

}  // namespace

void write_json(const Results& results, const std::string& path) {
  Json out = {{"bench", "transfer"},
              {"mode", results.mode},
              {"machine",
               {{"cpu", results.cpu},
                {"cores", results.cores},
                {"private_cache_bytes", results.private_cache_bytes},
                {"last_cache_bytes", results.last_cache_bytes}}},
              {"arena_bytes", results.arena_bytes},
              {"state", results.state},
              {"rounds", results.rounds},
              {"wall_s", figure(results.wall_s)},
              {"copy", results.copy}};
  Json list = Json::array();
  for (const Measured& measured : results.mechanisms) list.push_back(mechanism(results, measured));
  out["mechanisms"] = std::move(list);
  Json copies = Json::array();
  for (const CopyRoutine& routine : results.copies)
    for (const auto& [bytes, samples] : routine.mib_per_s)
      copies.push_back({{"routine", routine.name}, {"bytes", bytes}, {"mib_per_s", figure(samples)}});
  out["copies"] = std::move(copies);
  std::ofstream(path) << out.dump(2) << "\n";
}

}  // namespace shmemx::bench
