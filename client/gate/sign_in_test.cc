// Signing in, between a browser, the tests' identity provider in a process of its own, and a fake server.
#include "client/gate/sign_in.h"

#include <gmock/gmock.h>
#include <google/rpc/error_details.pb.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/notification.h"
#include "auth/testing/test_certificates.h"
#include "client/gate/testing/fake_browser.h"
#include "client/testing/fake_server.h"
#include "tests/testing/scratch_folder.h"
#include "tests/testing/server_process.h"

namespace curator::gate {
namespace {

using ::testing::AllOf;
using testing::FakeExchange;
using ::testing::HasSubstr;
using testing::HeaderOf;
using testing::JsonOf;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kGateOrigin[] = "https://curator.example";
constexpr char kClientSecret[] = "secret-of-the-client";
constexpr char kSessionCookie[] = "__Host-curator";
constexpr char kLoginCookie[] = "__Host-curator-login";

class IdentityProvider {
 public:
  IdentityProvider() {
    const auth::TestAuthority authority(absl::Now());
    const auth::IssuedCertificate certificate =
        authority.Issue({.names = {"DNS:localhost"}, .usage = "serverAuth"});
    std::ofstream(File("idp.pem")) << certificate.pem << certificate.key_pem;
    std::ofstream(File("ca.pem")) << authority.pem();
    process_.emplace("/usr/bin/python3",
                     std::vector<std::string>{IDENTITY_PROVIDER, "--certificate", File("idp.pem"),
                                              "--confidential-client", absl::StrCat("gate:", kClientSecret)});
    issuer_ = process_->Address().value_or("");
  }
  const std::string& issuer() const { return issuer_; }
  https::Options tls() const { return {.authorities = File("ca.pem")}; }

 private:
  std::string File(const std::string& name) const { return folder_.path() + "/" + name; }

  const curator::testing::ScratchFolder folder_;
  std::optional<curator::testing::ServerProcess> process_;
  std::string issuer_;
};

HttpRequest RequestFor(const std::string& target) {
  const size_t question = target.find('?');
  return {.method = "GET",
          .path = target.substr(0, question),
          .query = question == std::string::npos ? "" : target.substr(question + 1)};
}

std::vector<std::string> CookiesSetBy(const HttpResponse& response) {
  std::vector<std::string> cookies;
  for (const auto& [name, value] : response.headers) {
    if (name == "Set-Cookie") cookies.push_back(value);
  }
  return cookies;
}

// What a browser keeps, by the cookie's name.
class Cookies {
 public:
  void Take(const HttpResponse& response) {
    for (const std::string& cookie : CookiesSetBy(response)) {
      const std::pair<std::string, std::string> pair =
          absl::StrSplit(cookie.substr(0, cookie.find(';')), absl::MaxSplits('=', 1));
      kept_[pair.first] = pair.second;
      if (cookie.find("; Max-Age=0;") != std::string::npos) kept_.erase(pair.first);
    }
  }
  void AddTo(HttpRequest& request) const {
    std::string header;
    for (const auto& [name, value] : kept_)
      absl::StrAppend(&header, header.empty() ? "" : "; ", name, "=", value);
    if (!header.empty()) request.headers.emplace_back("cookie", header);
  }
  std::string& operator[](const std::string& name) { return kept_[name]; }
  bool Has(const std::string& name) const { return kept_.contains(name); }
  std::string KeyOfSession() const {
    const auto found = kept_.find(kSessionCookie);
    return Sessions::KeyOf(found == kept_.end() ? "" : found->second);
  }

 private:
  std::map<std::string, std::string> kept_;
};

class SignInTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { idp_ = std::make_unique<IdentityProvider>(); }
  static void TearDownTestSuite() { idp_.reset(); }

  SignInTest() {
    server_.services.on_who_am_i = [this](grpc::ServerContext& context, const auto&,
                                          v1::WhoAmIResponse& response) { return WhoAmI(context, response); };
    server_.services.on_get_version = [](auto&, const auto&, auto&) { return grpc::Status::OK; };
  }
  ~SignInTest() override {
    workers_.Stop();
    channels_.Close();
  }
  // Whatever happened, nobody but the browser and the issuer has seen a secret.
  void TearDown() override {
    secrets_.emplace_back(kClientSecret);
    for (const std::string& secret : secrets_) {
      for (const std::string& shown : shown_.entries()) EXPECT_THAT(shown, Not(HasSubstr(secret)));
    }
  }

