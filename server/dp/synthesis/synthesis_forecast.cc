#include "dp/synthesis/synthesis_forecast.h"

#include <algorithm>
#include <cmath>

namespace curator::dp {
namespace {

constexpr double kSecondsPerCountedRecord = 3e-9;

}  // namespace

double DeclaredRecords(std::optional<int64_t> stated) {
  return static_cast<double>(std::max<int64_t>(0, stated.value_or(kUsualRecords)));
}

double CountingSeconds(double sets, double records) {
  return kSecondsPerCountedRecord * sets * records;
}

int64_t WholeCpuSeconds(double seconds) {
  constexpr int64_t kMostSeconds = int64_t{1} << 53;
  if (!(seconds < static_cast<double>(kMostSeconds))) return kMostSeconds;
  return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(seconds)));
}

}  // namespace curator::dp
