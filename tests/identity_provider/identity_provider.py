#!/usr/bin/env python3
"""An OpenID provider for tests: discovery, keys, the device flow, the code flow with PKCE, and refresh tokens, over TLS on
loopback. Everybody whom a test names may log in. The paths below /test/ are what a test does instead of a person:

  POST /test/approve  user_code, sub     the person enters the code
  POST /test/deny     user_code          the person refuses
  POST /test/publish                     a new key is published, and does not sign yet
  POST /test/use                         the newest key signs from now on; the old ones stay published
  POST /test/withdraw                    only the key that signs stays published
  POST /test/lifetime seconds            of tokens from now on; one of less than 0 has expired already
  GET  /test/fetches                     how often the keys were fetched

Says on standard error where it serves: {"event":"serving","address":"https://localhost:PORT"}.
"""

import argparse
import base64
import hashlib
import json
import secrets
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


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
    """The state: keys, codes that wait, refresh tokens. Its lock is held by every request."""

    def __init__(self, client_id, lifetime):
        self.lock = threading.Lock()
        self.issuer = ""
        self.client_id = client_id
        self.lifetime = lifetime
        self.keys = [SigningKey(1)]
        self.signing = self.keys[0]
        self.made_keys = 1
        self.fetches = 0
        self.devices = {}  # by device code
        self.codes = {}  # of the code flow
        self.refresh_tokens = {}  # the subject of each

    def configuration(self):
        return {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/keys", "token_endpoint": f"{self.issuer}/token",
                "authorization_endpoint": f"{self.issuer}/authorize",
                "device_authorization_endpoint": f"{self.issuer}/device",
                "response_types_supported": ["code"], "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["ES256"], "code_challenge_methods_supported": ["S256"]}

    def tokens(self, subject, nonce=None):
        ends = int(time.time()) + self.lifetime
        claims = {"iss": self.issuer, "sub": subject, "aud": self.client_id, "iat": ends - abs(self.lifetime), "exp": ends,
                  "preferred_username": subject}
        if nonce:
            claims["nonce"] = nonce
        token = jwt.encode(claims, self.signing.private, algorithm="ES256", headers={"kid": self.signing.kid})
        refresh_token = secrets.token_urlsafe(32)
        self.refresh_tokens[refresh_token] = subject
        return 200, {"id_token": token, "access_token": token, "token_type": "Bearer", "expires_in": self.lifetime,
                     "refresh_token": refresh_token}

    # ---- What clients ask

    def device(self, form):
        if form.get("client_id") != self.client_id:
            return 400, {"error": "invalid_client"}
        device_code = secrets.token_urlsafe(32)
        user_code = secrets.token_hex(4).upper()
        self.devices[device_code] = {"user_code": user_code, "state": "pending", "sub": ""}
        return 200, {"device_code": device_code, "user_code": user_code, "verification_uri": f"{self.issuer}/go",
                     "expires_in": 600, "interval": 1}

    def token(self, form):
        if form.get("client_id") != self.client_id:
            return 400, {"error": "invalid_client"}
        grants = {DEVICE_GRANT: self.token_of_device, "refresh_token": self.token_of_refresh,
                  "authorization_code": self.token_of_code}
        grant = grants.get(form.get("grant_type"))
        return grant(form) if grant else (400, {"error": "unsupported_grant_type"})

    def token_of_device(self, form):
        device = self.devices.get(form.get("device_code"))
        if device is None:
            return 400, {"error": "expired_token"}
        if device["state"] == "pending":
            return 400, {"error": "authorization_pending"}
        del self.devices[form["device_code"]]
        return self.tokens(device["sub"]) if device["state"] == "approved" else (400, {"error": "access_denied"})

    def token_of_refresh(self, form):
        subject = self.refresh_tokens.pop(form.get("refresh_token"), None)
        return self.tokens(subject) if subject else (400, {"error": "invalid_grant"})

    def token_of_code(self, form):
        code = self.codes.pop(form.get("code"), None)
        challenge = base64url(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        is_right = code and code["challenge"] == challenge and code["redirect_uri"] == form.get("redirect_uri")
        return self.tokens(code["sub"], code["nonce"]) if is_right else (400, {"error": "invalid_grant"})

    def authorize(self, query):
        """The person is at once who `login_hint` says."""
        code = secrets.token_urlsafe(32)
        self.codes[code] = {"challenge": query.get("code_challenge", ""), "redirect_uri": query.get("redirect_uri", ""),
                            "nonce": query.get("nonce"), "sub": query.get("login_hint", "somebody")}
        return f"{query.get('redirect_uri', '')}?{urlencode({'code': code, 'state': query.get('state', '')})}"

    # ---- What tests ask

    def decide(self, form, state):
        for device in self.devices.values():
            if device["user_code"] == form.get("user_code"):
                device.update(state=state, sub=form.get("sub", ""))
                return 200, {}
        return 404, {}

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
                query = {name: values[0] for name, values in parse_qs(url.query).items()}
                self.send_response(302)
                self.send_header("Location", provider.authorize(query))
                self.end_headers()
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
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        with provider.lock:
            answers = {"/device": lambda: provider.device(form), "/token": lambda: provider.token(form),
                       "/test/approve": lambda: provider.decide(form, "approved"),
                       "/test/deny": lambda: provider.decide(form, "denied"), "/test/publish": provider.publish,
                       "/test/use": provider.use, "/test/withdraw": provider.withdraw,
                       "/test/lifetime": lambda: provider.set_lifetime(form)}
            self.answer(*answers.get(self.path, lambda: (404, {}))())

    def answer(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--certificate", required=True, help="PEM, with its key")
    parser.add_argument("--client-id", default="curator-cli")
    parser.add_argument("--lifetime", type=int, default=3600, help="of tokens, in seconds")
    options = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.provider = Provider(options.client_id, options.lifetime)
    server.provider.issuer = f"https://localhost:{server.server_port}"
    print(json.dumps({"event": "serving", "address": server.provider.issuer}, separators=(",", ":")), file=sys.stderr, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
