#include "bench/nested_records.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "bench/mwem_paper/bench_world.h"
#include "dp/data/sealed_table.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/synthesizers.h"

namespace curator::bench {
namespace {

constexpr uint32_t kScore = 0;
constexpr uint32_t kSector = 1;
constexpr uint32_t kMeanSes = 2;
constexpr uint32_t kSes = 3;
constexpr int64_t kScores = 112;  // of a quarter, from -3 to 25
constexpr int64_t kMostPupils = 70;

double ScoreOf(uint32_t code) {
  return -3 + 0.25 * (code + 0.5);
}

// Score, sector (public, Catholic), the school's mean SES in 8 bins, SES in 14, sex and minority.
dp::Domain SchoolDomain() {
  return DomainOf({kScores, 2, 8, 14, 2, 2});
}

using Schools = std::vector<Rows>;

uint32_t BinOf(const std::string& text, double low, double width, int64_t bins) {
  const double bin = std::floor((std::stod(text) - low) / width);
  return static_cast<uint32_t>(std::clamp(bin, 0.0, static_cast<double>(bins - 1)));
}

Schools ReadSchools() {
  const CsvFile file = ReadCsv("hsb82/hsb82.csv");
  const auto column = [&](const char* name) {
    return static_cast<size_t>(std::ranges::find(file.header, name) - file.header.begin());
  };
  std::map<std::string, Rows> schools;
  for (const std::vector<std::string>& row : file.rows) {
    schools[row.at(column("school"))].push_back(
        {BinOf(row.at(column("mAch")), -3, 0.25, kScores), row.at(column("sector")) == "Catholic" ? 1U : 0U,
         BinOf(row.at(column("meanses")), -1, 0.25, 8), BinOf(row.at(column("ses")), -4, 0.5, 14),
         row.at(column("sx")) == "Female" ? 1U : 0U, row.at(column("minrty")) == "Yes" ? 1U : 0U});
  }
  Schools all;
  for (auto& [id, pupils] : schools) all.push_back(std::move(pupils));
  return all;
}

struct Moments {
  double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;

  void Add(double a, double b) {
    ++n;
    x += a;
    y += b;
    xx += a * a;
    yy += b * b;
    xy += a * b;
  }
  double Correlation() const {
    const double below = (n * xx - x * x) * (n * yy - y * y);
    return below > 0 ? (n * xy - x * y) / std::sqrt(below) : 0;
  }
};

// What is asked.
struct Answers {
  double schools = 0;
  double pupils = 0;
  double catholic = 0;       // share of schools
  double between = 0;        // share of the scores' variance that lies between schools
  double of_sector[2] = {};  // mean of the schools' means
  double with_sector = 0;    // correlation of schools' means
  double with_mean_ses = 0;  // the same
  double with_ses = 0;       // of pupils' scores
  double of_one_sector = 0;  // share of schools with pupils of one sector and mean SES

