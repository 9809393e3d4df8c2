// The metrics in a file, for the textfile collector of Prometheus' node_exporter: for servers without a gate.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/periodic.h"

namespace curator::metrics {

class MetricsFile {
 public:
  struct Options {
    std::string path;                   // best "FOLDER/curator.prom": a collector reads no other names
    std::function<std::string()> text;  // thread-safe
    // Called when writing begins to fail, and when it succeeds again (OK).
    std::function<void(const absl::Status& written)> report = [](const absl::Status&) {};
    std::chrono::milliseconds between_writes = std::chrono::seconds(15);
  };

  // Writes the file, and from then on again and again, each time as a whole: a reader sees one text or the
  // next one. Owner and group may read it. Errors: FAILED_PRECONDITION that names the path and the reason.
  static absl::StatusOr<std::unique_ptr<MetricsFile>> Open(Options options);
  // Removes the file: what it says is over.
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

 private:
  explicit MetricsFile(Options options) : options_(std::move(options)) {}
  absl::Status Write() const;

  const Options options_;
  absl::Status last_;  // of the thread that writes
  std::unique_ptr<Periodic> writes_;
};

}  // namespace curator::metrics
