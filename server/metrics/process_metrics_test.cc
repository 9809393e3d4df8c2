#include "metrics/process_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "absl/strings/numbers.h"

namespace curator::metrics {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// -1 where the text has no such series.
double ValueIn(const std::string& text, const std::string& name) {
  const size_t at = text.find("\n" + name + " ");
  double value = -1;
  if (at == std::string::npos) return value;
  const size_t begin = at + name.size() + 2;
  return absl::SimpleAtod(text.substr(begin, text.find('\n', begin) - begin), &value) ? value : -1;
}

TEST(ProcessMetrics, MemoryComesInStepsAndProcessorTimeIsNotShown) {
  MetricSet metrics;
  AddProcessMetrics(metrics);
  const std::string text = metrics.Text();
  for (const char* const name : {"process_resident_memory_bytes", "process_virtual_memory_bytes"}) {
    EXPECT_GT(ValueIn(text, name), 0) << name;
    EXPECT_EQ(std::fmod(ValueIn(text, name), static_cast<double>(kMemoryStep)), 0) << name;
  }
  EXPECT_THAT(text, Not(HasSubstr("cpu")));
}

TEST(ProcessMetrics, FilesAndThreadsAreCounted) {
  MetricSet metrics;
  AddProcessMetrics(metrics);
  const std::string text = metrics.Text();
  EXPECT_GE(ValueIn(text, "process_open_fds"), 3);
  EXPECT_GE(ValueIn(text, "process_max_fds"), ValueIn(text, "process_open_fds"));
  EXPECT_GE(ValueIn(text, "process_threads"), 1);
  EXPECT_GT(ValueIn(text, "process_start_time_seconds"), 1.7e9);
}

}  // namespace
}  // namespace curator::metrics
