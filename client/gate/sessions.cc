#include "client/gate/sessions.h"

#include <algorithm>

#include "client/gate/random_text.h"

namespace curator::gate {

std::string Sessions::KeyOf(std::string_view id) {
  return Digest(id);
}

std::optional<std::string> Sessions::Begin(Session session) {
  Sweep();
  std::string id = RandomText();
  session.csrf = RandomText();
  session.start = session.last_use = now_();
  std::vector<std::string> ended;
  {
    const absl::MutexLock lock(&mutex_);
    if (std::optional<std::string> oldest = LeastRecentOf(session.principal)) {
      sessions_.erase(*oldest);
      ended.push_back(*std::move(oldest));
    }
    if (sessions_.size() >= limits_.most) return std::nullopt;
    sessions_.emplace(KeyOf(id), std::move(session));
  }
  Report(ended);
  return id;
}

// None while the principal may have one more.
std::optional<std::string> Sessions::LeastRecentOf(const std::string& principal) const {
  size_t count = 0;
  const std::pair<const std::string, Session>* oldest = nullptr;
  for (const auto& entry : sessions_) {
    if (entry.second.principal != principal) continue;
    ++count;
    if (oldest == nullptr || entry.second.last_use < oldest->second.last_use) oldest = &entry;
  }
  if (count < limits_.most_of_principal) return std::nullopt;
  return oldest->first;
}

bool Sessions::IsOver(const Session& session, absl::Time now) const {
  return now >= EndOf(session);
}

absl::Time Sessions::EndOf(const Session& session) const {
  return std::min(session.last_use + limits_.idle, session.start + limits_.longest);
}

std::optional<Session> Sessions::Use(const std::string& key) {
  const absl::Time now = now_();
  {
    const absl::MutexLock lock(&mutex_);
    const auto found = sessions_.find(key);
    if (found == sessions_.end()) return std::nullopt;
    if (!IsOver(found->second, now)) {
      found->second.last_use = now;
      return found->second;
    }
    sessions_.erase(found);
  }
  Report({key});
  return std::nullopt;
}

std::optional<Session> Sessions::Look(const std::string& key) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = sessions_.find(key);
  if (found == sessions_.end() || IsOver(found->second, now_())) return std::nullopt;
  return found->second;
}

void Sessions::Renew(const std::string& key, const std::string& token, const std::string& refresh_token) {
  const absl::MutexLock lock(&mutex_);
  const auto found = sessions_.find(key);
  if (found == sessions_.end()) return;
  found->second.credential.text = token;
  found->second.refresh_token = refresh_token;
}

void Sessions::End(const std::string& key) {
  {
    const absl::MutexLock lock(&mutex_);
    if (sessions_.erase(key) == 0) return;
  }
  Report({key});
}

void Sessions::Sweep() {
  const absl::Time now = now_();
  std::vector<std::string> ended;
  {
    const absl::MutexLock lock(&mutex_);
    for (const auto& [key, session] : sessions_) {
      if (IsOver(session, now)) ended.push_back(key);
    }
    for (const std::string& key : ended) sessions_.erase(key);
  }
  Report(ended);
}

size_t Sessions::size() const {
  const absl::MutexLock lock(&mutex_);
  return sessions_.size();
}

void Sessions::Report(const std::vector<std::string>& ended) const {
  for (const std::string& key : ended) on_end_(key);
}

}  // namespace curator::gate
