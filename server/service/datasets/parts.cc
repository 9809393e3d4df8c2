#include "service/datasets/parts.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "service/accounts/accounts.h"
#include "service/charges/pricing.h"

namespace curator::service {
namespace {

constexpr size_t kMaxPartNameLength = 63;
constexpr int64_t kMaxPartitionBins = 10'000;

absl::Status CheckPartName(const std::string& field, const std::string& name) {
  const bool is_clean = std::none_of(name.begin(), name.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f || c == ',' || c == '=' || c == '/';
  });
  RETURN_IF_ERROR(CheckLine(field, name));
  const bool has_length = !name.empty() && name.size() <= kMaxPartNameLength;
  if (has_length && is_clean && name.front() != ' ' && name.back() != ' ') return absl::OkStatus();
  return InvalidField(
      field,
      absl::StrCat("\"", name, "\" is not a valid part name: use 1 to 63 bytes without commas, '=' and '/'"));
}

bool IsOrdered(const dp::AttributeKind& kind) {
  const auto* categorical = std::get_if<dp::CategoricalKind>(&kind);
  return categorical == nullptr || categorical->ordered;
}

// Bins by their labels.
class BinLabels {
 public:
  explicit BinLabels(const dp::Attribute& attribute)
      : name_(attribute.name()), is_ordered_(IsOrdered(attribute.kind())) {
    for (int64_t bin = 0; bin < attribute.size(); ++bin) {
      const std::string label = attribute.Label(static_cast<uint32_t>(bin));
      labels_.push_back(label);
      bins_.emplace(label, bin);
    }
  }

  const std::vector<std::string>& labels() const { return labels_; }

  // A label, or a run of them: "2019..2021".
  absl::StatusOr<std::vector<int64_t>> Resolve(const std::string& field, const std::string& text) const {
    if (const auto found = bins_.find(text); found != bins_.end()) return std::vector<int64_t>{found->second};
    const size_t dots = text.find("..");
    if (is_ordered_ && dots != std::string::npos) {
      const auto first = bins_.find(text.substr(0, dots));
      const auto last = bins_.find(text.substr(dots + 2));
      if (first != bins_.end() && last != bins_.end() && first->second <= last->second) {
        std::vector<int64_t> run;
        for (int64_t bin = first->second; bin <= last->second; ++bin) run.push_back(bin);
        return run;
      }
    }
    return InvalidField(
        field, absl::StrCat("\"", text, "\" is no bin of \"", name_, "\"; its bins are called like \"",
                            labels_.front(), "\" and \"", labels_.back(), "\""));
  }

