#include "client/sql/statement.h"

#include <pg_query.h>

#include <optional>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "client/sql/refusal.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/message.h"

namespace curator::sql {
namespace {

// libpg_query's numbers of the tokens that matter here. Those of another version of PostgreSQL are others:
// then parse_tree.proto changes, too.
static_assert(PG_VERSION_NUM / 10'000 == 15);
enum Token : int {
  kPercent = 37,
  kOpen = 40,
  kClose = 41,
  kTimes = 42,
  kPlus = 43,
  kComma = 44,
  kMinus = 45,
  kSlash = 47,
  kSemicolon = 59,
  kOpenIndex = 91,
  kCloseIndex = 93,
  kPower = 94,
  kOtherOperator = 265,
  kTypeCast = 268,
  kLineComment = 275,
  kComment = 276,
  kAnd = 291,
  kAt = 301,
  kBetween = 308,
  kCase = 321,
  kCollate = 334,
  kDistinct = 390,
  kExcept = 405,
  kExplain = 411,
  kFor = 424,
  kGroup = 438,
  kIntersect = 471,
  kInto = 473,
  kJoin = 478,
  kNot = 528,
  kOperator = 545,
  kOr = 548,
  kSelect = 625,
  kUnion = 689,
  kWindow = 715,
  kWith = 716,
  kNotBeforeOther = 737,
};

constexpr char kForm[] = "a statement is SELECT ... FROM dataset, or EXPLAIN and such a SELECT";

// Both results of the parser that are read begin alike.
absl::Status ErrorOf(std::string_view sql, const PgQueryError& error) {
  std::string words = error.message;
  const size_t place =
      PlaceOfCharacter(sql, error.cursorpos > 0 ? static_cast<size_t>(error.cursorpos - 1) : 0);
  if (absl::StrContains(words, "near \"-\"")) {
    absl::StrAppend(&words, "; a name with dashes is written in quotation marks: FROM \"my-data\"");
  } else if (place < sql.size() && sql[place] == '`') {
    absl::StrAppend(&words, "; names are quoted as in \"name\"");
  } else if (absl::StrContains(words, "LIMIT #,#")) {
    absl::StrAppend(&words, ": write LIMIT 10 OFFSET 5");
  }
  return Refusal(sql, static_cast<int64_t>(place), words);
}

// A message of nested ones: the deepest tree of kMostDepth levels has three messages for each.
template <typename Message>
bool Read(const PgQueryProtobuf& bytes, Message& message) {
  constexpr int kMostNestedMessages = 400;
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const uint8_t*>(bytes.data),
                                               static_cast<int>(bytes.len));
  input.SetRecursionLimit(kMostNestedMessages);
  return message.ParseFromCodedStream(&input) && input.ConsumedEntireMessage();
}

absl::StatusOr<tree::ScanResult> TokensOf(std::string_view sql) {
  const PgQueryScanResult result = pg_query_scan(std::string(sql).c_str());
  tree::ScanResult tokens;
  absl::Status status;
  if (result.error != nullptr) {
    status = ErrorOf(sql, *result.error);
  } else if (!Read(result.pbuf, tokens)) {
    status = absl::InternalError("the tokens of the statement could not be read");
  }
  pg_query_free_scan_result(result);
  if (!status.ok()) return status;
  return tokens;
}

// Counts how deep the tree of a text may become at most, from its tokens. Brackets are levels; so are the
// operators that take each other's results, until a comma, AND or OR ends their chain.
class DepthCounter {
 public:
  // The depth after this token.
  int After(int token) {
    switch (token) {
      case kOpen:
      case kOpenIndex:
        levels_.push_back({});
        break;
      case kClose:
      case kCloseIndex:
        if (levels_.size() > 1) Leave();
        break;
      case kBetween:
        ++levels_.back().betweens;
        Deepen();
        break;
      case kAnd:
        if (levels_.back().betweens > 0) {  // it belongs to BETWEEN
          --levels_.back().betweens;
          break;
        }
        [[fallthrough]];
      case kOr:
      case kComma:
        EndChain();
        break;
      default:
        if (IsLasting(token)) ++lasting_;
        if (Deepens(token)) Deepen();
    }
    return lasting_ + chained_ + static_cast<int>(levels_.size()) - 1;
  }

 private:
  struct Level {
    int chain = 0;
    int betweens = 0;
  };

  static bool IsLasting(int token) {
    return token == kCase || token == kJoin || token == kUnion || token == kIntersect || token == kExcept;
  }
  static bool Deepens(int token) {
    for (const int each : {kPercent, kTimes, kPlus, kMinus, kSlash, kPower, kOtherOperator, kTypeCast, kAt,
                           kCollate, kNot, kNotBeforeOther, kOperator}) {
      if (token == each) return true;
    }
    return false;
  }
  void Deepen() {
    ++levels_.back().chain;
    ++chained_;
  }
  void EndChain() {
    chained_ -= levels_.back().chain;
    levels_.back() = {};
  }
  void Leave() {
    EndChain();
    levels_.pop_back();
  }

