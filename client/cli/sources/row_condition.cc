#include "client/cli/sources/row_condition.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace curator::cli {
namespace {

// Bounds of what the parser's own stack and a statement of PostgreSQL (65,535 parameters) hold.
constexpr int kDeepestNesting = 100;
constexpr size_t kMostValues = 10'000;

enum class RowToken { kEnd, kWord, kName, kNumber, kText, kSign, kBroken };

// Reads tokens of the text from left to right.
class RowTokens {
 public:
  explicit RowTokens(std::string_view text) : text_(text) { Advance(); }

  RowToken kind() const { return kind_; }
  // A word or number as it is written, a name or text without its quotes, a sign; of kBroken what is wrong.
  const std::string& value() const { return value_; }
  // The place of the present token, from 1.
  size_t place() const { return begin_ + 1; }

  bool IsKeyword(std::string_view keyword) const {
    return kind_ == RowToken::kWord && absl::AsciiStrToLower(value_) == keyword;
  }
  bool IsSign(std::string_view sign) const { return kind_ == RowToken::kSign && value_ == sign; }
  bool TakeKeyword(std::string_view keyword) {
    const bool is_next = IsKeyword(keyword);
    if (is_next) Advance();
    return is_next;
  }
  bool TakeSign(std::string_view sign) {
    const bool is_next = IsSign(sign);
    if (is_next) Advance();
    return is_next;
  }

  void Advance() {
    while (end_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[end_]))) ++end_;
    begin_ = end_;
    value_.clear();
    if (end_ == text_.size()) {
      kind_ = RowToken::kEnd;
      return;
    }
    const char c = text_[begin_];
    if (c == '"') return ReadQuoted('"', RowToken::kName);
    if (c == '\'') return ReadQuoted('\'', RowToken::kText);
    if (IsWord(c) && !IsDigit(c)) return ReadWhile(RowToken::kWord, [](char next) { return IsWord(next); });
    if (IsDigit(c) || ((c == '-' || c == '+' || c == '.') && begin_ + 1 < text_.size() &&
                       (IsDigit(text_[begin_ + 1]) || text_[begin_ + 1] == '.'))) {
      return ReadNumber();
    }
    ReadSign();
  }

 private:
  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }
  static bool IsWord(char c) {
    const unsigned char byte = static_cast<unsigned char>(c);
    return absl::ascii_isalnum(byte) || c == '_' || byte >= 0x80;
  }

  template <typename Belongs>
  void ReadWhile(RowToken kind, const Belongs& belongs) {
    while (end_ < text_.size() && belongs(text_[end_])) ++end_;
    kind_ = kind;
    value_ = text_.substr(begin_, end_ - begin_);
  }

  void ReadNumber() {
    ++end_;
    ReadWhile(RowToken::kNumber, [this](char next) {
      const bool is_after_e = text_[end_ - 1] == 'e' || text_[end_ - 1] == 'E';
      return IsWord(next) || next == '.' || (is_after_e && (next == '-' || next == '+'));
    });
  }

  void ReadQuoted(char quote, RowToken kind) {
    for (++end_; end_ < text_.size(); ++end_) {
      if (text_[end_] == quote) {
        const bool is_doubled = end_ + 1 < text_.size() && text_[end_ + 1] == quote;
        if (!is_doubled) {
          ++end_;
          kind_ = kind;
          return;
        }
        ++end_;
      }
      value_ += text_[end_];
    }
    kind_ = RowToken::kBroken;
    value_ = "a quote is not closed";
  }

  void ReadSign() {
    kind_ = RowToken::kSign;
    for (const std::string_view sign : {"<=", ">=", "<>", "!=", "=", "<", ">", "(", ")", ","}) {
      if (!text_.substr(begin_).starts_with(sign)) continue;
      end_ += sign.size();
      value_ = sign;
      return;
    }
    ++end_;
    kind_ = RowToken::kBroken;
    value_ = "a character that belongs in quotes";
  }

  const std::string_view text_;
  size_t begin_ = 0;
  size_t end_ = 0;
  RowToken kind_ = RowToken::kEnd;
  std::string value_;
};

class RowConditionParser {
 public:
  explicit RowConditionParser(std::string_view text) : tokens_(text) {}

  absl::StatusOr<RowCondition> Parse() {
    RETURN_IF_ERROR(ReadCondition(0));
    if (tokens_.kind() != RowToken::kEnd) return Expected("\"and\", \"or\" or the end");
    return std::move(condition_);
  }

