// What each method draws from given bits, for each version of it.
//
// A draw is repeated from the key of its identity, which has the version and not the program: a change of
// what a method draws without a raise of its version would draw again from one key.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/synthesis/synthesizers.h"
#include "dp/synthesis/testing/laws.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

// One draw in words: what it was over, and what came of it.
struct DrawInWords {
  bool only_marginals = false;  // selections are among whole marginals, named by their position

  static std::string Of(const AttributeSet& set) { return absl::StrCat(absl::StrJoin(set, "+"), " "); }
  static std::string Of(const NoiseSpec& noise) {
    return absl::StrCat(static_cast<int>(noise.mechanism), ":", noise.parameter.numerator, "/",
                        noise.parameter.denominator, " ");
  }
  static std::string Of(const std::vector<std::vector<int64_t>>& values) {
    std::string words;
    for (const std::vector<int64_t>& each : values) absl::StrAppend(&words, absl::StrJoin(each, ","), ";");
    return words;
  }

  std::string operator()(const CountsDraw& draw) const {
    std::string words = absl::StrCat("counts ", Of(draw.noise));
    for (const AttributeSet& set : draw.marginals) words += Of(set);
    return words + Of(draw.values);
  }
  std::string operator()(const QueriesDraw& draw) const {
    std::string words = absl::StrCat("queries ", Of(draw.noise));
    for (const QueryGroup& group : draw.groups) words += Of(group.attributes);
    return words + Of(draw.values);
  }
  std::string operator()(const RecordCountDraw& draw) const {
    return absl::StrCat("records ", Of(draw.noise), draw.value);
  }
  std::string operator()(const FamilySelectionDraw& draw) const {
    std::string words = absl::StrCat("select ", draw.epsilon.units(), " ", draw.selected.family);
    if (!only_marginals) absl::StrAppend(&words, ",", draw.selected.query);
    words += " of ";
    for (const CandidateFamily& family : draw.families) words += Of(family.group.attributes);
    return words;
  }
  std::string operator()(const SubstitutionDraw& draw) const {
    std::string words = absl::StrCat("select ", draw.epsilon.units(), " ", draw.selected.candidate,
                                     draw.selected.is_public ? " public of " : " measured of ");
    for (const SubstitutableMarginal& candidate : draw.candidates) words += Of(candidate.attributes);
    return words;
  }
  std::string operator()(const UtilityDraw& draw) const {
    return absl::StrCat("utility ", draw.epsilon.units(), " ", draw.selected, " of ", draw.bonuses.size());
  }
  std::string operator()(const GroupSizesDraw& draw) const {
    return absl::StrCat("sizes ", Of(draw.noise), absl::StrJoin(draw.least_sizes, ","), " ",
                        absl::StrJoin(draw.values, ","));
  }
  std::string operator()(const GroupMarginalsDraw& draw) const {
    std::string words = absl::StrCat("groups ", Of(draw.noise));
    for (const GroupMarginal& marginal : draw.marginals) words += Of(marginal.attributes);
    return words + Of(draw.values);
  }
  std::string operator()(const SumsDraw& draw) const {
    return absl::StrCat("sums ", Of(draw.noise), Of(draw.sum.groups.attributes),
                        absl::StrJoin(draw.values, ","));
  }
  std::string operator()(const ErrorsDraw& draw) const {
    std::string words = absl::StrCat("errors ", Of(draw.noise));
    for (const IntegerMarginal& candidate : draw.candidates) words += Of(candidate.attributes);
    return words + absl::StrJoin(draw.values, ",");
  }
  std::string operator()(const UnitCountsDraw& draw) const {
    return absl::StrCat("units ", Of(draw.noise), Of(draw.groups.attributes),
                        absl::StrJoin(draw.values, ","));
  }
  std::string operator()(const ProductsDraw& draw) const {
    std::string words = "products ";
    for (const ProductGroup& group : draw.queries.groups) words += Of(group.attributes);
    for (const Rational& noise : draw.sigma_squared)
      absl::StrAppend(&words, noise.numerator, "/", noise.denominator, " ");
    return words + Of(draw.values);
  }
  std::string operator()(const QuantilesDraw& draw) const {
    return absl::StrCat("quantiles ", draw.epsilon.units(), " ", absl::StrJoin(draw.selected, ","));
  }
};

// FNV-1a.
uint64_t HashOfText(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

struct DrawnBefore {
  std::string method;
  std::map<std::string, std::string> settings;
  int64_t version = 1;
  uint64_t hash = 0;
};

TEST(SynthesizerVersion, IsRaisedWhereTheSameBitsDrawSomethingElse) {
  const std::vector<DrawnBefore> all = {
      {"auto", {}, 21, 2881571525821729460U},
      {"mwem", {}, 5, 5424190267907710895U},
      {"mwem", {{"init", "domain"}}, 5, 6755605479979186198U},
      {"mwem", {{"rounds", "3"}}, 5, 10708207839765905700U},
      {"aim", {}, 4, 7234087112765902681U},
      {"aim", {{"rounds", "3"}, {"candidates", "both"}, {"weights", "overlap"}}, 4, 3640786490204631194U},
      {"aim", {{"prior", "public"}}, 4, 7234087112765902681U},
      {"aim", {{"prior", "public"}, {"rounds", "3"}}, 4, 13878091538483678092U},
      {"swift", {}, 3, 7234087112765902681U},
      {"swift", {{"measurements", "3"}, {"looks", "2"}, {"candidates", "both"}}, 3, 8544779113878836772U},
      {"mst", {}, 3, 7050874011294858887U},
      {"rap", {{"rounds", "2"}, {"per_round", "2"}}, 5, 12219200888682589124U},
      {"rap", {}, 5, 6342264127200333425U},
      {"rap", {{"measure", "queries"}}, 5, 14124718375065938450U},
      {"dpsyn", {}, 5, 8245322560382080386U},
      {"dpsyn", {{"views", "selected"}}, 5, 9146853737590962863U},
      {"priview", {}, 4, 8245322560382080386U},
      {"prior", {}, 2, 2857743212472724527U},
      {"prior", {{"region", "a0"}, {"group", "a1"}}, 2, 17226207115472383515U},
      {"nested", {}, 14, 3190554676993742325U},
  };
  std::set<std::string_view> tried;
  for (const DrawnBefore& before : all) {
    const Synthesizer& method = *FindSynthesizer(before.method);
    tried.insert(method.name());
    World world = FullWorld();
    world.input.settings = before.settings;
    const SynthesisPlan plan = method.Plan(world.input).value();
    seeded::SeededBits bits(12);
    Kernel kernel(world.table, world.input.domain, world.input.unit_bound, Meter(plan.draws), bits);
    Transcript transcript;
    RecordingQueries recording(kernel, transcript);
    Pacer pacer{std::stop_token()};
    ASSERT_TRUE(method.Fit(world.input, recording, pacer, NoProgress()).ok());
    std::string words;
    for (const Draw& draw : transcript)
      absl::StrAppend(&words, std::visit(DrawInWords{before.method == "dpsyn"}, draw), "\n");
    EXPECT_EQ(method.version(), before.version) << before.method;
    EXPECT_EQ(HashOfText(words), before.hash)
        << before.method << " draws something else, so raise its version():\n"
        << words.substr(0, 1000);
  }
  EXPECT_EQ(tried.size(), Synthesizers().size()) << "each method has a row";
}

}  // namespace
}  // namespace curator::dp
