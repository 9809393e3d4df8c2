#include "dp/synthesis/synthesis_memory.h"

#include <algorithm>
#include <variant>

#include "dp/domain/attribute_set.h"

namespace curator::dp {
namespace {

constexpr int64_t kPerSynthesis = 8'000'000;
constexpr int64_t kPerPlan = 12'000'000;  // most of it to certify its price under `advanced`
constexpr int64_t kPerListedQuery = 64;
constexpr int64_t kPerGroupOfAPlan = 550;  // in the workload, the schedule and the identity of the draw
constexpr int64_t kPerListedAttribute = 12;
constexpr int64_t kCopiesOfAList = 4;
constexpr int64_t kCopiesOfADomain = 6;
// The model's own bytes, the release around them while it grows, and what the ledger is given and reads back.
constexpr int64_t kCopiesOfStoredBytes = 6;

// Its attributes with what they call their values.
int64_t BytesOf(const Domain& domain) {
  constexpr int64_t kPerAttribute = 1000;
  constexpr int64_t kPerValue = 64;
  int64_t bytes = 0;
  for (const Attribute& attribute : domain.attributes()) {
    bytes += kPerAttribute;
    if (const auto* categories = std::get_if<CategoricalKind>(&attribute.kind())) {
      for (const std::string& value : categories->values) bytes += kPerValue + std::ssize(value);
    } else if (const auto* numeric = std::get_if<NumericKind>(&attribute.kind())) {
      bytes += 8 * std::ssize(numeric->edges);
    } else if (const auto* dates = std::get_if<DateKind>(&attribute.kind())) {
      bytes += 8 * std::ssize(dates->edges);
    }
    if (attribute.missing()) {
      for (const std::string& token : attribute.missing()->tokens) bytes += kPerValue + std::ssize(token);
    }
    for (const Synonym& synonym : attribute.reading().synonyms) {
      bytes += kPerValue + std::ssize(synonym.value);
      for (const std::string& text : synonym.texts) bytes += kPerValue + std::ssize(text);
    }
  }
  return bytes;
}

}  // namespace

SynthesisMemory MemoryOf(const MethodMemory& method) {
  return {.fitting =
              kPerSynthesis + std::max(method.working, method.model + kCopiesOfStoredBytes * method.stored),
          .stored = method.stored,
          .reading = ReadingBytesOf(method)};
}

int64_t ReadingBytesOf(const MethodMemory& method) {
  // Parts of the stored bytes are copied, and checked against what the model would store.
  return kPerSynthesis + method.model + std::max(2 * method.stored, method.sampling);
}

int64_t SynthesisPlanningBytes(const Domain& domain, std::span<const QueryGroup> workload) {
  return SynthesisPlanningBytes(domain, std::ssize(workload), BytesOfLists(workload));
}

int64_t SynthesisPlanningBytes(const Domain& domain, int64_t groups, int64_t bytes_of_lists) {
  return kPerPlan + kCopiesOfADomain * BytesOf(domain) + kPerGroupOfAPlan * groups +
         kCopiesOfAList * bytes_of_lists;
}

int64_t BytesOfLists(std::span<const QueryGroup> groups) {
  int64_t bytes = 0;
  for (const QueryGroup& group : groups) {
    bytes += kPerListedAttribute * AttributesBeyondAFew(group.attributes);
    if (const auto* boxes = std::get_if<Boxes>(&group.queries)) {
      bytes += static_cast<int64_t>(boxes->sides.size() * sizeof(CodeInterval));
    } else if (const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries)) {
      for (const LinearQuery& query : *queries)
        bytes += kPerListedQuery + static_cast<int64_t>(query.size() * sizeof(WeightedCell));
    }
  }
  return bytes;
}

int64_t BytesOfLines(const Domain& domain, int64_t lines, int64_t attributes) {
  constexpr int64_t kWords = 200;
  size_t longest = 0;
  for (const Attribute& attribute : domain.attributes()) longest = std::max(longest, attribute.name().size());
  return lines * (kWords + attributes * (static_cast<int64_t>(longest) + 2));
}

int64_t CellsUpTo(const Domain& domain, const AttributeSet& set, int64_t most) {
  return std::min(most, domain.CellCount(set).value_or(most));
}

}  // namespace curator::dp
