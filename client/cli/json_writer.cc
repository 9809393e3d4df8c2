#include "client/cli/json_writer.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <variant>

#include "client/cli/text.h"

namespace curator::cli {
namespace {

// Length of the UTF-8 sequence at the start of `text`, 0 when it is none.
size_t SequenceLength(std::string_view text) {
  const unsigned char first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 && first < 0xF5   ? 4
                        : first >= 0xE0 && first < 0xF0 ? 3
                        : first >= 0xC2 && first < 0xE0 ? 2
                                                        : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = static_cast<unsigned char>(text[1]);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool outside = (first == 0xED && second >= 0xA0) || (first == 0xF4 && second >= 0x90);
  return overlong || outside ? 0 : length;
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
  std::array<char, 8> escape;
  std::snprintf(escape.data(), escape.size(), "\\u%04x",
                static_cast<unsigned>(static_cast<unsigned char>(c)));
  json += escape.data();
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
    const size_t length = SequenceLength(text.substr(i));
    if (length == 0) {
      json += "\xEF\xBF\xBD";
      ++i;
    } else if (length == 1) {
      AppendEscaped(json, text[i++]);
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
