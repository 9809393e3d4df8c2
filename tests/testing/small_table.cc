#include "tests/testing/small_table.h"

#include <gtest/gtest.h>

#include <sstream>

#include "client/request_id.h"

namespace curator::testing {

v1::Schema SmallSchema() {
  v1::Schema schema;
  v1::Attribute* sex = schema.add_attributes();
  sex->set_name("sex");
  sex->mutable_categorical()->add_values("Female");
  sex->mutable_categorical()->add_values("Male");
  v1::Attribute* age = schema.add_attributes();
  age->set_name("age");
  age->mutable_integer()->set_min(0);
  age->mutable_integer()->set_max(99);
  age->mutable_integer()->set_bin_width(10);
  v1::Attribute* region = schema.add_attributes();
  region->set_name("region");
  region->mutable_coded()->set_size(4);
  return schema;
}

std::string SmallCsv(int rows) {
  std::ostringstream csv;
  csv << "sex,age,region\n";
  for (int i = 0; i < rows; ++i) {
    csv << (i % 2 == 0 ? "Female" : "Male") << ',' << (i / 2 % 10) * 10 + 3 << ',' << i / 20 % 4 << '\n';
  }
  return csv.str();
}

v1::CreateDatasetRequest NewDataset(const std::string& name, v1::Rule rule, const std::string& epsilon,
                                    const std::string& delta) {
  v1::CreateDatasetRequest request;
  request.set_name(name);
  *request.mutable_schema() = SmallSchema();
  request.mutable_limit()->set_rule(rule);
  request.mutable_limit()->set_epsilon(epsilon);
  request.mutable_limit()->set_delta(delta);
  return request;
}

void MakeSealed(const Client& owner, const v1::CreateDatasetRequest& dataset, const std::string& csv) {
  const absl::StatusOr<v1::Dataset> created = owner.CreateDataset(dataset);
  ASSERT_TRUE(created.ok()) << created.status();
  v1::ImportRecordsRequest::Header header;
  header.set_dataset(dataset.name());
  std::istringstream bytes(csv);
  const absl::StatusOr<v1::ImportRecordsResponse> imported = owner.ImportRecords(header, bytes);
  ASSERT_TRUE(imported.ok()) << imported.status();
  v1::SealDatasetRequest seal;
  seal.set_dataset(dataset.name());
  seal.set_accept_equal_content(true);
  seal.set_accept_no_records(true);
  const absl::StatusOr<v1::SealDatasetResponse> sealed = owner.SealDataset(seal);
  ASSERT_TRUE(sealed.ok()) << sealed.status();
}

v1::Workload AllMarginals(int k) {
  v1::Workload workload;
  workload.add_query_sets()->mutable_marginals()->mutable_all_k_way()->set_k(k);
  return workload;
}

v1::Workload MeasuredMarginals(int k) {
  v1::Workload workload = AllMarginals(k);
  workload.mutable_query_sets(0)->set_strategy(v1::STRATEGY_DIRECT);
  return workload;
}

void Grant(const Client& owner, const std::string& dataset, const std::string& principal,
           const std::vector<v1::GranteeRole>& roles) {
  v1::GrantAccessRequest grant;
  grant.set_dataset(dataset);
  grant.set_principal(principal);
  for (const v1::GranteeRole role : roles) grant.add_roles(role);
  const absl::StatusOr<v1::GrantAccessResponse> granted = owner.GrantAccess(grant);
  ASSERT_TRUE(granted.ok()) << granted.status();
}

void Publish(const Client& owner, const Client& approver, const std::string& dataset) {
  const absl::StatusOr<v1::WhoAmIResponse> who = approver.WhoAmI();
  ASSERT_TRUE(who.ok()) << who.status();
  Grant(owner, dataset, who->principal().name(), {v1::GRANTED_APPROVER});
  v1::PublishDatasetRequest publish;
  publish.set_dataset(dataset);
  const absl::StatusOr<v1::Dataset> published = approver.PublishDataset(publish);
  ASSERT_TRUE(published.ok()) << published.status();
}

v1::CreateDatasetRequest LargeDataset() {
  v1::CreateDatasetRequest dataset = NewDataset("census", v1::RULE_PURE, "10");
  for (int i = 0; i < 4; ++i) {
    v1::Attribute* attribute = dataset.mutable_schema()->add_attributes();
    attribute->set_name("flag" + std::to_string(i));
    attribute->mutable_coded()->set_size(i < 2 ? 16 : 5);
  }
  return dataset;
}

std::string LargeCsv() {
  std::string csv = "sex,age,region,flag0,flag1,flag2,flag3\n";
  for (int i = 0; i < 4000; ++i) {
    csv += (i % 3 == 0 ? "Female," : "Male,") + std::to_string(i % 100) + "," + std::to_string(i % 4);
    for (const int prime : {7, 11}) csv += "," + std::to_string(i / prime % 16);
    for (const int prime : {13, 3}) csv += "," + std::to_string(i / prime % 5);
    csv += "\n";
  }
  return csv;
}

v1::CreateSynthesisRequest LongSynthesis() {
  v1::CreateSynthesisRequest request;
  request.set_dataset("census");
  request.set_request_id(*client::NewRequestId());
  request.mutable_spec()->set_method("mwem");
  request.mutable_spec()->mutable_spend()->set_epsilon("4");
  (*request.mutable_spec()->mutable_settings())["rounds"] = "15";
  return request;
}

v1::Operation::State AwaitBegun(const Client& client, const std::string& operation_id) {
  while (true) {
    const absl::StatusOr<v1::Operation> operation = client.GetOperation(operation_id);
    EXPECT_TRUE(operation.ok()) << operation.status();
    if (!operation.ok()) return v1::Operation::STATE_UNSPECIFIED;
    if (operation->state() != v1::Operation::QUEUED) return operation->state();
  }
}

}  // namespace curator::testing
