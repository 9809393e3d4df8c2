// A cache of immutable values by key, bounded by the bytes that they take: those used longest ago are
// dropped.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"

namespace curator {

template <typename Value>
class LruCache {
 public:
  // `most_bytes` is what Keep() is given, together.
  explicit LruCache(size_t most_bytes) : most_bytes_(most_bytes) {}

  // Null when nothing is kept under `key`.
  std::shared_ptr<const Value> Find(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return entries_.front().value;
  }

  // In place of what was kept under `key`. A value of more than an eighth of all bytes is not kept.
  void Keep(const std::string& key, std::shared_ptr<const Value> value, size_t bytes) {
    const std::scoped_lock lock(mutex_);
    if (const auto found = by_key_.find(key); found != by_key_.end()) Drop(found->second);
    if (bytes > most_bytes_ / 8) return;
    entries_.push_front({key, std::move(value), bytes});
    by_key_[key] = entries_.begin();
    bytes_ += bytes;
    while (bytes_ > most_bytes_) Drop(std::prev(entries_.end()));
  }

  void Clear() {
    const std::scoped_lock lock(mutex_);
    entries_.clear();
    by_key_.clear();
    bytes_ = 0;
  }

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const Value> value;
    size_t bytes = 0;
  };

  void Drop(typename std::list<Entry>::iterator entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    bytes_ -= entry->bytes;
    by_key_.erase(entry->key);
    entries_.erase(entry);
  }

  const size_t most_bytes_;
  std::mutex mutex_;
  std::list<Entry> entries_ ABSL_GUARDED_BY(mutex_);  // the latest used first
  std::map<std::string, typename std::list<Entry>::iterator> by_key_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace curator
