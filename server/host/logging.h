// Structured log lines on standard error, one JSON object per line:
// {"time":"2026-11-03T10:15:30.123456Z","level":"info","event":"charge_admitted","dataset":"census"}
//
// What may be logged: names of datasets and principals, ids, costs, statuses, durations. Never a record, a
// value of an attribute, a path of private data, a hash of content, or any count of private records.
// Thread-safe.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace curator::host {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// One key and value of a line. Integers are written as JSON numbers, text as JSON strings.
class LogField {
 public:
  LogField(std::string_view key, std::string_view text);
  LogField(std::string_view key, const char* text) : LogField(key, std::string_view(text)) {}
  LogField(std::string_view key, int64_t number);
  LogField(std::string_view key, int number) : LogField(key, static_cast<int64_t>(number)) {}

  const std::string& json() const { return json_; }

 private:
  std::string json_;  // "key":value
};

// Lines below `lowest` are dropped. Call once, at start; without it the lowest level is kInfo.
void SetUpLogging(LogLevel lowest);

// Writes one line. `event` is a fixed word in snake_case, not a sentence. Where the thread works for a call
// (base/trace.h), the line has its "trace_id", too.
void Log(LogLevel level, std::string_view event, std::span<const LogField> fields);
void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

}  // namespace curator::host
