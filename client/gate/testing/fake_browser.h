// A browser for tests of the gate without HTTP: requests as pages of the gate send them, and what they get.
//
// Thread-safe.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/gate/http.h"

namespace curator::gate::testing {

inline constexpr absl::Duration kPatience = absl::Seconds(20);

// What one stream of events brought.
class FakeStream final : public EventStream {
 public:
  void Send(std::string_view text) override {
    const absl::MutexLock lock(&mutex_);
    text_.append(text.data(), text.size());
  }
  void Close() override { Leave(); }
  void OnClosed(std::function<void()> on_closed) override {
    {
      const absl::MutexLock lock(&mutex_);
      if (!is_closed_) {
        on_closed_ = std::move(on_closed);
        return;
      }
    }
    on_closed();
  }

  // The browser leaves.
  void Leave() {
    std::function<void()> on_closed;
    {
      const absl::MutexLock lock(&mutex_);
      if (std::exchange(is_closed_, true)) return;
      on_closed = std::exchange(on_closed_, nullptr);
    }
    if (on_closed != nullptr) on_closed();
  }
  // Everything so far, once `piece` is in it; whatever there is when it does not come.
  std::string AwaitText(const std::string& piece) const {
    const auto has_piece = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return text_.find(piece) != std::string::npos;
    };
    const absl::MutexLock lock(&mutex_);
    mutex_.AwaitWithTimeout(absl::Condition(&has_piece), kPatience);
    return text_;
  }
  bool AwaitClosed() const {
    const absl::MutexLock lock(&mutex_);
    return mutex_.AwaitWithTimeout(absl::Condition(&is_closed_), kPatience);
  }

 private:
  mutable absl::Mutex mutex_;
  std::string text_ ABSL_GUARDED_BY(mutex_);
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> on_closed_ ABSL_GUARDED_BY(mutex_);
};

// The answer of one request.
class FakeExchange final : public Exchange {
 public:
  void Respond(HttpResponse response) override {
    const absl::MutexLock lock(&mutex_);
    if (std::exchange(is_answered_, true)) return;
    response_ = std::move(response);
    if (!response_.constant.empty()) response_.body = response_.constant;
  }
  std::shared_ptr<EventStream> StartEvents(HttpHeaders headers) override {
    const absl::MutexLock lock(&mutex_);
    is_answered_ = true;
    response_.headers = std::move(headers);
    stream_ = std::make_shared<FakeStream>();
    return stream_;
  }
  void OnLeft(std::function<void()> on_left) override {
    {
      const absl::MutexLock lock(&mutex_);
      if (!has_left_) {
        on_left_ = std::move(on_left);
        return;
      }
    }
    on_left();
  }

  // The browser leaves before it was answered.
  void Leave() {
    std::function<void()> on_left;
    {
      const absl::MutexLock lock(&mutex_);
      has_left_ = true;
      on_left = std::exchange(on_left_, nullptr);
    }
    if (on_left != nullptr) on_left();
  }
  // Status 0 when no answer comes.
  HttpResponse Await() const {
    const absl::MutexLock lock(&mutex_);
    const bool came = mutex_.AwaitWithTimeout(absl::Condition(&is_answered_), kPatience);
    return came ? response_ : HttpResponse{.status = 0, .headers = {}, .body = ""};
  }
  std::shared_ptr<FakeStream> stream() const {
    const absl::MutexLock lock(&mutex_);
    return stream_;
  }

 private:
  mutable absl::Mutex mutex_;
  bool is_answered_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_left_ ABSL_GUARDED_BY(mutex_) = false;
  HttpResponse response_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<FakeStream> stream_ ABSL_GUARDED_BY(mutex_);
  std::function<void()> on_left_ ABSL_GUARDED_BY(mutex_);
};

inline std::string HeaderOf(const HttpResponse& response, std::string_view name) {
  for (const auto& [header, value] : response.headers) {
    if (header == name) return value;
  }
  return "";
}

inline nlohmann::json JsonOf(const HttpResponse& response) {
  return nlohmann::json::parse(response.body, nullptr, /*allow_exceptions=*/false);
}

}  // namespace curator::gate::testing
