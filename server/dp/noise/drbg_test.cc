#include "dp/noise/drbg.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <vector>

namespace curator::dp {
namespace {

DrawKey KeyOf(uint8_t byte) {
  DrawKey::Bytes bytes{};
  bytes[0] = byte;
  return DrawKey(bytes);
}

std::vector<uint64_t> Words(Drbg& drbg, size_t count) {
  std::vector<uint64_t> words(count);
  drbg.Fill(words);
  return words;
}

// AES-256 under the zero key of the blocks 0 and 1, as they appear in the GCM specification's test cases 13
// and 14 (there as the hash key H and the first tag): dc95c078a2408989ad48a21492842087 and
// 530f8afbc74536b9a963b4f1c4cb738b.
TEST(Drbg, IsAesInCounterModeReadLittleEndian) {
  Drbg drbg(KeyOf(0));
  EXPECT_EQ(Words(drbg, 4), (std::vector<uint64_t>{0x898940a278c095dc, 0x8720849214a248ad, 0xb93645c7fb8a0f53,
                                                   0x8b73cbc4f1b463a9}));
}

TEST(Drbg, GoesOnAsTheCipherDoesBeyondItsBuffer) {
  std::vector<uint64_t> expected(2000);
  EVP_CIPHER_CTX* const cipher = EVP_CIPHER_CTX_new();
  constexpr std::array<unsigned char, 16> kFirstBlock{};
  ASSERT_EQ(
      EVP_EncryptInit_ex(cipher, EVP_aes_256_ctr(), nullptr, KeyOf(9).bytes().data(), kFirstBlock.data()), 1);
  auto* const bytes = reinterpret_cast<unsigned char*>(expected.data());
  int written = 0;
  ASSERT_EQ(EVP_EncryptUpdate(cipher, bytes, &written, bytes, 2000 * sizeof(uint64_t)), 1);
  EVP_CIPHER_CTX_free(cipher);
  Drbg drbg(KeyOf(9));
  EXPECT_EQ(Words(drbg, 2000), expected);
}

TEST(Drbg, BeginsAtItsBeginningInThePagesOfOneThatHasEnded) {
  const std::vector<uint64_t> expected = [] {
    Drbg first(KeyOf(3));
    return Words(first, 100);
  }();
  {
    Drbg between(KeyOf(4));
    Words(between, 700);
  }
  Drbg again(KeyOf(3));
  EXPECT_EQ(Words(again, 100), expected);
}

TEST(Drbg, RepeatsItsStreamForTheSameKeyHoweverItIsCut) {
  Drbg whole(KeyOf(7));
  const std::vector<uint64_t> expected = Words(whole, 5000);
  Drbg cut(KeyOf(7));
  std::vector<uint64_t> words;
  for (size_t count = 1; words.size() < expected.size(); count = count * 3 % 1021) {
    for (const uint64_t word : Words(cut, std::min(count, expected.size() - words.size())))
      words.push_back(word);
  }
  EXPECT_EQ(words, expected);
}

TEST(Drbg, GivesAnotherStreamForAnotherKey) {
  Drbg one(KeyOf(1));
  Drbg two(KeyOf(2));
  const std::vector<uint64_t> first = Words(one, 1000);
  const std::vector<uint64_t> second = Words(two, 1000);
  for (size_t i = 0; i < first.size(); ++i) EXPECT_NE(first[i], second[i]);
}

// How the child of a fork ended that ran `body`.
template <typename Body>
int StatusOfChild(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    close(STDERR_FILENO);
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(Drbg, EndsAForkedChildRatherThanShareBits) {
  Drbg drbg(KeyOf(3));
  Words(drbg, 10);  // words of the next block lie in the buffer already
  const int status = StatusOfChild([&drbg] { Words(drbg, 1); });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGABRT);
}

TEST(Drbg, EndsAForkedChildAlsoWhereItsPagesHadAnotherGenerator) {
  { Drbg earlier(KeyOf(4)); }
  Drbg drbg(KeyOf(3));
  EXPECT_EQ(Words(drbg, 600), [] {
    Drbg on_other_pages(KeyOf(3));
    return Words(on_other_pages, 600);
  }());
  const int status = StatusOfChild([&drbg] { Words(drbg, 1); });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGABRT);
}

TEST(Drbg, GoesOnInTheParentOfAFork) {
  Drbg undisturbed(KeyOf(3));
  Drbg drbg(KeyOf(3));
  EXPECT_EQ(Words(drbg, 10), Words(undisturbed, 10));
  StatusOfChild([&drbg] { Words(drbg, 1); });
  EXPECT_EQ(Words(drbg, 1000), Words(undisturbed, 1000));
}

TEST(Drbg, MayBeDestroyedInAForkedChildAndMadeAnewThere) {
  auto drbg = std::make_unique<Drbg>(KeyOf(3));
  const int status = StatusOfChild([&drbg] {
    drbg.reset();
    Drbg fresh(KeyOf(4));
    Words(fresh, 100);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace curator::dp
