#include <gtest/gtest.h>

#include <string>

#include "host/server_key.h"
#include "tests/testing/scratch_folder.h"

namespace curator::host {
namespace {

class ReceiptSignerTest : public ::testing::Test {
 protected:
  ReceiptSigner SignerOf(const std::string& name) const {
    return ReceiptSigner(ServerKey::OpenOrCreate(folder_.path() + "/" + name).value());
  }
  const testing::ScratchFolder folder_;
};

TEST_F(ReceiptSignerTest, WhatItSignedIsRecognisedByItsPublicKey) {
  const ReceiptSigner signer = SignerOf("server.key");
  EXPECT_EQ(signer.public_key().size(), 32u);
  EXPECT_TRUE(IsSignedBy(signer.public_key(), "a receipt", signer.Sign("a receipt")));
  EXPECT_TRUE(IsSignedBy(signer.public_key(), "", signer.Sign("")));
}

TEST_F(ReceiptSignerTest, AnotherTextAnotherKeyAndADamagedSignatureAreNot) {
  const ReceiptSigner signer = SignerOf("server.key");
  std::string signature = signer.Sign("a receipt");
  EXPECT_FALSE(IsSignedBy(signer.public_key(), "a receipT", signature));
  EXPECT_FALSE(IsSignedBy(SignerOf("other.key").public_key(), "a receipt", signature));
  EXPECT_FALSE(IsSignedBy(signer.public_key(), "a receipt", signature.substr(1)));
  EXPECT_FALSE(IsSignedBy("", "a receipt", signature));
  signature[10] = static_cast<char>(signature[10] ^ 1);
  EXPECT_FALSE(IsSignedBy(signer.public_key(), "a receipt", signature));
}

TEST_F(ReceiptSignerTest, TheSameSecretSignsAlikeAfterARestart) {
  EXPECT_EQ(SignerOf("server.key").Sign("a receipt"), SignerOf("server.key").Sign("a receipt"));
}

}  // namespace
}  // namespace curator::host
