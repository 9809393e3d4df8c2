#include "client/gate/renewals.h"

#include <algorithm>
#include <utility>

#include "client/error.h"

namespace curator::gate {
namespace {

// A token that the server calls expired so soon after the issuer gave it is not worth another renewal.
constexpr absl::Duration kShortestLife = absl::Seconds(30);
// "No key of the issuer has this id" is one of its meanings: the server may have the key a moment later.
constexpr char kInvalid[] = "TOKEN_INVALID";

}  // namespace

Renewals::Fate Renewals::FateOf(const Session& session, const absl::Status& refusal) const {
  const std::string reason = client::Reason(refusal);
  const bool is_login = session.credential.kind == Credential::Kind::kLogin;
  if (is_login && reason == kInvalid) return Fate::kStays;
  const bool can_be_renewed = is_login && !session.refresh_token.empty() && reason == kExpired &&
                              sessions_.SinceRenewalOf(session) >= kShortestLife;
  return can_be_renewed ? Fate::kRenewal : Fate::kEnds;
}

void Renewals::Renew(const std::string& key, const Credential& refused, const absl::Status& refusal,
                     std::function<void(bool)> done) {
  const std::optional<Session> session = sessions_.Look(key);
  if (session && session->credential.text != refused.text) return done(true);
  const Fate fate = session ? FateOf(*session, refusal) : Fate::kEnds;
  if (fate == Fate::kEnds) sessions_.End(key);
  if (fate != Fate::kRenewal) return done(false);
  {
    const absl::MutexLock lock(&mutex_);
    Waiting& waiting = waiting_[key];
    waiting.push_back(std::move(done));
    if (waiting.size() > 1) return;
  }
  const bool runs = for_issuers_.Run(
      session->issuer, [this, key, refused] { Finish(key, RenewNow(key, refused)); },
      [this, key] { Finish(key, false); });
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
  if (absl::IsUnauthenticated(tokens.status())) sessions_.End(key);
  if (!tokens.ok()) return false;
  if (sessions_.Renew(key, tokens->token, tokens->refresh_token)) return true;
  RevokeLogin(*provider, tokens->refresh_token);
  return false;
}

void Renewals::Forget(const Session& session) {
  const auto provider = std::ranges::find(providers_, session.issuer, &LoginProvider::alias);
  if (session.refresh_token.empty() || provider == providers_.end()) return;
  // Nobody waits for it: where there is no room, the token ends by itself.
  static_cast<void>(for_issuers_.Run(
      session.issuer,
      [&provider = *provider, token = session.refresh_token] { RevokeLogin(provider, token); }, [] {}));
}

}  // namespace curator::gate
