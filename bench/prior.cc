// Prior-aware estimation on real data: the error of all two-way marginals against epsilon (PURE), beside the
// same measurements from uniform priors, beside MWEM, and beside the public data as they are.
//
//   bench_prior adult|adult8|acs|acs-places [repetitions] [key=value]...
//
// reads $CURATOR_SHARED/data (default ../shared/data). adult: adult_pub_split, all 15 attributes, pub.csv is
// the prior of priv.csv. adult8: its eight categorical attributes, 1.8 million cells, so that MWEM and a
// uniform prior on the whole domain can be had. acs: nist_acs, a random fifth is public. acs-places: ten of
// its twenty areas are public, the private ones are the other ten. Errors are means over repetitions and over
// all two-way marginals of the L1 distance (0..2) of normalised marginals; for acs also the contest's: per
// area, 2 where its number of records is off by 250 or more. Repetition r draws from the key whose first byte
// is r + 1; the splits are by seed 2020. key=value are settings of the prior-aware runs; mwem.key=value those
// of MWEM; only=LABEL leaves out the rows that begin otherwise, so that one method can be run again.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <sstream>
#include <string>

#include "dp/data/count_marginals.h"
#include "dp/data/testing/seal_rows.h"
#include "dp/kernel/kernel.h"
#include "dp/noise/drbg.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/prior/prior_schedule.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/synthesizers.h"
#include "dp/synthesis/testing/public_rows.h"

