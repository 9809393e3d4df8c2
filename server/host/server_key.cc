#include "host/server_key.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "host/entropy.h"

namespace curator::host {
namespace {

[[noreturn]] void AbortBecause(const char* what) {
  std::fprintf(stderr, "curator: %s failed\n", what);
  std::abort();
}

const unsigned char* BytesOf(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* BytesOf(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

absl::Status Failed(std::string_view what, const std::string& path) {
  return absl::UnavailableError(
      absl::StrCat("server key: cannot ", std::string(what), " ", path, ": ", std::strerror(errno)));
}

absl::Status CheckOwnership(int fd, const std::string& path) {
  struct stat info;
  if (fstat(fd, &info) != 0) return Failed("examine", path);
  if (!S_ISREG(info.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat("server key: ", path, " is not a regular file"));
  }
  if (info.st_uid != geteuid()) {
    return absl::FailedPreconditionError(absl::StrCat("server key: ", path, " belongs to another user"));
  }
  if ((info.st_mode & 077) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("server key: ", path, " is open to group or others; chmod 600 it"));
  }
  if (info.st_size != static_cast<off_t>(kSecretSize)) {
    return absl::DataLossError(
        absl::StrCat("server key: ", path, " is ", info.st_size, " bytes long instead of ", kSecretSize));
  }
  return absl::OkStatus();
}

absl::StatusOr<Secret> Read(int fd, const std::string& path) {
  RETURN_IF_ERROR(CheckOwnership(fd, path));
  Secret::Bytes bytes;
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = read(fd, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Failed("read", path);
    done += static_cast<size_t>(count);
  }
  Secret secret(bytes);
  OPENSSL_cleanse(bytes.data(), bytes.size());
  return secret;
}

absl::Status WriteDurably(int fd, std::span<const uint8_t> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Failed("write", path);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return fsync(fd) == 0 ? absl::OkStatus() : Failed("write", path);
}

absl::Status SyncFolderOf(const std::string& path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty()) folder.push_back('.');
  const FileDescriptor fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.ok() || fsync(fd.get()) != 0) return Failed("write", folder);
  return absl::OkStatus();
}

// Writes a new key under another name and links it to `path`, which fails, harmlessly, if another server has
// created a key there meanwhile.
absl::Status Create(const std::string& path) {
  const std::string draft = absl::StrCat(path, ".", NewUuid());
  const FileDescriptor fd(open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.ok()) return Failed("create", path);
  Secret::Bytes bytes;
  FillWithEntropy(bytes);
  absl::Status status = WriteDurably(fd.get(), bytes, path);
  OPENSSL_cleanse(bytes.data(), bytes.size());
  if (status.ok() && link(draft.c_str(), path.c_str()) != 0 && errno != EEXIST)
    status = Failed("create", path);
  unlink(draft.c_str());
  RETURN_IF_ERROR(status);
  return SyncFolderOf(path);
}

}  // namespace

Secret::~Secret() {
  OPENSSL_cleanse(bytes_.data(), bytes_.size());
}

Secret Derive(const Secret& key, std::string_view purpose) {
  Secret::Bytes derived;
  unsigned int size = 0;
  if (HMAC(EVP_sha256(), key.bytes().data(), static_cast<int>(kSecretSize), BytesOf(purpose), purpose.size(),
           derived.data(), &size) == nullptr ||
      size != kSecretSize) {
    AbortBecause("HMAC-SHA-256");
  }
  const Secret result(derived);
  OPENSSL_cleanse(derived.data(), derived.size());
  return result;
}

absl::StatusOr<ServerKey> ServerKey::OpenOrCreate(const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  if (access(path.c_str(), F_OK) != 0 && errno == ENOENT) RETURN_IF_ERROR(Create(path));
  const FileDescriptor fd(open(path.c_str(), kFlags));
  if (!fd.ok() && errno == ELOOP) {
    return absl::FailedPreconditionError(absl::StrCat("server key: ", path, " is not a regular file"));
  }
  if (!fd.ok()) return Failed("open", path);
  ASSIGN_OR_RETURN(const Secret secret, Read(fd.get(), path));
  return ServerKey(secret);
}