  LoginProvider Provider() {
    return {.alias = "corp",
            .issuer = idp_->issuer(),
            .client_id = "gate",
            .client_secret = kClientSecret,
            .transport = {.get = [this](const std::string& url) -> absl::StatusOr<https::Response> {
                            auto response = https::Get(url, idp_->tls());
                            if (!is_named_ && response.ok()) {
                              auto document = nlohmann::json::parse(response->body);
                              document.erase("authorization_response_iss_parameter_supported");
                              response->body = document.dump();
                            }
                            return response;
                          },
                          .post = [this](const std::string& url,
                                         const https::Fields& fields) { return Post(url, fields); }}};
  }
  absl::StatusOr<https::Response> Post(const std::string& url, const https::Fields& fields) {
    ++redemptions_;
    posted_ = {fields.begin(), fields.end()};
    absl::StatusOr<https::Response> response = https::PostForm(url, fields, idp_->tls());
    secrets_.push_back(posted_["code_verifier"]);
    const auto tokens = response.ok() ? nlohmann::json::parse(response->body) : nlohmann::json();
    for (const char* member : {"id_token", "refresh_token"}) {
      if (tokens.contains(member)) secrets_.push_back(tokens[member]);
    }
    return response;
  }
  // Believes the tokens of the issuer, and the API token "cura_good".
  grpc::Status WhoAmI(const grpc::ServerContext& context, v1::WhoAmIResponse& response) const {
    const auto text = [&](const char* name) {
      const auto found = context.client_metadata().find(name);
      return found == context.client_metadata().end()
                 ? std::string()
                 : std::string(found->second.data(), found->second.size());
    };
    std::string name = text("curator-principal");
    const std::string authorization = text("authorization");
    if (authorization == "Bearer cura_good") name = "olga";
    const nlohmann::json claims =
        oidc::ClaimsIn(authorization.substr(std::min<size_t>(7, authorization.size())));
    if (claims.is_object()) name = "corp." + oidc::TextOf(claims, "sub");
    if (name.empty() || refuses_) return {grpc::StatusCode::UNAUTHENTICATED, "the credential is not valid"};
    response.mutable_principal()->set_name(name);
    return grpc::Status::OK;
  }

  using Step = void (SignIn::*)(const HttpRequest&, std::shared_ptr<Exchange>);
  HttpResponse Ask(Step step, HttpRequest request, Cookies& cookies) {
    cookies.AddTo(request);
    const auto exchange = std::make_shared<FakeExchange>();
    (sign_in_.*step)(request, exchange);
    HttpResponse response = exchange->Await();
    cookies.Take(response);
    if (step != &SignIn::Leave) shown_.Add(HeaderOf(response, "Location") + response.body);
    return response;
  }
  HttpResponse Leave(Cookies& cookies, const std::string& more = "") {
    return Ask(&SignIn::Leave, RequestFor("/auth/login?issuer=corp" + more), cookies);
  }
  HttpResponse Return(Cookies& cookies, const std::string& target) {
    return Ask(&SignIn::Return, RequestFor(target), cookies);
  }
  // Logs in at the address, and has where the issuer then sends the browser, without the gate's origin.
  std::string LogInAt(const std::string& address, const std::string& subject = "eve") {
    const auto answer = https::Get(address + "&login_hint=" + subject, idp_->tls());
    if (!answer.ok() || answer->status != 303 || !answer->body.starts_with(kGateOrigin)) {
      ADD_FAILURE() << answer.status() << (answer.ok() ? answer->body : "");
      return "/auth/callback";
    }
    const std::string target = answer->body.substr(sizeof(kGateOrigin) - 1);
    secrets_.push_back(RequestFor(target).Parameter("code"));
    return target;
  }
  // Leaves and logs in.
  std::string WayBack(Cookies& cookies, const std::string& more = "") {
    return LogInAt(HeaderOf(Leave(cookies, more), "Location"));
  }
  HttpResponse Begin(Cookies& cookies, const std::string& body) {
    HttpRequest request = RequestFor("/auth/login");
    request.method = "POST";
    request.body = body;
    return Ask(&SignIn::Begin, std::move(request), cookies);
  }
  // The browser is on the page for signing in, which says why; it has no session that it did not have.
  void ExpectFailed(const HttpResponse& response, const std::string& code, size_t sessions = 0) {
    EXPECT_EQ(response.status, 303);
    EXPECT_EQ(HeaderOf(response, "Location"), "/?login_error=" + code);
    EXPECT_THAT(CookiesSetBy(response), ::testing::IsEmpty());
    EXPECT_EQ(sessions_.size(), sessions);
  }

