// A statement's text as a parse tree: libpg_query, which is PostgreSQL's own parser, within limits.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "client/sql/parse_tree.pb.h"

namespace curator::sql {

inline constexpr size_t kMostSqlBytes = 16'384;
// Of brackets in each other, and of operators that take each other's results. The parser calls itself for
// each level, and has no limit of its own that would be reached before its stack ends.
inline constexpr int kMostDepth = 64;

// Of words whose parts of the tree have no places: bytes of the statement; the first where it does not have
// the word.
struct KeywordPlaces {
  int64_t first = 0;
  int64_t select = 0;
  int64_t distinct = 0;
  int64_t into = 0;
  int64_t group = 0;
  int64_t window = 0;
  int64_t locking = 0;
};

struct Statement {
  bool explain = false;
  tree::SelectStatement select;
  KeywordPlaces places;
};

// One SELECT, or EXPLAIN and a SELECT. Errors: INVALID_ARGUMENT (refusal.h) for what is no SQL, no SELECT,
// or beyond the limits.
absl::StatusOr<Statement> ParseStatement(std::string_view sql);

// The name after FROM, and where it is: exactly one, of no schema. Errors: Refusal() for joins, sub-queries
// and everything else that FROM may have.
struct Table {
  std::string name;
  std::string alias;  // that columns may be qualified with; empty for none
  int64_t place = 0;
};
absl::StatusOr<Table> TableOf(std::string_view sql, const tree::SelectStatement& select);

// Whether a part of the message is not known to parse_tree.proto.
bool HasUnknownPart(const google::protobuf::Message& message);

}  // namespace curator::sql
