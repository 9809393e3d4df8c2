#include "app_directory_metrics.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace curator {
namespace {

using directory::Directory;
using metrics::Reading;

constexpr absl::Duration kTokensEndSoon = absl::Hours(7 * 24);

int64_t TokensThatEndSoon(const Directory& directory) {
  return directory.CountTokensEnding(absl::ToUnixMicros(absl::Now()),
                                     absl::ToInt64Microseconds(kTokensEndSoon));
}

int64_t AdministratorsByHost(const Directory& directory) {
  return directory.administrators_by_host();
}

}  // namespace

void AddDirectoryMetrics(metrics::MetricSet& set,
                         std::function<absl::StatusOr<directory::DirectoryStore::Snapshot>()> current) {
  const auto read_by = [&current](int64_t (*count)(const Directory&)) {
    return [current, count] {
      std::vector<Reading> readings;
      const absl::StatusOr<directory::DirectoryStore::Snapshot> directory = current();
      if (directory.ok()) readings.push_back({.value = static_cast<double>(count(**directory))});
      return readings;
    };
  };
  set.Add({.name = "curator_tokens_expiring",
           .help = "API tokens that end within 7 days and were made for longer.",
           .read = read_by(TokensThatEndSoon)});
  set.Add({.name = "curator_administrators_by_host_total",
           .help = "How often the host let a principal become an administrator since the history began.",
           .kind = metrics::Kind::kCounter,
           .read = read_by(AdministratorsByHost)});
}

}  // namespace curator