  static inline std::unique_ptr<IdentityProvider> idp_;
  client::testing::FakeServer server_;
  client::testing::Log shown_;  // on pages and in the operator's log
  std::vector<std::string> secrets_;
  bool is_named_ = true;  // the issuer says that it names itself
  std::atomic<bool> refuses_ = false;
  std::atomic<int> redemptions_ = 0;
  std::map<std::string, std::string> posted_;
  absl::Time now_ = absl::Now();
  SignInOptions options_ = {
      .origin = kGateOrigin,
      .is_development = false,
      .providers = {Provider()},
      .log = [this](std::string_view event,
                    std::string_view detail) { shown_.Add(std::string(event) + " " + std::string(detail)); },
      .now = [this] { return now_; }};
  Channels channels_{server_.address()};
  Sessions sessions_{{.most = 2}};
  CallPlaces places_;
  IssuerWorkers workers_{{"corp"}, 2, 10};
  SignIn sign_in_{options_, channels_, sessions_, places_, workers_};
  Cookies browser_;
};

std::string WithParameter(const std::string& target, const std::string& name, const std::string& value) {
  std::vector<std::string> kept;
  for (const absl::string_view piece : absl::StrSplit(target.substr(target.find('?') + 1), '&')) {
    if (!absl::StartsWith(piece, name + "=")) kept.emplace_back(piece);
  }
  if (!value.empty()) kept.push_back(name + "=" + PercentEncoded(value));
  return target.substr(0, target.find('?') + 1) + absl::StrJoin(kept, "&");
}

// ---- To the issuer

TEST_F(SignInTest, ALoginLeavesForTheIssuerWithAStateANonceAndTheDigestOfAVerifier) {
  const HttpResponse response = Leave(browser_);
  EXPECT_EQ(response.status, 303);
  EXPECT_EQ(HeaderOf(response, "Cache-Control"), "no-store");
  const std::string address = HeaderOf(response, "Location");
  EXPECT_THAT(address, StartsWith(idp_->issuer() + "/authorize?"));
  const HttpRequest sent = RequestFor(address);
  EXPECT_EQ(sent.Parameter("response_type"), "code");
  EXPECT_EQ(sent.Parameter("client_id"), "gate");
  EXPECT_EQ(sent.Parameter("redirect_uri"), "https://curator.example/auth/callback");
  EXPECT_EQ(sent.Parameter("code_challenge_method"), "S256");
  EXPECT_EQ(sent.Parameter("prompt"), "");
  EXPECT_EQ(sent.Parameter("code_verifier"), "");
  EXPECT_THAT(address, Not(HasSubstr(kClientSecret)));
  std::set<std::string> values;
  const HttpRequest second = RequestFor(HeaderOf(Leave(browser_), "Location"));
  for (const char* name : {"state", "nonce", "code_challenge"}) {
    EXPECT_EQ(sent.Parameter(name).size(), 43U) << name << ": 256 bits";
    values.insert({sent.Parameter(name), second.Parameter(name)});
  }
  EXPECT_EQ(values.size(), 6U) << "none is used twice";
}

TEST_F(SignInTest, TheCookieOfALoginIsForThisHostAndTenMinutesAndNoScript) {
  const std::vector<std::string> cookies = CookiesSetBy(Leave(browser_));
  ASSERT_EQ(cookies.size(), 1U);
  EXPECT_THAT(cookies[0], StartsWith("__Host-curator-login=corp/"));
  EXPECT_EQ(cookies[0].substr(cookies[0].find(';')), "; Path=/; Max-Age=600; HttpOnly; SameSite=Lax; Secure");
}

TEST_F(SignInTest, AFreshLoginIsOneAtTheIssuer) {
  const HttpRequest sent = RequestFor(HeaderOf(Leave(browser_, "&fresh=1"), "Location"));
  EXPECT_EQ(sent.Parameter("prompt"), "login");
  EXPECT_EQ(sent.Parameter("max_age"), "0");
}

TEST_F(SignInTest, ALoginAtAnIssuerThatIsNotThereSaysSo) {
  ExpectFailed(Ask(&SignIn::Leave, RequestFor("/auth/login?issuer=evil"), browser_), kUnknownIssuer);
  ExpectFailed(Ask(&SignIn::Leave, RequestFor("/auth/login"), browser_), kUnknownIssuer);
  options_.providers[0].transport.get = [](const std::string&) -> absl::StatusOr<https::Response> {
    return absl::UnavailableError("no connection");
  };
  ExpectFailed(Leave(browser_), kIssuerUnreachable);
  EXPECT_THAT(shown_.entries(), ::testing::Contains(HasSubstr("login_failed UNAVAILABLE: no connection")));
}

// ---- And back

TEST_F(SignInTest, ALoginBecomesASessionOfThePersonWhoLoggedIn) {
  const HttpResponse left = Leave(browser_, "&return=%2Fdatasets%2Fdemo%3Ftab%3D1");
  const std::string challenge = RequestFor(HeaderOf(left, "Location")).Parameter("code_challenge");
  const HttpResponse response = Return(browser_, LogInAt(HeaderOf(left, "Location"), "eve"));
  EXPECT_EQ(response.status, 303);
  EXPECT_EQ(HeaderOf(response, "Location"), "/datasets/demo?tab=1");
  EXPECT_EQ(Digest(posted_["code_verifier"]), challenge);
  EXPECT_FALSE(browser_.Has(kLoginCookie)) << "a login is for once";
  const std::vector<std::string> cookies = CookiesSetBy(response);
  ASSERT_EQ(cookies.size(), 2U);
  EXPECT_THAT(cookies[0], AllOf(StartsWith("__Host-curator="),
                                HasSubstr("; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax; Secure")));
  const std::optional<Session> session = sessions_.Look(browser_.KeyOfSession());
  ASSERT_TRUE(session);
  EXPECT_EQ(session->principal, "corp.eve");
  EXPECT_EQ(session->credential.kind, Credential::Kind::kLogin);
  EXPECT_EQ(session->issuer, "corp");
  EXPECT_THAT(secrets_, ::testing::Contains(session->credential.text));
  EXPECT_THAT(secrets_, ::testing::Contains(session->refresh_token));
}

TEST_F(SignInTest, ALoginReturnsToNoOtherSite) {
  const HttpResponse response = Return(browser_, WayBack(browser_, "&return=%2F%2Fevil.example"));
  EXPECT_EQ(HeaderOf(response, "Location"), "/");
  EXPECT_EQ(sessions_.size(), 1U);
}

// Somebody who knows or has set the browser's cookie has nothing of the session that begins.
TEST_F(SignInTest, ALoginHasASessionUnderANewIdAndEndsTheEarlierOne) {
  browser_[kSessionCookie] = "chosen-by-another";
  Return(browser_, WayBack(browser_));
  const std::string first = browser_.KeyOfSession();
  EXPECT_FALSE(sessions_.Look(Sessions::KeyOf("chosen-by-another")));
  ASSERT_TRUE(sessions_.Look(first));
  Return(browser_, WayBack(browser_));
  EXPECT_NE(browser_.KeyOfSession(), first);
  EXPECT_TRUE(sessions_.Look(browser_.KeyOfSession()));
  EXPECT_FALSE(sessions_.Look(first));
}

TEST_F(SignInTest, AnAnswerWithAnotherStateIsRefusedBeforeItsCodeIsUsed) {
  const std::string target = WayBack(browser_);
  ExpectFailed(Return(browser_, WithParameter(target, "state", "guessed")), kLoginExpired);
  ExpectFailed(Return(browser_, WithParameter(target, "state", "")), kLoginExpired);
  EXPECT_EQ(redemptions_, 0);
  EXPECT_EQ(HeaderOf(Return(browser_, target), "Location"), "/") << "the login itself goes on";
}

TEST_F(SignInTest, AnAnswerInABrowserThatDidNotLeaveIsRefused) {
  const std::string target = WayBack(browser_);
  Cookies nobody;
  ExpectFailed(Return(nobody, target), kLoginExpired);
  Cookies another;
  Leave(another);
  ExpectFailed(Return(another, target), kLoginExpired);
  Cookies both = browser_;
  both["curator"] = "x; " + std::string(kLoginCookie) + "=" + another[kLoginCookie];
  ExpectFailed(Return(both, target), kLoginExpired);
  EXPECT_EQ(redemptions_, 0);
  EXPECT_THAT(shown_.entries(), Not(::testing::Contains(HasSubstr("login_failed"))))
      << "strangers do not fill the log";
}

TEST_F(SignInTest, ACookieThatWasChangedAnywhereIsRefused) {
  const std::string target = WayBack(browser_);
  const std::string cookie = browser_[kLoginCookie];
  size_t part = 0;
  for (size_t at = 0; at < cookie.size(); at = cookie.find('/', at) + 1, ++part) {
    Cookies changed = browser_;
    char& letter = changed[kLoginCookie][at];
    letter = letter == '0' ? '1' : '0';
    ExpectFailed(Return(changed, target), kLoginExpired);
    if (cookie.find('/', at) == std::string::npos) break;
  }
  EXPECT_EQ(part, 6U) << "alias, state, nonce, verifier, time, address, signature";
  EXPECT_EQ(redemptions_, 0);
}

TEST_F(SignInTest, TheCookieOfAGateThatHasStartedAgainIsRefused) {
  const std::string target = WayBack(browser_);
  SignIn another(options_, channels_, sessions_, places_, workers_);
  HttpRequest request = RequestFor(target);
  browser_.AddTo(request);
  const auto exchange = std::make_shared<FakeExchange>();
  another.Return(request, exchange);
  ExpectFailed(exchange->Await(), kLoginExpired);
}

TEST_F(SignInTest, AnAnswerThatComesTwiceBeginsOneSession) {
  const std::string address = HeaderOf(Leave(browser_), "Location");
  const Cookies left = browser_;
  const std::string target = LogInAt(address);
  Return(browser_, target);
  ASSERT_EQ(sessions_.size(), 1U);
  ExpectFailed(Return(browser_, target), kLoginExpired, 1);
  Cookies copied = left;
  ExpectFailed(Return(copied, target), kRefusedByIssuer, 1);
  EXPECT_THAT(shown_.entries(), ::testing::Contains(HasSubstr("invalid_grant")));
  EXPECT_TRUE(sessions_.Look(browser_.KeyOfSession())) << "who logged in stays signed in";
}

TEST_F(SignInTest, ACodeOfAnotherLoginIsRefused) {
  Cookies another;
  const std::string code = RequestFor(WayBack(another)).Parameter("code");
  ExpectFailed(Return(browser_, WithParameter(WayBack(browser_), "code", code)), kRefusedByIssuer);
}

TEST_F(SignInTest, AnAnswerOfAnotherIssuerIsRefusedBeforeItsCodeIsUsed) {
  const std::string target = WayBack(browser_);
  ExpectFailed(Return(browser_, WithParameter(target, "iss", "https://evil.example")), kWrongCallback);
  ExpectFailed(Return(browser_, WithParameter(target, "iss", "")), kWrongCallback);
  EXPECT_EQ(redemptions_, 0);
  EXPECT_THAT(shown_.entries(), ::testing::Contains(HasSubstr("another issuer sent the browser back")));
}

TEST_F(SignInTest, AnIssuerThatDoesNotNameItselfNeedNotDoSo) {
  is_named_ = false;
  Return(browser_, WithParameter(WayBack(browser_), "iss", ""));
  EXPECT_EQ(sessions_.size(), 1U);
}

TEST_F(SignInTest, AnErrorOfTheIssuerIsSaid) {
  const HttpRequest left = RequestFor(HeaderOf(Leave(browser_), "Location"));
  const std::string way = "/auth/callback?state=" + left.Parameter("state");
  ExpectFailed(Return(browser_, way + "&error=access_denied"), kRefusedByIssuer);
  EXPECT_THAT(shown_.entries().back(), StartsWith("/?")) << "after the log";
  EXPECT_THAT(shown_.entries(), ::testing::Contains(HasSubstr("access_denied")));
  ExpectFailed(Return(browser_, way + "&error=temporarily_unavailable"), kIssuerUnreachable);
  ExpectFailed(Return(browser_, way + "&error=access_denied&code=abc"), kRefusedByIssuer);
  ExpectFailed(Return(browser_, way), kWrongCallback);
  EXPECT_THAT(shown_.entries(), ::testing::Contains(HasSubstr("the issuer sent no code")));
  EXPECT_EQ(redemptions_, 0);
}

TEST_F(SignInTest, TheLogHasNoTextOfAStranger) {
  const HttpRequest left = RequestFor(HeaderOf(Leave(browser_), "Location"));
  const std::string way = "/auth/callback?state=" + left.Parameter("state") + "&error=";
  for (const std::string& error : {std::string("%22%0Aforged"), std::string(65, 'a'), std::string("A")}) {
    ExpectFailed(Return(browser_, way + error), kWrongCallback);
  }
  EXPECT_THAT(shown_.entries(),
              ::testing::Each(::testing::AnyOf("login_failed INVALID_ARGUMENT: the issuer sent no code",
                                               "/?login_error=WRONG_CALLBACK")));
}

TEST_F(SignInTest, ALoginThatTookTenMinutesIsOver) {
  const std::string target = WayBack(browser_);
  now_ += kLongestLogin + absl::Seconds(1);
  ExpectFailed(Return(browser_, target), kLoginExpired);
  EXPECT_EQ(redemptions_, 0);
  now_ -= absl::Seconds(3);
  EXPECT_EQ(HeaderOf(Return(browser_, target), "Location"), "/");
}

TEST_F(SignInTest, ALoginThatTheServerRefusesBeginsNoSessionAndEndsNone) {
  Begin(browser_, R"({"token": "cura_good"})");
  const std::string target = WayBack(browser_);
  refuses_ = true;
  ExpectFailed(Return(browser_, target), kNotAccepted, 1);
  EXPECT_TRUE(sessions_.Look(browser_.KeyOfSession()));
  EXPECT_THAT(shown_.entries(), ::testing::Contains(HasSubstr("the credential is not valid")));
}

TEST_F(SignInTest, APageIsToldWhyTheServerRefusesTheLogin) {
  for (const char* reason : {kUnknownPrincipal, kDisabled}) {
    server_.services.on_who_am_i = [&](auto&, const auto&, auto&) {
      google::rpc::ErrorInfo info;
      info.set_domain("curator");
      info.set_reason(reason);
      return client::testing::DetailedError(grpc::StatusCode::UNAUTHENTICATED, "who are you?", {&info});
    };
    ExpectFailed(Return(browser_, WayBack(browser_)), reason);
  }
  server_.services.on_who_am_i = [](auto&, const auto&, auto&) {
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "stopping");
  };
  ExpectFailed(Return(browser_, WayBack(browser_)), kServerUnreachable);
}

