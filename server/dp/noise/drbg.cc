#include "dp/noise/drbg.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

namespace curator::dp {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the words of a key's stream are read as little-endian");

constexpr uint64_t kAlive = 0x64726267'2d616c76;  // any nonzero mark: a wiped page reads as zero

[[noreturn]] void Die(const char* reason) {                             // not covered: ends the process
  std::fprintf(stderr, "curator: random bit generator: %s\n", reason);  // not covered: ends the process
  std::abort();                                                         // not covered: ends the process
}

}  // namespace

// Lives in pages of its own, so that a fork wipes the mark and the words together.
struct Drbg::State {
  static constexpr size_t kWords = 512;

  uint64_t alive = kAlive;
  pid_t owner = getpid();
  EVP_CIPHER_CTX* cipher = EVP_CIPHER_CTX_new();
  size_t next = kWords;
  std::array<uint64_t, kWords> words;

  void Refill() {
    words.fill(0);
    int written = 0;
    auto* bytes = reinterpret_cast<unsigned char*>(words.data());
    if (EVP_EncryptUpdate(cipher, bytes, &written, bytes, static_cast<int>(sizeof(words))) != 1 ||
        written != static_cast<int>(sizeof(words))) {
      Die("encryption failed");  // not covered: ends the process
    }
    next = 0;
  }
};

namespace {

// Pages that hold no state. A few are kept: to map and unmap them interrupts all processors that run this
// process, which takes longer than a small draw.
class SparePages {
 public:
  SparePages() = default;
  SparePages(const SparePages&) = delete;
  SparePages& operator=(const SparePages&) = delete;

  // Of `bytes`, which are the same in each call.
  void* Take(size_t bytes) {
    {
      const std::scoped_lock lock(mutex_);
      if (number_ > 0) return pages_[--number_];
    }
    void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) Die("no memory");
    // Both are advice that an old kernel may refuse; the comparison of process ids in Fill() remains.
    madvise(pages, bytes, MADV_WIPEONFORK);
    madvise(pages, bytes, MADV_DONTDUMP);
    return pages;
  }

  // Wiped by the caller.
  void GiveBack(void* pages, size_t bytes) {
    {
      const std::scoped_lock lock(mutex_);
      if (number_ < pages_.size()) {
        pages_[number_++] = pages;
        return;
      }
    }
    munmap(pages, bytes);
  }

 private:
  std::mutex mutex_;
  size_t number_ = 0;
  std::array<void*, 16> pages_{};
};

SparePages& Spare() {
  static SparePages spare;
  return spare;
}

}  // namespace

void Drbg::StateWiper::operator()(State* state) const {
  EVP_CIPHER_CTX_free(state->cipher);  // wipes the key schedule; null in a forked child, whose pages are zero
  OPENSSL_cleanse(state, sizeof(State));
  Spare().GiveBack(state, sizeof(State));
}

Drbg::Drbg(const DrawKey& key) {
  state_.reset(new (Spare().Take(sizeof(State))) State);
  constexpr std::array<unsigned char, 16> kFirstBlock{};
  if (state_->cipher == nullptr || EVP_EncryptInit_ex(state_->cipher, EVP_aes_256_ctr(), nullptr,
                                                      key.bytes().data(), kFirstBlock.data()) != 1) {
    Die("no AES-256-CTR");  // not covered: ends the process
  }
}

Drbg::~Drbg() = default;

void Drbg::Fill(std::span<uint64_t> words) {
  if (state_->alive != kAlive || state_->owner != getpid()) Die("used in a forked process");
  while (!words.empty()) {
    if (state_->next == State::kWords) state_->Refill();
    const size_t count = std::min(words.size(), State::kWords - state_->next);
    uint64_t* const source = state_->words.data() + state_->next;
    std::copy_n(source, count, words.data());
    std::memset(source, 0, count * sizeof(uint64_t));  // what was handed out is not kept
    state_->next += count;
    words = words.subspan(count);
  }
}

}  // namespace curator::dp
