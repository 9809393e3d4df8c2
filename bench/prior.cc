// Prior-aware estimation on real data: the error of all two-way marginals against epsilon (PURE), beside the
// same measurements from uniform priors, beside MWEM, and beside the public data as they are.
//
//   bench_prior DATA [repetitions] [key=value]...
//
// reads $CURATOR_SHARED/data (default ../shared/data). DATA: adult: adult_pub_split, all 15 attributes,
// pub.csv is the prior of priv.csv. adult8: its eight categorical attributes, 1.8 million cells, so that MWEM
// and a uniform prior on the whole domain can be had. acs: nist_acs, a random fifth is public. acs-places:
// ten of its twenty areas are public, the private ones are the other ten. acs-same: all records are public,
// and private too. In all of acs the census region of an area is an attribute REGION, which is not compared.
//
// Errors are means over repetitions, with their standard errors, and over all two-way marginals of the L1
// distance (0..2) of normalised marginals; for acs also the contest's: per area, 2 where its number of
// records is off by 250 or more. Repetition r draws from the key whose first byte is r + 1; the splits are by
// seed 2020. key=value are settings of the prior-aware runs; mwem.key=value those of MWEM; only=LABEL leaves
// out the rows that begin otherwise, so that one method can be run again; epsilons=0.1,10 says which; and
// compare=rivals compares methods that start from public data with those that do not, under zCDP at the rho
// of (epsilon, 1e-9).
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
#include <vector>

#include "bench/prior_pmw_pub.h"
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
  std::optional<uint32_t> area = std::nullopt;  // the attribute by which the contest's error is taken
  size_t compared = 0;                          // so many of the first attributes
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
  return {.domain = Coded(attributes),
          .open = AdultRows("pub.csv", columns),
          .closed = AdultRows("priv.csv", columns),
          .compared = columns.size()};
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

// The 31 areas of the data dictionary, whether they occur or not.
const std::vector<std::string> kAreas = {
    "25-00503", "25-00703", "25-01000", "25-01300", "25-02800", "48-02510", "48-02102", "48-02101",
    "48-02515", "48-02507", "48-02516", "01-01301", "06-07502", "06-08507", "08-00803", "13-04600",
    "17-03529", "17-03531", "19-01700", "24-01004", "26-02702", "28-01100", "29-01901", "30-00600",
    "32-00405", "36-03710", "36-04010", "38-00100", "40-00200", "51-01301", "51-51255"};

// The Census Bureau's region of an area, by its state: Northeast, Midwest, West, South.
uint32_t RegionOf(const std::string& area) {
  const std::string state = area.substr(0, 2);
  const std::vector<std::vector<std::string>> states = {
      {"25", "36"}, {"17", "19", "26", "29", "38"}, {"06", "08", "30", "32"}};
  for (uint32_t region = 0; region < states.size(); ++region) {
    if (std::ranges::count(states[region], state) > 0) return region;
  }
  return static_cast<uint32_t>(states.size());
}

