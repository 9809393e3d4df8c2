// How soon RAP converges: a whole run on Adult, 64 three-way marginals, at (epsilon, delta = 1/n^2).
//
//   rap_convergence [epsilon [repetition [KEY=VALUE]...]]     1, 1 and settings of the method
//
// Prints the processor time of the run, one thread, and how many steps and how much time it takes until the
// loss is within so much of what it is at the end: runs that draw the same, take the same steps, and end
// where the loss comes below that: no steps where it starts there. delta depends on n in benchmarks alone.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <utility>

#include "adult_triples.h"
#include "dp/accounting/rule.h"
#include "dp/data/testing/seal_rows.h"
#include "dp/noise/drbg.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/synthesizers.h"
#include "real_tables.h"

namespace curator::bench {
namespace {

using Settings = std::map<std::string, std::string>;

struct Course {
  double seconds = 0;
  int steps = 0;
  double first_loss = 0;  // squared deviations an answer
  double last_loss = 0;
};

class WholeRun {
 public:
  WholeRun(double epsilon, int repetition)
      : repetition_(repetition),
        data_(ReadTable("adult_pgm", "adult.csv", "domain.json")),
        table_(dp::SealRows(data_.domain, data_.rows).value()) {
    rule_.kind = dp::RuleKind::kZcdp;
    rule_.epsilon = dp::Epsilon(std::llround(epsilon * dp::kEpsilonUnitsPerOne));
    const auto n = static_cast<double>(data_.rows.size());
    rule_.delta = dp::Delta(std::llround(static_cast<double>(dp::kDeltaUnitsPerOne) / (n * n)));
  }

  // The course of the last round's fit; the time is that of planning, drawing and all rounds.
  Course With(Settings settings) const {
    const dp::SynthesisInput input{.domain = data_.domain,
                                   .unit_bound = {},
                                   .rule = rule_,
                                   .spend = {.rho = dp::Rho(dp::LimitsOf(rule_).value()[0].amount)},
                                   .workload = dp::WholeMarginals(PublicTriples()),
                                   .settings = std::move(settings),
                                   .assume_records = std::nullopt};
    dp::DrawKey::Bytes seed{};
    seed[0] = static_cast<uint8_t>(repetition_);
    dp::Drbg bits{dp::DrawKey(seed)};
    const std::clock_t start = std::clock();
    const dp::Synthesizer& rap = *dp::FindSynthesizer("rap");
    dp::SynthesisPlan plan = rap.Plan(input).value();
    dp::Kernel kernel(table_, input.domain, input.unit_bound, dp::Meter(std::move(plan.draws)), bits);
    dp::Pacer pacer{std::stop_token()};
    const auto model = rap.Fit(input, kernel, pacer, NoProgress()).value();
    Course course{.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC};
    for (const std::string& line : model->Transcript())
      std::sscanf(line.c_str(), "fitted in %d steps: from %lf to %lf", &course.steps, &course.first_loss,
                  &course.last_loss);
    return course;
  }

 private:
  const int repetition_;
  const RealTable data_;
  const dp::SealedTableHandle table_;
  dp::RuleSpec rule_;
};

int Main(int argc, char** argv) {
  const WholeRun run(argc > 1 ? std::atof(argv[1]) : 1, argc > 2 ? std::atoi(argv[2]) : 1);
  Settings settings;
  for (int i = 3; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    settings[argument.substr(0, equals)] = equals == std::string::npos ? "" : argument.substr(equals + 1);
  }
  const Course whole = run.With(settings);
  std::printf("whole run: %.2f CPU s, %d steps, loss %.4f to %.4f squared deviations an answer\n",
              whole.seconds, whole.steps, whole.first_loss, whole.last_loss);
  std::printf("within  steps  CPU s\n");
  for (const double percent : {100.0, 50.0, 20.0, 10.0, 5.0, 2.0, 1.0}) {
    settings["fit"] = std::to_string(whole.last_loss * (1 + percent / 100));
    const Course until = run.With(settings);
    std::printf("%5.0f%%  %5d  %.2f\n", percent, until.steps, until.seconds);
  }
  return 0;
}

}  // namespace
}  // namespace curator::bench

int main(int argc, char** argv) {
  return curator::bench::Main(argc, argv);
}