 private:
  absl::Status Expected(std::string_view what) const {
    const std::string found =
        tokens_.kind() == RowToken::kBroken ? absl::StrCat(" (", tokens_.value(), ")") : "";
    return absl::InvalidArgumentError(
        absl::StrCat("--where, character ", tokens_.place(), ": expected ", std::string(what), found));
  }

  absl::Status ReadCondition(int depth) { return ReadList(depth, "or", &RowConditionParser::ReadBoth); }
  absl::Status ReadBoth(int depth) { return ReadList(depth, "and", &RowConditionParser::ReadSingle); }

  // One or more of what `read` reads, with `word` between them.
  absl::Status ReadList(int depth, std::string_view word, absl::Status (RowConditionParser::*read)(int)) {
    RETURN_IF_ERROR((this->*read)(depth));
    while (tokens_.TakeKeyword(word)) {
      Append(" ", word, " ");
      RETURN_IF_ERROR((this->*read)(depth));
    }
    return absl::OkStatus();
  }

  absl::Status ReadSingle(int depth) {
    if (depth == kDeepestNesting) return Expected("fewer parentheses and \"not\"s inside of each other");
    if (tokens_.TakeKeyword("not")) {
      Append("not (");
      RETURN_IF_ERROR(ReadSingle(depth + 1));
      Append(")");
      return absl::OkStatus();
    }
    if (!tokens_.TakeSign("(")) return ReadComparison();
    Append("(");
    RETURN_IF_ERROR(ReadCondition(depth + 1));
    if (!tokens_.TakeSign(")")) return Expected("\")\"");
    Append(")");
    return absl::OkStatus();
  }

  absl::Status ReadComparison() {
    const bool is_column = tokens_.kind() == RowToken::kWord || tokens_.kind() == RowToken::kName;
    if (!is_column || tokens_.value().empty()) return Expected("a column");
    condition_.columns.push_back(tokens_.value());
    Append(QuotedName(tokens_.value()));
    tokens_.Advance();
    if (tokens_.TakeKeyword("is")) {
      Append(tokens_.TakeKeyword("not") ? " is not null" : " is null");
      return tokens_.TakeKeyword("null") ? absl::OkStatus() : Expected("\"null\"");
    }
    const bool is_negated = tokens_.TakeKeyword("not");
    if (tokens_.TakeKeyword("in")) return ReadValues(is_negated);
    if (is_negated) return Expected("\"in\"");
    for (const char* const sign : {"=", "!=", "<>", "<", "<=", ">", ">="}) {
      if (!tokens_.TakeSign(sign)) continue;
      Append(" ", sign, " ");
      return ReadLiteral();
    }
    return Expected("=, !=, <, <=, >, >=, \"in\" or \"is\"");
  }

  absl::Status ReadValues(bool is_negated) {
    Append(is_negated ? " not in (" : " in (");
    if (!tokens_.TakeSign("(")) return Expected("\"(\"");
    RETURN_IF_ERROR(ReadLiteral());
    while (tokens_.TakeSign(",")) {
      Append(", ");
      RETURN_IF_ERROR(ReadLiteral());
    }
    if (!tokens_.TakeSign(")")) return Expected("\",\" or \")\"");
    Append(")");
    return absl::OkStatus();
  }

  absl::Status ReadLiteral() {
    const bool is_truth = tokens_.IsKeyword("true") || tokens_.IsKeyword("false");
    if (tokens_.IsKeyword("null")) return Expected("a value; a condition on missing values is \"is null\"");
    if (!is_truth && tokens_.kind() != RowToken::kNumber && tokens_.kind() != RowToken::kText) {
      return Expected("a number, true, false, or a text in single quotes");
    }
    if (condition_.values.size() == kMostValues)
      return Expected(absl::StrCat("at most ", kMostValues, " values"));
    condition_.values.push_back(tokens_.value());
    Append("$", std::to_string(condition_.values.size()));
    tokens_.Advance();
    return absl::OkStatus();
  }

  template <typename... Pieces>
  void Append(const Pieces&... pieces) {
    (condition_.sql.append(pieces), ...);
  }

  RowTokens tokens_;
  RowCondition condition_;
};

}  // namespace

absl::StatusOr<RowCondition> ParseRowCondition(std::string_view text) {
  if (text.size() > kLongestRowCondition) {
    return absl::InvalidArgumentError(
        absl::StrCat("--where has more than ", kLongestRowCondition, " characters"));
  }
  if (text.find('\0') != std::string_view::npos) {
    return absl::InvalidArgumentError("--where contains a character with the code 0");
  }
  return RowConditionParser(text).Parse();
}

std::string QuotedName(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace curator::cli
