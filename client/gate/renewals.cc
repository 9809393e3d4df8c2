#include "client/gate/renewals.h"

#include <algorithm>
#include <utility>

#include "client/error.h"

namespace curator::gate {

void Renewals::Renew(const std::string& key, const Credential& refused, const absl::Status& refusal,
                     std::function<void(bool)> done) {
  const std::optional<Session> session = sessions_.Look(key);
  const bool has_changed = session && session->credential.text != refused.text;
  const bool can_be_renewed = session && session->credential.kind == Credential::Kind::kLogin &&
                              !session->refresh_token.empty() && client::Reason(refusal) == "TOKEN_EXPIRED";
  if (has_changed || !can_be_renewed) {
    if (!has_changed) sessions_.End(key);
    return done(has_changed);
  }
  {
    const absl::MutexLock lock(&mutex_);
    Waiting& waiting = waiting_[key];
    waiting.push_back(std::move(done));
    if (waiting.size() > 1) return;
  }
  const bool runs = for_issuers_.Run([this, key, refused] { Finish(key, RenewNow(key, refused)); });
  if (!runs) Finish(key, false);
}

void Renewals::Finish(const std::string& key, bool renewed) {
  Waiting waiting;
  {
    const absl::MutexLock lock(&mutex_);
    const auto found = waiting_.find(key);
    if (found == waiting_.end()) return;
    waiting = std::move(found->second);
    waiting_.erase(found);
  }
  for (const auto& waiter : waiting) waiter(renewed);
}

void Renewals::Close() {
  std::vector<std::string> keys;
  {
    const absl::MutexLock lock(&mutex_);
    for (const auto& [key, waiting] : waiting_) keys.push_back(key);
  }
  for (const std::string& key : keys) Finish(key, false);
}

// The session may have been renewed since the refused call was made: a refresh token is used once.
bool Renewals::RenewNow(const std::string& key, const Credential& refused) {
  const std::optional<Session> session = sessions_.Look(key);
  if (!session) return false;
  if (session->credential.text != refused.text) return true;
  const auto provider = std::ranges::find(providers_, session->issuer, &LoginProvider::alias);
  if (provider == providers_.end()) return false;
  const absl::StatusOr<oidc::Tokens> tokens =
      RenewLogin(*provider, session->credential.text, session->refresh_token);
  if (tokens.ok()) sessions_.Renew(key, tokens->token, tokens->refresh_token);
  if (absl::IsUnauthenticated(tokens.status())) sessions_.End(key);
  return tokens.ok();
}

}  // namespace curator::gate
