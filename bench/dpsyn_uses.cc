#include "dpsyn_uses.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "dp/data/testing/seal_rows.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/synthesis_workload.h"
#include "fitting.h"
#include "income_classifier.h"
#include "k_means.h"
#include "least_squares.h"
#include "mean_error.h"
#include "real_tables.h"

namespace curator::dp {
namespace {

using bench::CodedRows;

// What is learnt from `training` is judged on `test`.
struct Trial {
  const Domain& domain;
  const CodedRows& training;
  const CodedRows& test;
};

using Figures = std::map<std::string, double>;

// Adult's attributes whose codes are numbers, or their ranges in order.
std::set<size_t> NumbersOf(const Domain& domain) {
  const std::set<std::string> names = {"age",          "fnlwgt",       "education-num",
                                       "capital-gain", "capital-loss", "hours-per-week"};
  std::set<size_t> numbers;
  for (size_t i = 0; i < domain.size(); ++i) {
    if (names.contains(domain.attributes()[i].name())) numbers.insert(i);
  }
  return numbers;
}

Figures Misclassified(const Trial& trial) {
  return {{"misclassified", bench::Misclassification(trial.training, trial.test, SizesOf(trial.domain))}};
}

Figures Guessed(const Trial& trial) {
  return {{"misclassified", bench::MisclassificationByGuess(trial.test)}};
}

CodedRows Without(size_t attribute, CodedRows rows) {
  for (auto& row : rows) row[attribute] = 0;
  return rows;
}

Figures MisclassifiedWithoutEach(const Trial& trial) {
  Figures figures;
  for (size_t i = 0; i + 1 < trial.domain.size(); ++i) {
    figures[trial.domain.attributes()[i].name()] =
        bench::Misclassification(Without(i, trial.training), Without(i, trial.test), SizesOf(trial.domain));
  }
  return figures;
}

Figures GuessedWithoutEach(const Trial& trial) {
  Figures figures;
  for (const Attribute& attribute : trial.domain.attributes())
    figures[attribute.name()] = bench::MisclassificationByGuess(trial.test);
  return figures;
}

Figures Regressed(const Trial& trial) {
  const bench::Predictors predictors{.sizes = SizesOf(trial.domain), .numbers = NumbersOf(trial.domain)};
  Figures figures;
  for (const size_t target : predictors.numbers) {
    figures[trial.domain.attributes()[target].name()] =
        bench::SquaredErrorOfLeastSquares(trial.training, trial.test, predictors, target);
  }
  return figures;
}

Figures AnsweredByMeans(const Trial& trial) {
  Figures figures;
  for (const size_t target : NumbersOf(trial.domain)) {
    figures[trial.domain.attributes()[target].name()] =
        bench::SquaredErrorOfMean(trial.training, trial.test, target);
  }
  return figures;
}

bench::Points PointsOf(const Domain& domain, const CodedRows& rows) {
  const std::set<size_t> numbers = NumbersOf(domain);
  bench::Points points;
  for (const auto& row : rows) {
    points.emplace_back();
    for (const size_t number : numbers)
      points.back().push_back(row[number] / static_cast<double>(domain.attributes()[number].size() - 1));
  }
  return points;
}

Figures Clustered(const Trial& trial, size_t count) {
  const bench::Points centres = bench::CentresOf(PointsOf(trial.domain, trial.training), count);
  return {{"squared distance", bench::CostOf(PointsOf(trial.domain, trial.test), centres)}};
}

// Shares of the cells of the attributes `pair`, and of the product of their own shares.
std::vector<double> SharesOfPair(const Domain& domain, const CodedRows& rows, size_t one, size_t other) {
  const auto width = static_cast<size_t>(domain.attributes()[other].size());
  std::vector<double> shares(static_cast<size_t>(domain.attributes()[one].size()) * width);
  for (const auto& row : rows) shares[row[one] * width + row[other]] += 1 / static_cast<double>(rows.size());
  return shares;
}

double DistanceOf(const std::vector<double>& some, const std::vector<double>& others) {
  double distance = 0;
  for (size_t i = 0; i < some.size(); ++i) distance += std::abs(some[i] - others[i]);
  return distance;
}

std::vector<double> Independent(const std::vector<double>& shares, size_t width) {
  std::vector<double> rows(shares.size() / width);
  std::vector<double> columns(width);
  for (size_t i = 0; i < shares.size(); ++i) {
    rows[i / width] += shares[i];
    columns[i % width] += shares[i];
  }
  std::vector<double> product(shares.size());
  for (size_t i = 0; i < shares.size(); ++i) product[i] = rows[i / width] * columns[i % width];
  return product;
}

// Here the records that are compared with are the published ones, as `test`.
Figures PairsOff(const Trial& trial) {
  const size_t last = trial.domain.size() - 1;
  Figures figures;
  for (size_t i = 0; i < last; ++i) {
    figures[trial.domain.attributes()[i].name()] = DistanceOf(
        SharesOfPair(trial.domain, trial.training, i, last), SharesOfPair(trial.domain, trial.test, i, last));
  }
  return figures;
}

Figures IndependenceOff(const Trial& trial) {
  const size_t last = trial.domain.size() - 1;
  const auto width = static_cast<size_t>(trial.domain.attributes()[last].size());
  Figures figures;
  for (size_t i = 0; i < last; ++i) {
    const std::vector<double> shares = SharesOfPair(trial.domain, trial.training, i, last);
    figures[trial.domain.attributes()[i].name()] = DistanceOf(shares, Independent(shares, width));
  }
  return figures;
}

struct Use {
  std::function<Figures(const Trial&)> learn;
  std::function<Figures(const Trial&)> without;  // what needs next to nothing of the records
};

const std::map<std::string, Use>& Uses() {
  static const std::map<std::string, Use> uses = {
      {"classify", {.learn = Misclassified, .without = Guessed}},
      {"regress", {.learn = Regressed, .without = AnsweredByMeans}},
      {"cluster",
       {.learn = [](const Trial& trial) { return Clustered(trial, 8); },
        .without = [](const Trial& trial) { return Clustered(trial, 1); }}},
      {"omit", {.learn = MisclassifiedWithoutEach, .without = GuessedWithoutEach}},
      {"pairs", {.learn = PairsOff, .without = IndependenceOff}},
  };
  return uses;
}

CodedRows RecordsOf(const SynthesisModel& model, size_t attributes, int repetition) {
  CodedRows records;
  Drbg bits = BitsOf(100 + repetition);
  (void)model.Sample(bits, model.records(), [&](std::span<const uint32_t> codes) {
    std::vector<uint32_t>& record = records.emplace_back(attributes);
    for (size_t i = 0; i < codes.size(); ++i) record[model.attributes()[i]] = codes[i];
    return absl::OkStatus();
  });
  return records;
}

// What one kind of use has of each figure.
struct Measured {
  std::map<std::string, std::vector<double>> synthetic;  // by repetition
  Figures real;
  Figures without;
};

void Print(const std::string& use, const Measured& measured) {
  for (const auto& [name, values] : measured.synthetic) {
    const bench::MeanError mean = bench::MeanErrorOf(values);
    std::printf("  %s %-16s synthetic %.5g +- %.2g, real %.5g, without %.5g\n", use.c_str(), name.c_str(),
                mean.mean, mean.error, measured.real.at(name), measured.without.at(name));
  }
}

std::vector<std::string> NamesOf(const std::string& uses) {
  if (uses == "uses") return {"classify", "regress", "cluster"};
  return {uses};
}

// All pairs; or those with the last attribute alone, as the argument workload=last asks.
std::vector<AttributeSet> WorkloadOf(const Domain& domain, const SynthesisInput& all) {
  std::vector<AttributeSet> sets = SetsOf(all.workload);
  const auto asked = all.settings.find("workload");
  if (asked != all.settings.end() && asked->second == "last")
    std::erase_if(sets, [&](const AttributeSet& set) { return set.back() + 1 != domain.size(); });
  return sets;
}

SynthesisInput RequestFor(const bench::RealTable& table, int argc, char** argv) {
  SynthesisInput input = InputFor(table, AllKWayMarginals(table.domain, 2, {}).value(), argc, argv, 7);
  input.workload = WholeMarginals(WorkloadOf(table.domain, input));
  input.settings.erase("workload");
  SetBudget(argv[4], argv[5], input);
  return input;
}

// Every fifth record is held out.
struct Split {
  CodedRows published;
  CodedRows held_out;
};

Split SplitUp(const CodedRows& rows) {
  Split split;
  for (size_t row = 0; row < rows.size(); ++row)
    (row % 5 == 0 ? split.held_out : split.published).push_back(rows[row]);
  return split;
}

}  // namespace

bool IsUse(const std::string& name) {
  return name == "uses" || Uses().contains(name);
}

int MeasureUse(int argc, char** argv) {
  const bench::RealTable table = bench::ReadNamedTable(argv[2]);
  const int repetitions = argc > 6 ? std::atoi(argv[6]) : 3;
  const Split split = SplitUp(table.rows);
  const SynthesisInput input = RequestFor(table, argc, argv);
  const SealedTableHandle sealed = SealRows(table.domain, split.published).value();
  const std::string kind = argv[1];
  const CodedRows& test = kind == "pairs" ? split.published : split.held_out;
  std::map<std::string, Measured> measured;
  for (const std::string& name : NamesOf(kind)) {
    const Trial real{.domain = table.domain, .training = split.published, .test = test};
    measured[name] = {
        .synthetic = {}, .real = Uses().at(name).learn(real), .without = Uses().at(name).without(real)};
  }
  for (int repetition = 1; repetition <= repetitions; ++repetition) {
    const Fitted fitted = FitOnce(argv[3], input, sealed, repetition);
    if (kind == "pairs" && repetition == 1) {
      for (const std::string& line : fitted.model->Transcript()) std::printf("    %s\n", line.c_str());
    }
    const CodedRows records = RecordsOf(*fitted.model, table.domain.size(), repetition);
    for (auto& [name, figures] : measured) {
      for (const auto& [figure, value] : Uses().at(name).learn({table.domain, records, test}))
        figures.synthetic[figure].push_back(value);
    }
  }
  std::printf("%s %s %s eps %s, %d repetitions\n", argv[2], argv[3], argv[4], argv[5], repetitions);
  for (const auto& [name, figures] : measured) Print(name, figures);
  return 0;
}

}  // namespace curator::dp
