// `curator calc`, whole: no server listens at the address it is given.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "client/cli/program.h"
#include "tests/testing/reference_vectors.h"
#include "tests/testing/scratch_folder.h"
#include "tests/testing/shared_folder.h"

namespace curator::cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Ended {
  ExitStatus status = ExitStatus::kDone;
  std::string out;
  std::string error;
};

// Words are separated by single blanks.
Ended RunLine(const std::string& line) {
  std::vector<std::string> arguments = {"--server", "127.0.0.1:1"};
  std::istringstream words(line);
  for (std::string word; words >> word;) arguments.push_back(word);
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream error;
  Ended ended;
  ended.status = RunProgram(arguments, Terminal(), {in, out, error});
  ended.out = out.str();
  ended.error = error.str();
  return ended;
}

json RunAsJson(const std::string& line) {
  const Ended ended = RunLine(line + " --output json");
  EXPECT_EQ(ended.status, ExitStatus::kDone) << line << ended.error;
  return ended.status == ExitStatus::kDone ? json::parse(ended.out) : json();
}

// The row of `rows` whose members are those of `wanted`.
json RowWith(const json& rows, const json& wanted) {
  for (const json& row : rows) {
    bool equal = true;
    for (const auto& [key, value] : wanted.items()) equal = equal && row.at(key) == value;
    if (equal) return row;
  }
  ADD_FAILURE() << "no row " << wanted;
  return {{"epsilon", "-1"}, {"value", "-1"}};
}

double EpsilonOf(const json& composed, const std::string& calculator) {
  const json row = RowWith(composed.at("calculators"), {{"calculator", calculator}});
  return std::stod(row.at("epsilon").get<std::string>());
}

// The cases of a file of reference values. Infinity is no JSON; no case that is compared has one.
void ExpectClose(double computed, double expected) {
  EXPECT_NEAR(computed, expected, 1e-9 * std::abs(expected));
}

TEST(CalcCompose, AgreesWithTheClosedForms) {
  const json composed = RunAsJson("calc compose --events pure:epsilon=0.1,count=100 --delta 1e-6");
  ExpectClose(EpsilonOf(composed, "basic"), 10);
  const double root = std::sqrt(2 * 100 * std::log(1e6)) * 0.1;
  ExpectClose(EpsilonOf(composed, "dwork-rothblum-vadhan"), root + 10 * std::expm1(0.1));
  ExpectClose(EpsilonOf(composed, "advanced"), root + 0.5);
  const double rho = 10 * std::tanh(0.05);
  ExpectClose(EpsilonOf(composed, "zcdp-loose"), rho + 2 * std::sqrt(rho * std::log(1e6)));
  const auto least = [&](const char* key) { return std::stod(composed.at(key).get<std::string>()); };
  EXPECT_EQ(least("least_fixed"), EpsilonOf(composed, "optimal"));
  EXPECT_EQ(least("least_adaptive"), EpsilonOf(composed, "zcdp-tight"));
}

TEST(CalcCompose, EachRowSaysWhetherItHoldsAdaptively) {
  const json rows =
      RunAsJson("calc compose --events laplace:scale=10,count=5 --delta 1e-6").at("calculators");
  EXPECT_EQ(RowWith(rows, {{"calculator", "zcdp-tight"}}).at("valid"), "adaptive");
  EXPECT_EQ(RowWith(rows, {{"calculator", "numerical"}}).at("valid"), "fixed schedule");
  EXPECT_EQ(RowWith(rows, {{"calculator", "numerical-lower"}}).at("bound"), "lower");
  const json gaussian_dp = RowWith(rows, {{"calculator", "gaussian-dp"}});
  EXPECT_TRUE(gaussian_dp.at("epsilon").is_null());
  EXPECT_THAT(gaussian_dp.at("remark").get<std::string>(), HasSubstr("continuous Gaussian"));
}

// The command line of a case of composition.json.
std::string EventsOf(const json& mechanisms) {
  std::string line;
  for (const json& m : mechanisms) {
    const std::string type = m.at("type");
    const std::string count = ",count=" + m.at("count").dump();
    const auto text = [&](const char* key) { return m.at(key).get<std::string>(); };
    if (type == "pure_dp") line += " pure:epsilon=" + text("eps") + count;
    if (type == "approx_dp")
      line += " approximate:epsilon=" + text("eps") + ",delta=" + text("delta") + count;
    if (type == "laplace")
      line += " laplace:scale=" + text("scale") + ",l1=" + text("l1_sensitivity") + count;
    if (type == "gaussian")
      line += " gaussian:sigma=" + text("sigma") + ",l2=" + text("l2_sensitivity") + count;
    if (type == "exponential_bounded_range") line += " exponential:range=" + text("eps") + count;
  }
  return line;
}

