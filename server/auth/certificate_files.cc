#include "auth/certificate_files.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace curator::auth {
namespace {

absl::StatusOr<std::string> ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::InvalidArgumentError(absl::StrCat(path, " cannot be read"));
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

bool AreEqual(const TlsFiles& one, const TlsFiles& other) {
  return one.certificate == other.certificate && one.key == other.key && one.client_ca == other.client_ca;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CertificateFiles>> CertificateFiles::Open(Paths paths, Options options) {
  std::unique_ptr<CertificateFiles> files(new CertificateFiles(std::move(paths), std::move(options)));
  files->Look();
  RETURN_IF_ERROR(files->state());
  files->watcher_.emplace(files->options_.between_looks, [opened = files.get()] { opened->Look(); });
  return files;
}

absl::Status CertificateFiles::Read(TlsFiles& files) const {
  ASSIGN_OR_RETURN(files.client_ca, ContentOf(paths_.client_ca));
  if (paths_.certificate.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(files.certificate, ContentOf(paths_.certificate));
  ASSIGN_OR_RETURN(files.key, ContentOf(paths_.key));
  return absl::OkStatus();
}

void CertificateFiles::Look() {
  const std::scoped_lock lock(looking_);
  TlsFiles files;
  absl::Status state = Read(files);
  const bool is_checked = state.ok() && !paths_.certificate.empty();
  absl::StatusOr<absl::Time> expires = absl::NotFoundError("there is no certificate");
  if (is_checked) {
    expires = CheckTlsFiles(files, options_.now());
    state = expires.status();
  }
  absl::StatusOr<ClientAuthorities> authorities = ClientAuthorities::Parse(files.client_ca);
  if (state.ok()) state = authorities.status();
  std::shared_ptr<const ClientAuthorities> usable;
  if (state.ok()) usable = std::make_shared<const ClientAuthorities>(*std::move(authorities));
  // Memory cannot run out from here on: after that the next look would not find the change.
  const bool has_changed = !AreEqual(files, read_);
  read_ = std::move(files);
  bool is_news = false;
  {
    const std::scoped_lock state_lock(mutex_);
    is_news = has_changed || state != state_;
    state_ = state;
    if (expires.ok()) expires_ = *expires;
    if (state.ok() && has_changed) authorities_ = std::move(usable);
  }
  if (is_news) options_.report(state);
}

std::shared_ptr<const ClientAuthorities> CertificateFiles::authorities() const {
  const std::scoped_lock lock(mutex_);
  return authorities_;
}

std::optional<absl::Time> CertificateFiles::expires() const {
  const std::scoped_lock lock(mutex_);
  return expires_;
}

absl::Status CertificateFiles::state() const {
  const std::scoped_lock lock(mutex_);
  return state_;
}

}  // namespace curator::auth
