// The fingerprint of a request is the same in every release of the program: a request that an earlier
// program charged is found by its repetition.
//
// fingerprints.txt has one line for each request below, with the fingerprint that the program gave it when
// the line was written. Lines are added and never changed.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "codec/fingerprint.h"
#include "service/testing/fixture.h"
#include "service/workloads/resolve_workload.h"

namespace curator::golden {
namespace {

using service::EpsilonOf;
using Queries = std::vector<service::QuerySetRequest>;

std::vector<dp::AskedSet> Resolved(const Queries& queries) {
  return service::ResolveCounts(service::PeopleSchema().domain, queries).value();
}

service::QuerySetRequest Pairs() {
  return {service::MarginalsQuery{.sets = {}, .k = 2, .attributes = {}}, dp::Strategy::kAuto};
}

std::map<std::string, Queries> Workloads() {
  const service::Condition women{.attribute = "sex", .values = {"Female"}, .between = std::nullopt};
  const service::Condition middle{
      .attribute = "age", .values = {}, .between = service::ValueInterval{"30", "59"}};
  return {{"all pairs", {Pairs()}},
          {"one set, in another order",
           {{service::MarginalsQuery{.sets = {{"region", "sex"}}, .k = std::nullopt, .attributes = {}},
             dp::Strategy::kDirect}}},
          {"all ranges", {{service::RangesQuery{.attributes = {"age"}, .boxes = {}}, dp::Strategy::kTree}}},
          {"one box",
           {{service::RangesQuery{.attributes = {"age", "region"},
                                  .boxes = {{service::ValueInterval{"30", "59"}, service::ValueInterval{}}}},
             dp::Strategy::kBaseHistogram}}},
          {"prefixes", {{service::PrefixesQuery{"age"}, dp::Strategy::kAuto}}},
          {"thresholds",
           {{service::ThresholdsQuery{{women, middle}, {1, 2}, 0, {"region"}}, dp::Strategy::kAuto}}},
          {"parities",
           {{service::ParitiesQuery{.sets = {}, .k = 1, .attributes = {"sex"}}, dp::Strategy::kAuto}}},
          {"predicates",
           {{service::PredicatesQuery{{{.all_of = {women}}, {.all_of = {women, middle}}}, {}},
             dp::Strategy::kAuto}}},
          {"two sets", {Pairs(), {service::PrefixesQuery{"region"}, dp::Strategy::kDirect}}}};
}

std::map<std::string, std::string> Fingerprints() {
  std::map<std::string, std::string> fingerprints;
  const auto add = [&](const std::string& name, const auto& request) {
    fingerprints["v3 " + name] = absl::BytesToHexString(codec::FingerprintOf(request));
  };
  for (const auto& [name, queries] : Workloads()) {
    const std::vector<dp::AskedSet> asked = Resolved(queries);
    codec::AskedWorkload request{.dataset_id = "11111111-1111-4111-8111-111111111111",
                                 .parts = {},
                                 .queries = asked,
                                 .spend = {.epsilon = EpsilonOf(500)},
                                 .target = std::nullopt,
                                 .mechanism = std::nullopt};
    add("workload: " + name, request);
    request.parts = {1, 3};
    request.spend = {.epsilon = EpsilonOf(500), .delta = dp::Delta(7)};
    request.mechanism = dp::Mechanism::kDiscreteGaussian;
    add("workload of two parts, Gaussian: " + name, request);
    request.spend = {};
    request.mechanism.reset();
    request.target = dp::Target{.max_error = 12.5, .confidence = 0.9};
    add("workload for a target: " + name, request);
  }
  const std::vector<dp::AskedSet> pairs = Resolved({Pairs()});
  for (const std::string method :
       {"auto", "mwem", "aim", "swift", "mst", "dpsyn", "priview", "prior", "rap", "nested"}) {
    codec::AskedSynthesis request{.dataset_id = "11111111-1111-4111-8111-111111111111",
                                  .parts = {},
                                  .method = method,
                                  .spend = {.rho = dp::Rho(12345)},
                                  .settings = {},
                                  .workload = {},
                                  .assume_records = std::nullopt};
    add("synthesis by " + method + ", defaults", request);
    request.settings = {{"prior", "dataset 22222222-2222-4222-8222-222222222222 version 1"}, {"rounds", "3"}};
    request.workload = pairs;
    request.assume_records = 48842;
    add("synthesis by " + method + ", settings", request);
  }
  return fingerprints;
}

TEST(Fingerprints, AreThoseThatEarlierProgramsGaveTheSameRequests) {
  std::map<std::string, std::string> stored;
  std::ifstream file(CURATOR_FINGERPRINTS);
  for (std::string line; std::getline(file, line);) {
    const size_t space = line.find(' ');
    stored[line.substr(space + 1)] = line.substr(0, space);
  }
  const std::map<std::string, std::string> now = Fingerprints();
  for (const auto& [name, fingerprint] : now) EXPECT_EQ(stored[name], fingerprint) << name;
  EXPECT_EQ(stored.size(), now.size());
}

}  // namespace
}  // namespace curator::golden