  std::vector<Level> levels_ = {{}};
  int chained_ = 0;
  int lasting_ = 0;
};

KeywordPlaces PlacesOf(const tree::ScanResult& scanned) {
  KeywordPlaces places;
  bool has_first = false;
  for (const tree::ScanToken& token : scanned.tokens()) {
    const int64_t place = token.start();
    const int kind = token.token();
    if (kind == kLineComment || kind == kComment) continue;
    if (!has_first) places = {place, place, place, place, place, place, place};
    has_first = true;
    const auto set_once = [&](int64_t& at) { at = at == places.first ? place : at; };
    if (kind == kSelect) places.select = place;
    if (kind == kDistinct) set_once(places.distinct);
    if (kind == kInto) set_once(places.into);
    if (kind == kGroup) places.group = place;
    if (kind == kWindow) places.window = place;
    if (kind == kFor) places.locking = place;
  }
  return places;
}

absl::Status CheckTokens(std::string_view sql, const tree::ScanResult& scanned) {
  DepthCounter depth;
  int selects = 0;
  std::optional<int> first;
  bool has_ended = false;
  for (const tree::ScanToken& token : scanned.tokens()) {
    const int kind = token.token();
    if (kind == kLineComment || kind == kComment) continue;
    if (!first && kind == kWith)
      return Refusal(sql, token.start(), "WITH is not answered: one SELECT reads one dataset");
    if (!first && kind != kSelect && kind != kExplain) return Refusal(sql, token.start(), kForm);
    if (!first) first = kind;
    if (kind == kSemicolon) {
      has_ended = true;
      continue;
    }
    if (has_ended) return Refusal(sql, token.start(), "one statement at a time: ask this one by itself");
    if (kind == kUnion || kind == kIntersect || kind == kExcept) {
      return Refusal(sql, token.start(),
                     "results are not combined: ask each SELECT by itself, each is an answer of its own");
    }
    if (kind == kSelect && ++selects > 1)
      return Refusal(sql, token.start(), "sub-queries are not answered: one SELECT reads one dataset");
    if (depth.After(kind) > kMostDepth) {
      return Refusal(sql, token.start(),
                     absl::StrCat("the statement is nested deeper than ", kMostDepth, " levels here"));
    }
  }
  if (!first) return absl::InvalidArgumentError(absl::StrCat("the statement is empty; ", kForm));
  return absl::OkStatus();
}

absl::StatusOr<tree::ParseResult> TreeOf(std::string_view sql) {
  const PgQueryProtobufParseResult result = pg_query_parse_protobuf(std::string(sql).c_str());
  tree::ParseResult parsed;
  absl::Status status;
  if (result.error != nullptr) {
    status = ErrorOf(sql, *result.error);
  } else if (!Read(result.parse_tree, parsed)) {
    status = absl::InvalidArgumentError("the statement is nested too deeply");
  }
  pg_query_free_protobuf_parse_result(result);
  if (!status.ok()) return status;
  return parsed;
}

absl::Status CheckText(std::string_view sql) {
  if (sql.size() > kMostSqlBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the statement has ", sql.size(), " bytes; at most ", kMostSqlBytes, " are read"));
  }
  if (!IsUtf8(sql)) return absl::InvalidArgumentError("the statement is not UTF-8");
  const size_t zero = sql.find('\0');
  if (zero != std::string_view::npos)
    return Refusal(sql, static_cast<int64_t>(zero), "a statement has no zero bytes");
  return absl::OkStatus();
}

absl::StatusOr<Table> TableOf(std::string_view sql, const tree::RangeVariable& range) {
  if (!range.catalog().empty() || !range.schema().empty()) {
    return Refusal(sql, range.location(),
                   absl::StrCat("a dataset lies in no schema: write FROM \"", range.name(), "\""));
  }
  if (!range.inherits()) return Refusal(sql, range.location(), "ONLY has no meaning here: leave it out");
  return Table{.name = range.name(), .alias = range.alias().name(), .place = range.location()};
}

}  // namespace

absl::StatusOr<Statement> ParseStatement(std::string_view sql) {
  RETURN_IF_ERROR(CheckText(sql));
  ASSIGN_OR_RETURN(const tree::ScanResult tokens, TokensOf(sql));
  RETURN_IF_ERROR(CheckTokens(sql, tokens));
  ASSIGN_OR_RETURN(tree::ParseResult parsed, TreeOf(sql));
  if (parsed.statements_size() != 1) return absl::InvalidArgumentError(kForm);
  tree::Node& node = *parsed.mutable_statements(0)->mutable_statement();
  Statement statement;
  statement.places = PlacesOf(tokens);
  if (node.has_explain() && node.explain().query().has_select()) {
    if (!node.explain().options().empty()) {
      return Refusal(sql, statement.places.first,
                     "EXPLAIN takes no options: it is the estimate of cost and error, and reads no record");
    }
    statement.explain = true;
    statement.select.Swap(node.mutable_explain()->mutable_query()->mutable_select());
  } else if (node.has_select()) {
    statement.select.Swap(node.mutable_select());
  } else {
    return Refusal(sql, statement.places.first, kForm);
  }
  return statement;
}

absl::StatusOr<Table> TableOf(std::string_view sql, const tree::SelectStatement& select) {
  constexpr char kNoJoins[] = "joins are not answered: FROM takes one dataset";
  if (select.from().empty()) return absl::InvalidArgumentError("FROM is missing: it names the dataset");
  if (select.from_size() > 1)
    return Refusal(sql, select.from(1).has_range_variable() ? select.from(1).range_variable().location() : -1,
                   kNoJoins);
  const tree::Node& from = select.from(0);
  if (from.has_range_variable()) return TableOf(sql, from.range_variable());
  if (from.has_join()) {
    const tree::Node& right = from.join().right();
    return Refusal(sql, right.has_range_variable() ? right.range_variable().location() : -1, kNoJoins);
  }
  return absl::InvalidArgumentError("FROM takes the name of one dataset and nothing else");
}

bool HasUnknownPart(const google::protobuf::Message& message) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (!reflection.GetUnknownFields(message).empty()) return true;
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields) {
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      if (HasUnknownPart(reflection.GetMessage(message, field))) return true;
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      if (HasUnknownPart(reflection.GetRepeatedMessage(message, field, i))) return true;
    }
  }
  return false;
}

}  // namespace curator::sql
