#include "client/receipt.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "google/protobuf/util/time_util.h"

namespace curator::client {
namespace {

using Json = nlohmann::ordered_json;

const unsigned char* BytesOf(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

bool IsSignedBy(std::string_view public_key, std::string_view text, std::string_view signature) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, BytesOf(public_key), public_key.size()),
      &EVP_PKEY_free);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  return key != nullptr && context != nullptr &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), BytesOf(signature), signature.size(), BytesOf(text), text.size()) ==
             1;
}

std::string HexOf(std::string_view bytes) {
  return absl::BytesToHexString(absl::string_view(bytes.data(), bytes.size()));
}

std::string TextIn(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

void AddInteger(std::string& document, int64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) {
    document.push_back(static_cast<char>(static_cast<uint64_t>(value) >> shift));
  }
}

void AddText(std::string& document, std::string_view text) {
  AddInteger(document, static_cast<int64_t>(text.size()));
  document.append(text);
}

}  // namespace

absl::StatusOr<ReceiptStatement> CheckReceipt(const v1::Receipt& receipt, std::string_view public_key) {
  if (!IsSignedBy(public_key, receipt.statement(), receipt.signature())) {
    if (!receipt.public_key().empty() && receipt.public_key() != public_key &&
        IsSignedBy(receipt.public_key(), receipt.statement(), receipt.signature())) {
      return absl::InvalidArgumentError("is signed with another key than the one that is trusted: " +
                                        HexOf(receipt.public_key()));
    }
    return absl::InvalidArgumentError("is forged or damaged: its signature is not that of its statement");
  }
  const Json json = Json::parse(receipt.statement(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || TextIn(json, "document") != "curator.receipt.v1" || !json.contains("sequence") ||
      !json["sequence"].is_number_integer()) {
    return absl::InvalidArgumentError("is signed, and states no charge");
  }
  return ReceiptStatement{.ledger_id = TextIn(json, "ledger_id"),
                          .dataset_id = TextIn(json, "dataset_id"),
                          .sequence = json["sequence"].get<int64_t>(),
                          .entry_hash = BytesOfHex(TextIn(json, "entry_hash")),
                          .charge_id = TextIn(json, "charge_id")};
}

std::string LineOf(const v1::Receipt& receipt) {
  Json json = {{"statement", receipt.statement()},
               {"signature", HexOf(receipt.signature())},
               {"public_key", HexOf(receipt.public_key())}};
  const Json content = Json::parse(receipt.statement(), nullptr, /*allow_exceptions=*/false);
  if (content.is_object()) json["content"] = content;
  return json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

absl::StatusOr<v1::Receipt> ReceiptOfLine(const std::string& line) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  v1::Receipt receipt;
  if (json.is_object()) {
    receipt.set_statement(TextIn(json, "statement"));
    receipt.set_signature(BytesOfHex(TextIn(json, "signature")));
    receipt.set_public_key(BytesOfHex(TextIn(json, "public_key")));
  }
  if (receipt.statement().empty() || receipt.signature().empty()) {
    return absl::InvalidArgumentError(
        "is not a receipt, which is a JSON object with a statement and a signature");
  }
  // Without regard to the order of members, which other programs may change.
  const auto content = json.find("content");
  if (content != json.end() &&
      nlohmann::json(*content) != nlohmann::json::parse(receipt.statement(), nullptr,
                                                        /*allow_exceptions=*/false)) {
    return absl::InvalidArgumentError(
        "is forged or damaged: its content is not that of its signed statement");
  }
  return receipt;
}

std::string HashOf(const v1::LedgerEntry& entry) {
  std::string document;
  AddText(document, "curator.ledger.entry");
  AddInteger(document, 1);
  AddText(document, entry.dataset_id());
  AddInteger(document, entry.sequence());
  AddText(document, entry.kind());
  AddText(document, entry.charge_id());
  AddText(document, entry.payload());
  AddText(document, entry.actor());
  AddInteger(document, google::protobuf::util::TimeUtil::TimestampToMicroseconds(entry.time()));
  AddText(document, entry.previous_hash());
  std::string hash(SHA256_DIGEST_LENGTH, '\0');
  SHA256(BytesOf(document), document.size(), reinterpret_cast<unsigned char*>(hash.data()));
  return hash;
}

std::string BytesOfHex(std::string_view digits) {
  const bool is_hex =
      digits.size() % 2 == 0 && digits.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  return is_hex ? absl::HexStringToBytes(absl::string_view(digits.data(), digits.size())) : std::string();
}

}  // namespace curator::client