TEST_F(SignInTest, ALoginWhoseBrowserHasLeftIsNotFinished) {
  HttpRequest request = RequestFor(WayBack(browser_));
  browser_.AddTo(request);
  absl::Notification go_on;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(workers_.Run(
        "corp", [&] { go_on.WaitForNotification(); }, [] {}));
  }
  const auto exchange = std::make_shared<FakeExchange>();
  sign_in_.Return(request, exchange);
  exchange->Leave();
  go_on.Notify();
  const std::string after = HeaderOf(Leave(browser_), "Location");
  EXPECT_THAT(after, StartsWith(idp_->issuer())) << "which waited behind it";
  workers_.Stop();
  EXPECT_EQ(redemptions_, 0);
}

TEST_F(SignInTest, BeyondTheBoundsALoginIsRefusedOnAPage) {
  const std::string target = WayBack(browser_);
  std::vector<std::shared_ptr<void>> places;
  for (int i = 0; i < CallPlaces::kMostOfNobody; ++i) places.push_back(places_.Take(""));
  ExpectFailed(Return(browser_, target), kTooBusy);
  EXPECT_EQ(redemptions_, 0) << "the code is not lost";
  places.clear();
  for (const char* name : {"ana", "bob"}) sessions_.Begin({.principal = name, .credential = {}});
  ExpectFailed(Return(browser_, target), kTooBusy, 2);
}

