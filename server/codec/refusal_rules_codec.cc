#include "codec/refusal_rules_codec.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/canonical_bytes.h"
#include "base/status_macros.h"

namespace curator::codec {
namespace {

constexpr char kRulesDocument[] = "curator.refusal_rules";
constexpr int64_t kRulesVersion = 1;

void WriteNames(CanonicalWriter& writer, const std::vector<std::string>& names) {
  writer.Integer(static_cast<int64_t>(names.size()));
  for (const std::string& name : names) writer.Text(name);
}

std::vector<std::string> ReadNames(CanonicalReader& reader) {
  std::vector<std::string> names(static_cast<size_t>(reader.Count()));
  for (std::string& name : names) name = reader.Text();
  const bool ascends = std::ranges::adjacent_find(names, std::greater_equal<>()) == names.end();
  if (!ascends || (!names.empty() && names.front().empty())) reader.Refuse();
  return names;
}

void WriteRule(CanonicalWriter& writer, const RefusalRule& rule) {
  writer.Text(rule.name);
  WriteNames(writer, rule.principals);
  writer.Integer(rule.kinds);
  WriteNames(writer, rule.attributes);
  writer.Text(rule.price_above ? rule.price_above->counter : std::string());
  writer.Integer(rule.price_above ? rule.price_above->amount : 0);
  writer.Integer(rule.start_us);
  writer.Integer(rule.end_us);
  writer.Text(rule.note);
}

RefusalRule ReadRule(CanonicalReader& reader) {
  RefusalRule rule;
  rule.name = reader.Text();
  rule.principals = ReadNames(reader);
  rule.kinds = reader.Integer();
  rule.attributes = ReadNames(reader);
  PriceAbove price{.counter = reader.Text()};
  price.amount = reader.Integer();
  rule.start_us = reader.Integer();
  rule.end_us = reader.Integer();
  rule.note = reader.Text();
  const bool is_time =
      rule.start_us >= 0 && rule.end_us >= 0 && (rule.end_us == 0 || rule.start_us < rule.end_us);
  const bool is_price = price.amount >= 0 && (!price.counter.empty() || price.amount == 0);
  const bool is_kind = rule.kinds >= 0 && rule.kinds <= kAllRuledKinds;
  if (rule.name.empty() || !is_time || !is_price || !is_kind) reader.Refuse();
  if (!price.counter.empty()) rule.price_above = std::move(price);
  return rule;
}

}  // namespace

std::string EncodeRefusalRules(const std::vector<RefusalRule>& rules) {
  if (rules.empty()) return {};
  CanonicalWriter writer(kRulesDocument, kRulesVersion);
  writer.Integer(static_cast<int64_t>(rules.size()));
  for (const RefusalRule& rule : rules) WriteRule(writer, rule);
  return std::move(writer).Take();
}

absl::StatusOr<std::vector<RefusalRule>> DecodeRefusalRules(std::string_view bytes) {
  std::vector<RefusalRule> rules;
  if (bytes.empty()) return rules;
  CanonicalReader reader(bytes, kRulesDocument, kRulesVersion);
  constexpr int64_t kLeastRuleBytes = 72;
  const int64_t count = reader.Count(kLeastRuleBytes);
  if (count < 1 || count > static_cast<int64_t>(kMostRefusalRules)) reader.Refuse();
  for (int64_t left = count; left > 0 && reader.ok(); --left) {
    rules.push_back(ReadRule(reader));
    const bool ascends = rules.size() < 2 || rules[rules.size() - 2].name < rules.back().name;
    if (!ascends) reader.Refuse();
  }
  RETURN_IF_ERROR(reader.Finish());
  return rules;
}

}  // namespace curator::codec
