// A call of every method that a server in development mode carries out, after what an owner does first: each
// succeeds for those who may make it.
#pragma once

#include <string>
#include <vector>

#include "tests/testing/scripted_calls.h"

namespace curator::testing {

// The datasets "census" and "pupils", which are sealed, "draft" and "divided", with grants to `grantee`.
std::vector<Step> OwnerMakesDatasets(const std::string& grantee);
// What is done with them, remembered as $release, $operation and $model of an analyst, $charge, $other, $wish
// and $ask of a service, and $proposal of the owner.
std::vector<Step> AnalystBegins();
std::vector<Step> ServiceBegins();
std::vector<Step> OwnerProposes();

// $WHO is the caller's name.
std::vector<Step> AllSteps();

}  // namespace curator::testing
