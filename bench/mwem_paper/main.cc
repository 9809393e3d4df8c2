// The experiments of "A Simple and Practical Algorithm for Differentially Private Data Release" (Hardt,
// Ligett, McSherry 2012), with this program's MWEM.
//
//   mwem_paper EXPERIMENT [repetitions] [beginning of a row's name] [setting=value]...
//
// EXPERIMENT: ranges, range_counts, tables, sparse, cubes, scaling or adaptive (experiments.h).
//
// Reads $CURATOR_SHARED/data (default ../shared). With $TRANSCRIPT set, the first line of each fit's
// transcript goes to the standard error.
//
// Repetition r draws from the key whose first bytes are r. Times are of one thread.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>

#include "absl/strings/str_format.h"
#include "bench/mwem_paper/experiments.h"
#include "dp/synthesis/synthesizers.h"

namespace curator::bench {

std::string RoundsOf(const dp::SynthesisInput& input) {
  return dp::FindSynthesizer("mwem")->Plan(input)->settings.at("rounds");
}

std::string RowName(const std::string& data, double epsilon) {
  return absl::StrFormat("%s-%.1f", data, epsilon);
}

Settings Options::With(Settings own) const {
  own.insert(settings.begin(), settings.end());
  return own;
}

}  // namespace curator::bench

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void(const curator::bench::Options&)>> experiments = {
      {"ranges", curator::bench::RangeQueries},      {"range_counts", curator::bench::RangeCounts},
      {"tables", curator::bench::ContingencyTables}, {"sparse", curator::bench::SparseTables},
      {"cubes", curator::bench::DataCubes},          {"scaling", curator::bench::Scaling},
      {"adaptive", curator::bench::AdaptiveRounds}};
  const auto found = experiments.find(argc > 1 ? argv[1] : "");
  if (found == experiments.end()) {
    std::fprintf(
        stderr,
        "usage: mwem_paper ranges|range_counts|tables|sparse|cubes|scaling|adaptive [repetitions] [data] "
        "[setting=value]...\n");
    return 2;
  }
  curator::bench::Options options;
  if (argc > 2) options.repetitions = std::max(1, std::atoi(argv[2]));
  for (int i = 3; i < argc; ++i) {
    const std::string setting = argv[i];
    const size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      options.only = setting;
    } else {
      options.settings[setting.substr(0, equals)] = setting.substr(equals + 1);
    }
  }
  found->second(options);
  return 0;
}
