// Jobs of one program, alive at once, that take turns of a few ten milliseconds each; whoever is not measured sleeps.
// Figures are compared only where they come from the same state of the machine.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure.hpp"

namespace shmemx::bench {

// A case as `program --list` names it.
struct ListedCase {
  std::string name, unit, note;
  std::size_t bytes = 0;
  int raw_methods = 1;
  int peer_methods = 1;

  int methods(std::size_t variant) const { return variant == 0 ? 1 : variant == 1 ? raw_methods : peer_methods; }
};
std::vector<ListedCase> list_cases(const std::string& program);

// Who takes turns, and for how long.
struct Turns {
  std::string program;
  int pes = 0;
  std::array<std::optional<Variant>, kVariants> variants;  // in the order of the columns
  bool beside_mpi = false;                                 // the peers' kind, as in Row
  bool own_folders = false;  // the PEs of a job share a folder, but neither /dev/shm nor a session
  bool apart = false;        // one job at a time: together they would take the cores from each other
  int launches = 1;
  int rounds = 1;  // of each launch
  double budget_ms = 0;
};

class Interleaved {
 public:
  Interleaved(const Settings& settings, Turns turns) : settings_(settings), turns_(std::move(turns)) {}

  // Starts all jobs anew. Every launch gets other pages. Where memory lies decides about the time of a line no less
  // than where the cores are; nobody shall have luck or misfortune with it for a whole run.
  // `only`: of all variants this one; the others get no turns until the next launch.
  void launch(std::optional<std::size_t> only = std::nullopt);
  void measure(int index, const ListedCase& what);
  Row row(int index, const ListedCase& what);

 private:
  // What one way of one variant gave in one state of the machine.
  struct Bin {
    std::vector<double> medians;  // one for each round
    std::size_t samples = 0;
  };
  using Bins = std::map<std::string, std::vector<Bin>>;  // by state, then by method
  // One for each variant, then those of the rival that ours has beside it (support/work.hpp).
  static constexpr std::size_t kRival = kVariants;
  using AllBins = std::array<Bins, kVariants + 1>;

  static std::size_t samples_in(const Bins& bins, const std::string& state);
  static std::string common_state(const AllBins& all);
  static std::optional<double> best_method(const Bins& bins, const std::string& state, bool high_is_better);

  struct Turn {
    int case_index;
    int method;
  };
  void sample(std::size_t variant, const Turn& turn, AllBins& bins);
  void report(std::size_t variant);

  const Settings& settings_;
  Turns turns_;
  std::array<std::unique_ptr<ServedJob>, kVariants> jobs_;
  std::map<int, AllBins> bins_;  // by case
  std::size_t turn_ = 0;
  bool complained_[kVariants] = {};
  std::string remark_;
};

}  // namespace shmemx::bench
