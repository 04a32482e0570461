#include "results.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>

namespace shmemx::bench {

namespace {

const char* const kStates[] = {"near", "far"};

std::string text_of(double value, const char* format = "%.1f") {
  if (std::isnan(value)) return "-";
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

bool run_gnuplot(const std::string& script) {
  const pid_t child = fork();
  if (child == 0) {
    execlp("gnuplot", "gnuplot", script.c_str(), nullptr);
    std::_Exit(127);
  }
  int status = 1;
  if (child > 0) waitpid(child, &status, 0);
  return status == 0;
}

}  // namespace

void Results::add(const Variation& variation, const std::string& state, double value) {
  const std::size_t order = orders_.emplace(variation.name, orders_.size()).first->second;
  samples_[{variation.kind, variation.cell_bytes, variation.cell_count, 1, order, variation.name}][state].push_back(
      value);
}

void Results::add_rate(const Variation& variation, int senders, double value) {
  const std::size_t order = orders_.emplace(variation.name, orders_.size()).first->second;
  samples_[{"rate", variation.cell_bytes, variation.cell_count, senders, order, variation.name}]["shared"].push_back(
      value);
}

double Results::median(const Key& key, const std::string& state) const {
  const auto found = samples_.find(key);
  if (found == samples_.end() || found->second.count(state) == 0) return std::numeric_limits<double>::quiet_NaN();
  return median_of(found->second.at(state));
}

double Results::of(const char* kind, const char* name, const std::string& state) const {
  for (const auto& [key, samples] : samples_)
    if (key.kind == kind && key.name == name) return median(key, state);
  return std::numeric_limits<double>::quiet_NaN();
}

void Results::print_counts() const {
  if (counts_.empty()) return;
  static const struct {
    const char* function;
    const char* what;
    const char* paper;
  } kRows[] = {{"count_enqueue_into_empty", "enqueue, queue was empty", "6"},
               {"count_enqueue_behind", "enqueue behind others", "6"},
               {"count_dequeue_only_one", "dequeue, empty - one cell - empty", "11"},
               {"count_dequeue_first_of_three", "dequeue, first of three", "11"},
               {"count_dequeue_second_of_three", "dequeue, second of three", "11"},
               {"count_dequeue_last_of_three", "dequeue, last of three", "11"},
               {"count_dequeue_from_empty", "dequeue, nothing there", ""},
               {"count_plain_enqueue", "enqueue, no shadow head", ""},
               {"count_plain_dequeue", "dequeue, no shadow head", ""},
               {"count_stack_push", "free cell given back to a stack", ""},
               {"count_stack_pop", "free cell taken from a stack", ""},
               {"count_box_claim", "fastbox: claim a slot", ""},
               {"count_box_publish", "fastbox: publish", ""},
               {"count_box_find", "fastbox: find", ""},
               {"count_box_release", "fastbox: release", ""}};
  std::printf("\nInstructions (callgrind; the return is not counted)%15s %8s\n", "here", "paper");
  for (const auto& row : kRows) {
    const auto found = counts_.find(row.function);
    if (found != counts_.end()) std::printf("  %-50s %12.1f %8s\n", row.what, found->second, row.paper);
  }
}

void Results::print_pairs() const {
  for (const char* kind : {"latency", "stream"}) {
    const bool latency = std::strcmp(kind, "latency") == 0;
    std::printf("\n%-44s %10s %10s   samples near, far, disturbed\n",
                latency ? "One way of an 8-byte message, ns" : "A message in a stream of them, ns", "near", "far");
    for (const auto& [key, samples] : samples_) {
      if (key.kind != kind || key.name.rfind("cells", 0) == 0) continue;
      const auto count = [&](const char* state) { return samples.count(state) != 0 ? samples.at(state).size() : 0; };
      std::printf("  %-42s %10s %10s   %zu, %zu, %zu\n", key.name.c_str(), text_of(median(key, "near")).c_str(),
                  text_of(median(key, "far")).c_str(), count("near"), count("far"), count("disturbed"));
    }
    std::printf("  %-42s %10s %10s   paper: 200 ns\n", "gained by the shadow head",
                text_of(of(kind, "queue, no shadow head", "near") - of(kind, "queue", "near")).c_str(),
                text_of(of(kind, "queue, no shadow head", "far") - of(kind, "queue", "far")).c_str());
    std::printf("  %-42s %10s %10s   paper: 500 ns\n", "gained by the fastbox",
                text_of(of(kind, "queue", "near") - of(kind, "fastbox", "near")).c_str(),
                text_of(of(kind, "queue", "far") - of(kind, "fastbox", "far")).c_str());
  }
}

void Results::print_cells() const {
  std::printf("\n%-44s %10s %10s\n", "8-byte message by cell size, ns", "near", "far");
  for (const auto& [key, samples] : samples_)
    if (key.kind == "latency" && key.name.rfind("cells", 0) == 0)
      std::printf("  %8zu B %42s %10s\n", key.cell_bytes, text_of(median(key, "near")).c_str(),
                  text_of(median(key, "far")).c_str());
  std::printf("\nMessages of %zu KiB through cells, GB/s\n  %-10s %6s %10s %10s\n", kLongMessageBytes >> 10, "cell",
              "count", "near", "far");
  for (const auto& [key, samples] : samples_)
    if (key.kind == "bytes")
      std::printf("  %8zu B %6zu %10s %10s\n", key.cell_bytes, key.cell_count,
                  text_of(median(key, "near"), "%.2f").c_str(), text_of(median(key, "far"), "%.2f").c_str());
}

void Results::print_rates() const {
  std::printf("\nMillion messages a second into one process, by number of senders, which share the cores\n");
  int senders = 0;
  for (const auto& [key, samples] : samples_) {
    if (key.kind != "rate") continue;
    if (key.senders != senders) {
      std::printf("%s  %d:", senders == 0 ? "" : "\n", key.senders);
      senders = key.senders;
    }
    std::printf("   %s %s", key.name.c_str(), text_of(median(key, "shared"), "%.2f").c_str());
  }
  std::printf("\n");
}

void Results::print() const {
  print_counts();
  bool pairs = false;
  bool rates = false;
  for (const auto& [key, samples] : samples_) (key.kind == "rate" ? rates : pairs) = true;
  if (pairs) {
    print_pairs();
    print_cells();
  }
  if (rates) print_rates();
}

void Results::write(const std::string& folder) const {
  mkdir(folder.c_str(), 0777);
  std::ofstream csv(folder + "/queue.csv");
  csv << csv_header() << '\n';
  const auto line = [&](Result result) { csv << csv_line(result); };
  for (const auto& [name, count] : counts_)
    line({name.substr(6), 1, 0, "instructions", "alone", "", Summary{count, count, 0, kMaxProcesses}});
  for (const auto& [key, samples] : samples_) {
    const bool high = key.kind == "rate" || key.kind == "bytes";
    const char* unit = key.kind == "rate" ? "Mops/s" : key.kind == "bytes" ? "GB/s" : "ns";
    std::string note = key.name;
    for (char& c : note)
      if (c == ',') c = ' ';
    note += " / cells " + std::to_string(key.cell_count) + " x " + std::to_string(key.cell_bytes);
    for (const auto& [state, values] : samples)
      line({"queue_" + key.kind, key.senders + 1, key.kind == "bytes" ? kLongMessageBytes : 8, unit, state, note,
            summarize(values, high)});
  }
  csv.close();
  plot_rates(folder);
}

void Results::plot_rates(const std::string& folder) const {
  std::map<std::string, std::string> curves;
  for (const auto& [key, samples] : samples_)
    if (key.kind == "rate")
      curves[key.name] += std::to_string(key.senders) + ' ' + text_of(median(key, "shared"), "%.4f") + '\n';
  if (curves.empty()) return;
  const std::string base = folder + "/queue_rate";
  std::ofstream data(base + ".dat");
  std::ofstream script(base + ".gp");
  script << "set terminal svg size 900,560 background 'white'\nset output '" << base
         << ".svg'\nset title 'Messages of 8 bytes into one process'\nset xlabel 'senders'\n"
            "set ylabel 'million a second'\nset yrange [0:]\nset key top right\nset grid ytics\nplot ";
  int block = 0;
  for (const auto& [name, points] : curves) {
    data << points << "\n\n";
    script << (block == 0 ? "" : ", ") << '\'' << base << ".dat' index " << block << " with linespoints title '" << name
           << '\'';
    ++block;
  }
  script << '\n';
  data.close();
  script.close();
  if (run_gnuplot(base + ".gp")) std::printf("\nplot: %s.svg\n", base.c_str());
}

}  // namespace shmemx::bench
