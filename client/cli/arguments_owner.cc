// The group `curator owner`.
#include "client/cli/arguments_parts.h"

namespace curator::cli {

void AddOwnerGroup(CLI::App& app, Chosen& chosen) {
  CLI::App* group = app.add_subcommand(
      "owner", "Look at your own private records; each look is written into the history first");
  group->require_subcommand(1);

  const auto evaluate = std::make_shared<EvaluateRelease>();
  CLI::App* command = AddCommand(
      *group, "evaluate",
      "PRIVATE: how far a synthetic release is from the records, as the mean L1 distance of random two-way "
      "marginals per group",
      "curator owner evaluate census --release ID --by PUMA,YEAR");
  command->add_option("NAME", evaluate->dataset, "The dataset")->required();
  command->add_option("--release", evaluate->release, "The synthetic release")->type_name("ID")->required();
  command
      ->add_option_function<std::string>(
          "--by", [evaluate](const std::string& names) { evaluate->by = SplitAtCommas(names); },
          "Attributes whose values are the groups. Default: the whole table is one group")
      ->type_name("A,B")
      ->check([](const std::string& names) { return CheckNames(names); });
  command->add_option("--pairs", evaluate->pairs, "Marginals for each group. Default: 50")
      ->type_name("N")
      ->check(CLI::Range(int64_t{1}, int64_t{10'000}));
  AddRequestId(command, evaluate->request_id);
  Choose(command, evaluate, chosen);

  const auto rows = std::make_shared<CountOwnRows>();
  CLI::App* count =
      AddCommand(*group, "rows", "PRIVATE: the exact number of records", "curator owner rows census");
  count->add_option("NAME", rows->dataset, "The dataset")->required();
  AddRequestId(count, rows->request_id);
  Choose(count, rows, chosen);

  const auto risk = std::make_shared<ReportRisk>();
  CLI::App* report = AddCommand(*group, "risk",
                                "PRIVATE: what single groups and records of nested data weigh in the "
                                "likelihood, under the weightings of "
                                "pseudo-posteriors",
                                "curator owner risk pupils");
  report->add_option("NAME", risk->dataset, "The dataset")->required();
  AddChoice<v1::RiskRequest::Grid>(
      *report, "--grid", "fit|bounds", risk->grid,
      {{"fit", v1::RiskRequest::GRID_AROUND_FIT}, {"bounds", v1::RiskRequest::GRID_WITHIN_BOUNDS}},
      "Over parameters that the data might be of, or over all within the response's bounds. Default: fit");
  AddRequestId(report, risk->request_id);
  Choose(report, risk, chosen);
}

}  // namespace curator::cli
