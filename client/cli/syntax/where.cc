#include "client/cli/syntax/where.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/match.h"
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

// That needs quotes to be a name or a value.
bool IsReserved(std::string_view word) {
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

  // A word that joins or compares, in any case. No name or value is in its place.
  bool IsKeyword(std::string_view word) const {
    return token_.kind == TokenKind::kWord && absl::EqualsIgnoreCase(token_.text, std::string(word));
  }
  bool TakeKeyword(std::string_view word) {
    if (!ok() || !IsKeyword(word)) return false;
    Advance();
    return true;
  }
  void ExpectKeyword(std::string_view word, std::string_view after) {
    if (ok() && !TakeKeyword(word))
      Fail(absl::StrCat("expected '", std::string(word), "' ", std::string(after)));
  }

  bool IsComparison() const {
    constexpr std::string_view kSigns[] = {"=", "!=", "<>", "<", "<=", ">", ">="};
    return token_.kind == TokenKind::kSign && std::ranges::find(kSigns, token_.text) != std::end(kSigns);
  }

  // Whether "not" negates what follows, and is no attribute of this name.
  bool IsNegation() const {
    if (!IsKeyword("not")) return false;
    Reader ahead = *this;
    ahead.Advance();
    return !ahead.IsComparison() && !ahead.IsWord("in");
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
    const bool word = token_.kind == TokenKind::kWord && !IsReserved(token_.text);
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
    const std::string_view rest = text_.substr(next_);
    if (std::string_view("[](){},=<>").find(c) == std::string_view::npos && !rest.starts_with("!="))
      return FailAt(next_, "this character needs quotes around the text that it is part of");
    token_.kind = TokenKind::kSign;
    const bool is_pair =
        rest.starts_with("<=") || rest.starts_with(">=") || rest.starts_with("!=") || rest.starts_with("<>");
    token_.text = rest.substr(0, is_pair ? 2 : 1);
    next_ += token_.text.size();
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
  bool is_negated = false;
};

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

void ReadList(Reader& reader, const std::string& close, v1::Condition& condition) {
  do {
    condition.add_in()->set_string_value(reader.ExpectText("a value"));
  } while (reader.TakeSign(","));
  reader.ExpectSign(close, "or ',' after a value of the list");
}

UpperEnd ReadBetween(Reader& reader, v1::Condition& condition) {
  v1::Interval& interval = *condition.mutable_between();
  interval.mutable_from()->set_string_value(reader.ExpectText("the lower end after 'between'"));
  reader.ExpectKeyword("and", "between the ends of the interval");
  interval.mutable_to()->set_string_value(reader.ExpectText("the upper end"));
  return UpperEnd::kIncluded;
}

UpperEnd ReadIn(Reader& reader, v1::Condition& condition) {
  if (reader.TakeSign("[")) return ReadInterval(reader, condition);
  if (reader.TakeSign("{")) {
    ReadList(reader, "}", condition);
  } else if (reader.TakeSign("(")) {
    ReadList(reader, ")", condition);
  } else if (reader.ok()) {
    reader.Fail("expected '[' with an interval or '{' or '(' with a list after 'in'");
  }
  return UpperEnd::kAbsent;
}

// Lists and intervals where these say it, as texts were sent before there were other comparisons.
void ReadComparison(Reader& reader, OneCondition& read) {
  const std::string sign = reader.token().text;
  reader.TakeSign(sign);
  const std::string value = reader.ExpectText(absl::StrCat("a value after '", sign, "'"));
  if (sign == "=") {
    read.condition.add_in()->set_string_value(value);
  } else if (sign == ">=") {
    read.condition.mutable_between()->mutable_from()->set_string_value(value);
  } else if (sign == ">" || sign == "!=" || sign == "<>") {
    v1::Comparison& compare = *read.condition.mutable_compare();
    compare.set_operator_(sign == ">" ? v1::Comparison::GREATER : v1::Comparison::NOT_EQUAL);
    compare.mutable_value()->set_string_value(value);
  } else {
    read.condition.mutable_between()->mutable_to()->set_string_value(value);
    read.upper = sign == "<=" ? UpperEnd::kIncluded : UpperEnd::kExcluded;
  }
}

void ReadIsMissing(Reader& reader, OneCondition& read) {
  read.is_negated = reader.TakeKeyword("not");
  read.condition.set_is_missing(true);
  if (reader.ok() && !reader.TakeKeyword("missing"))
    reader.Fail(read.is_negated ? "expected 'missing' after 'is not'"
                                : "expected 'missing' or 'not missing' after 'is'");
}

OneCondition ReadCondition(Reader& reader) {
  OneCondition read;
  const std::string attribute = reader.ExpectText("an attribute");
  read.condition.set_attribute(attribute);
  if (!reader.ok()) return read;
  if (reader.IsComparison()) {
    ReadComparison(reader, read);
    return read;
  }
  if (reader.TakeKeyword("is")) {
    ReadIsMissing(reader, read);
    return read;
  }
  read.is_negated = reader.TakeKeyword("not");
  if (reader.TakeKeyword("in")) {
    read.upper = ReadIn(reader, read.condition);
  } else if (reader.TakeKeyword("between")) {
    read.upper = ReadBetween(reader, read.condition);
  } else if (read.is_negated) {
    reader.Fail("expected 'in' or 'between' after 'not'");
  } else {
    reader.Fail(
        absl::StrCat("expected 'in', 'between', 'is', '=', '!=', '<', '<=', '>' or '>=' after the attribute ",
                     attribute, " (a text with blanks needs quotes)"));
  }
  return read;
}

// Expressions with the upper ends of their conditions, in the order of the text.
class ExpressionReader {
 public:
  explicit ExpressionReader(Reader& reader) : reader_(reader) {}

  v1::Expression ReadAll() {
    v1::Expression expression = ReadAnyOf();
    reader_.ExpectEnd("expected 'and', 'or' or the end (a text with blanks needs quotes)");
    return expression;
  }

  std::vector<UpperEnd> TakeUpperEnds() { return std::move(upper_ends_); }

 private:
  v1::Expression ReadAnyOf() {
    v1::Expression first = ReadAllOf();
    if (!reader_.IsKeyword("or")) return first;
    v1::Expression any;
    v1::Expressions& operands = *any.mutable_any_of();
    AddAnyOf(std::move(first), operands);
    while (reader_.TakeKeyword("or")) AddAnyOf(ReadAllOf(), operands);
    return any;
  }

  v1::Expression ReadAllOf() {
    v1::Expression first = ReadOne();
    if (!reader_.IsKeyword("and")) return first;
    v1::Expression all;
    v1::Expressions& operands = *all.mutable_all_of();
    AddAllOf(std::move(first), operands);
    while (reader_.TakeKeyword("and")) AddAllOf(ReadOne(), operands);
    return all;
  }

  // The recursion ends with the nesting.
  v1::Expression ReadOne() {
    v1::Expression expression;
    if (!reader_.ok()) return expression;
    const bool is_not = reader_.IsNegation();
    if (!is_not && !reader_.IsSign("(")) return ReadConditionOf();
    if (nested_ == kDeepestWhere) {
      reader_.Fail(absl::StrCat("this is inside of ", kDeepestWhere,
                                " parentheses and 'not's, and cannot be inside of more"));
      return expression;
    }
    ++nested_;
    if (is_not) {
      reader_.TakeKeyword("not");
      *expression.mutable_not_() = ReadOne();
    } else {
      reader_.TakeSign("(");
      expression = ReadAnyOf();
      reader_.ExpectSign(")", "or 'and' or 'or' after a condition (a text with blanks needs quotes)");
    }
    --nested_;
    return expression;
  }

  v1::Expression ReadConditionOf() {
    OneCondition read = ReadCondition(reader_);
    v1::Expression expression;
    v1::Expression& inner = read.is_negated ? *expression.mutable_not_() : expression;
    *inner.mutable_condition() = std::move(read.condition);
    upper_ends_.push_back(read.upper);
    return expression;
  }

  // Parentheses that do not matter leave no level.
  static void AddAnyOf(v1::Expression operand, v1::Expressions& operands) {
    if (!operand.has_any_of()) {
      *operands.add_expressions() = std::move(operand);
      return;
    }
    for (v1::Expression& each : *operand.mutable_any_of()->mutable_expressions())
      *operands.add_expressions() = std::move(each);
  }

  static void AddAllOf(v1::Expression operand, v1::Expressions& operands) {
    if (!operand.has_all_of()) {
      *operands.add_expressions() = std::move(operand);
      return;
    }
    for (v1::Expression& each : *operand.mutable_all_of()->mutable_expressions())
      *operands.add_expressions() = std::move(each);
  }

  Reader& reader_;
  std::vector<UpperEnd> upper_ends_;
  int nested_ = 0;
};

// A list of conditions where the expression joins conditions by "and" alone.
v1::Predicate PredicateOf(v1::Expression expression) {
  v1::Predicate predicate;
  if (expression.has_condition()) {
    *predicate.add_all_of() = std::move(*expression.mutable_condition());
    return predicate;
  }
  const auto& operands = expression.all_of().expressions();
  const bool is_list =
      expression.has_all_of() &&
      std::all_of(operands.begin(), operands.end(), [](const auto& each) { return each.has_condition(); });
  if (!is_list) {
    *predicate.mutable_expression() = std::move(expression);
    return predicate;
  }
  for (v1::Expression& each : *expression.mutable_all_of()->mutable_expressions())
    *predicate.add_all_of() = std::move(*each.mutable_condition());
  return predicate;
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

// Whether "below a value" is a comparison: of integers and of categories that are in an order.
bool IsCompared(const v1::Attribute& attribute, const v1::Interval& interval) {
  return !interval.has_from() &&
         (attribute.has_integer() || (attribute.has_categorical() && attribute.categorical().ordered()));
}

absl::Status CheckUpperEnd(const v1::Schema& schema, UpperEnd upper, v1::Condition& condition) {
  const auto attribute =
      std::find_if(schema.attributes().begin(), schema.attributes().end(),
                   [&](const v1::Attribute& candidate) { return candidate.name() == condition.attribute(); });
  if (attribute == schema.attributes().end() || upper == UpperEnd::kAbsent) return absl::OkStatus();
  const bool excluded = upper == UpperEnd::kExcluded;
  if (attribute->has_date()) return CheckEndOfDates(*attribute, excluded, condition);
  const std::string end = condition.between().to().string_value();
  if (excluded && IsCompared(*attribute, condition.between())) {
    condition.clear_between();
    condition.mutable_compare()->set_operator_(v1::Comparison::LESS);
    condition.mutable_compare()->mutable_value()->set_string_value(end);
    return absl::OkStatus();
  }
  if (!attribute->has_numeric() && excluded)
    return EndError(condition,
                    absl::StrCat("its values are counted one by one, so the last one that is meant "
                                 "ends the interval: write ']' or '<=' with the one before ",
                                 end));
  if (attribute->has_numeric() && !excluded && !IsLargestEdge(*attribute, end))
    return EndError(
        condition, absl::StrCat("its bins end before their upper edge: write '", end, ")' or '< ", end, "'"));
  return absl::OkStatus();
}

// In the order of the text, from the end `next` on. At most as deep as a text can be nested.
absl::Status CheckExpression(const v1::Schema& schema, const std::vector<UpperEnd>& ends, size_t& next,
                             v1::Expression& expression) {
  if (expression.has_condition()) return CheckUpperEnd(schema, ends[next++], *expression.mutable_condition());
  if (expression.has_not_()) return CheckExpression(schema, ends, next, *expression.mutable_not_());
  v1::Expressions& operands =
      expression.has_all_of() ? *expression.mutable_all_of() : *expression.mutable_any_of();
  for (v1::Expression& operand : *operands.mutable_expressions())
    RETURN_IF_ERROR(CheckExpression(schema, ends, next, operand));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ParsedWhere> ParseWhere(std::string_view text) {
  Reader reader(text);
  ExpressionReader expressions(reader);
  v1::Expression expression = expressions.ReadAll();
  if (!reader.ok()) return reader.error();
  return ParsedWhere{PredicateOf(std::move(expression)), expressions.TakeUpperEnds()};
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
    OneCondition read = ReadCondition(reader);
    if (reader.ok() && read.is_negated)
      reader.Fail("a condition of thresholds has no 'not' in it; '!=' and lists of the other values work");
    parsed.conditions.push_back(std::move(read.condition));
    parsed.upper_ends.push_back(read.upper);
  } while (reader.TakeSign(","));
  reader.ExpectSign(")", "or ',' after a condition");
  reader.ExpectEnd("expected the end after ')'");
  if (!reader.ok()) return reader.error();
  return parsed;
}

absl::Status CheckEnds(ParsedWhere& parsed, const v1::Schema& schema) {
  size_t next = 0;
  for (v1::Condition& condition : *parsed.predicate.mutable_all_of())
    RETURN_IF_ERROR(CheckUpperEnd(schema, parsed.upper_ends[next++], condition));
  if (!parsed.predicate.has_expression()) return absl::OkStatus();
  return CheckExpression(schema, parsed.upper_ends, next, *parsed.predicate.mutable_expression());
}

absl::Status CheckEnds(ParsedThresholds& parsed, const v1::Schema& schema) {
  for (size_t i = 0; i < parsed.conditions.size(); ++i)
    RETURN_IF_ERROR(CheckUpperEnd(schema, parsed.upper_ends[i], parsed.conditions[i]));
  return absl::OkStatus();
}

}  // namespace curator::cli
