#include "client/cli/syntax/where.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "client/cli/output/text.h"
#include "dp/domain/dates.h"
#include "dp/domain/numbers.h"
#include "rpc/convert_attribute.h"

namespace curator::cli {
namespace {

enum class TokenKind { kWord, kQuoted, kSign, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;     // of a quoted one without its quotes
  size_t position = 0;  // of its first byte
};

bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool IsWordByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x80) return true;
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("_-+.:/&%").find(c) != std::string_view::npos;
}

bool IsKeyword(std::string_view word) {
  return word == "and" || word == "in" || word == "of" || word == "each";
}

// One step of the language after the other; the first error is kept and ends everything.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {
    if (text.size() > kLongestWhere) {
      error_ = absl::InvalidArgumentError(
          absl::StrCat("conditions are limited to ", kLongestWhere, " bytes; this has ", text.size()));
    } else if (!IsUtf8(text)) {
      error_ = absl::InvalidArgumentError("conditions are written in UTF-8; this has other bytes");
    }
    Advance();
  }

  const absl::Status& error() const { return error_; }
  bool ok() const { return error_.ok(); }
  const Token& token() const { return token_; }

  bool IsSign(std::string_view sign) const { return token_.kind == TokenKind::kSign && token_.text == sign; }
  bool IsWord(std::string_view word) const { return token_.kind == TokenKind::kWord && token_.text == word; }

  // Takes the token if it is this sign or word.
  bool TakeSign(std::string_view sign) {
    if (!ok() || !IsSign(sign)) return false;
    Advance();
    return true;
  }
  bool TakeWord(std::string_view word) {
    if (!ok() || !IsWord(word)) return false;
    Advance();
    return true;
  }

  void ExpectSign(std::string_view sign, std::string_view after) {
    if (ok() && !TakeSign(sign))
      Fail(absl::StrCat("expected '", std::string(sign), "' ", std::string(after)));
  }
  void ExpectWord(std::string_view word, std::string_view after) {
    if (ok() && !TakeWord(word))
      Fail(absl::StrCat("expected '", std::string(word), "' ", std::string(after)));
  }

  // A name or value.
  std::string ExpectText(const std::string& what) {
    if (!ok()) return "";
    const bool word = token_.kind == TokenKind::kWord && !IsKeyword(token_.text);
    if (!word && token_.kind != TokenKind::kQuoted) {
      const bool keyword = token_.kind == TokenKind::kWord;
      Fail(keyword ? absl::StrCat("expected ", what, "; the word ", token_.text, " needs quotes to be one")
                   : absl::StrCat("expected ", what));
      return "";
    }
    std::string text = token_.text;
    Advance();
    return text;
  }

  int32_t ExpectNumber(const std::string& what) {
    int32_t number = 0;
    if (!ok()) return number;
    const std::string& text = token_.text;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (token_.kind != TokenKind::kWord || code != std::errc() || end != text.data() + text.size() ||
        number < 1) {
      Fail(absl::StrCat("expected ", what, ", a whole number from 1 on"));
      return 0;
    }
    Advance();
    return number;
  }

  void ExpectEnd(const std::string& otherwise) {
    if (ok() && token_.kind != TokenKind::kEnd) Fail(otherwise);
  }

  void Fail(const std::string& what) { FailAt(token_.position, what); }

 private:
  void FailAt(size_t position, const std::string& what) {
    if (!error_.ok()) return;
    const std::string shown = Printable(text_);
    const std::string before(DisplayWidth(Printable(text_.substr(0, position))), ' ');
    error_ = absl::InvalidArgumentError(absl::StrCat(what, "\n  ", shown, "\n  ", before, "^"));
    token_ = {TokenKind::kEnd, "", text_.size()};
  }

  void Advance() {
    if (!ok()) return;
    while (next_ < text_.size() && IsBlank(text_[next_])) ++next_;
    token_ = {TokenKind::kEnd, "", next_};
    if (next_ == text_.size()) return;
    const char c = text_[next_];
    if (c == '\'' || c == '"') return ReadQuoted(c);
    if (IsWordByte(c)) {
      token_.kind = TokenKind::kWord;
      while (next_ < text_.size() && IsWordByte(text_[next_])) token_.text.push_back(text_[next_++]);
      return;
    }
    if (std::string_view("[](){},=<>").find(c) == std::string_view::npos)
      return FailAt(next_, "this character needs quotes around the text that it is part of");
    token_.kind = TokenKind::kSign;
    token_.text.push_back(text_[next_++]);
    if ((c == '<' || c == '>') && next_ < text_.size() && text_[next_] == '=')
      token_.text.push_back(text_[next_++]);
  }

  void ReadQuoted(char quote) {
    const size_t start = next_++;
    token_.kind = TokenKind::kQuoted;
    for (; next_ < text_.size(); ++next_) {
      if (text_[next_] == quote) {
        ++next_;
        return;
      }
      if (text_[next_] == '\\' && next_ + 1 < text_.size()) ++next_;
      token_.text.push_back(text_[next_]);
    }
    FailAt(start, "this quote is not closed");
  }

  const std::string_view text_;
  size_t next_ = 0;
  Token token_;
  absl::Status error_;
};

