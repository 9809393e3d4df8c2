#include "metrics/bounded_counter.h"

#include <utility>

namespace curator::metrics {

BoundedCounter::BoundedCounter(prometheus::Registry& registry, const std::string& name,
                               const std::string& help, std::vector<std::string> label_names, size_t most)
    : names_(std::move(label_names)),
      most_(most),
      family_(prometheus::BuildCounter().Name(name).Help(help).Register(registry)) {}

void BoundedCounter::Count(const std::vector<std::string>& values, double by) {
  const std::scoped_lock lock(mutex_);
  Find(values).Increment(by);
}

prometheus::Counter& BoundedCounter::Find(const std::vector<std::string>& values) {
  if (const auto known = counters_.find(values); known != counters_.end()) return *known->second;
  const std::vector<std::string> other(names_.size(), "other");
  if (counters_.size() >= most_ && values != other) return Find(other);
  prometheus::Labels labels;
  for (size_t i = 0; i < names_.size(); ++i) labels[names_[i]] = values[i];
  prometheus::Counter& added = family_.Add(labels);
  counters_.emplace(values, &added);
  return added;
}

}  // namespace curator::metrics
