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
#include <new>
#include <utility>

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
  static constexpr size_t kFirstWords = 32;  // a small draw needs no more

  uint64_t alive = kAlive;
  pid_t owner = getpid();
  EVP_CIPHER_CTX* cipher = EVP_CIPHER_CTX_new();
  size_t filled = 0;  // of `words`
  size_t next = 0;
  std::array<uint64_t, kWords> words;

  void Refill() {
    filled = filled == 0 ? kFirstWords : std::min(2 * filled, kWords);
    const auto size = static_cast<int>(filled * sizeof(uint64_t));
    std::fill_n(words.begin(), filled, 0);
    int written = 0;
    auto* bytes = reinterpret_cast<unsigned char*>(words.data());
    if (EVP_EncryptUpdate(cipher, bytes, &written, bytes, size) != 1 || written != size) {
      Die("encryption failed");  // not covered: ends the process
    }
    next = 0;
  }
};

namespace {

void* MapPages(size_t size) {
  void* const pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) Die("no memory");
  // Both are advice that an old kernel may refuse; the comparison of process ids in Fill() remains.
  madvise(pages, size, MADV_WIPEONFORK);
  madvise(pages, size, MADV_DONTDUMP);
  return pages;
}

// The wiped pages of a generator of this thread that has ended: mapping pages costs more than a small draw.
class SparePages {
 public:
  ~SparePages() {
    if (pages_ != nullptr) munmap(pages_, size_);
  }
  void* Take(size_t size) { return pages_ == nullptr ? MapPages(size) : std::exchange(pages_, nullptr); }
  void Keep(void* pages, size_t size) {
    if (pages_ != nullptr) {
      munmap(pages, size);
      return;
    }
    pages_ = pages;
    size_ = size;
  }

 private:
  void* pages_ = nullptr;
  size_t size_ = 0;
};
thread_local SparePages spare_pages;

}  // namespace

void Drbg::StateWiper::operator()(State* state) const {
  EVP_CIPHER_CTX_free(state->cipher);  // wipes the key schedule; null in a forked child, whose pages are zero
  OPENSSL_cleanse(state, sizeof(State));
  spare_pages.Keep(state, sizeof(State));
}

Drbg::Drbg(const DrawKey& key) : state_(new (spare_pages.Take(sizeof(State))) State) {
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
    if (state_->next == state_->filled) state_->Refill();
    const size_t count = std::min(words.size(), state_->filled - state_->next);
    uint64_t* const source = state_->words.data() + state_->next;
    std::copy_n(source, count, words.data());
    std::memset(source, 0, count * sizeof(uint64_t));  // what was handed out is not kept
    state_->next += count;
    words = words.subspan(count);
  }
}

}  // namespace curator::dp
