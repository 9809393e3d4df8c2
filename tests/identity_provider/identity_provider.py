#!/usr/bin/env python3
"""An OpenID provider for tests: discovery, keys, the device flow, the code flow with PKCE, and refresh tokens, over TLS on
loopback. Everybody whom a test names may log in, and has no password.

A person who has logged in stays logged in: a later login says when that was (`auth_time`), unless the request has `prompt=login` or
a `max_age` that has passed. Refreshed tokens have the `auth_time` of their login.

/authorize shows a form with the field `username`; a browser that has a session here is sent back at once. A request with
`login_hint` is answered at once, as if this person had filled in the form. Clients: --client-id, which has no secret, and each
--confidential-client ID:SECRET, which has to prove its own (client_secret_basic or client_secret_post).

The paths below /test/ are what a test does instead of a person:

  POST /test/approve  user_code, sub     the person enters the code
  POST /test/deny     user_code          the person refuses
  POST /test/login    sub, seconds_ago   the person has logged in so long ago
  POST /test/publish                     a new key is published, and does not sign yet
  POST /test/use                         the newest key signs from now on; the old ones stay published
  POST /test/withdraw                    only the key that signs stays published
  POST /test/lifetime seconds            of tokens from now on; one of less than 0 has expired already
  GET  /test/fetches                     how often the keys were fetched

Says on standard error where it serves: {"event":"serving","address":"https://localhost:PORT"}.
"""

