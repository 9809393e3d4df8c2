// Private tables and the calls that put them into a server: what most end-to-end tests begin with.
#pragma once

#include <string>
#include <vector>

#include "client/client.h"
#include "curator/v1/dataset.pb.h"
#include "curator/v1/operation.pb.h"
#include "curator/v1/synthesis.pb.h"

namespace curator::testing {

// sex (Female, Male), age (0..99 in bins of ten), region (codes 0..3).
v1::Schema SmallSchema();

// `rows` records of SmallSchema() as CSV: deterministic, every cell of its 2 x 10 x 4 domain occupied alike.
std::string SmallCsv(int rows);

v1::CreateDatasetRequest NewDataset(const std::string& name, v1::Rule rule, const std::string& epsilon,
                                    const std::string& delta = "");

// Creates, imports and seals, also records that another dataset of the owner holds. Fails the test when one
// of them fails.
void MakeSealed(const Client& owner, const v1::CreateDatasetRequest& dataset, const std::string& csv);

// Gives the principal these roles on the dataset, in place of those that it had. Fails the test when it
// cannot.
// Has the owner's public dataset published, by an approver to whom the owner grants that.
void Publish(const Client& owner, const Client& approver, const std::string& dataset);
void Grant(const Client& owner, const std::string& dataset, const std::string& principal,
           const std::vector<v1::GranteeRole>& roles = {v1::ANALYST});

// "census" over a domain so large that LongSynthesis() of it lasts for seconds, and records for it.
v1::CreateDatasetRequest LargeDataset();
std::string LargeCsv();
v1::CreateSynthesisRequest LongSynthesis();  // costs epsilon 4 of the 10 that LargeDataset() has

// The operation's state as soon as a thread has begun to work on it, or once it has ended.
v1::Operation::State AwaitBegun(const Client& client, const std::string& operation_id);

// All k-way marginals over all attributes.
v1::Workload AllMarginals(int k);
// The same, with noise on each cell.
v1::Workload MeasuredMarginals(int k);

}  // namespace curator::testing