TEST(CalcCompose, AgreesWithTheReferenceValues) {
  REQUIRE_SHARED("vectors/composition.json");
  const json cases = shared::ReferenceCases("vectors/composition.json");
  const std::vector<std::string> chosen = {
      "pure_hom_e0.1_k10_d1e-5", "pure_het_2_d1e-6",  "approx_1_d1e-6", "laplace_b10_s1_k10_d1e-6",
      "gauss_s3_d2_k4_d1e-9",    "br_e0.1_k10_d1e-5", "mix_1_d1e-5"};
  const std::vector<std::pair<std::string, std::string>> columns = {{"basic_eps", "basic"},
                                                                    {"drv_eps", "dwork-rothblum-vadhan"},
                                                                    {"kov35_het_eps", "kairouz-oh-viswanath"},
                                                                    {"opt_pure_eps", "optimal"},
                                                                    {"whitehouse_eps", "advanced"},
                                                                    {"zcdp_tight_bs_eps", "zcdp-loose"},
                                                                    {"zcdp_tight_cks_eps", "zcdp-tight"},
                                                                    {"rdp_cont_eps", "rdp"}};
  size_t found = 0;
  for (const json& c : cases) {
    const std::string id = c.at("id");
    if (std::find(chosen.begin(), chosen.end(), id) == chosen.end()) continue;
    ++found;
    SCOPED_TRACE(id);
    const json composed = RunAsJson("calc compose --delta " + c.at("delta").get<std::string>() + " --events" +
                                    EventsOf(c.at("mechanisms")));
    const json& results = c.at("results");
    for (const auto& [column, calculator] : columns) {
      if (!results.contains(column)) continue;
      SCOPED_TRACE(calculator);
      ExpectClose(EpsilonOf(composed, calculator), std::stod(results.at(column).get<std::string>()));
    }
    const double pessimistic = results.at("pld").at("connect_dots_pessimistic").at("eps");
    EXPECT_LE(EpsilonOf(composed, "numerical"), pessimistic * (1 + 1e-3) + 1e-6);
    if (!results.contains("exact_eps")) continue;
    EXPECT_GE(EpsilonOf(composed, "numerical"), std::stod(results.at("exact_eps").get<std::string>()));
  }
  EXPECT_EQ(found, chosen.size());
}

TEST(CalcCompose, ReadsAFileAndPrintsEveryForm) {
  const curator::testing::ScratchFolder folder;
  const std::string path = (folder / "plan.json").string();
  std::ofstream(path) << R"({"composed": {"parts": [{"count": 10, "event": {"pure": {"epsilon": "0.1"}}}]}})";
  const std::string compose = "calc compose --delta 1e-6 ";
  ExpectClose(EpsilonOf(RunAsJson(compose + "--file " + path), "basic"), 1);
  EXPECT_THAT(RunLine(compose + "--file " + path).out,
              AllOf(HasSubstr("10 x "), HasSubstr("least if chosen adaptively"), HasSubstr("zcdp-tight")));
  EXPECT_THAT(RunLine(compose + "--output csv --file " + path).out,
              HasSubstr("calculator,bound,epsilon,valid,remark\nbasic,upper,1"));
  std::ofstream(path) << "{}";
  const Ended wrong = RunLine(compose + "--file " + path);
  EXPECT_EQ(wrong.status, ExitStatus::kRefused);
  EXPECT_THAT(wrong.error, AllOf(HasSubstr("INVALID_ARGUMENT"), HasSubstr(path)));
  EXPECT_EQ(RunLine(compose + "--file " + path).status, ExitStatus::kRefused);
}

double ValueOf(const std::string& line, const json& wanted) {
  return std::stod(RowWith(RunAsJson(line).at("conversions"), wanted).at("value").get<std::string>());
}

TEST(CalcConvert, GoesBothWaysAndKeepsThePromise) {
  const std::string there = "calc convert --rho 0.1 --delta 1e-6";
  ExpectClose(ValueOf(there, {{"form", "loose"}}), 0.1 + 2 * std::sqrt(0.1 * std::log(1e6)));
  const double tight = ValueOf(there, {{"form", "tight"}});
  std::ostringstream epsilon;
  epsilon << std::fixed << std::setprecision(11) << tight;
  const double back = ValueOf("calc convert --delta 1e-6 --epsilon " + epsilon.str(), {{"form", "tight"}});
  EXPECT_NEAR(back, 0.1, 1e-9);
  EXPECT_NEAR(ValueOf("calc convert --rho 0.1 --epsilon " + epsilon.str(), {{"quantity", "delta"}}), 1e-6,
              1e-14);
}

TEST(CalcConvert, PureHasATightAndALooseRho) {
  const std::string line = "calc convert --epsilon 0.5";
  const std::string any = "rho of any mechanism";
  ExpectClose(ValueOf(line, {{"quantity", any}, {"form", "tight"}}), 0.5 * std::tanh(0.25));
  ExpectClose(ValueOf(line, {{"quantity", any}, {"form", "loose"}}), 0.125);
  ExpectClose(ValueOf(line, {{"quantity", "rho of bounded range"}, {"form", "loose"}}), 0.03125);
}