std::vector<AcsColumn> AcsColumns() {
  return {{"PUMA", kAreas},
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

enum class Split { kRandom, kPlaces, kSame };

// The codes of one line of the file, the region last.
std::vector<uint32_t> AcsRow(const std::vector<AcsColumn>& columns, const std::vector<std::string>& header,
                             const std::vector<std::string>& line) {
  std::vector<uint32_t> row;
  for (const AcsColumn& column : columns) {
    const auto at = std::ranges::find(header, column.name) - header.begin();
    std::string cell = line[static_cast<size_t>(at)];
    if (column.name == "AGEP") cell = std::to_string(std::min(99, std::stoi(cell)) / 5);
    const auto found = std::ranges::find(column.values, cell) - column.values.begin();
    const auto last = static_cast<int64_t>(column.values.size()) - 1;
    row.push_back(static_cast<uint32_t>(std::min<int64_t>(found, last)));
  }
  row.push_back(RegionOf(kAreas[row[0]]));
  return row;
}

Data Acs(Split split) {
  const std::vector<AcsColumn> columns = AcsColumns();
  const auto lines = ReadCsv(Folder() + "nist_acs/national2019.csv");
  std::vector<std::pair<std::string, int64_t>> attributes;
  for (const AcsColumn& column : columns)
    attributes.emplace_back(column.name, static_cast<int64_t>(column.values.size()));
  attributes.emplace_back("REGION", 4);
  Data data{.domain = Coded(attributes), .open = {}, .closed = {}, .area = 0, .compared = columns.size()};
  std::mt19937_64 random(2020);
  std::map<uint32_t, bool> is_open;  // of each area, in the order of their first records
  for (size_t i = 1; i < lines.size(); ++i) {
    std::vector<uint32_t> row = AcsRow(columns, lines[0], lines[i]);
    if (split == Split::kSame) data.open.push_back(row);
    if (!is_open.contains(row[0])) is_open[row[0]] = is_open.size() % 2 == 0;
    const bool open = split == Split::kPlaces   ? is_open[row[0]]
                      : split == Split::kRandom ? random() % 5 == 0
                                                : false;
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

// The results of repetitions.
class Series {
 public:
  void Add(double value) { values_.push_back(value); }

  // Their mean and its standard error, as a table's cell.
  void Print() const {
    const auto n = static_cast<double>(values_.size());
    const double mean = std::accumulate(values_.begin(), values_.end(), 0.0) / n;
    double squares = 0;
    for (const double value : values_) squares += (value - mean) * (value - mean);
    std::printf(" %.4f", mean);
    if (values_.size() > 1) std::printf(" +- %.4f", std::sqrt(squares / (n - 1) / n));
    std::printf(" |");
  }

 private:
  std::vector<double> values_;
};

struct Choices {
  std::map<std::string, std::string> prior;
  std::map<std::string, std::string> mwem;
  std::string only;  // what the label of a row must begin with
  std::vector<double> epsilons = {0.1, 0.3, 1, 3, 10};
  bool compares_rivals = false;
};

// A method and what it is given.
struct Way {
  std::string label;
  std::string method;
  const Rows* prior = nullptr;  // null: none
  std::map<std::string, std::string> settings = {};
  // Measures what prior-aware estimation would choose by these records; null: what it chooses itself.
  const Rows* measured_as = nullptr;
  int pmw_rounds = 0;  // not 0: PMW-Pub, `method` is not read
};

class Bench {
 public:
  Bench(Data data, int repetitions, Choices choices)
      : data_(std::move(data)),
        repetitions_(repetitions),
        choices_(std::move(choices)),
        sets_(ComparedSets(data_)),
        table_(SealRows(data_.domain, data_.closed).value()),
        truth_(CountsOf(data_, data_.closed, sets_)) {
    for (const AttributeSet& set : sets_) {
      if (data_.area && set[0] != *data_.area) by_area_.push_back(Union({*data_.area}, set));
    }
    if (data_.area) truth_by_area_ = CountsOf(data_, data_.closed, by_area_);
  }

  void PrintPrior() const {
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

  void Run(const Way& way, double epsilon) const {
    if (!way.label.starts_with(choices_.only)) return;
    Series errors;
    Series by_area;
    double seconds = 0;
    for (int repetition = 0; repetition < repetitions_; ++repetition) {
      const std::clock_t start = std::clock();
      const absl::StatusOr<FittedMarginals> fitted = Fitted(way, epsilon, repetition);
      if (!fitted.ok()) {
        std::printf("| %s | %g | refused: %s |\n", way.label.c_str(), epsilon,
                    std::string(fitted.status().message()).substr(0, 120).c_str());
        return;
      }
      seconds += static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / repetitions_;
      errors.Add(MeanDistance(truth_, fitted->pairs));
      if (data_.area) by_area.Add(ContestError(Areas(), truth_by_area_, fitted->by_area));
    }
    std::printf("| %s | %g |", way.label.c_str(), epsilon);
    errors.Print();
    if (data_.area) by_area.Print();
    std::printf(" %.2f |\n", seconds);
    std::fflush(stdout);
  }

  const Data& data() const { return data_; }
  const Choices& choices() const { return choices_; }

 private:
  struct FittedMarginals {
    Marginals pairs;
    Marginals by_area;
  };

  static std::vector<AttributeSet> ComparedSets(const Data& data) {
    AttributeSet compared(data.compared);
    std::iota(compared.begin(), compared.end(), 0U);
    return AllKWayMarginals(data.domain, 2, compared).value();
  }

  size_t Areas() const { return static_cast<size_t>(data_.domain.attributes()[*data_.area].size()); }

  SynthesisInput Input(const Rows* prior, double epsilon,
                       const std::map<std::string, std::string>& settings) const {
    RuleSpec rule;
    rule.epsilon = Epsilon(std::llround(epsilon * 1e12));
    Spend spend = {.epsilon = rule.epsilon};
    if (choices_.compares_rivals) {
      rule.kind = RuleKind::kZcdp;
      rule.delta = Delta(kDeltaUnitsPerOne / 1'000'000'000);
      spend = {.rho = Rho(LimitsOf(rule).value()[0].amount)};
    } else {
      rule.kind = RuleKind::kPure;
    }
    return {.domain = data_.domain,
            .unit_bound = {},
            .rule = rule,
            .spend = spend,
            .workload = WholeMarginals(sets_),
            .settings = settings,
            .assume_records = std::nullopt,
            .prior = prior == nullptr ? nullptr : PublicRows(data_.domain, *prior)};
  }

  absl::StatusOr<FittedMarginals> Fitted(const Way& way, double epsilon, int repetition) const {
    SynthesisInput input = Input(way.prior, epsilon, way.settings);
    if (way.pmw_rounds > 0) {
      const WeightedRecords records =
          PmwPub(data_.domain, table_, *way.prior, sets_, {*input.spend.rho, way.pmw_rounds, repetition + 1});
      return FittedMarginals{records.MarginalsOf(data_.domain, sets_),
                             records.MarginalsOf(data_.domain, by_area_)};
    }
    if (way.measured_as != nullptr) {
      Pacer pacer{std::stop_token()};
      const auto schedule = MakePriorSchedule(Input(way.measured_as, epsilon, choices_.prior), pacer).value();
      input.workload = WholeMarginals(schedule.levels[0].measured);
      input.settings["measure"] = "given";
    }
    const auto model = Fit(way.method, input, repetition);
    if (!model.ok()) return model.status();
    return FittedMarginals{MarginalsOf(**model, sets_), MarginalsOf(**model, by_area_)};
  }

  absl::StatusOr<std::unique_ptr<SynthesisModel>> Fit(const std::string& name, const SynthesisInput& input,
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

Rows AllCells(const Domain& domain, int64_t cells) {
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

// `prior`, and where there are areas, with these as groups, of the whole table and of regions.
std::vector<Way> PriorWays(const Bench& bench) {
  const Rows* const open = &bench.data().open;
  const std::map<std::string, std::string>& settings = bench.choices().prior;
  std::vector<Way> ways = {{.label = "prior", .method = "prior", .prior = open, .settings = settings}};
  if (!bench.data().area) return ways;
  auto grouped = settings;
  grouped["group"] = "PUMA";
  ways.push_back({.label = "prior, areas as groups", .method = "prior", .prior = open, .settings = grouped});
  grouped["region"] = "REGION";
  ways.push_back({.label = "prior, areas in regions", .method = "prior", .prior = open, .settings = grouped});
  return ways;
}

// Every method that is compared under zCDP.
void RunRivals(const Bench& bench) {
  const Rows* const open = &bench.data().open;
  std::vector<Way> ways = PriorWays(bench);
  ways.push_back({.label = "MWEM", .method = "mwem", .settings = bench.choices().mwem});
  ways.push_back({.label = "aim", .method = "aim"});
  ways.push_back({.label = "aim with the public data",
                  .method = "aim",
                  .prior = open,
                  .settings = {{"prior", "public"}}});
  for (const int rounds : {10, 30}) {
    ways.push_back({.label = "PMW-Pub, T = " + std::to_string(rounds),
                    .method = "",
                    .prior = open,
                    .pmw_rounds = rounds});
  }
  for (const double epsilon : bench.choices().epsilons) {
    for (const Way& way : ways) bench.Run(way, epsilon);
  }
}

void RunAll(const Bench& bench) {
  constexpr int64_t kMostUniform = int64_t{1} << 21;
  const Data& data = bench.data();
  AttributeSet all(data.domain.size());
  std::iota(all.begin(), all.end(), 0U);
  const int64_t cells = data.domain.CellCount(all).value_or(kMostUniform + 1);
  const bool is_small = cells <= kMostUniform;
  const Rows uniform = is_small ? AllCells(data.domain, cells) : UniformRecords(data.domain, 100'000);
  const Rows distinct = Distinct(data.open);
  // However many records a uniform prior is made of, it is worth as much as the public data.
  auto as_much = bench.choices().prior;
  as_much.emplace("trust", std::to_string(data.open.size()));
  auto paper = bench.choices().prior;
  paper["answers"] = "nearest";
  std::vector<Way> ways = PriorWays(bench);
  ways.push_back(
      {.label = "prior, answers heeded whole", .method = "prior", .prior = &data.open, .settings = paper});
  ways.push_back({.label = "same measurements, the prior's records weighted alike",
                  .method = "prior",
                  .prior = &distinct,
                  .settings = as_much,
                  .measured_as = &data.open});
  ways.push_back({.label = is_small ? "same measurements, uniform over all cells"
                                    : "same measurements, 100,000 uniform records",
                  .method = "prior",
                  .prior = &uniform,
                  .settings = as_much,
                  .measured_as = &data.open});
  ways.push_back({.label = "MWEM", .method = "mwem", .settings = bench.choices().mwem});
  for (const double epsilon : bench.choices().epsilons) {
    for (const Way& way : ways) bench.Run(way, epsilon);
  }
}

std::vector<size_t> AllColumns() {
  std::vector<size_t> columns(kAdult.size());
  std::iota(columns.begin(), columns.end(), size_t{0});
  return columns;
}

std::vector<double> NumbersIn(const std::string& text) {
  std::vector<double> numbers;
  std::istringstream stream(text);
  for (std::string number; std::getline(stream, number, ',');) numbers.push_back(std::stod(number));
  return numbers;
}

Choices ReadChoices(int argc, char** argv) {
  Choices choices;
  for (int i = 3; i < argc; ++i) {
    const std::string pair = argv[i];
    const std::string key = pair.substr(0, pair.find('='));
    const std::string value = pair.substr(pair.find('=') + 1);
    if (key == "only") {
      choices.only = value;
    } else if (key == "epsilons") {
      choices.epsilons = NumbersIn(value);
    } else if (key == "compare") {
      choices.compares_rivals = value == "rivals";
    } else if (key.starts_with("mwem.")) {
      choices.mwem[key.substr(5)] = value;
    } else {
      choices.prior[key] = value;
    }
  }
  return choices;
}

int Main(int argc, char** argv) {
  const std::string which = argc > 1 ? argv[1] : "adult";
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 5;
  Data data = which == "acs"          ? Acs(Split::kRandom)
              : which == "acs-places" ? Acs(Split::kPlaces)
              : which == "acs-same"   ? Acs(Split::kSame)
              : which == "adult8"     ? Adult({1, 3, 5, 6, 7, 8, 9, 14})
                                      : Adult(AllColumns());
  const Bench bench(std::move(data), std::max(1, repetitions), ReadChoices(argc, argv));
  bench.PrintPrior();
  if (bench.choices().compares_rivals) {
    RunRivals(bench);
  } else {
    RunAll(bench);
  }
  return 0;
}

}  // namespace
}  // namespace curator::dp

int main(int argc, char** argv) {
  return curator::dp::Main(argc, argv);
}
