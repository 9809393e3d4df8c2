// Releases: free to read again, to query and to sample, for those who may read them (MayReadRelease()).
//
// Post-processing of stored bytes: no private data is accessed and nothing is charged. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "base/principal.h"
#include "base/request_names.h"
#include "dp/synthesis/synthesizer.h"
#include "dp/workload/release.h"
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
  std::variant<dp::WorkloadRelease, dp::SynthesisRelease> content;
  RequestMemory memory = {};  // that reading it takes, and what is made of it
};

// For the principal who paid for the release, the dataset's owner, and those with whom one of the two shared
// it, if their roles allow the method; NOT_FOUND for all others. What was paid for is not refused for its
// size, unless it exceeds the whole budget for memory: INVALID_ARGUMENT. UNAVAILABLE when other requests hold
// the memory that it takes; CANCELLED when the client has gone while it waits for the memory.
absl::StatusOr<ReleaseView> GetRelease(Services& services, Method method, const Principal& principal,
                                       std::string_view release_id, const std::stop_token& client_left = {});
// The same, with what it takes added to `memory`, which the view then holds.
absl::StatusOr<ReleaseView> GetRelease(Services& services, Method method, const Principal& principal,
                                       std::string_view release_id, RequestMemory memory);

// The release and its dataset, without its payload or what was paid. Errors: NOT_FOUND as above.
struct ReleaseHead {
  DatasetView dataset;
  ledger::Release release;
};
absl::StatusOr<ReleaseHead> FindRelease(const Access& access, Method method, const Principal& principal,
                                        std::string_view release_id);

// Lets `grantee`, who may see the dataset, read the release too. For the principal who paid for it and for
// the dataset's owner. Returns all with whom it was shared. Errors: NOT_FOUND when `principal` may not read
// the release; PERMISSION_DENIED when it was only shared with them; INVALID_ARGUMENT ("principal") when the
// owner names a grantee who may not see the dataset.
absl::StatusOr<std::vector<std::string>> ShareRelease(Services& services, const Principal& principal,
                                                      std::string_view release_id, std::string_view grantee,
                                                      Intent intent);

// The releases that the principal may read, without payloads, newest first; the request ids of shared ones
// are left out.
absl::StatusOr<ledger::ReleaseList> ListReleases(Services& services, const Principal& principal,
                                                 const DatasetName& dataset, const ledger::NewestPage& page);

// A query set, answered by a model: estimates for each of its groups, in counts; and the standard deviation
// of the measurements' noise in each cell, for groups of single cells of models that know it
// (SynthesisModel::CellNoise()).
struct ModelAnswer {
  dp::AskedSet asked;
  std::vector<std::vector<double>> estimates;
  std::vector<std::optional<double>> deviations;
};
// What the model and the answers take is added to the release's memory. Errors: those of RestoreModel();
// INVALID_ARGUMENT for attributes that it does not cover, for answers that would take more than
// kMostFreeBytes beside the model or more than kMostModelSteps, and those of ResolveCounts(); CANCELLED
// when the client has gone, which is asked before each marginal of the model.
absl::StatusOr<std::vector<ModelAnswer>> QueryModel(ReleaseView& release,
                                                    const std::vector<QuerySetRequest>& queries,
                                                    const std::stop_token& client_left);

// The most steps (dp::SynthesisModel::MarginalSteps()) that a request makes a model take: about a second.
inline constexpr int64_t kMostModelSteps = int64_t{1} << 30;
// INVALID_ARGUMENT (`field`) where these marginals take more, one after another; the message says how many of
// them fit, and then `remedy`.
absl::Status CheckModelSteps(const dp::SynthesisModel& model, std::span<const dp::AttributeSet> marginals,
                             std::string_view field, std::string_view remedy);

// How the values of sampled records are printed.
enum class BinStyle {
  kValueInside,  // a value drawn inside the bin
  kInterval,     // the bin itself
};

// Samples `rows` records (the model's own noisy number when absent) as CSV with a header line, passed to
// `sink` in pieces of about 64 KiB. When the model draws groups too, the first column is the schema's group
// column and holds the number of the synthetic group, from 1. The same release, rows and style give the same
// bytes. Errors: FAILED_PRECONDITION for a release that is not a model; INVALID_ARGUMENT for rows < 0 or
// above kMaxSampledRows; those of RestoreModel(); the sink's own.
inline constexpr int64_t kMaxSampledRows = 1'000'000'000;
absl::Status SampleModel(ReleaseView& release, std::optional<int64_t> rows, BinStyle style,
                         const std::function<absl::Status(std::string_view csv)>& sink,
                         const std::stop_token& client_left = {});

// The model of a synthetic release. What it and a sample of it take is added to the release's memory. Errors:
// FAILED_PRECONDITION for a release that is not a model; those of RequestMemory::Add(); CANCELLED when the
// client has gone, also in the middle.
absl::StatusOr<std::unique_ptr<dp::SynthesisModel>> RestoreModel(ReleaseView& release,
                                                                 const std::stop_token& client_left = {});

// Samples records as codes of the model's attributes. Errors: those of SampleModel().
absl::Status SampleRecords(ReleaseView& release, int64_t rows, const dp::RecordSink& sink,
                           const std::stop_token& client_left = {});

}  // namespace curator::service
