// The metrics of calls: by the names that dashboards of gRPC servers know, and how callers were identified
// and refused.
//
// Thread-safe. A call costs a few atomic additions and two short locks.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "metrics/bounded_counter.h"
#include "metrics/metric_set.h"
#include "rpc/call_measures.h"
#include "rpc/call_observer.h"

namespace curator::metrics {

class CallMetrics {
 public:
  // Every method has series from the start. Calls of others are those of the method "unknown".
  CallMetrics(MetricSet& metrics, std::vector<rpc::ServedMethod> methods);

  // As of rpc::CallHooks, and when a call has ended.
  void OnBegin(std::string_view path) { Find(path).Begin(); }
  void OnGone(std::string_view path) { Find(path).in_flight->Decrement(); }
  void OnEnd(const rpc::CallEnd& call);

 private:
  static constexpr size_t kCodes = 17;  // of gRPC
  struct Method {
    void Begin() {
      started->Increment();
      in_flight->Increment();
    }

    prometheus::Labels labels;
    prometheus::Counter* started = nullptr;
    prometheus::Gauge* in_flight = nullptr;
    prometheus::Counter* received_bytes = nullptr;
    prometheus::Counter* sent_bytes = nullptr;
    prometheus::Histogram* seconds = nullptr;  // null where durations are not measured
    std::array<std::atomic<prometheus::Counter*>, kCodes> handled = {};
  };

  void AddMethod(const rpc::ServedMethod& served);
  Method& Find(std::string_view path);
  prometheus::Counter& Handled(Method& method, absl::StatusCode code);
  void CountRefusal(const rpc::CallEnd& call);

  prometheus::Family<prometheus::Counter>& started_;
  prometheus::Family<prometheus::Counter>& handled_;
  prometheus::Family<prometheus::Histogram>& seconds_;
  prometheus::Family<prometheus::Counter>& received_;
  prometheus::Family<prometheus::Counter>& sent_;
  prometheus::Family<prometheus::Gauge>& in_flight_;
  BoundedCounter identified_;
  BoundedCounter denied_;
  BoundedCounter over_quota_;
  BoundedCounter refused_;
  std::vector<std::string> paths_;  // the keys of methods_ are views of these
  std::unordered_map<std::string_view, std::unique_ptr<Method>> methods_;
  Method* unknown_ = nullptr;
};

}  // namespace curator::metrics