TEST(CalcConvert, GroupsPay) {
  ExpectClose(ValueOf("calc convert --epsilon 0.5 --group 3", {{"quantity", "epsilon"}}), 1.5);
  ExpectClose(ValueOf("calc convert --rho 0.1 --group 3", {{"quantity", "rho"}}), 0.9);
  ExpectClose(ValueOf("calc convert --epsilon 1 --delta 1e-6 --group 2", {{"quantity", "delta"}}),
              1e-6 * std::expm1(2) / std::expm1(1));
}

TEST(CalcConvert, AgreesWithTheReferenceValues) {
  REQUIRE_SHARED("vectors/conversion.json");
  const json cases = shared::ReferenceCases("vectors/conversion.json");
  int checked = 0;
  for (const json& c : cases) {
    if (c.at("kind") != "zcdp_to_eps" || checked == 5) continue;
    ++checked;
    const std::string line = "calc convert --rho " + c.at("in").at("rho").get<std::string>() + " --delta " +
                             c.at("in").at("delta").get<std::string>();
    ExpectClose(ValueOf(line, {{"form", "tight"}}), std::stod(c.at("out").at("cks_eps").get<std::string>()));
    ExpectClose(ValueOf(line, {{"form", "loose"}}), std::stod(c.at("out").at("bs_eps").get<std::string>()));
  }
  EXPECT_EQ(checked, 5);
}

TEST(CalcCalibrate, LaplaceIsSensitivityOverEpsilon) {
  const json rows = RunAsJson("calc calibrate --epsilon 0.5 --sensitivity 3").at("calibrations");
  EXPECT_EQ(rows.size(), 2u);
  ExpectClose(RowWith(rows, {{"mechanism", "laplace"}}).at("value"), 6);
  ExpectClose(RowWith(rows, {{"mechanism", "laplace"}}).at("standard_deviation"), 6 * std::sqrt(2.0));
  ExpectClose(RowWith(rows, {{"mechanism", "discrete-laplace"}}).at("value"), 6);
}

TEST(CalcCalibrate, AgreesWithTheReferenceValues) {
  REQUIRE_SHARED("vectors/conversion.json");
  const json cases = shared::ReferenceCases("vectors/conversion.json");
  int checked = 0;
  for (const json& c : cases) {
    if (c.at("kind") != "calibrate_gaussian" || checked == 5) continue;
    ++checked;
    const auto in = [&](const char* key) { return c.at("in").at(key).get<std::string>(); };
    const json rows = RunAsJson("calc calibrate --epsilon " + in("eps") + " --delta " + in("delta") +
                                " --sensitivity " + in("l2_sensitivity"))
                          .at("calibrations");
    ExpectClose(RowWith(rows, {{"how", "analytic (Balle, Wang 2018)"}}).at("value"),
                std::stod(c.at("out").at("sigma_analytic").get<std::string>()));
  }
  EXPECT_EQ(checked, 5);
}

TEST(CalcCalibrate, TheTextbookFormIsRefusedWhereItsProofEnds) {
  const json rows = RunAsJson("calc calibrate --epsilon 2 --delta 1e-6").at("calibrations");
  int without = 0;
  for (const json& row : rows) without += row.at("value").is_null() ? 1 : 0;
  EXPECT_EQ(without, 1);
  EXPECT_THAT(RunLine("calc calibrate --epsilon 2 --delta 1e-6").out, HasSubstr("epsilon"));
}

TEST(CalcProgram, WrongUsageEndsWith2AndWrongNumbersWith1) {
  for (const char* line :
       {"calc", "calc compose --delta 1e-6", "calc compose --events pure:epsilon=1", "calc convert",
        "calc convert --rho 1", "calc convert --rho 1 --epsilon 1 --delta 1e-6",
        "calc convert --epsilon 1 --group 0", "calc calibrate", "calc calibrate --delta 1e-6",
        "calc calibrate --epsilon 1 --rho 1"}) {
    EXPECT_EQ(RunLine(line).status, ExitStatus::kUsage) << line;
  }
  for (const char* line :
       {"calc compose --events pure --delta 1e-6", "calc compose --events pure:epsilon=1 --delta 0",
        "calc compose --events pure:epsilon=1 --delta 1", "calc convert --epsilon nan",
        "calc convert --rho -1 --delta 1e-6", "calc calibrate --epsilon 0",
        "calc calibrate --epsilon 1 --sensitivity 0"}) {
    const Ended ended = RunLine(line);
    EXPECT_EQ(ended.status, ExitStatus::kRefused) << line;
    EXPECT_THAT(ended.error, HasSubstr("INVALID_ARGUMENT")) << line;
    EXPECT_THAT(ended.out, IsEmpty()) << line;
  }
}

TEST(CalcProgram, HelpTeachesTheGrammarByExamples) {
  const std::string help = RunLine("calc compose --help").out;
  for (const char* part : {"discrete-gaussian", "sigma or sigma_squared", "count", "\"composed\"",
                           "Examples:", "curator calc compose --events"}) {
    EXPECT_THAT(help, HasSubstr(part));
  }
}

}  // namespace
}  // namespace curator::cli
