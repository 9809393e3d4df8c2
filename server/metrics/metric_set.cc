#include "metrics/metric_set.h"

#include <prometheus/text_serializer.h>

#include <iterator>
#include <sstream>

namespace curator::metrics {
namespace {

prometheus::MetricFamily FamilyOf(const ReadFamily& read) {
  const bool is_counter = read.kind == Kind::kCounter;
  prometheus::MetricFamily family{
      .name = read.name,
      .help = read.help,
      .type = is_counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge,
      .metric = {}};
  for (const Reading& each : read.read()) {
    prometheus::ClientMetric& metric = family.metric.emplace_back();
    for (const auto& [name, value] : each.labels) metric.label.push_back({.name = name, .value = value});
    (is_counter ? metric.counter.value : metric.gauge.value) = each.value;
  }
  return family;
}

}  // namespace

void MetricSet::Add(std::string name, std::string help, Kind kind, std::function<double()> read) {
  Add({.name = std::move(name), .help = std::move(help), .kind = kind, .read = [read = std::move(read)] {
         return std::vector<Reading>{{.value = read()}};
       }});
}

std::string MetricSet::Text() const {
  std::vector<prometheus::MetricFamily> families = registry_.Collect();
  for (const ReadFamily& each : read_) families.push_back(FamilyOf(each));
  std::erase_if(families, [](const prometheus::MetricFamily& family) { return family.metric.empty(); });
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families);
  return std::move(text).str();
}

}  // namespace curator::metrics