struct OneCondition {
  v1::Condition condition;
  UpperEnd upper = UpperEnd::kAbsent;
};

void ReadSet(Reader& reader, v1::Condition& condition) {
  do {
    condition.add_in()->set_string_value(reader.ExpectText("a value"));
  } while (reader.TakeSign(","));
  reader.ExpectSign("}", "or ',' after a value of the set");
}

UpperEnd ReadInterval(Reader& reader, v1::Condition& condition) {
  v1::Interval& interval = *condition.mutable_between();
  if (!reader.IsSign(","))
    interval.mutable_from()->set_string_value(reader.ExpectText("the lower end or ','"));
  reader.ExpectSign(",", "between the ends of the interval");
  UpperEnd upper = UpperEnd::kAbsent;
  if (!reader.IsSign("]") && !reader.IsSign(")")) {
    interval.mutable_to()->set_string_value(reader.ExpectText("the upper end or ']'"));
    upper = reader.IsSign(")") ? UpperEnd::kExcluded : UpperEnd::kIncluded;
  }
  if (!reader.TakeSign(")")) reader.ExpectSign("]", "or ')' after the interval");
  return upper;
}

OneCondition ReadCondition(Reader& reader) {
  OneCondition read;
  const std::string attribute = reader.ExpectText("an attribute");
  read.condition.set_attribute(attribute);
  if (reader.TakeWord("in")) {
    if (reader.TakeSign("{")) {
      ReadSet(reader, read.condition);
    } else if (reader.TakeSign("[")) {
      read.upper = ReadInterval(reader, read.condition);
    } else if (reader.ok()) {
      reader.Fail("expected '[' with an interval or '{' with a set after 'in'");
    }
  } else if (reader.TakeSign("=")) {
    read.condition.add_in()->set_string_value(reader.ExpectText("a value after '='"));
  } else if (reader.TakeSign(">=")) {
    read.condition.mutable_between()->mutable_from()->set_string_value(
        reader.ExpectText("a value after '>='"));
  } else if (reader.IsSign("<=") || reader.IsSign("<")) {
    read.upper = reader.IsSign("<=") ? UpperEnd::kIncluded : UpperEnd::kExcluded;
    const std::string sign = reader.token().text;
    reader.TakeSign(sign);
    read.condition.mutable_between()->mutable_to()->set_string_value(
        reader.ExpectText(absl::StrCat("a value after '", sign, "'")));
  } else if (reader.IsSign(">")) {
    reader.Fail("there is no '>': intervals include their lower end; write '>='");
  } else if (reader.ok()) {
    reader.Fail(absl::StrCat("expected 'in', '=', '>=', '<=' or '<' after the attribute ", attribute,
                             " (a text with blanks needs quotes)"));
  }
  return read;
}

void Append(OneCondition read, ParsedConditions& parsed) {
  parsed.conditions.push_back(std::move(read.condition));
  parsed.upper_ends.push_back(read.upper);
}

absl::Status EndError(const v1::Condition& condition, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("the condition on ", condition.attribute(), ": ", why));
}

// A numeric attribute's last bin includes its largest edge.
bool IsLargestEdge(const v1::Attribute& attribute, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  const absl::StatusOr<dp::Attribute> converted = rpc::FromProto(attribute);
  const auto* const numeric = converted.ok() ? std::get_if<dp::NumericKind>(&converted->kind()) : nullptr;
  return numeric != nullptr && value == numeric->edges.back();
}