  std::vector<double> List() const {
    return {schools,      pupils,      catholic,      between,  of_sector[0],
            of_sector[1], with_sector, with_mean_ses, with_ses, of_one_sector};
  }
};

double MeanScore(const Rows& pupils) {
  double sum = 0;
  for (const auto& pupil : pupils) sum += ScoreOf(pupil[kScore]);
  return sum / static_cast<double>(pupils.size());
}

// By the moments of a one-way analysis of variance.
double ShareBetween(const Schools& schools) {
  double n = 0, squares = 0, sum = 0, within = 0;
  for (const Rows& pupils : schools) {
    const auto size = static_cast<double>(pupils.size());
    const double mean = MeanScore(pupils);
    n += size;
    squares += size * size;
    sum += size * mean;
    for (const auto& pupil : pupils) within += std::pow(ScoreOf(pupil[kScore]) - mean, 2);
  }
  double between = 0;
  for (const Rows& pupils : schools)
    between += static_cast<double>(pupils.size()) * std::pow(MeanScore(pupils) - sum / n, 2);
  const double groups = static_cast<double>(schools.size()) - 1;
  if (groups < 1 || n - groups - 1 < 1) return 0;
  const double variance_within = within / (n - groups - 1);
  const double size = (n - squares / n) / groups;
  const double variance_between = std::max(0.0, (between / groups - variance_within) / size);
  return variance_between / (variance_between + variance_within);
}

// A school has the sector of its first pupil, as an analyst who trusts the table would read it.
Answers Ask(const Schools& schools) {
  Answers answers{.schools = static_cast<double>(schools.size()), .between = ShareBetween(schools)};
  Moments sector, mean_ses, ses;
  double of_sector[2] = {};
  for (const Rows& pupils : schools) {
    const double mean = MeanScore(pupils);
    const uint32_t own = pupils[0][kSector];
    sector.Add(own, mean);
    mean_ses.Add(pupils[0][kMeanSes], mean);
    of_sector[own] += 1;
    answers.of_sector[own] += mean;
    answers.pupils += static_cast<double>(pupils.size());
    const bool agree = std::ranges::all_of(pupils, [&](const auto& pupil) {
      return pupil[kSector] == own && pupil[kMeanSes] == pupils[0][kMeanSes];
    });
    answers.of_one_sector += agree ? 1 / answers.schools : 0;
    for (const auto& pupil : pupils) ses.Add(pupil[kSes], ScoreOf(pupil[kScore]));
  }
  for (const int each : {0, 1}) answers.of_sector[each] /= std::max(1.0, of_sector[each]);
  answers.catholic = of_sector[1] / answers.schools;
  answers.with_sector = sector.Correlation();
  answers.with_mean_ses = mean_ses.Correlation();
  answers.with_ses = ses.Correlation();
  return answers;
}

dp::SynthesisInput Request(double epsilon, bool describes, Settings settings) {
  const dp::Domain domain = SchoolDomain();
  dp::SynthesisInput input = InputFor(
      domain, epsilon, dp::WholeMarginals(dp::AllKWayMarginals(domain, 2, {}).value()), std::move(settings));
  input.unit_bound = {dp::NeighbourRelation::kAddRemove, kMostPupils};
  dp::NestedFacts facts{.group_column = "school",
                        .response = kScore,
                        .lower = -3,
                        .upper = 25,
                        .resolution = 0.25,
                        .group_size_bound = kMostPupils,
                        .unit = dp::NestedUnit::kGroup};
  for (uint32_t code = 0; code < kScores; ++code) facts.numbers.push_back(ScoreOf(code));
  if (describes) facts.group_attributes = {kSector, kMeanSes};
  input.nested = facts;
  input.assume_records = 7000;
  return input;
}

Schools Synthesize(const dp::SynthesisInput& input, const dp::SealedTableHandle& table, uint64_t seed) {
  const dp::Synthesizer& method = *dp::FindSynthesizer("nested");
  dp::DrawKey::Bytes key{};
  key[0] = static_cast<uint8_t>(seed);
  dp::Drbg bits{dp::DrawKey(key)};
  dp::Kernel kernel(table, input.domain, input.unit_bound, dp::Meter(method.Plan(input).value().draws), bits);
  dp::Pacer pacer{std::stop_token()};
  const auto model = method.Fit(input, kernel, pacer, NoProgress()).value();
  Schools schools;
  const absl::Status sampled = model->SampleGroups(bits, std::min<int64_t>(model->records(), 100'000),
                                                   [&](int64_t group, std::span<const uint32_t> codes) {
                                                     if (group == std::ssize(schools)) schools.emplace_back();
                                                     schools.back().emplace_back(codes.begin(), codes.end());
                                                     return absl::OkStatus();
                                                   });
  if (!sampled.ok()) std::abort();
  return schools;
}

// Numbers of schools and pupils whole, all else with two digits and, of several populations, its deviation.
void PrintRow(const std::string& name, const std::vector<std::vector<double>>& populations) {
  std::printf("| %s |", name.c_str());
  const auto n = static_cast<double>(populations.size());
  for (size_t i = 0; i < populations[0].size(); ++i) {
    double mean = 0, squares = 0;
    for (const std::vector<double>& of_one : populations) mean += of_one[i] / n;
    for (const std::vector<double>& of_one : populations) squares += std::pow(of_one[i] - mean, 2);
    if (i < 2) {
      std::printf(" %.0f |", mean);
    } else if (populations.size() == 1) {
      std::printf(" %.2f |", mean);
    } else {
      std::printf(" %.2f (%.2f) |", mean, std::sqrt(squares / (n - 1)));
    }
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

void PrintRecords() {
  constexpr uint64_t kSeeds = 5;
  const Schools real = ReadSchools();
  dp::SealedTableBuilder builder(SchoolDomain(), dp::RowOwner::kUnit);
  for (uint32_t school = 0; school < real.size(); ++school) {
    for (const auto& pupil : real[school]) (void)builder.AppendRow(pupil, school);
  }
  const dp::SealedTableHandle table = std::move(builder).Build().value();
  std::printf(
      "| records | schools | pupils | Catholic | between | public | Catholic mean | r sector | r mean SES | "
      "r "
      "SES | agree |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  PrintRow("real", {Ask(real).List()});
  for (const double epsilon : {1.0, 10.0, 100.0}) {
    for (const bool describes : {false, true}) {
      std::vector<std::vector<double>> populations;
      for (uint64_t seed = 1; seed <= kSeeds; ++seed)
        populations.push_back(Ask(Synthesize(Request(epsilon, describes, {}), table, seed)).List());
      char name[64];
      std::snprintf(name, sizeof(name), "epsilon %g%s", epsilon, describes ? ", described" : "");
      PrintRow(name, populations);
    }
  }
}

}  // namespace curator::bench
