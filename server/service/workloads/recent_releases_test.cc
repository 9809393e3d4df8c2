#include "service/workloads/recent_releases.h"

#include <gtest/gtest.h>

#include "service/testing/fixture.h"
#include "service/workloads/resolve_workload.h"

namespace curator::service {
namespace {

ledger::Dataset Census(int64_t revision = 1) {
  ledger::Dataset dataset;
  dataset.id = "census";
  dataset.revision = revision;
  return dataset;
}

std::vector<dp::AskedSet> Marginal(const std::string& attribute) {
  return ResolveCounts(PeopleSchema().domain, {{MarginalsQuery{.sets = {{attribute}}}}}).value();
}

RecentReleases::Recent Measured(const std::string& release_id, const std::string& attribute, size_t cells,
                                std::vector<int64_t> parts = {}) {
  dp::WorkloadRelease release;
  release.asked = Marginal(attribute);
  release.measured = release.asked[0].queries.groups;
  release.plans = {{.strategy = dp::Strategy::kDirect, .branching = 0, .sources = {0}}};
  release.values = {std::vector<int64_t>(cells, 7)};
  return {release_id, std::move(parts), std::move(release)};
}

std::optional<std::string> Found(RecentReleases& recent, const std::string& attribute,
                                 const std::string& principal = "ana", int64_t revision = 1,
                                 const std::vector<int64_t>& parts = {}) {
  const auto list = recent.Find(TestPrincipal(principal), Census(revision));
  if (list == nullptr) return "unknown";
  return FindAmong(*list, PeopleSchema().domain, parts, Marginal(attribute), {});
}

TEST(RecentReleases, TheNewestOneThatAnswersIsFound) {
  RecentReleases recent;
  recent.Begin(TestPrincipal("ana"), Census(), Measured("first", "sex", 2));
  recent.Add(TestPrincipal("ana"), Census(), Measured("second", "sex", 2));
  recent.Add(TestPrincipal("ana"), Census(), Measured("third", "region", 4));
  EXPECT_EQ(Found(recent, "sex"), "second");
  EXPECT_EQ(Found(recent, "region"), "third");
  EXPECT_EQ(Found(recent, "age"), std::nullopt);
}

TEST(RecentReleases, AreThoseOfOnePrincipalAndOneRevision) {
  RecentReleases recent;
  recent.Add(TestPrincipal("ana"), Census(), Measured("too early", "sex", 2));
  EXPECT_EQ(Found(recent, "sex"), "unknown") << "the ledger was not searched yet";
  recent.Begin(TestPrincipal("ana"), Census(), Measured("own", "sex", 2));
  EXPECT_EQ(Found(recent, "sex", "bob"), "unknown");
  EXPECT_EQ(Found(recent, "sex", "ana", 2), "unknown") << "a release may have been shared since";
}

TEST(RecentReleases, AreOfTheSameParts) {
  RecentReleases recent;
  recent.Begin(TestPrincipal("ana"), Census(), Measured("of the north", "sex", 2, {1}));
  EXPECT_EQ(Found(recent, "sex", "ana", 1, {1}), "of the north");
  EXPECT_EQ(Found(recent, "sex", "ana", 1, {1, 2}), std::nullopt);
}

TEST(RecentReleases, OnlyTheLatestAreKept) {
  RecentReleases recent;
  recent.Begin(TestPrincipal("ana"), Census(), Measured("old", "region", 4));
  for (int i = 0; i < 8; ++i) recent.Add(TestPrincipal("ana"), Census(), Measured("newer", "sex", 2));
  EXPECT_EQ(Found(recent, "region"), std::nullopt);
}

TEST(RecentReleases, ALargeOneOfStatisticsIsNotKept) {
  RecentReleases::Recent small{"small", {}, {}};
  small.release.asked = {{.query_class = dp::QueryClass::kStatistics, .statistics = dp::AskedStatistics()}};
  RecentReleases::Recent of_values = small;
  of_values.release.statistics.values = {std::vector<int64_t>(1 << 20)};
  RecentReleases::Recent of_cells = small;
  of_cells.release.asked[0].statistics->cells.resize(1 << 20);
  RecentReleases recent;
  recent.Begin(TestPrincipal("ana"), Census(), std::nullopt);
  for (const RecentReleases::Recent& each : {small, of_values, of_cells})
    recent.Add(TestPrincipal("ana"), Census(), each);
  const auto list = recent.Find(TestPrincipal("ana"), Census());
  ASSERT_EQ(list->size(), 1);
  EXPECT_EQ(list->front()->release_id, "small");
}

TEST(RecentReleases, ALargeOneIsNotKept) {
  RecentReleases recent;
  recent.Begin(TestPrincipal("ana"), Census(), std::nullopt);
  recent.Add(TestPrincipal("ana"), Census(), Measured("large", "sex", 100'000));
  EXPECT_EQ(Found(recent, "sex"), std::nullopt);
}

}  // namespace
}  // namespace curator::service