import argparse
import base64
import binascii
import hashlib
import hmac
import html
import http.cookies
import json
import secrets
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
SESSION_COOKIE = "idp-session"
LOGIN_PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Log in</title></head>
<body>
<form method="post" action="/authorize">
{hidden}
<label>User name <input name="username" id="username" autocomplete="off" required autofocus></label>
<button type="submit" id="log-in">Log in</button>
</form>
</body>
</html>
"""


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def first_values(query):
    return {name: values[0] for name, values in parse_qs(query).items()}


class SigningKey:
    """A P-256 key under an id of its own."""

    def __init__(self, number):
        self.kid = f"key-{number}"
        self.private = ec.generate_private_key(ec.SECP256R1())

    def jwk(self):
        point = self.private.public_key().public_numbers()
        return {"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": self.kid,
                "x": base64url(point.x.to_bytes(32, "big")), "y": base64url(point.y.to_bytes(32, "big"))}


class Provider:
    """The state: keys, logins, codes that wait, refresh tokens. Its lock is held by every request."""

    def __init__(self, client_id, lifetime, confidential_clients):
        self.lock = threading.Lock()
        self.issuer = ""
        self.secrets = {client_id: None, **confidential_clients}  # of each client, by its id; None: it has none
        self.lifetime = lifetime
        self.keys = [SigningKey(1)]
        self.signing = self.keys[0]
        self.made_keys = 1
        self.fetches = 0
        self.logins = {}  # when each subject has logged in, in seconds
        self.sessions = {}  # of browsers: the subject of each
        self.devices = {}  # by device code
        self.codes = {}  # of the code flow
        self.refresh_tokens = {}

    def configuration(self):
        return {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/keys", "token_endpoint": f"{self.issuer}/token",
                "authorization_endpoint": f"{self.issuer}/authorize",
                "device_authorization_endpoint": f"{self.issuer}/device",
                "response_types_supported": ["code"], "subject_types_supported": ["public"],
                "scopes_supported": ["openid", "profile", "offline_access"],
                "prompt_values_supported": ["none", "login"],
                "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
                "authorization_response_iss_parameter_supported": True,
                "id_token_signing_alg_values_supported": ["ES256"], "code_challenge_methods_supported": ["S256"]}

    def tokens(self, grant):
        """For `grant`: client_id, sub, auth_time and, perhaps, nonce."""
        ends = int(time.time()) + self.lifetime
        claims = {"iss": self.issuer, "sub": grant["sub"], "aud": grant["client_id"], "iat": ends - abs(self.lifetime),
                  "exp": ends, "auth_time": grant["auth_time"], "preferred_username": grant["sub"]}
        if grant.get("nonce"):
            claims["nonce"] = grant["nonce"]
        token = jwt.encode(claims, self.signing.private, algorithm="ES256", headers={"kid": self.signing.kid})
        refresh_token = secrets.token_urlsafe(32)
        self.refresh_tokens[refresh_token] = {name: grant[name] for name in ("client_id", "sub", "auth_time")}
        return 200, {"id_token": token, "access_token": token, "token_type": "Bearer", "expires_in": self.lifetime,
                     "refresh_token": refresh_token}

    # ---- Who has logged in, and when

    def must_log_in(self, subject, request):
        """Whether `request` (its parameters) needs a new login of `subject`, which may be None."""
        if subject not in self.logins or request.get("prompt") == "login":
            return True
        max_age = request.get("max_age", "")
        return max_age.isdigit() and time.time() - self.logins[subject] >= int(max_age)

    def auth_time(self, subject, request):
        """The time of the login that `subject` answers `request` with."""
        if self.must_log_in(subject, request):
            self.logins[subject] = int(time.time())
        return self.logins[subject]

    # ---- What clients ask

    def client_of(self, form, authorization):
        """The client's id, or None if it does not prove that it is this client."""
        client_id, secret = form.get("client_id"), form.get("client_secret")
        if authorization.startswith("Basic "):
            try:
                pair = base64.b64decode(authorization[len("Basic "):], validate=True).decode()
            except (binascii.Error, UnicodeDecodeError):
                return None
            client_id, secret = (unquote_plus(part) for part in (pair + ":").split(":")[:2])
        if client_id not in self.secrets:
            return None
        expected = self.secrets[client_id]
        if expected is None:
            return client_id if secret is None else None
        return client_id if hmac.compare_digest(expected.encode(), (secret or "").encode()) else None

    def device(self, form, authorization):
        client_id = self.client_of(form, authorization)
        if client_id is None:
            return 401, {"error": "invalid_client"}
        device_code = secrets.token_urlsafe(32)
        user_code = secrets.token_hex(4).upper()
        self.devices[device_code] = {"client_id": client_id, "user_code": user_code, "state": "pending", "request": form}
        return 200, {"device_code": device_code, "user_code": user_code, "verification_uri": f"{self.issuer}/go",
                     "expires_in": 600, "interval": 1}

    def token(self, form, authorization):
        client_id = self.client_of(form, authorization)
        if client_id is None:
            return 401, {"error": "invalid_client"}
        grants = {DEVICE_GRANT: self.token_of_device, "refresh_token": self.token_of_refresh,
                  "authorization_code": self.token_of_code}
        grant = grants.get(form.get("grant_type"))
        return grant(client_id, form) if grant else (400, {"error": "unsupported_grant_type"})

    def token_of_device(self, client_id, form):
        device = self.devices.get(form.get("device_code"))
        if device is None or device["client_id"] != client_id:
            return 400, {"error": "expired_token"}
        if device["state"] == "pending":
            return 400, {"error": "authorization_pending"}
        del self.devices[form["device_code"]]
        return self.tokens(device) if device["state"] == "approved" else (400, {"error": "access_denied"})

    def token_of_refresh(self, client_id, form):
        grant = self.refresh_tokens.pop(form.get("refresh_token"), None)
        is_right = grant is not None and grant["client_id"] == client_id
        return self.tokens(grant) if is_right else (400, {"error": "invalid_grant"})

    def token_of_code(self, client_id, form):
        code = self.codes.pop(form.get("code"), None)
        challenge = base64url(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        is_right = (code is not None and code["client_id"] == client_id and code["challenge"] == challenge
                    and code["redirect_uri"] == form.get("redirect_uri"))
        return self.tokens(code) if is_right else (400, {"error": "invalid_grant"})

    # ---- The code flow in a browser

    def fault_of_authorization(self, request):
        """The OAuth error that the client is sent back with, or None."""
        if request.get("response_type") != "code":
            return "unsupported_response_type"
        if request.get("code_challenge_method") != "S256" or not request.get("code_challenge"):
            return "invalid_request"
        return None if "openid" in request.get("scope", "").split() else "invalid_scope"

    def authorize(self, request, session):
        """(status, Location or page) for a browser with the session `session`, which may be None."""
        if request.get("client_id") not in self.secrets or not request.get("redirect_uri"):
            return 400, "Neither a known client nor an address to go back to."
        fault = self.fault_of_authorization(request)
        if fault is not None:
            return 303, self.way_back(request, error=fault)
        if request.get("login_hint"):
            return 303, self.with_code(request, request["login_hint"])
        subject = self.sessions.get(session)
        if not self.must_log_in(subject, request):
            return 303, self.with_code(request, subject)
        if request.get("prompt") == "none":
            return 303, self.way_back(request, error="login_required")
        hidden = "\n".join(f'<input type="hidden" name="{html.escape(name)}" value="{html.escape(value)}">'
                           for name, value in request.items() if name != "username")
        return 200, LOGIN_PAGE.format(hidden=hidden)

    def log_in(self, form):
        """(status, Location or page, new session or None): the login form was sent."""
        request = {name: value for name, value in form.items() if name not in ("username", "login_hint")}
        subject = form.get("username", "").strip()
        status, answer = self.authorize({**request, "prompt": "login"}, None)
        if status != 200 or not subject:
            return status, answer, None
        self.logins[subject] = int(time.time())
        session = secrets.token_urlsafe(32)
        self.sessions[session] = subject
        return 303, self.with_code({**request, "prompt": "", "max_age": ""}, subject), session

    def with_code(self, request, subject):
        code = secrets.token_urlsafe(32)
        self.codes[code] = {"client_id": request["client_id"], "challenge": request["code_challenge"],
                            "redirect_uri": request["redirect_uri"], "nonce": request.get("nonce"), "sub": subject,
                            "auth_time": self.auth_time(subject, request)}
        return self.way_back(request, code=code)

    def way_back(self, request, **answer):
        if "state" in request:
            answer["state"] = request["state"]
        joint = "&" if "?" in request["redirect_uri"] else "?"
        return f"{request['redirect_uri']}{joint}{urlencode({**answer, 'iss': self.issuer})}"

    # ---- What tests ask

    def decide(self, form, state):
        for device in self.devices.values():
            if device["user_code"] == form.get("user_code"):
                subject = form.get("sub", "")
                device.update(state=state, sub=subject, auth_time=self.auth_time(subject, device["request"]))
                return 200, {}
        return 404, {}

    def logged_in(self, form):
        self.logins[form["sub"]] = int(time.time()) - int(form.get("seconds_ago", 0))
        return 200, {}

    def publish(self):
        self.made_keys += 1
        self.keys.append(SigningKey(self.made_keys))
        return 200, {"kid": self.keys[-1].kid}

    def use(self):
        self.signing = self.keys[-1]
        return 200, {"kid": self.signing.kid}

    def set_lifetime(self, form):
        self.lifetime = int(form["seconds"])
        return 200, {}

    def withdraw(self):
        self.keys = [self.signing]
        return 200, {}


class Handler(BaseHTTPRequestHandler):
    """Requests to the provider of the server."""

    def do_GET(self):
        provider = self.server.provider
        url = urlsplit(self.path)
        with provider.lock:
            if url.path == "/authorize":
                self.answer_browser(*provider.authorize(first_values(url.query), self.session()))
            elif url.path == "/.well-known/openid-configuration":
                self.answer(200, provider.configuration())
            elif url.path == "/keys":
                provider.fetches += 1
                self.answer(200, {"keys": [key.jwk() for key in provider.keys]})
            elif url.path == "/test/fetches":
                self.answer(200, {"fetches": provider.fetches})
            else:
                self.answer(404, {})

    def do_POST(self):
        provider = self.server.provider
        form = first_values(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())
        authorization = self.headers.get("Authorization", "")
        with provider.lock:
            if self.path == "/authorize":
                self.answer_browser(*provider.log_in(form))
                return
            answers = {"/device": lambda: provider.device(form, authorization),
                       "/token": lambda: provider.token(form, authorization),
                       "/test/approve": lambda: provider.decide(form, "approved"),
                       "/test/deny": lambda: provider.decide(form, "denied"),
                       "/test/login": lambda: provider.logged_in(form), "/test/publish": provider.publish,
                       "/test/use": provider.use, "/test/withdraw": provider.withdraw,
                       "/test/lifetime": lambda: provider.set_lifetime(form)}
            self.answer(*answers.get(self.path, lambda: (404, {}))())

    def session(self):
        cookie = http.cookies.SimpleCookie(self.headers.get("Cookie", "")).get(SESSION_COOKIE)
        return cookie.value if cookie else None

    def answer(self, status, document):
        self.send(status, "application/json", json.dumps(document).encode())

    def answer_browser(self, status, answer, session=None):
        """`answer`: a page, or the address that the browser is sent to, and which is the body, too."""
        headers = {"Set-Cookie": f"{SESSION_COOKIE}={session}; Path=/; Secure; HttpOnly; SameSite=Lax"} if session else {}
        if status == 303:
            self.send(status, "text/plain", answer.encode(), {**headers, "Location": answer})
        else:
            self.send(status, "text/html; charset=utf-8", answer.encode(), headers)

    def send(self, status, content_type, body, headers=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--certificate", required=True, help="PEM, with its key")
    parser.add_argument("--client-id", default="curator-cli")
    parser.add_argument("--confidential-client", action="append", default=[], metavar="ID:SECRET", help="may be repeated")
    parser.add_argument("--lifetime", type=int, default=3600, help="of tokens, in seconds")
    options = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.provider = Provider(
        options.client_id, options.lifetime, dict(client.split(":", 1) for client in options.confidential_client))
    server.provider.issuer = f"https://localhost:{server.server_port}"
    print(json.dumps({"event": "serving", "address": server.provider.issuer}, separators=(",", ":")), file=sys.stderr, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
