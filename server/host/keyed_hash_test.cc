#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <string>

#include "host/server_key.h"
#include "tests/testing/scratch_folder.h"

namespace curator::host {
namespace {

ServerKey NewServerKey() {
  const testing::ScratchFolder folder;
  return ServerKey::OpenOrCreate(folder.path() + "/server.key").value();
}

HashBytes Hash(const ServerKey& key, std::string_view purpose, std::string_view content) {
  KeyedHash hash(key, purpose);
  hash.Update(content);
  return hash.Finish();
}

TEST(KeyedHash, IsHmacSha256UnderTheDerivedKey) {
  const ServerKey key = NewServerKey();
  const Secret derived = key.Derive("keyed hash, version 1: table");
  HashBytes expected;
  unsigned int size = 0;
  HMAC(EVP_sha256(), derived.bytes().data(), 32, reinterpret_cast<const unsigned char*>("rows"), 4,
       expected.data(), &size);
  EXPECT_EQ(Hash(key, "table", "rows"), expected);
}

TEST(KeyedHash, DoesNotDependOnHowContentIsCut) {
  const ServerKey key = NewServerKey();
  KeyedHash pieces(key, "table");
  pieces.Update("ro");
  pieces.Update("");
  pieces.Update("ws");
  EXPECT_EQ(pieces.Finish(), Hash(key, "table", "rows"));
}

TEST(KeyedHash, DiffersByContentPurposeAndServer) {
  const ServerKey key = NewServerKey();
  EXPECT_NE(Hash(key, "table", "rows"), Hash(key, "table", "rowt"));
  EXPECT_NE(Hash(key, "table", "rows"), Hash(key, "schema", "rows"));
  EXPECT_NE(Hash(key, "table", "rows"), Hash(NewServerKey(), "table", "rows"));
}

}  // namespace
}  // namespace curator::host
