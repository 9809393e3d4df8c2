// A streaming writer of one JSON document: a large answer is never in memory as JSON.
//
// Not thread-safe.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/output/value.h"

namespace curator::cli {

// `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
std::string JsonString(std::string_view text);

// The caller pairs Begin and End calls, and calls Key() before each member of an object.
class JsonWriter {
 public:
  explicit JsonWriter(std::ostream& out) : out_(out) {}

  void BeginObject();
  void EndObject();
  void BeginArray();
  void EndArray();
  void Key(std::string_view key);
  // Doubles that JSON cannot represent (infinite, not a number) become null.
  void Write(const Value& value);

 private:
  void Separate();

  std::ostream& out_;
  bool after_key_ = false;
  std::vector<bool> has_elements_;  // one for each open object or array
};

}  // namespace curator::cli