 private:
  std::string name_;
  bool is_ordered_;
  std::vector<std::string> labels_;
  std::unordered_map<std::string, int64_t> bins_;
};

absl::StatusOr<BinLabels> LabelsToDivideBy(const dp::Attribute& attribute) {
  if (attribute.size() > kMaxPartitionBins) {
    return InvalidField(
        "attribute",
        absl::StrCat("has ", attribute.size(), " bins; a dataset is divided by at most ", kMaxPartitionBins));
  }
  return BinLabels(attribute);
}

absl::StatusOr<ledger::PartSpec> SpecOf(const BinLabels& labels, const NamedPart& part,
                                        const dp::RuleSpec& limit) {
  RETURN_IF_ERROR(CheckPartName("name", part.name));
  if (part.labels.empty()) return InvalidField("labels", "are none: name the bins that the part holds");
  std::set<int64_t> bins;
  for (size_t i = 0; i < part.labels.size(); ++i) {
    const std::string field = absl::StrCat("labels[", i, "]");
    ASSIGN_OR_RETURN(const std::vector<int64_t> run, labels.Resolve(field, part.labels[i]));
    for (const int64_t bin : run) {
      if (!bins.insert(bin).second) return InvalidField(field, "names a bin that was named before");
    }
  }
  ASSIGN_OR_RETURN(ledger::AccountSpec account, AccountUnder(limit, ledger::ScopeType::kPart, part.name));
  return ledger::PartSpec{.bins = {bins.begin(), bins.end()}, .account = std::move(account)};
}

// The limit of a further part: at most the present limit of the first part. All parts that a dataset is
// created with start with the same limit, and a limit that was lowered by approval also binds parts added
// later.
absl::StatusOr<dp::RuleSpec> LimitOfParts(ledger::Ledger& ledger, const DatasetView& dataset) {
  const absl::StatusOr<std::vector<ledger::Account>> account =
      ledger.GetAccounts({dataset.record.parts.front().account_id});
  if (absl::IsNotFound(account.status())) return absl::DataLossError("a part without an account");
  RETURN_IF_ERROR(account.status());
  return PromiseOf(account->front());
}

// At most the dataset's limit in every counter, because the dataset's privacy loss is the largest of its
// parts'.
absl::Status CheckWithin(const dp::RuleSpec& limit, const dp::RuleSpec& most) {
  if (limit.kind != most.kind || limit.order != most.order) {
    return InvalidField("rule",
                        absl::StrCat("must be that of the dataset, ", std::string(RuleName(most.kind))));
  }
  ASSIGN_OR_RETURN(const std::vector<dp::CounterAmount> asked, dp::LimitsOf(limit));
  ASSIGN_OR_RETURN(const std::vector<dp::CounterAmount> allowed, dp::LimitsOf(most));
  for (size_t i = 0; i < asked.size(); ++i) {
    if (asked[i].amount > allowed[i].amount) {
      return InvalidField("epsilon", "is more than the dataset's limit: a part has at most as much");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<ledger::PartSpec>> NewParts(const dp::Domain& domain, const Partition& partition,
                                                       const dp::RuleSpec& limit) {
  const absl::StatusOr<uint32_t> attribute = domain.IndexOf(partition.attribute);
  if (!attribute.ok()) return InvalidField("attribute", std::string(attribute.status().message()));
  ASSIGN_OR_RETURN(const BinLabels labels, LabelsToDivideBy(domain.attributes()[*attribute]));
  std::vector<NamedPart> named = partition.parts;
  if (named.empty()) {
    for (const std::string& label : labels.labels()) named.push_back({label, {label}});
  }
  std::vector<ledger::PartSpec> parts;
  for (size_t i = 0; i < named.size(); ++i) {
    absl::StatusOr<ledger::PartSpec> part = SpecOf(labels, named[i], limit);
    if (!part.ok()) return WithinField(absl::StrCat("parts[", i, "]"), part.status());
    for (const ledger::PartSpec& other : parts) {
      if (other.account.scope_key == named[i].name) {
        return InvalidField(absl::StrCat("parts[", i, "].name"), "is the name of a part before it");
      }
      const bool overlaps = std::any_of(part->bins.begin(), part->bins.end(), [&](int64_t bin) {
        return std::binary_search(other.bins.begin(), other.bins.end(), bin);
      });
      if (overlaps) {
        return InvalidField(absl::StrCat("parts[", i, "].labels"),
                            absl::StrCat("name a bin of the part \"", other.account.scope_key, "\""));
      }
    }
    parts.push_back(*std::move(part));
  }
  return parts;
}

absl::StatusOr<DatasetView> AddPart(const Access& access, const PartOrder& order, Intent intent) {
  ASSIGN_OR_RETURN(const DatasetView dataset,
                   FindDataset(access, Method::kAddPart, order.principal, order.dataset));
  ASSIGN_OR_RETURN(const uint32_t attribute, PartitionAttribute(dataset));
  ASSIGN_OR_RETURN(const dp::RuleSpec most, LimitOfParts(access.ledger, dataset));
  if (order.limit) {
    const absl::Status within = CheckWithin(*order.limit, most);
    if (!within.ok()) return WithinField("limit", within);
  }
  ASSIGN_OR_RETURN(const BinLabels labels, LabelsToDivideBy(dataset.schema.domain.attributes()[attribute]));
  absl::StatusOr<ledger::PartSpec> spec = SpecOf(labels, order.part, order.limit.value_or(most));
  if (!spec.ok()) return WithinField("part", spec.status());
  if (intent == Intent::kValidateOnly) return dataset;
  absl::StatusOr<ledger::Dataset> grown = access.ledger.AddPart({.request_id = order.request_id.text(),
                                                                 .dataset_id = dataset.record.id,
                                                                 .part = *std::move(spec),
                                                                 .actor = order.principal});
  if (absl::IsInvalidArgument(grown.status())) return WithinField("part", grown.status());
  RETURN_IF_ERROR(grown.status());
  return DatasetView{*std::move(grown), dataset.schema, dataset.unit_bound};
}

absl::StatusOr<ledger::Part> PartNamed(const ledger::Dataset& dataset, std::string_view name) {
  for (const ledger::Part& part : dataset.parts) {
    if (part.name == name) return part;
  }
  if (dataset.parts.empty()) return InvalidField("part", "must be left out: this dataset has no parts");
  if (name.empty()) {
    return InvalidField("part",
                        "is missing: this dataset is partitioned, and its parts are filled and sealed "
                        "one by one");
  }
  return InvalidField("part", absl::StrCat("the dataset has no part \"", std::string(name), "\""));
}

absl::StatusOr<uint32_t> PartitionAttribute(const DatasetView& dataset) {
  if (dataset.record.parts.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("dataset \"", dataset.record.name,
                     "\" is not partitioned: a partition is made when a dataset is created"));
  }
  const absl::StatusOr<uint32_t> attribute =
      dataset.schema.domain.IndexOf(dataset.record.partition_attribute);
  if (attribute.ok()) return *attribute;
  return absl::DataLossError("a dataset is partitioned by an attribute that its schema does not have");
}

std::vector<std::string> LabelsOf(const DatasetView& dataset, const ledger::Part& part) {
  std::vector<std::string> labels;
  const absl::StatusOr<uint32_t> attribute = PartitionAttribute(dataset);
  if (!attribute.ok()) return labels;
  const dp::Attribute& divided = dataset.schema.domain.attributes()[*attribute];
  for (const int64_t bin : part.bins) {
    if (bin < divided.size()) labels.push_back(divided.Label(static_cast<uint32_t>(bin)));
  }
  return labels;
}

}  // namespace curator::service
