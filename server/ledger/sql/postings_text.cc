#include "ledger/sql/postings_text.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "absl/strings/str_cat.h"

namespace curator::ledger::sql {
namespace {

// Takes `expected` from the front of `text`; false when something else stands there.
bool Take(std::string_view& text, std::string_view expected) {
  if (text.substr(0, expected.size()) != expected) return false;
  text.remove_prefix(expected.size());
  return true;
}

bool TakeInteger(std::string_view& text, int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool TakePosting(std::string_view& text, Posting& posting) {
  if (!Take(text, "[") || !TakeInteger(text, posting.account_id) || !Take(text, ",\"")) return false;
  const size_t end = text.find('"');
  if (end == std::string_view::npos) return false;
  posting.counter = text.substr(0, end);
  text.remove_prefix(end);
  return Take(text, "\",") && TakeInteger(text, posting.cost) && Take(text, "]");
}

}  // namespace

std::vector<Posting> Ascending(std::vector<Posting> postings) {
  std::sort(postings.begin(), postings.end(), [](const Posting& a, const Posting& b) {
    return std::tie(a.account_id, a.counter) < std::tie(b.account_id, b.counter);
  });
  return postings;
}

std::string PostingsText(std::vector<Posting> postings) {
  std::string text = "[";
  for (const Posting& posting : Ascending(std::move(postings))) {
    absl::StrAppend(&text, text.size() > 1 ? ",[" : "[", posting.account_id, ",\"", posting.counter, "\",",
                    posting.cost, "]");
  }
  text += "]";
  return text;
}

absl::StatusOr<std::vector<Posting>> ParsePostingsText(std::string_view text) {
  std::vector<Posting> postings;
  std::string_view rest = text;
  bool is_well_formed = Take(rest, "[");
  while (is_well_formed && rest != "]") {
    is_well_formed = (postings.empty() || Take(rest, ",")) && TakePosting(rest, postings.emplace_back());
  }
  if (is_well_formed && PostingsText(postings) == text) return postings;
  return absl::DataLossError("the ledger holds postings of a charge that nobody would have written");
}

}  // namespace curator::ledger::sql
