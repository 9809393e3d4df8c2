#include "client/cli/output/json_writer.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <variant>

#include "base/text.h"
#include "client/cli/output/text.h"

namespace curator::cli {
namespace {

void AppendEscape(std::string& json, unsigned char code) {
  std::array<char, 8> escape;
  std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(code));
  json += escape.data();
}

void AppendEscaped(std::string& json, char c) {
  switch (c) {
    case '"':
      json += "\\\"";
      return;
    case '\\':
      json += "\\\\";
      return;
    case '\n':
      json += "\\n";
      return;
    case '\t':
      json += "\\t";
      return;
    case '\r':
      json += "\\r";
      return;
    default:
      break;
  }
  if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) {
    json.push_back(c);
    return;
  }
  AppendEscape(json, static_cast<unsigned char>(c));
}

struct AsJson {
  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return std::isfinite(value) ? ExactText(value) : "null"; }
  std::string operator()(const std::string& value) const { return JsonString(value); }
  std::string operator()(const RawJson& value) const { return value.text; }
  std::string operator()(const std::vector<std::string>& value) const {
    std::string json = "[";
    for (const std::string& item : value) {
      if (json.size() > 1) json.push_back(',');
      json += JsonString(item);
    }
    json.push_back(']');
    return json;
  }
};

}  // namespace

std::string JsonString(std::string_view text) {
  std::string json = "\"";
  for (size_t i = 0; i < text.size();) {
    const size_t length = Utf8CharacterLength(text.substr(i));
    if (length == 0) {
      json += "\xEF\xBF\xBD";
      ++i;
    } else if (length == 1) {
      AppendEscaped(json, text[i++]);
    } else if (length == 2 && text[i] == '\xC2' && static_cast<unsigned char>(text[i + 1]) < 0xA0) {
      // U+0080 to U+009F are control characters too, which terminals obey.
      AppendEscape(json, static_cast<unsigned char>(text[i + 1]));
      i += length;
    } else {
      json.append(text.substr(i, length));
      i += length;
    }
  }
  json.push_back('"');
  return json;
}

void JsonWriter::Separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_elements_.empty()) return;
  if (has_elements_.back()) out_ << ",";
  has_elements_.back() = true;
}

void JsonWriter::BeginObject() {
  Separate();
  has_elements_.push_back(false);
  out_ << "{";
}

void JsonWriter::EndObject() {
  has_elements_.pop_back();
  out_ << "}";
}

void JsonWriter::BeginArray() {
  Separate();
  has_elements_.push_back(false);
  out_ << "[";
}

void JsonWriter::EndArray() {
  has_elements_.pop_back();
  out_ << "]";
}

void JsonWriter::Key(std::string_view key) {
  Separate();
  out_ << JsonString(key) << ":";
  after_key_ = true;
}

void JsonWriter::Write(const Value& value) {
  Separate();
  out_ << std::visit(AsJson(), value);
}

}  // namespace curator::cli
