// All series of a server, and their text in the format of Prometheus.
//
// Counters and histograms that the server's work moves are families of the registry. Values that something
// else holds are read when the text is made.
//
// Thread-safe after the last Add(). What it reads must outlive it.
#pragma once

#include <prometheus/registry.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace curator::metrics {

using Labels = std::vector<std::pair<std::string, std::string>>;  // name and value

// A value at a moment.
struct Reading {
  double value = 0;
  Labels labels = {};
};

enum class Kind : uint8_t { kCounter, kGauge };

// Series that are read.
struct ReadFamily {
  std::string name;
  std::string help;
  Kind kind = Kind::kGauge;
  // All series, each with other labels. Thread-safe; may block for a short time.
  std::function<std::vector<Reading>()> read;
};

class MetricSet {
 public:
  prometheus::Registry& registry() { return registry_; }
  // Before the first Text().
  void Add(ReadFamily family) { read_.push_back(std::move(family)); }
  // One series without labels.
  void Add(std::string name, std::string help, Kind kind, std::function<double()> read);

  // The text format, version 0.0.4.
  std::string Text() const;

 private:
  prometheus::Registry registry_;
  std::vector<ReadFamily> read_;
};

}  // namespace curator::metrics
