#include "demo_pupils.h"

#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace curator::demo {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Le;
using ::testing::StartsWith;

std::string Csv(int schools, uint64_t seed) {
  std::ostringstream out;
  WriteCsv(MakePupils(schools, seed), out);
  return out.str();
}

TEST(DemoPupils, AreTheSameForTheSameSeed) {
  EXPECT_EQ(Csv(20, 1), Csv(20, 1));
  EXPECT_NE(Csv(20, 1), Csv(20, 2));
  EXPECT_THAT(Csv(3, 1), StartsWith("school,sector,sex,points\nS1000,public,girl,27\nS1000,public,boy,41\n"));
}

TEST(DemoPupils, LieInSchoolsOfTenToSixtyWithPointsWithinTheirBounds) {
  std::map<int, int> sizes;
  for (const Pupil& pupil : MakePupils(200, 1)) {
    ++sizes[pupil.school];
    EXPECT_THAT(pupil.half_points, AllOf(Ge(0), Le(200)));
  }
  EXPECT_EQ(sizes.size(), 200u);
  for (const auto& [school, size] : sizes) EXPECT_THAT(size, AllOf(Ge(10), Le(60))) << school;
}

TEST(DemoPupils, DifferBetweenSchoolsAndWithinThem) {
  std::map<int, std::vector<double>> points;
  std::map<int, Sector> sectors;
  for (const Pupil& pupil : MakePupils(400, 7)) {
    points[pupil.school].push_back(pupil.half_points / 2.0);
    sectors[pupil.school] = pupil.sector;
  }
  double within = 0;
  double members = 0;
  std::map<Sector, std::vector<double>> means;
  for (const auto& [school, values] : points) {
    double mean = 0;
    for (const double value : values) mean += value / static_cast<double>(values.size());
    for (const double value : values) within += (value - mean) * (value - mean);
    members += static_cast<double>(values.size()) - 1;
    means[sectors[school]].push_back(mean);
  }
  EXPECT_NEAR(std::sqrt(within / members), 12, 0.4);
  const auto mean_of = [](const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  };
  EXPECT_NEAR(mean_of(means[Sector::kPublic]), 50, 1.5);
  EXPECT_NEAR(mean_of(means[Sector::kCatholic]), 55, 1.5);
  double between = 0;
  for (const double mean : means[Sector::kPublic]) between += (mean - 50) * (mean - 50);
  EXPECT_NEAR(std::sqrt(between / static_cast<double>(means[Sector::kPublic].size())), 6.4, 0.8);
}

}  // namespace
}  // namespace curator::demo
