// What has been released: free to read again, to query and to sample, by whoever may see the dataset and paid
// for it.
//
// Post-processing of stored bytes: no private data is touched and nothing is charged. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "codec/release_codec.h"
#include "dp/synthesis/synthesizer.h"
#include "service/access.h"
#include "service/charges/pricing.h"
#include "service/services.h"
#include "service/workloads/workloads.h"

namespace curator::service {

struct ReleaseView {
  DatasetView dataset;
  ledger::Release release;  // without its payload
  ledger::Charge charge;
  Price price;  // what was paid
  std::variant<codec::WorkloadRelease, codec::SynthesisRelease> content;
};

// A release belongs to the principal who paid for it, to the dataset's owner, and to those with whom one of
// the two shared it; NOT_FOUND for all others.
absl::StatusOr<ReleaseView> GetRelease(Curator& curator, std::string_view principal,
                                       std::string_view release_id);

// Lets `grantee` read a release, too, who may see its dataset. For who paid for it and the dataset's owner.
// Returns everybody with whom it was shared. Errors: NOT_FOUND where the release does not belong to
// `principal`; PERMISSION_DENIED for whom it was only shared with; INVALID_ARGUMENT ("principal") for
// somebody who does not see the dataset.
absl::StatusOr<std::vector<std::string>> ShareRelease(Curator& curator, std::string_view principal,
                                                      std::string_view release_id, std::string_view grantee,
                                                      Intent intent);

struct ReleaseListing {
  ledger::Release release;  // without its payload
  std::string request_id;
};
absl::StatusOr<std::vector<ReleaseListing>> ListReleases(Curator& curator, std::string_view principal,
                                                         std::string_view dataset);

// A query set, answered by a model: estimates for each of its groups, in counts; and what the measurements'
// noise leaves in each cell, for groups of single cells of models that know it (SynthesisModel::CellNoise()).
struct ModelAnswer {
  dp::AskedSet asked;
  std::vector<std::vector<double>> estimates;
  std::vector<std::optional<double>> deviations;
};
// Free. Errors: FAILED_PRECONDITION for a release that is no model; INVALID_ARGUMENT for attributes that it
// does not cover, and those of ResolveWorkload().
absl::StatusOr<std::vector<ModelAnswer>> QueryModel(const ReleaseView& release,
                                                    const std::vector<QuerySetRequest>& queries);

// How the bins of sampled records are printed.
enum class BinStyle {
  kValueInside,  // a value drawn inside the bin
  kInterval,     // the bin itself
};

// Samples `rows` records (the model's own noisy number when absent) as CSV with a header line, handed to
// `sink` in pieces of at most 64 KiB. Where the model draws groups too, the first column has the schema's
// name of them and the number of the synthetic group, from 1. The same release, rows and style give the same
// bytes. Errors: FAILED_PRECONDITION for a release that is no model; INVALID_ARGUMENT for rows < 0 or beyond
// kMaxSampledRows; the sink's own.
inline constexpr int64_t kMaxSampledRows = 1'000'000'000;
absl::Status SampleModel(const ReleaseView& release, std::optional<int64_t> rows, BinStyle style,
                         const std::function<absl::Status(std::string_view csv)>& sink);

// The model of a synthetic release. Errors: FAILED_PRECONDITION for another release.
absl::StatusOr<std::unique_ptr<dp::SynthesisModel>> RestoreModel(const ReleaseView& release);

// The same records as codes of the model's attributes. Errors likewise.
absl::Status SampleRecords(const ReleaseView& release, int64_t rows, const dp::RecordSink& sink);

}  // namespace curator::service
