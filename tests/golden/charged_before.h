// What a server that composed through another Fourier transform was asked and charged: to ask the same of the
// present one.
//
// The requests are paid in (epsilon, delta) under ADVANCED, so their prices are certificates, whose last
// digits depend on the transform; dpsyn's noise depends on them, too.
#pragma once

#include <string>
#include <vector>

#include "client/client.h"

namespace curator::golden {

struct ChargedRequests {
  v1::AnswerWorkloadRequest workload;
  std::vector<v1::CreateSynthesisRequest> syntheses;  // stored
  v1::ReserveBudgetRequest reservation;               // committed
  // The server was killed while `blocking` was worked off and `interrupted` waited for it.
  v1::CreateSynthesisRequest blocking;
  v1::CreateSynthesisRequest interrupted;
};
ChargedRequests RequestsChargedBefore();

// One line for each counter of each account of the dataset, and for each entry of its history.
std::vector<std::string> Charges(const Client& client, const std::string& dataset);

// One line for each number and each line of a release.
std::vector<std::string> Content(const Client& client, const std::string& release_id);

// The release of a synthesis, once it is done; empty when it fails.
std::string ReleaseOf(const Client& client, const v1::CreateSynthesisRequest& request);

}  // namespace curator::golden
