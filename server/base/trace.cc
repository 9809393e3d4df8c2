#include "base/trace.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"

namespace curator {
namespace {

constexpr size_t kParentLength = 55;  // of "00-<32>-<16>-<2>"

thread_local std::string current_trace_id;

bool IsLowerHex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool IsZero(std::string_view digits) {
  return digits.find_first_not_of('0') == std::string_view::npos;
}

}  // namespace

std::optional<std::string> TraceIdIn(std::string_view trace_parent) {
  if (trace_parent.size() < kParentLength) return std::nullopt;
  const std::string_view version = trace_parent.substr(0, 2);
  const std::string_view trace = trace_parent.substr(3, 32);
  const std::string_view parent = trace_parent.substr(36, 16);
  const std::string_view flags = trace_parent.substr(53, 2);
  const bool has_hyphens = trace_parent[2] == '-' && trace_parent[35] == '-' && trace_parent[52] == '-';
  const bool has_digits = IsLowerHex(version) && IsLowerHex(trace) && IsLowerHex(parent) && IsLowerHex(flags);
  if (!has_hyphens || !has_digits || version == "ff" || IsZero(trace) || IsZero(parent)) return std::nullopt;
  const std::string_view rest = trace_parent.substr(kParentLength);
  const bool may_go_on = version != "00" && rest.starts_with('-');
  if (!rest.empty() && !may_go_on) return std::nullopt;
  return std::string(trace);
}

std::string TraceIdOf(std::string_view bytes) {
  return absl::BytesToHexString(std::string(bytes));
}

const std::string& CurrentTraceId() {
  return current_trace_id;
}

TraceScope::TraceScope(std::string trace_id)
    : before_(std::exchange(current_trace_id, std::move(trace_id))) {}

TraceScope::~TraceScope() {
  current_trace_id = std::move(before_);
}

}  // namespace curator