namespace curator::dp {
namespace {

using Rows = std::vector<std::vector<uint32_t>>;

struct Data {
  Domain domain;
  Rows open;
  Rows closed;
  std::optional<uint32_t> area;  // the attribute by which the contest's error is taken
};

std::string Folder() {
  const char* shared = std::getenv("CURATOR_SHARED");
  return std::string(shared ? shared : "../shared") + "/data/";
}

std::vector<std::vector<std::string>> ReadCsv(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::vector<std::string>> lines;
  std::string line;
  while (std::getline(file, line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    std::vector<std::string> cells;
    std::istringstream stream(line);
    std::string cell;
    while (std::getline(stream, cell, ',')) cells.push_back(cell);
    lines.push_back(std::move(cells));
  }
  if (lines.size() < 2) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    std::exit(1);
  }
  return lines;
}

Domain Coded(const std::vector<std::pair<std::string, int64_t>>& attributes) {
  std::vector<Attribute> list;
  for (const auto& [name, size] : attributes)
    list.push_back(Attribute::Create(name, CodedKind{size}).value());
  return Domain::Create(std::move(list)).value();
}

// ---- Adult, already coded

const std::vector<std::pair<std::string, int64_t>> kAdult = {{"age", 32},
                                                             {"workclass", 9},
                                                             {"fnlwgt", 32},
                                                             {"education", 16},
                                                             {"education-num", 16},
                                                             {"marital-status", 7},
                                                             {"occupation", 15},
                                                             {"relationship", 6},
                                                             {"race", 5},
                                                             {"sex", 2},
                                                             {"capital-gain", 32},
                                                             {"capital-loss", 32},
                                                             {"hours-per-week", 32},
                                                             {"native-country", 42},
                                                             {"income>50K", 2}};

Rows AdultRows(const std::string& name, const std::vector<size_t>& columns) {
  const auto lines = ReadCsv(Folder() + "adult_pub_split/" + name);
  Rows rows;
  for (size_t i = 1; i < lines.size(); ++i) {
    std::vector<uint32_t> row;
    for (const size_t column : columns) row.push_back(static_cast<uint32_t>(std::stoul(lines[i][column])));
    rows.push_back(std::move(row));
  }
  return rows;
}

Data Adult(const std::vector<size_t>& columns) {
  std::vector<std::pair<std::string, int64_t>> attributes;
  for (const size_t column : columns) attributes.push_back(kAdult[column]);
  return {Coded(attributes), AdultRows("pub.csv", columns), AdultRows("priv.csv", columns), std::nullopt};
}

// ---- The American Community Survey, coded here by its data dictionary

struct AcsColumn {
  std::string name;
  std::vector<std::string> values;  // listed; the last one is also for anything else
};

std::vector<std::string> Numbered(int first, int last, std::vector<std::string> before = {}) {
  for (int i = first; i <= last; ++i) before.push_back(std::to_string(i));
  return before;
}

std::vector<AcsColumn> AcsColumns() {
  // The 31 areas of the data dictionary, whether they occur or not.
  const std::vector<std::string> areas = {
      "25-00503", "25-00703", "25-01000", "25-01300", "25-02800", "48-02510", "48-02102", "48-02101",
      "48-02515", "48-02507", "48-02516", "01-01301", "06-07502", "06-08507", "08-00803", "13-04600",
      "17-03529", "17-03531", "19-01700", "24-01004", "26-02702", "28-01100", "29-01901", "30-00600",
      "32-00405", "36-03710", "36-04010", "38-00100", "40-00200", "51-01301", "51-51255"};
  return {{"PUMA", areas},
          {"AGEP", Numbered(0, 19)},  // in bins of five years
          {"SEX", Numbered(1, 2)},
          {"MSP", Numbered(1, 6, {"N"})},
          {"HISP", Numbered(0, 4)},
          {"RAC1P", Numbered(1, 9)},
          {"NOC", Numbered(0, 4, {"N"})},
          {"NPF", Numbered(2, 6, {"N"})},
          {"HOUSING_TYPE", Numbered(1, 3)},
          {"OWN_RENT", Numbered(0, 2)},
          {"INDP_CAT", Numbered(0, 18, {"N"})},
          {"EDU", Numbered(1, 12, {"N"})},
          {"PINCP_DECILE", Numbered(0, 9, {"N"})},
          {"DVET", Numbered(1, 6, {"N"})},
          {"DREM", Numbered(1, 2, {"N"})},
          {"DPHY", Numbered(1, 2, {"N"})},
          {"DEYE", Numbered(1, 2)},
          {"DEAR", Numbered(1, 2)}};
}

enum class Split { kRandom, kPlaces };

Data Acs(Split split) {
  const std::vector<AcsColumn> columns = AcsColumns();
  const auto lines = ReadCsv(Folder() + "nist_acs/national2019.csv");
  std::vector<std::pair<std::string, int64_t>> attributes;
  for (const AcsColumn& column : columns)
    attributes.emplace_back(column.name, static_cast<int64_t>(column.values.size()));
  Data data{Coded(attributes), {}, {}, 0};
  std::mt19937_64 random(2020);
  std::map<uint32_t, bool> is_open;  // of each area, in the order of their first records
  for (size_t i = 1; i < lines.size(); ++i) {
    std::vector<uint32_t> row;
    for (const AcsColumn& column : columns) {
      const auto at = std::ranges::find(lines[0], column.name) - lines[0].begin();
      std::string cell = lines[i][static_cast<size_t>(at)];
      if (column.name == "AGEP") cell = std::to_string(std::min(99, std::stoi(cell)) / 5);
      const auto found = std::ranges::find(column.values, cell) - column.values.begin();
      row.push_back(
          static_cast<uint32_t>(std::min<int64_t>(found, static_cast<int64_t>(column.values.size()) - 1)));
    }
    if (!is_open.contains(row[0])) is_open[row[0]] = is_open.size() % 2 == 0;
    const bool open = split == Split::kPlaces ? is_open[row[0]] : random() % 5 == 0;
    (open ? data.open : data.closed).push_back(std::move(row));
  }
  return data;
}

// ---- Errors

using Marginals = std::vector<std::vector<double>>;

Marginals CountsOf(const Data& data, const Rows& rows, const std::vector<AttributeSet>& sets) {
  const auto counts = CountMarginals(*PublicRows(data.domain, rows), data.domain, sets).value();
  Marginals marginals;
  for (const auto& marginal : counts) marginals.emplace_back(marginal.begin(), marginal.end());
  return marginals;
}

double Distance(std::span<const double> a, std::span<const double> b) {
  const double all_a = std::max(1e-9, std::accumulate(a.begin(), a.end(), 0.0));
  const double all_b = std::max(1e-9, std::accumulate(b.begin(), b.end(), 0.0));
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] / all_a - b[i] / all_b);
  return sum;
}

double MeanDistance(const Marginals& a, const Marginals& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += Distance(a[i], b[i]);
  return sum / static_cast<double>(a.size());
}

// The areas come first in each marginal; areas without records are left out.
double ContestError(size_t areas, const Marginals& truth, const Marginals& model) {
  double sum = 0;
  int counted = 0;
  for (size_t area = 0; area < areas; ++area) {
    double error = 0;
    double off = 0;
    double records = 0;
    for (size_t i = 0; i < truth.size(); ++i) {
      const size_t cells = truth[i].size() / areas;
      const auto t = std::span(truth[i]).subspan(area * cells, cells);
      const auto m = std::span(model[i]).subspan(area * cells, cells);
      records = std::accumulate(t.begin(), t.end(), 0.0);
      off = std::abs(records - std::accumulate(m.begin(), m.end(), 0.0));
      error += Distance(t, m) / static_cast<double>(truth.size());
    }
    if (records == 0) continue;
    sum += off >= 250 ? 2 : error;
    ++counted;
  }
  return sum / counted;
}