// ---- Keyed hashes

namespace {

void RequireHmac(bool done) {
  if (!done) AbortBecause("HMAC-SHA-256");
}

}  // namespace

struct KeyedHash::Context {
  Context() : algorithm(EVP_MAC_fetch(nullptr, "HMAC", nullptr)), mac(EVP_MAC_CTX_new(algorithm)) {}
  ~Context() {
    EVP_MAC_CTX_free(mac);
    EVP_MAC_free(algorithm);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  EVP_MAC* algorithm;
  EVP_MAC_CTX* mac;
};

KeyedHash::KeyedHash(const ServerKey& server_key, std::string_view purpose)
    : context_(std::make_unique<Context>()) {
  const Secret key = server_key.Derive("keyed hash, version 1: " + std::string(purpose));
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string("digest", digest, 0),
                                   OSSL_PARAM_construct_end()};
  RequireHmac(context_->mac != nullptr &&
              EVP_MAC_init(context_->mac, key.bytes().data(), key.bytes().size(), parameters) == 1);
}

KeyedHash::~KeyedHash() = default;
KeyedHash::KeyedHash(KeyedHash&&) noexcept = default;
KeyedHash& KeyedHash::operator=(KeyedHash&&) noexcept = default;

void KeyedHash::Update(std::span<const uint8_t> bytes) {
  RequireHmac(EVP_MAC_update(context_->mac, bytes.data(), bytes.size()) == 1);
}

void KeyedHash::Update(std::string_view bytes) {
  Update(std::span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
}

HashBytes KeyedHash::Finish() {
  HashBytes hash;
  size_t size = 0;
  RequireHmac(EVP_MAC_final(context_->mac, hash.data(), &size, hash.size()) == 1 && size == hash.size());
  return hash;
}

// ---- Sealed draw keys

namespace {

constexpr char kSealVersion = 1;
constexpr size_t kSaltSize = 32;
constexpr size_t kTagSize = 16;
constexpr size_t kSealedSize = 1 + kSaltSize + dp::DrawKey::kSize + kTagSize;
// The key of each seal is used once, so its nonce may be constant.
constexpr std::array<unsigned char, 12> kNonce{};

struct CipherDeleter {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, CipherDeleter>;

void RequireAes(int openssl_result) {
  if (openssl_result != 1) AbortBecause("AES-256-GCM");
}

Cipher NewCipher() {
  Cipher cipher(EVP_CIPHER_CTX_new());
  if (cipher == nullptr) AbortBecause("AES-256-GCM");
  return cipher;
}

}  // namespace

absl::StatusOr<KeySealer> KeySealer::OpenOrCreate(const std::string& path) {
  ASSIGN_OR_RETURN(const ServerKey server_key, ServerKey::OpenOrCreate(path));
  return KeySealer(server_key);
}

KeySealer::KeySealer(const ServerKey& server_key)
    : sealing_key_(server_key.Derive("seal draw keys, version 1")) {}

std::string KeySealer::Seal(const dp::DrawKey& key, std::string_view context) const {
  std::array<uint8_t, kSaltSize> salt;
  FillWithEntropy(salt);
  std::string sealed(1, kSealVersion);
  sealed.append(reinterpret_cast<const char*>(salt.data()), salt.size());
  const Secret seal_key = Derive(sealing_key_, std::string_view(sealed).substr(1, kSaltSize));
  sealed.resize(kSealedSize);

  const Cipher cipher = NewCipher();
  unsigned char* const ciphertext = BytesOf(sealed) + 1 + kSaltSize;
  int written = 0;
  RequireAes(
      EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, seal_key.bytes().data(), kNonce.data()));
  RequireAes(
      EVP_EncryptUpdate(cipher.get(), nullptr, &written, BytesOf(context), static_cast<int>(context.size())));
  RequireAes(EVP_EncryptUpdate(cipher.get(), ciphertext, &written, key.bytes().data(), dp::DrawKey::kSize));
  RequireAes(EVP_EncryptFinal_ex(cipher.get(), ciphertext + written, &written));
  RequireAes(
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagSize, ciphertext + dp::DrawKey::kSize));
  return sealed;
}

