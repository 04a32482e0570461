// Collects figures, prints the table beside the papers' figures, writes CSV lines and plots.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "../support/report.hpp"
#include "variations.hpp"

namespace shmemx::bench {

class Results {
 public:
  void set_counts(std::map<std::string, double> counts) { counts_ = std::move(counts); }
  void add(const Variation& variation, const std::string& state, double value);
  void add_rate(const Variation& variation, int senders, double value);

  void print() const;
  // Into `folder`: queue.csv, and plots where there is gnuplot.
  void write(const std::string& folder) const;

 private:
  struct Key {
    std::string kind;
    std::size_t cell_bytes;
    std::size_t cell_count;
    int senders;
    std::size_t order;  // as the variations were listed
    std::string name;
    auto operator<=>(const Key&) const = default;
  };
  using Samples = std::map<std::string, std::vector<double>>;  // by state

  double median(const Key& key, const std::string& state) const;
  double of(const char* kind, const char* name, const std::string& state) const;
  void print_counts() const;
  void print_pairs() const;
  void print_cells() const;
  void print_rates() const;
  void plot_rates(const std::string& folder) const;

  std::map<std::string, double> counts_;
  std::map<Key, Samples> samples_;
  std::map<std::string, std::size_t> orders_;
};

}  // namespace shmemx::bench