struct Choices {
  std::map<std::string, std::string> prior;
  std::map<std::string, std::string> mwem;
  std::string only;  // what the label of a row must begin with
};

class Bench {
 public:
  Bench(Data data, int repetitions, Choices choices)
      : data_(std::move(data)),
        repetitions_(repetitions),
        choices_(std::move(choices)),
        sets_(AllKWayMarginals(data_.domain, 2, {}).value()),
        table_(SealRows(data_.domain, data_.closed).value()),
        truth_(CountsOf(data_, data_.closed, sets_)) {
    for (const AttributeSet& set : sets_) {
      if (data_.area && set[0] != *data_.area) by_area_.push_back(Union({*data_.area}, set));
    }
    if (data_.area) truth_by_area_ = CountsOf(data_, data_.closed, by_area_);
  }

  void PrintPrior() {
    std::printf("%zu private records, %zu public ones, %zu marginals, %d repetitions\n\n",
                data_.closed.size(), data_.open.size(), sets_.size(), repetitions_);
    std::printf("| method | epsilon | error | error per area | CPU s |\n| --- | --- | --- | --- | --- |\n");
    std::printf("| the public data as they are | 0 | %.4f |",
                MeanDistance(truth_, CountsOf(data_, data_.open, sets_)));
    if (data_.area) {
      std::printf(" %.4f", ContestError(Areas(), truth_by_area_, CountsOf(data_, data_.open, by_area_)));
    }
    std::printf(" | |\n");
  }

  void Run(const char* label, const char* method, const Rows& prior, double epsilon,
           const std::map<std::string, std::string>& settings, const Rows* measured_as = nullptr) {
    if (!std::string(label).starts_with(choices_.only)) return;
    SynthesisInput input = Input(prior, epsilon, settings);
    if (measured_as != nullptr) {
      Pacer pacer{std::stop_token()};
      const auto schedule = MakePriorSchedule(Input(*measured_as, epsilon, choices_.prior), pacer).value();
      input.workload = WholeMarginals(schedule.levels[0].measured);
      input.settings["measure"] = "given";
    }
    double error = 0;
    double by_area = 0;
    const std::clock_t start = std::clock();
    for (int repetition = 0; repetition < repetitions_; ++repetition) {
      const auto model = Fit(method, input, repetition);
      if (!model.ok()) {
        std::printf("| %s | %g | refused: %s |\n", label, epsilon,
                    std::string(model.status().message()).substr(0, 120).c_str());
        return;
      }
      error += MeanDistance(truth_, MarginalsOf(**model, sets_)) / repetitions_;
      if (data_.area)
        by_area += ContestError(Areas(), truth_by_area_, MarginalsOf(**model, by_area_)) / repetitions_;
    }
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / repetitions_;
    std::printf("| %s | %g | %.4f |", label, epsilon, error);
    if (data_.area) std::printf(" %.4f", by_area);
    std::printf(" | %.2f |\n", seconds);
    std::fflush(stdout);
  }

  const Data& data() const { return data_; }
  const Choices& choices() const { return choices_; }

 private:
  size_t Areas() const { return static_cast<size_t>(data_.domain.attributes()[*data_.area].size()); }

  SynthesisInput Input(const Rows& prior, double epsilon,
                       const std::map<std::string, std::string>& settings) const {
    RuleSpec rule;
    rule.kind = RuleKind::kPure;
    rule.epsilon = Epsilon(100 * kEpsilonUnitsPerOne);
    return {.domain = data_.domain,
            .unit_bound = {},
            .rule = rule,
            .spend = {.epsilon = Epsilon(std::llround(epsilon * 1e12))},
            .workload = WholeMarginals(sets_),
            .settings = settings,
            .assume_records = std::nullopt,
            .prior = prior.empty() ? nullptr : PublicRows(data_.domain, prior)};
  }

  absl::StatusOr<std::unique_ptr<SynthesisModel>> Fit(const char* name, const SynthesisInput& input,
                                                      int repetition) const {
    DrawKey::Bytes key{};
    key[0] = static_cast<uint8_t>(repetition + 1);
    Drbg bits{DrawKey(key)};
    const Synthesizer& method = *FindSynthesizer(name);
    absl::StatusOr<SynthesisPlan> plan = method.Plan(input);
    if (!plan.ok()) return plan.status();
    if (repetition == 0 && std::getenv("SCHEDULE") != nullptr) {
      for (const std::string& line : plan->schedule) std::fprintf(stderr, "%s\n", line.c_str());
    }
    Kernel kernel(table_, input.domain, input.unit_bound, Meter(std::move(plan->draws)), bits);
    Pacer pacer{std::stop_token()};
    auto model = method.Fit(input, kernel, pacer, NoProgress());
    if (model.ok() && repetition == 0 && std::getenv("SCHEDULE") != nullptr) {
      for (const std::string& line : (*model)->Transcript()) std::fprintf(stderr, "%s\n", line.c_str());
    }
    return model;
  }

