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
  Ended ended;
  {
    const absl::MutexLock lock(&mutex_);
    if (const std::optional<std::string> oldest = LeastRecentOf(session.principal)) {
      ended.emplace_back(*oldest, std::move(sessions_.at(*oldest)));
      sessions_.erase(*oldest);
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
  Ended ended;
  {
    const absl::MutexLock lock(&mutex_);
    const auto found = sessions_.find(key);
    if (found == sessions_.end()) return std::nullopt;
    if (!IsOver(found->second, now)) {
      found->second.last_use = now;
      return found->second;
    }
    ended.emplace_back(key, std::move(found->second));
    sessions_.erase(found);
  }
  Report(ended);
  return std::nullopt;
}

std::optional<Session> Sessions::Look(const std::string& key) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = sessions_.find(key);
  if (found == sessions_.end() || IsOver(found->second, now_())) return std::nullopt;
  return found->second;
}

bool Sessions::Renew(const std::string& key, const std::string& token, const std::string& refresh_token) {
  const absl::MutexLock lock(&mutex_);
  const auto found = sessions_.find(key);
  if (found == sessions_.end()) return false;
  found->second.credential.text = token;
  found->second.refresh_token = refresh_token;
  found->second.renewal = now_();
  return true;
}

void Sessions::End(const std::string& key) {
  Ended ended;
  {
    const absl::MutexLock lock(&mutex_);
    const auto found = sessions_.find(key);
    if (found == sessions_.end()) return;
    ended.emplace_back(key, std::move(found->second));
    sessions_.erase(found);
  }
  Report(ended);
}

void Sessions::Sweep() {
  const absl::Time now = now_();
  Ended ended;
  {
    const absl::MutexLock lock(&mutex_);
    std::erase_if(sessions_, [&](auto& entry) {
      if (!IsOver(entry.second, now)) return false;
      ended.emplace_back(entry.first, std::move(entry.second));
      return true;
    });
  }
  Report(ended);
}

size_t Sessions::size() const {
  const absl::MutexLock lock(&mutex_);
  return sessions_.size();
}

void Sessions::Report(const Ended& ended) const {
  for (const auto& [key, session] : ended) on_end_(key, session);
}

}  // namespace curator::gate