// ---- Tokens and names

TEST_F(SignInTest, APastedTokenIsASessionAndIsNotShownAgain) {
  secrets_.emplace_back("cura_good");
  browser_[kSessionCookie] = "chosen-by-another";
  const HttpResponse response = Begin(browser_, R"({"token": "cura_good"})");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(JsonOf(response)["principal"], "olga");
  EXPECT_EQ(JsonOf(response)["kind"], "token");
  EXPECT_FALSE(sessions_.Look(Sessions::KeyOf("chosen-by-another")));
  EXPECT_EQ(sessions_.Look(browser_.KeyOfSession())->credential.text, "cura_good");
  const std::vector<std::string> cookies = CookiesSetBy(response);
  ASSERT_EQ(cookies.size(), 1U);
  EXPECT_THAT(cookies[0], AllOf(StartsWith("__Host-curator="), Not(HasSubstr("cura_good")),
                                HasSubstr("; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax; Secure")));
}

TEST_F(SignInTest, ATokenThatTheServerRefusesBeginsNoSessionAndEndsNone) {
  Begin(browser_, R"({"token": "cura_good"})");
  const std::string key = browser_.KeyOfSession();
  secrets_.insert(secrets_.end(), {"cura_wrong", "cura_two"});
  const HttpResponse refused = Begin(browser_, R"({"token": "cura_wrong"})");
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(JsonOf(refused)["message"], "the credential is not valid");
  const HttpResponse malformed = Begin(browser_, R"({"token": "cura_two words"})");
  EXPECT_EQ(malformed.status, 400);
  EXPECT_THAT(malformed.body, HasSubstr("token: has characters that none has"));
  for (const HttpResponse& response : {refused, malformed}) EXPECT_TRUE(CookiesSetBy(response).empty());
  EXPECT_EQ(sessions_.size(), 1U);
  EXPECT_TRUE(sessions_.Look(key));
}