  static Marginals MarginalsOf(const SynthesisModel& model, const std::vector<AttributeSet>& sets) {
    Marginals marginals;
    for (const AttributeSet& set : sets) marginals.push_back(model.Marginal(set).value());
    return marginals;
  }

  const Data data_;
  const int repetitions_;
  const Choices choices_;
  const std::vector<AttributeSet> sets_;
  const SealedTableHandle table_;
  const Marginals truth_;
  std::vector<AttributeSet> by_area_;
  Marginals truth_by_area_;
};

Rows UniformRecords(const Domain& domain, int count) {
  std::mt19937_64 random(1);
  Rows rows(static_cast<size_t>(count));
  for (auto& row : rows) {
    for (const Attribute& attribute : domain.attributes())
      row.push_back(static_cast<uint32_t>(random() % static_cast<uint64_t>(attribute.size())));
  }
  return rows;
}

Rows EveryCell(const Domain& domain, int64_t cells) {
  Rows rows;
  for (int64_t cell = 0; cell < cells; ++cell) {
    std::vector<uint32_t> row(domain.size());
    int64_t rest = cell;
    for (size_t i = row.size(); i-- > 0;) {
      const int64_t size = domain.attributes()[i].size();
      row[i] = static_cast<uint32_t>(rest % size);
      rest /= size;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Rows Distinct(Rows rows) {
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

void RunAll(Bench& bench) {
  constexpr double kEpsilons[] = {0.1, 0.3, 1, 3};
  constexpr int64_t kMostUniform = int64_t{1} << 21;
  const Data& data = bench.data();
  AttributeSet all(data.domain.size());
  std::iota(all.begin(), all.end(), 0U);
  const int64_t cells = data.domain.CellCount(all).value_or(kMostUniform + 1);
  const bool is_small = cells <= kMostUniform;
  const Rows uniform = is_small ? EveryCell(data.domain, cells) : UniformRecords(data.domain, 100'000);
  const Rows distinct = Distinct(data.open);
  // However many records a uniform prior is made of, it is worth as much as the public data.
  auto as_much = bench.choices().prior;
  as_much.emplace("trust", std::to_string(data.open.size()));
  auto grouped = bench.choices().prior;
  grouped["group"] = "PUMA";
  auto paper = bench.choices().prior;
  paper["answers"] = "nearest";
  bench.PrintPrior();
  for (const double epsilon : kEpsilons) {
    bench.Run("prior", "prior", data.open, epsilon, bench.choices().prior);
    if (data.area) bench.Run("prior, areas as groups", "prior", data.open, epsilon, grouped);
    bench.Run("prior, answers heeded whole", "prior", data.open, epsilon, paper);
    bench.Run("same measurements, the prior's records weighted alike", "prior", distinct, epsilon, as_much,
              &data.open);
    bench.Run(
        is_small ? "same measurements, uniform over all cells" : "same measurements, 100,000 uniform records",
        "prior", uniform, epsilon, as_much, &data.open);
    bench.Run("MWEM", "mwem", {}, epsilon, bench.choices().mwem);
  }
}

std::vector<size_t> AllColumns() {
  std::vector<size_t> columns(kAdult.size());
  std::iota(columns.begin(), columns.end(), size_t{0});
  return columns;
}

int Main(int argc, char** argv) {
  const std::string which = argc > 1 ? argv[1] : "adult";
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 5;
  Choices choices;
  for (int i = 3; i < argc; ++i) {
    const std::string pair = argv[i];
    const std::string key = pair.substr(0, pair.find('='));
    const std::string value = pair.substr(pair.find('=') + 1);
    if (key == "only") {
      choices.only = value;
    } else if (key.starts_with("mwem.")) {
      choices.mwem[key.substr(5)] = value;
    } else {
      choices.prior[key] = value;
    }
  }
  Data data = which == "acs"          ? Acs(Split::kRandom)
              : which == "acs-places" ? Acs(Split::kPlaces)
              : which == "adult8"     ? Adult({1, 3, 5, 6, 7, 8, 9, 14})
                                      : Adult(AllColumns());
  Bench bench(std::move(data), std::max(1, repetitions), std::move(choices));
  RunAll(bench);
  return 0;
}

}  // namespace
}  // namespace curator::dp

int main(int argc, char** argv) {
  return curator::dp::Main(argc, argv);
}
