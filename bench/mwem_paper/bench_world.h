// What the experiments share: real tables, requests for MWEM, and one run of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dp/data/sealed_table_handle.h"
#include "dp/kernel/kernel.h"
#include "dp/noise/drbg.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::bench {

using Rows = std::vector<std::vector<uint32_t>>;
using Settings = std::map<std::string, std::string>;

// A CSV file of the shared folder's data: its header, and its rows as text. Exits when it is not there.
struct CsvFile {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};
CsvFile ReadCsv(const std::string& path_below_data);

struct BenchTable {
  dp::Domain domain;
  Rows rows;
  dp::SealedTableHandle sealed;
};
BenchTable TableOf(dp::Domain domain, Rows rows);

// Attributes "a0", "a1", ... of these sizes.
dp::Domain DomainOf(const std::vector<int64_t>& sizes);

// The columns, each value the number that is written there less `least`, capped to the size.
struct NumberColumn {
  std::string name;
  int64_t least = 0;
  int64_t size = 2;
};
BenchTable NumbersFrom(const CsvFile& file, const std::vector<NumberColumn>& columns);

// The columns, each value's code its rank among the values that occur, in the order of text. (In an
// experiment only: a domain that is learned from the table is not public.)
BenchTable CategoriesFrom(const CsvFile& file, const std::vector<std::string>& columns);

// Both files of the Adult table, one after the other.
CsvFile ReadAdult();
const std::vector<std::string>& AdultCategories();

std::vector<int64_t> CountsOf(const BenchTable& table, const dp::AttributeSet& set);

// A pure budget of epsilon (in thousandths of a thousandth) with add/remove neighbours; the number of records
// is charged for, and no record count is assumed.
dp::SynthesisInput InputFor(const dp::Domain& domain, double epsilon, std::vector<dp::QueryGroup> workload,
                            Settings settings);

struct Fitted {
  std::unique_ptr<dp::SynthesisModel> model;
  double cpu_seconds = 0;  // of planning, drawing and fitting
};
// Draws from the key whose first two bytes are `seed`.
Fitted FitBy(const std::string& method, const dp::SynthesisInput& input, const BenchTable& table, int seed);
Fitted FitMwem(const dp::SynthesisInput& input, const BenchTable& table, int seed);

// The results of repetitions.
class Repeated {
 public:
  void Add(double value) { values_.push_back(value); }
  double Mean() const;
  double StandardError() const;  // 0 of one

 private:
  std::vector<double> values_;
};

// A kernel that admits `draws`, with bits from the same kind of key.
class PaidKernel {
 public:
  PaidKernel(const BenchTable& table, std::vector<dp::CountedEvent> draws, int seed);
  dp::Kernel& kernel() { return kernel_; }

 private:
  dp::Drbg bits_;
  dp::Kernel kernel_;
};

double CpuSeconds();
double PeakMegabytes();

}  // namespace curator::bench
