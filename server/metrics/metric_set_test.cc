#include "metrics/metric_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace curator::metrics {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(MetricSet, WhatIsReadHasTheValuesOfTheMoment) {
  MetricSet metrics;
  double value = 1;
  metrics.Add("curator_level", "A level.", Kind::kGauge, [&] { return value; });
  metrics.Add("curator_done_total", "What was done.", Kind::kCounter, [] { return 7; });
  EXPECT_THAT(metrics.Text(), HasSubstr("# HELP curator_level A level.\n# TYPE curator_level gauge\n"
                                        "curator_level 1\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("# TYPE curator_done_total counter\ncurator_done_total 7\n"));
  value = 2.5;
  EXPECT_THAT(metrics.Text(), HasSubstr("curator_level 2.5\n"));
}

TEST(MetricSet, AFamilyWithoutSeriesIsLeftOut) {
  MetricSet metrics;
  metrics.Add({.name = "curator_nothing", .help = "Nothing.", .read = [] { return std::vector<Reading>(); }});
  EXPECT_EQ(metrics.Text(), "");
}

TEST(MetricSet, WhateverALabelHoldsItStaysOneLine) {
  MetricSet metrics;
  metrics.Add({.name = "curator_odd", .help = "Odd.", .read = [] {
                 return std::vector<Reading>{{.value = 1, .labels = {{"name", "a\"b\\c\nd 5"}}}};
               }});
  EXPECT_THAT(metrics.Text(), HasSubstr("curator_odd{name=\"a\\\"b\\\\c\\nd 5\"} 1\n"));
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("\nd 5")));
}

}  // namespace
}  // namespace curator::metrics
