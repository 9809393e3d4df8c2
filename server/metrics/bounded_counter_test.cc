#include "metrics/bounded_counter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "metrics/metric_set.h"

namespace curator::metrics {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(BoundedCounter, BeyondTheBoundAllIsOther) {
  MetricSet metrics;
  BoundedCounter counter(metrics.registry(), "curator_things_total", "Things.", {"kind", "reason"}, 2);
  counter.Count({"a", "x"});
  counter.Count({"a", "y"}, 5);
  for (int i = 0; i < 10; ++i) counter.Count({"b", absl::StrCat("z", i)});
  counter.Count({"a", "x"});
  EXPECT_THAT(metrics.Text(), AllOf(HasSubstr("curator_things_total{kind=\"a\",reason=\"x\"} 2\n"),
                                    HasSubstr("curator_things_total{kind=\"a\",reason=\"y\"} 5\n"),
                                    HasSubstr("curator_things_total{kind=\"other\",reason=\"other\"} 10\n"),
                                    Not(HasSubstr("\"b\""))));
}

}  // namespace
}  // namespace curator::metrics
