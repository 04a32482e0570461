// Runs the jobs of one program side by side; they take turns of some ten milliseconds, and the others sleep
// meanwhile. Figures are compared only if they come from the same state of the machine.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure.hpp"

namespace shmemx::bench {

// A case as printed by `program --list`.
struct ListedCase {
  std::string name, unit, note;
  std::size_t bytes = 0;
  int raw_methods = 1;
  int peer_methods = 1;

  int methods(std::size_t variant) const { return variant == 0 ? 1 : variant == 1 ? raw_methods : peer_methods; }
};
std::vector<ListedCase> list_cases(const std::string& program);

// Which variants take turns, and for how long.
struct Turns {
  std::string program;
  int pes = 0;
  std::array<std::optional<Variant>, kVariants> variants;  // in the order of the columns
  bool beside_mpi = false;                                 // the peers are MPIs, as in Row
  bool own_folders = false;  // the PEs of a job share a folder, but neither /dev/shm nor a session
  bool apart = false;        // one job at a time: together they would compete for the cores
  int launches = 1;
  int rounds = 1;  // of each launch
  double budget_ms = 0;
};

class Interleaved {
 public:
  Interleaved(const Settings& settings, Turns turns) : settings_(settings), turns_(std::move(turns)) {}

  // Starts all jobs anew, so that every launch gets other pages: the location of memory affects the time of a line as
  // much as the location of the cores. This averages over several launches. `only` restricts the run to one variant
  // until the next launch.
  void launch(std::optional<std::size_t> only = std::nullopt);
  void measure(int index, const ListedCase& what);
  Row row(int index, const ListedCase& what);

 private:
  // The results of one method of one variant in one state of the machine.
  struct Bin {
    std::vector<double> medians;  // one for each round
    std::size_t samples = 0;
  };
  using Bins = std::map<std::string, std::vector<Bin>>;  // by state, then by method
  // One for each variant, then those of the rival that runs inside our program (support/work.hpp).
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
