// The contract of every method that makes a synthetic population.
//
// A synthesizer sees public facts and the kernel's noisy answers, nothing else; so whatever it computes is
// post-processing, and its price is the schedule of draws that Plan() lists. synthesizer_laws_test.cc checks
// the laws of this contract for every method in Synthesizers().
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/progress.h"
#include "dp/accounting/event.h"
#include "dp/accounting/rule.h"
#include "dp/data/public_table.h"
#include "dp/domain/domain.h"
#include "dp/kernel/private_queries.h"
#include "dp/noise/bit_source.h"
#include "dp/queries/linear_queries.h"
#include "dp/sensitivity/part_cost.h"
#include "dp/sensitivity/spend.h"
#include "dp/synthesis/pacer.h"
#include "dp/synthesis/settings.h"
#include "dp/synthesis/synthesis_memory.h"

namespace curator::dp {

// Public facts about records that lie in groups (pupils in schools) and have a numeric response: declared
// by the owner before a record is read. Whether one record or one whole group is protected is the dataset's
// unit.
enum class NestedUnit { kRecord, kGroup };
struct NestedFacts {
  std::string group_column;  // its name alone: ids are never released
  uint32_t response = 0;     // an attribute of the domain
  // What each code of the response stands for (the middle of its bin, or its integer): finite, within lower
  // and upper, which are the public bounds of responses.
  std::vector<double> numbers;
  double lower = 0;
  double upper = 1;
  double resolution = 1;                    // the distance of neighbouring responses, above 0
  std::optional<int64_t> group_size_bound;  // no group has more records, where import keeps to it
  NestedUnit unit = NestedUnit::kRecord;
  AttributeSet group_attributes = {};  // that all records of a group share; not the response
};

// A request; everything in it is public.
struct SynthesisInput {
  Domain domain;
  UnitBound unit_bound;
  RuleSpec rule;
  Spend spend;
  std::vector<QueryGroup> workload;  // what the synthetic data should get right (synthesis_workload.h)
  std::map<std::string, std::string>
      settings;                           // keys of Synthesizer::settings(); absent ones get their defaults
  std::optional<int64_t> assume_records;  // the caller's public guess, for defaults and forecasts only
  // Public records over `domain`, for a method that starts from some (it has the setting "prior"); else null.
  std::shared_ptr<const PublicTable> prior = nullptr;
  std::optional<NestedFacts> nested = std::nullopt;  // of a schema that names groups and a response
  // The event that this request was charged, when it is a repetition: what depends on certificates (the
  // price, and noise that is scaled until a certificate fits) is then reused, not computed again.
  std::optional<Event> charged = std::nullopt;
  // Whether this request was charged and started: it was within the bounds on planning then, so it is planned
  // in as many steps as that takes.
  bool is_started = false;
  // Whether this request was charged before draws had identities, so that what was drawn for it follows from
  // the defaults of version 1 of its method (Synthesizer::redraws_version_1()).
  bool is_of_version_1 = false;
};

// What a request will do and cost, computed without access to the data.
struct SynthesisPlan {
  std::vector<CountedEvent> draws;              // what the kernel's meter admits
  Event event;                                  // what is charged and recorded
  std::map<std::string, std::string> settings;  // every key, defaults filled in
  std::vector<std::string> schedule;            // for display; Plan() adds `constraints`
  std::vector<std::string> constraints = {};    // for display: those that records keep to, or may break
  int64_t model_cells = 0;                      // cells of the largest table that the method holds in memory
  SynthesisMemory memory = {};                  // what the fit and the model take at most
  double cpu_seconds = 0;                       // of the fit, predicted (synthesis_forecast.h)
  // For the accounts of parts, when all draws are linear; without it a part pays more
  // (dp/sensitivity/part_cost.h).
  std::optional<LinearDraws> linear = std::nullopt;
  // What the draws are over, one list for each step of the schedule: the sets that are measured, or the
  // candidates of selections. With version() and the input it determines what is drawn from given bits.
  std::vector<std::vector<QueryGroup>> drawn_from = {};
};

// Receives one record: the code of each attribute of SynthesisModel::attributes(), in that order. An error
// ends the sampling.
using RecordSink = std::function<absl::Status(std::span<const uint32_t> codes)>;

// The same with the number of the synthetic group that the record lies in: 0, 1, 2, ... in this order, the
// records of a group one after another.
using GroupedRecordSink = std::function<absl::Status(int64_t group, std::span<const uint32_t> codes)>;

// A fitted population: public, because it was made from noisy answers. Immutable and thread-safe.
class SynthesisModel {
 public:
  virtual ~SynthesisModel() = default;

  // The estimated number of records, at least 1.
  virtual int64_t records() const = 0;

  // The attributes of the domain that the model covers.
  virtual const AttributeSet& attributes() const = 0;

  // Estimated counts of a marginal's cells, row-major, summing to records() up to rounding.
  // Errors: INVALID_ARGUMENT for a set that the model does not cover or whose table would be too large.
  virtual absl::StatusOr<std::vector<double>> Marginal(const AttributeSet& set) const = 0;

  // The steps that Marginal(set) takes at most: cells read or written, each in about a nanosecond. At least
  // the cells of the marginal. A function of the model and the set, computed in far fewer steps. Of a set
  // that Marginal() refuses: any number from 0 on.
  virtual int64_t MarginalSteps(const AttributeSet& set) const = 0;