// The first second of a day, of a time or of a bin.
std::optional<int64_t> BeginOf(const v1::Attribute& attribute, std::string_view text) {
  const std::string_view trimmed = dp::TrimBlanks(text);
  if (const absl::StatusOr<dp::DeclaredTime> time = dp::ParseDeclaredTime(trimmed); time.ok())
    return time->seconds;
  const absl::StatusOr<dp::Attribute> converted = rpc::FromProto(attribute);
  const auto* const dates = converted.ok() ? std::get_if<dp::DateKind>(&converted->kind()) : nullptr;
  const std::optional<int64_t> bin = dates == nullptr ? std::nullopt : dp::DateBinOfLabel(*dates, trimmed);
  return bin ? std::optional(dp::DatesOfBin(*dates, *bin).from) : std::nullopt;
}

absl::Status CheckEndOfDates(const v1::Attribute& attribute, bool excluded, v1::Condition& condition) {
  const std::string end = condition.between().to().string_value();
  if (!excluded) {
    const absl::StatusOr<dp::DeclaredTime> time = dp::ParseDeclaredTime(dp::TrimBlanks(end));
    if (!time.ok() || time->is_day) return absl::OkStatus();
    return EndError(condition, absl::StrCat("its bins end before a time: write '", end, ")' or '< ", end,
                                            "', or the last day that is meant"));
  }
  const std::optional<int64_t> begin = BeginOf(attribute, end);
  if (!begin) {
    return EndError(condition, absl::StrCat("\"", end,
                                            "\" is no day such as 2019-03-31, no time such as "
                                            "2019-03-31T12:00:00 and none of its bins of dates"));
  }
  std::string time = dp::WriteDeclaredTime(*begin);
  if (time.find('T') == std::string::npos) time += "T00:00:00";
  condition.mutable_between()->mutable_to()->set_string_value(time);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ParsedConditions> ParseWhere(std::string_view text) {
  Reader reader(text);
  ParsedConditions parsed;
  do {
    Append(ReadCondition(reader), parsed);
  } while (reader.TakeWord("and"));
  reader.ExpectEnd("expected 'and' or the end (a text with blanks needs quotes)");
  if (!reader.ok()) return reader.error();
  return parsed;
}

absl::StatusOr<ParsedThresholds> ParseThresholds(std::string_view text) {
  Reader reader(text);
  ParsedThresholds parsed;
  reader.ExpectWord("at", "first: at least 2 of (age >= 65, smoker = yes, zone in {1,2})");
  reader.ExpectWord("least", "after 'at'");
  do {
    parsed.at_least.push_back(reader.ExpectNumber("how many conditions must hold"));
  } while (reader.TakeSign(","));
  reader.ExpectWord("of", "or ',' after the number");
  if (reader.TakeWord("each")) {
    parsed.each = reader.ExpectNumber("how many conditions are taken at a time");
    reader.ExpectWord("of", "after the number");
  }
  reader.ExpectSign("(", "before the conditions");
  do {
    Append(ReadCondition(reader), parsed.conditions);
  } while (reader.TakeSign(","));
  reader.ExpectSign(")", "or ',' after a condition");
  reader.ExpectEnd("expected the end after ')'");
  if (!reader.ok()) return reader.error();
  return parsed;
}

absl::Status CheckEnds(ParsedConditions& parsed, const v1::Schema& schema) {
  for (size_t i = 0; i < parsed.conditions.size(); ++i) {
    v1::Condition& condition = parsed.conditions[i];
    const auto attribute = std::find_if(
        schema.attributes().begin(), schema.attributes().end(),
        [&](const v1::Attribute& candidate) { return candidate.name() == condition.attribute(); });
    if (attribute == schema.attributes().end() || parsed.upper_ends[i] == UpperEnd::kAbsent) continue;
    const bool excluded = parsed.upper_ends[i] == UpperEnd::kExcluded;
    if (attribute->has_date()) {
      RETURN_IF_ERROR(CheckEndOfDates(*attribute, excluded, condition));
      continue;
    }
    const std::string& end = condition.between().to().string_value();
    if (!attribute->has_numeric() && excluded)
      return EndError(condition,
                      absl::StrCat("its values are counted one by one, so the last one that is meant "
                                   "ends the interval: write ']' or '<=' with the one before ",
                                   end));
    if (attribute->has_numeric() && !excluded && !IsLargestEdge(*attribute, end))
      return EndError(condition, absl::StrCat("its bins end before their upper edge: write '", end,
                                              ")' or '< ", end, "'"));
  }
  return absl::OkStatus();
}

}  // namespace curator::cli