absl::StatusOr<dp::DrawKey> KeySealer::Unseal(std::string_view sealed, std::string_view context) const {
  const absl::Status bad_seal = absl::DataLossError("a sealed draw key cannot be opened");
  if (sealed.size() != kSealedSize || sealed[0] != kSealVersion) return bad_seal;
  const Secret seal_key = Derive(sealing_key_, sealed.substr(1, kSaltSize));

  const Cipher cipher = NewCipher();
  const unsigned char* const ciphertext = BytesOf(sealed) + 1 + kSaltSize;
  std::string tag(sealed.substr(kSealedSize - kTagSize));
  dp::DrawKey::Bytes opened;
  int written = 0;
  RequireAes(
      EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, seal_key.bytes().data(), kNonce.data()));
  RequireAes(
      EVP_DecryptUpdate(cipher.get(), nullptr, &written, BytesOf(context), static_cast<int>(context.size())));
  RequireAes(EVP_DecryptUpdate(cipher.get(), opened.data(), &written, ciphertext, dp::DrawKey::kSize));
  RequireAes(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagSize, tag.data()));
  const bool authentic = EVP_DecryptFinal_ex(cipher.get(), opened.data() + written, &written) == 1;
  const dp::DrawKey key(opened);
  OPENSSL_cleanse(opened.data(), opened.size());
  if (!authentic) return bad_seal;
  return key;
}

dp::DrawKey DeriveDrawKey(const dp::DrawKey& key, std::string_view identity) {
  // One block: extract, then expand with the counter 1.
  const Secret no_salt{Secret::Bytes{}};
  const Secret extracted =
      Derive(no_salt, {reinterpret_cast<const char*>(key.bytes().data()), key.bytes().size()});
  return dp::DrawKey(Derive(extracted, absl::StrCat(std::string(identity), "\x01")).bytes());
}

// ---- Receipts

namespace {

constexpr std::string_view kReceiptPurpose = "receipt signature";
constexpr size_t kPublicKeySize = 32;
constexpr size_t kSignatureSize = 64;

struct FreeSigning {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using SigningKey = std::unique_ptr<EVP_PKEY, FreeSigning>;
using SigningContext = std::unique_ptr<EVP_MD_CTX, FreeSigning>;

// A receipt that is not signed must not leave.
void RequireSigned(bool done) {
  if (!done) AbortBecause("signing a receipt");
}

SigningKey PrivateKey(const Secret& seed) {
  SigningKey key(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.bytes().data(), seed.bytes().size()));
  RequireSigned(key != nullptr);
  return key;
}

}  // namespace

ReceiptSigner::ReceiptSigner(const ServerKey& server_key)
    : key_(PrivateKey(server_key.Derive(kReceiptPurpose))), public_key_(kPublicKeySize, '\0') {
  size_t size = public_key_.size();
  RequireSigned(EVP_PKEY_get_raw_public_key(key_.get(), BytesOf(public_key_), &size) == 1);
}

std::string ReceiptSigner::Sign(std::string_view text) const {
  const SigningContext context(EVP_MD_CTX_new());
  std::string signature(kSignatureSize, '\0');
  size_t size = signature.size();
  RequireSigned(context != nullptr);
  RequireSigned(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1);
  RequireSigned(EVP_DigestSign(context.get(), BytesOf(signature), &size, BytesOf(text), text.size()) == 1);
  return signature;
}

bool IsSignedBy(std::string_view public_key, std::string_view text, std::string_view signature) {
  if (public_key.size() != kPublicKeySize || signature.size() != kSignatureSize) return false;
  const SigningKey key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, BytesOf(public_key), public_key.size()));
  const SigningContext context(EVP_MD_CTX_new());
  if (key == nullptr || context == nullptr) return false;
  return EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), BytesOf(signature), signature.size(), BytesOf(text), text.size()) ==
             1;
}

}  // namespace curator::host