  // The standard deviation that the measurements' noise leaves in each cell of Marginal(set), estimated from
  // public facts. It does not include the error of the model itself: what was not measured, and the bias
  // of estimators that shrink towards expectations. Absent where a method does not know it.
  // Errors: as in Marginal().
  virtual absl::StatusOr<std::optional<double>> CellNoise(const AttributeSet&) const {
    return std::optional<double>();
  }

  // Hands `rows` records of the model to `sink`, one by one, in constant memory. Each of them by itself is a
  // random draw with the shares of Marginal(), as far as the model's own records have these. The records of
  // one sample are either drawn independently of each other; or, of a model that consists of records, dealt
  // out of these in a random order, none a second time before all were dealt once: then a sample of all of
  // them has the model's counts exactly, and frequencies in a smaller one vary less than those of independent
  // draws. To stop early, return an error from the sink. Errors: INVALID_ARGUMENT for rows < 0;
  // otherwise the sink's own.
  virtual absl::Status Sample(BitSource& bits, int64_t rows, const RecordSink& sink) const = 0;

  // Whether records lie in groups that the model draws as well. Then Sample() draws group by group, and
  // records of the same group resemble one another.
  virtual bool DrawsGroups() const { return false; }

  // What Sample() draws from the same bits, each record with its group; all lie in group 0 where the model
  // draws no groups.
  virtual absl::Status SampleGroups(BitSource& bits, int64_t rows, const GroupedRecordSink& sink) const {
    return Sample(bits, rows, [&](std::span<const uint32_t> codes) { return sink(0, codes); });
  }

  // Versioned bytes from which Restore() makes the same model. A function of the model alone.
  virtual std::string Serialize() const = 0;

  // Display lines, one for each measurement.
  virtual std::vector<std::string> Transcript() const = 0;
};

// A method. Stateless and thread-safe.
class Synthesizer {
 public:
  virtual ~Synthesizer() = default;

  virtual std::string_view name() const = 0;     // the name on the wire, e.g. "mwem"
  virtual std::string_view summary() const = 0;  // one sentence
  // Raised by every change of the program after which the same input and the same bits draw something else:
  // a draw that was charged under another version is never repeated. The first version is 1.
  virtual int64_t version() const { return 1; }
  // Whether it plans SynthesisInput::is_of_version_1 with the settings that version 1 planned, and then draws
  // what version 1 drew from the same bits.
  virtual bool redraws_version_1() const { return version() == 1; }
  // Whether it measures the response of nested records, whatever the workload.
  virtual bool measures_response() const { return false; }
  virtual const std::vector<Setting>& settings() const = 0;

  // The bytes that Plan(input) and its result take at most; computed in little time and memory.
  virtual int64_t PlanningBytes(const SynthesisInput& input) const {
    return SynthesisPlanningBytes(input.domain, input.workload);
  }

  // Public facts only, so it works before a record exists. The price of `event` never exceeds the spend, nor
  // does that of `draws`. Errors: INVALID_ARGUMENT with a field ("settings.rounds", "spend.rho", "workload",
  // "domain") when the request cannot be carried out; the message has the numbers. CANCELLED when a stop is
  // requested, also in the middle.
  absl::StatusOr<SynthesisPlan> Plan(const SynthesisInput& input, std::stop_token stop = {}) const {
    Pacer pacer(std::move(stop));
    if (absl::Status go_on = pacer.Check(); !go_on.ok()) return go_on;
    absl::StatusOr<SynthesisPlan> plan = PlanWith(input, pacer);
    if (plan.ok()) std::ranges::copy(plan->constraints, std::back_inserter(plan->schedule));
    return plan;
  }

  // What Plan() does, within other work: counts its steps on `pacer`, as Fit() does.
  virtual absl::StatusOr<SynthesisPlan> PlanWith(const SynthesisInput& input, Pacer& pacer) const = 0;

  // Draws no more than Plan(input) lists, whose draws the kernel's meter admits, and fits. Counts its
  // elementary steps (cells read or written) on `pacer`, so that a stop is noticed within 2^20 of them.
  // Reports progress by the schedule, independently of the answers. The result is a function of `input`
  // and of the kernel's answers, to the last bit. Errors: those of Plan() and of the kernel; CANCELLED by the
  // pacer.
  virtual absl::StatusOr<std::unique_ptr<SynthesisModel>> Fit(const SynthesisInput& input,
                                                              PrivateQueries& kernel, Pacer& pacer,
                                                              const Progress& progress) const = 0;

  // The model that Serialize() wrote. Errors: DATA_LOSS for bytes that it did not write, or for another
  // domain. CANCELLED when a stop is requested, also in the middle.
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Restore(const Domain& domain, std::string_view bytes,
                                                          std::stop_token stop = {}) const {
    Pacer pacer(std::move(stop));
    return RestoreWith(domain, bytes, pacer);
  }

  // What Restore() does, within other work: checks `pacer` when `bytes` were read, and counts on it the steps
  // that making the model then takes.
  virtual absl::StatusOr<std::unique_ptr<SynthesisModel>> RestoreWith(const Domain& domain,
                                                                      std::string_view bytes,
                                                                      Pacer& pacer) const = 0;

  // The bytes that Restore(domain, bytes) and a Sample() take at most, beside `bytes`, which Serialize()
  // wrote. Errors: DATA_LOSS as in Restore().
  virtual absl::StatusOr<int64_t> ReadingBytes(const Domain& domain, std::string_view bytes) const = 0;
};

}  // namespace curator::dp