TEST_F(SignInTest, ANameIsBelievedInDevelopmentAlone) {
  const HttpResponse refused = Begin(browser_, R"({"name": "ada"})");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("name: only a server in development mode believes names"));
  EXPECT_TRUE(CookiesSetBy(refused).empty());
  EXPECT_EQ(sessions_.size(), 0U);
  options_.is_development = true;
  const HttpResponse response = Begin(browser_, R"({"name": "ada"})");
  EXPECT_EQ(JsonOf(response)["principal"], "ada");
  EXPECT_THAT(HeaderOf(response, "Set-Cookie"), AllOf(StartsWith("curator-dev="), Not(HasSubstr("Secure"))));
}

TEST_F(SignInTest, TheWaysToSignInAreThoseOfThisGate) {
  const auto ways = [&] { return JsonOf(Ask(&SignIn::Describe, RequestFor("/api/v1/session"), browser_)); };
  const nlohmann::json logins = {{{"alias", "corp"}, {"issuer", idp_->issuer()}}};
  EXPECT_EQ(ways()["sign_in"], (nlohmann::json{{"name", false}, {"token", true}, {"logins", logins}}));
  EXPECT_EQ(ways()["signed_in"], false);
}

TEST_F(SignInTest, LoggingOutForgetsTheTokensAndTheCookie) {
  Return(browser_, WayBack(browser_));
  ASSERT_EQ(sessions_.size(), 1U);
  EXPECT_EQ(Ask(&SignIn::End, RequestFor("/auth/logout"), browser_).status, 200);
  EXPECT_EQ(sessions_.size(), 0U);
  EXPECT_FALSE(browser_.Has(kSessionCookie));
}

}  // namespace
}  // namespace curator::gate
