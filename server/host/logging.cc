#include "host/logging.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/trace.h"

namespace curator::host {
namespace {

// JSON with every byte sequence accepted: text that is not UTF-8 gets replacement characters, not an
// exception.
std::string JsonString(std::string_view text) {
  return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

spdlog::level::level_enum SpdlogLevel(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

// The program's one logger; made on first use.
spdlog::logger& Logger() {
  static spdlog::logger logger = [] {
    spdlog::logger made("curator", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made.set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%fZ","level":"%l",%v})", spdlog::pattern_time_type::utc);
    made.flush_on(spdlog::level::debug);
    return made;
  }();
  return logger;
}

}  // namespace

LogField::LogField(std::string_view key, std::string_view text)
    : json_(JsonString(key) + ":" + JsonString(text)) {}

LogField::LogField(std::string_view key, int64_t number)
    : json_(JsonString(key) + ":" + std::to_string(number)) {}

void SetUpLogging(LogLevel lowest) {
  Logger().set_level(SpdlogLevel(lowest));
}

void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  Log(level, event, std::span<const LogField>(fields.begin(), fields.size()));
}

void Log(LogLevel level, std::string_view event, std::span<const LogField> fields) {
  spdlog::logger& logger = Logger();
  if (!logger.should_log(SpdlogLevel(level))) return;
  std::string line = LogField("event", event).json();
  for (const LogField& field : fields) line += "," + field.json();
  if (!CurrentTraceId().empty()) line += "," + LogField("trace_id", CurrentTraceId()).json();
  logger.log(SpdlogLevel(level), spdlog::string_view_t(line));
}

}  // namespace curator::host
