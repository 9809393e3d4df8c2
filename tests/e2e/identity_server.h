// A server with a configuration and an issuer of tokens, whose users register by themselves: what the tests
// of identities and rights share.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "app_bootstrap.h"
#include "client/client.h"
#include "tests/testing/scratch_folder.h"
#include "tests/testing/test_issuer.h"
#include "tests/testing/test_server.h"

namespace curator::testing {

inline const std::string kIssuer = TestIssuer::kIssuer;

class Identities : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override { first_ = Start("first"); }

  // Another server on the same ledger and the same data.
  std::unique_ptr<App> Start(const std::string& name) {
    config_.listeners = {{.kind = config::ListenerKind::kLocal,
                          .address = absl::StrCat("unix:", folder_.path(), "/", name, ".sock")}};
    AppOptions options = options_;
    options.development = false;
    options.config = config_;
    options.forget_after = forget_after_;
    absl::StatusOr<std::unique_ptr<App>> app = App::Start(options);
    EXPECT_TRUE(app.ok()) << app.status();
    return *std::move(app);
  }
  Client With(const std::string& token, const App* server = nullptr) const {
    return Client({.server = (server == nullptr ? *first_ : *server).address(),
                   .principal = {},
                   .retry = {},
                   .token = [token](bool) { return token; }});
  }
  Client As(const std::string& subject) const { return With(issuer_.TokenOf(subject)); }

  // What `curatord bootstrap` prints, or its error.
  std::string Bootstrap(const std::string& name, bool break_glass = false) {
    std::ostringstream out;
    std::ostringstream error;
    RunBootstrap(config_, {.principal = name, .issuer = kIssuer, .subject = name, .break_glass = break_glass},
                 out, error);
    return out.str() + error.str();
  }
  static std::string CodeIn(const std::string& printed) {
    const size_t at = printed.find("cure_");
    return at == std::string::npos ? "" : printed.substr(at, printed.find_first_of("\n ", at) - at);
  }
  static absl::StatusOr<std::string> Enrol(const Client& client, const std::string& code) {
    v1::EnrolRequest request;
    request.set_code(code);
    const absl::StatusOr<v1::WhoAmIResponse> enrolled = client.Enrol(request);
    if (!enrolled.ok()) return enrolled.status();
    return enrolled->principal().name();
  }
  void EnrolAdministrator(const std::string& name) {
    ASSERT_EQ(Enrol(As(name), CodeIn(Bootstrap(name, /*break_glass=*/true))).value(), name);
  }
  std::string Registered(const std::string& subject) const { return Enrol(As(subject), "").value(); }
  static void Bind(const Client& administrator, v1::RoleBinding::Role role, const std::string& name) {
    v1::BindRoleRequest request;
    request.set_role(role);
    request.set_principal(name);
    const auto bound = administrator.BindRole(request);
    EXPECT_TRUE(bound.ok()) << bound.status();
  }
  // The reason of a refusal; empty for none.
  static std::string ReasonOf(const absl::Status& status) {
    return status.ok() ? "" : client::Reason(status);
  }
  static void Disable(const Client& administrator, const std::string& name) {
    v1::DisablePrincipalRequest request;
    request.set_name(name);
    request.set_reason("left");
    EXPECT_TRUE(administrator.DisablePrincipal(request).ok());
  }

  const ScratchFolder folder_;
  const AppOptions options_ = FreshOptions(GetParam(), folder_.path());
  const TestIssuer issuer_{folder_.path() + "/jwks"};
  config::ServerConfig config_{
      .ledger = options_.ledger,
      .data_dir = options_.data_directory,
      .issuers = {{.issuer = {.alias = "corp", .issuer = kIssuer, .audiences = {"curator"}},
                   .unknown = config::UnknownIdentities::kRegister}},
      .jwks_folder = folder_.path() + "/jwks",
      // A test asks faster than people do.
      .quotas = {.calls_per_second = 100'000, .calls_after_a_pause = 100'000}};
  absl::Duration forget_after_ = absl::Hours(24);
  std::unique_ptr<App> first_;
};

}  // namespace curator::testing
