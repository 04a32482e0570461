#include <fmt/format.h>

#include "output.hpp"

namespace shmemx::bench {
namespace {

constexpr std::size_t kLargeBytes = 64 << 10;
constexpr double kHighDisturbance = 0.5;
constexpr double kLowDisturbance = 0.15;
constexpr double kOverlapSpeed = 0.8;  // a target that keeps this fraction of its speed overlaps with the transfer

std::string show(const Figure& value) {
  if (!value) return "-";
  return *value >= 10'000 ? fmt::format("{:.0f}", *value) : fmt::format("{:.3g}", *value);
}
std::string show_rate(const Figure& value) { return value ? fmt::format("{:.0f}", *value) : "-"; }
std::string show_paper(double value) { return value < 0 ? "-" : fmt::format("{:.1f}", value); }

std::string line(std::size_t width) { return std::string(width, '-') + "\n"; }

Figure sum(const Samples& a, const Samples& b) {
  const Figure first = median(a), second = median(b);
  return first && second ? Figure{*first + *second} : Figure{};
}

std::string word(const Figure& disturbance) {
  if (!disturbance) return "-";
  return *disturbance > kHighDisturbance ? "High" : *disturbance > kLowDisturbance ? "Medium" : "Low";
}

// Returns the highest rate of a large transfer; small ones profit from prefetched lines.
Figure best_rate(const Results& results, const Measured& measured) {
  Figure best;
  for (const auto& [bytes, timing] : measured.times) {
    if (bytes < kLargeBytes) continue;
    const Figure rate = mib_per_s(bytes, choose(timing, results.state).us);
    if (rate && (!best || *rate > *best)) best = rate;
  }
  return best;
}

std::string header(const Results& results) {
  std::string out = fmt::format(
      "Transfers between two processes of one node, mode {}, {} rounds, {:.0f} s\n"
      "{}, {} cores; private cache {}, last-level cache {}\n"
      "Buffers are shifted through {} on either side: {:.1f} times the last-level cache. Cache lines between the "
      "cores: "
      "{}. Copies: {}.\n",
      results.mode, results.rounds, results.wall_s, results.cpu, results.cores, size_text(results.private_cache_bytes),
      size_text(results.last_cache_bytes), size_text(results.arena_bytes),
      static_cast<double>(results.arena_bytes) / static_cast<double>(results.last_cache_bytes), results.state,
      results.copy);
  if (results.arena_bytes <= results.last_cache_bytes * 8)
    out += "NOTE: that is not more than eight times; rates may come out of the cache.\n";
  for (const Measured& measured : results.mechanisms)
    if (!measured.why.empty()) out += fmt::format("{}: {}\n", measured.info->name, measured.why);
  return out + "\n";
}

// Writes a table with sizes as rows and mechanisms as columns.
template <class Cell>
std::string by_size(const Results& results, const std::string& title, Cell cell) {
  std::string out = title + "\n" + fmt::format("{:<8}", "size");
  std::map<std::size_t, bool> sizes;
  std::size_t width = 8;
  for (const Measured& measured : results.mechanisms) {
    if (!measured.started) continue;
    out += fmt::format(" {:>14}", measured.info->name);
    width += 15;
    for (const auto& entry : measured.times) sizes[entry.first] = true;
  }
  out += "\n" + line(width);
  for (const auto& entry : sizes) {
    const std::size_t bytes = entry.first;
    out += fmt::format("{:<8}", size_text(bytes));
    for (const Measured& measured : results.mechanisms)
      if (measured.started) out += fmt::format(" {:>14}", cell(measured, bytes));
    out += "\n";
  }
  return out + "\n";
}

std::string times(const Results& results) {
  const auto us = [&](const Measured& measured, std::size_t bytes) {
    const Chosen chosen = time_of(results, measured, bytes);
    return show(chosen.us) + (chosen.us && chosen.state != results.state ? "*" : "");
  };
  const auto rate = [&](const Measured& measured, std::size_t bytes) {
    return show_rate(mib_per_s(bytes, time_of(results, measured, bytes).us));
  };
  return by_size(results, "Time of one transfer in us (* in another state of the caches)", us) +
         by_size(results, "Bandwidth in MiB/s", rate);
}

std::string copies(const Results& results) {
  std::string out = "Copy routines, memory to memory, one process, in MiB/s\n" + fmt::format("{:<8}", "size");
  for (const CopyRoutine& routine : results.copies) out += fmt::format(" {:>10}", routine.name);
  out += "\n" + line(41);
  if (results.copies.empty()) return "";
  for (const auto& [bytes, samples] : results.copies.front().mib_per_s) {
    out += fmt::format("{:<8}", size_text(bytes));
    for (const CopyRoutine& routine : results.copies)
      out += fmt::format(" {:>10}", show_rate(median(routine.mib_per_s.at(bytes))));
    out += "\n";
  }
  return out + "\n";
}

std::string sweeps(const Results& results) {
  std::string out;
  for (const Measured& measured : results.mechanisms) {
    if (measured.sweep.empty()) continue;
    out += fmt::format("{}: {} in one transfer, in MiB/s by size of a {}\n ", measured.info->title,
                       size_text(results.sweep_bytes), measured.info->name == "message_queue" ? "cell" : "buffer");
    for (const auto& [chunk, timing] : measured.sweep)
      out += fmt::format(" {}:{}", size_text(chunk),
                         show_rate(mib_per_s(results.sweep_bytes, choose(timing, results.state).us)));
    out += fmt::format("\n  used above and below: {} (the paper's choice: {})\n\n", size_text(measured.chunk_bytes),
                       size_text(measured.info->chunk_bytes));
  }
  return out;
}

std::string costs(const Results& results) {
  constexpr const char* kRow = "{:<15} {:>9} {:>9} {:>10} {:>9} | {:>9} {:>9} | {:>8} {:>8} {:>8}\n";
  std::string out = fmt::format(
      "Set-up and tear-down in us (registering {}), processor time in us for a transfer of {}, disturbance of a "
      "working "
      "set of {} by a transfer of {},\nand the target's speed while its memory is read or written without a pause\n",
      size_text(results.set_up_bytes), size_text(results.processor_bytes), size_text(results.working_set_bytes),
      size_text(results.disturb_bytes));
  out +=
      fmt::format(kRow, "", "init", "register", "deregister", "finalize", "source", "dest", "source", "dest", "target");
  out += line(111);
  const auto percent = [](const Figure& share) { return share ? fmt::format("{:.0f} %", *share * 100) : "-"; };
  for (const Measured& measured : results.mechanisms) {
    if (!measured.started) continue;
    const SetUp& set_up = measured.set_up;
    out += fmt::format(kRow, measured.info->name, show(median(set_up.init_us)), show(median(set_up.register_us)),
                       show(median(set_up.deregister_us)), show(median(set_up.finalize_us)),
                       show(median(measured.source_cpu_us)), show(median(measured.dest_cpu_us)),
                       percent(measured.source_cache.disturbance()), percent(measured.dest_cache.disturbance()),
                       percent(median(measured.overlap)));
  }
  return out + "\n";
}

// Returns the overlap of the target's computation with the transfer, from the measurements.
std::string overlap(const Measured& measured, const std::optional<bool>& help) {
  if (!help) return "-";
  if (*help) return "no";
  const Figure speed = median(measured.overlap);
  if (!speed) return "-";
  return *speed >= kOverlapSpeed ? "yes" : "no";
}

// The target takes part in an epoch that both sides open; in a passive one it does not.
std::string passive(const Measured& measured, const std::optional<bool>& help) {
  if (!help) return "-";
  if (*help) return "with thread";
  return measured.info->direction == Direction::get ? "gets" : "puts";
}

std::string help_text(const Measured& measured) {
  if (measured.help.empty()) return "-";
  std::string needed, free;
  for (const auto& [bytes, samples] : measured.help) {
    const Figure share = median(samples);
    if (!share) continue;
    std::string& list = *share > 0.5 ? needed : free;
    list += (list.empty() ? "" : ", ") + size_text(bytes);
  }
  if (needed.empty()) return "no";
  return free.empty() ? "yes" : "at " + needed;
}

std::string suitability(const Results& results) {
  constexpr const char* kRow =
      "{:<15} {:>8} {:>6} | {:>7} {:>6} | {:>8} {:>6} {:>8} {:>6} {:<6} | {:<13} {:<13} | {:<10} {:<7} | {:<9} {:<7} "
      "{:<12} | {}\n";
  std::string out =
      "Suitability, from the figures above; the columns 'paper' are those of 2006 (2 GHz Xeon, Linux 2.6)\n";
  out += fmt::format(kRow, "", "1 B us", "paper", "MiB/s", "paper", "set-up", "paper", "tear-dn", "paper", "region",
                     "cache (s, d)", "paper", "target's", "over-", "two-sided", "active", "passive", "permission");
  out += fmt::format(kRow, "", "", "", "best", "", "us", "", "us", "", "", "", "", "help", "lap", "", "1-sided",
                     "1-sided", "");
  out += line(200);
  for (const Measured& measured : results.mechanisms) {
    const MechanismInfo& info = *measured.info;
    if (!measured.started) {
      out += fmt::format("{:<15} not available: {}\n", info.name, measured.why);
      continue;
    }
    const std::optional<bool> help = needs_help(measured);
    const SetUp& set_up = measured.set_up;
    out += fmt::format(kRow, info.name, show(time_of(results, measured, 1).us), show_paper(info.paper.latency_us),
                       show_rate(best_rate(results, measured)), show_paper(info.paper.mib_per_s),
                       show(sum(set_up.init_us, set_up.register_us)), show_paper(info.paper.set_up_us),
                       show(sum(set_up.deregister_us, set_up.finalize_us)), show_paper(info.paper.tear_down_us),
                       info.region_specific ? "yes" : "no",
                       word(measured.source_cache.disturbance()) + ", " + word(measured.dest_cache.disturbance()),
                       info.paper.cache, help_text(measured), overlap(measured, help), "yes", "yes",
                       passive(measured, help), info.permission);
  }
  return out;
}

std::string verdict(const Results& results) {
  std::uint64_t checks = 0, failures = 0;
  std::size_t measured_count = 0;
  std::string bad;
  for (const Measured& measured : results.mechanisms) {
    checks += measured.checks;
    failures += measured.failures;
    measured_count += measured.started ? 1 : 0;
    if (measured.failures != 0) bad += " " + measured.info->name;
  }
  return fmt::format("\n{} of {} mechanisms measured; data checked {} times, wrong {} times{}\n", measured_count,
                     results.mechanisms.size(), checks, failures, bad.empty() ? "" : ":" + bad);
}

}  // namespace

std::string size_text(std::size_t bytes) {
  if (bytes >= std::size_t{1} << 20) return fmt::format("{:.4g}M", static_cast<double>(bytes) / (1 << 20));
  if (bytes >= 1024) return fmt::format("{:.4g}K", static_cast<double>(bytes) / 1024);
  return std::to_string(bytes);
}

std::string text(const Results& results) {
  return header(results) + times(results) + copies(results) + sweeps(results) + costs(results) + suitability(results) +
         verdict(results);
}

}  // namespace shmemx::bench
