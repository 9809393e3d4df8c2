import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, describe, it } from "node:test";
import { Person } from "../lib/browser.js";
import { head, request } from "../lib/http.js";
import { development, production } from "../lib/world.js";

const CALL = "/api/v1/BudgetService/GetBudget";
const EVENTS = "/api/v1/events?watch=demo:0";
const SESSION = "/api/v1/session";
const ORIGINS = ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost"];

// A browser's session as a thief has it, who copied its cookie, and as the page itself has it, with its CSRF token.
async function sessionOf(world, signIn) {
  const person = await Person.arrive(world.url);
  await signIn(person);
  const cookies = (await person.cookies()).filter(({ name }) => name.includes("curator"));
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
  const { csrf } = await person.page.evaluate(async () => (await fetch("/api/v1/session")).json());
  return { person, cookies, cookie, csrf };
}

function suiteOf(mode, { start, signIn, cookieName, isSecure, dataset }) {
  describe(`${mode}, with requests of any program,`, () => {
    let world;
    let session;
    let usual;
    const ask = (path, options = {}) => request(world.url + path, { ca: world.certificates, ...options });
    const post = (path, headers, body = JSON.stringify({ dataset })) => ask(path, { method: "POST", headers: { ...usual, ...headers }, body });
    const refused = (answer, status, reason, what) => {
      assert.equal(answer.status, status, what);
      assert.equal(answer.json?.reason, reason, what);
      assert.equal(answer.headers["access-control-allow-origin"], undefined, "no other origin may read it");
    };
    before(async () => {
      world = await start();
      session = await sessionOf(world, (person) => signIn(world, person));
      usual = {
        "Content-Type": "application/json", "Origin": world.url, "Sec-Fetch-Site": "same-origin",
        "Cookie": session.cookie, "X-Curator-CSRF": session.csrf,
      };
    });
    after(() => session?.person.leave());

    it("answers what its own page asks, so that the refusals below have the cause that they name", async () => {
      const answer = await post(CALL);
      assert.equal(answer.status, 200);
      assert.ok(answer.json.accounts.length > 0);
    });

    it("has a cookie that scripts and other sites do not get", async () => {
      const [cookie, ...others] = session.cookies;
      assert.equal(others.length, 0);
      assert.equal(cookie.name, cookieName);
      assert.equal(cookie.httpOnly, true);
      assert.equal(cookie.sameSite, "Lax");
      assert.equal(cookie.secure, isSecure);
      assert.equal(cookie.path, "/");
      assert.ok(cookie.value.length >= 43, "256 bits");
      assert.equal(await session.person.page.evaluate(() => document.cookie), "");
    });

    it("refuses another Host, as after a rebinding of names", async () => {
      for (const host of ["evil.example", `evil.example:${new URL(world.url).port}`, "localhost:1", "127.0.0.1"]) {
        for (const path of ["/", SESSION, EVENTS]) {
          refused(await ask(path, { headers: { Host: host, Cookie: session.cookie } }), 403, "CROSS_SITE", `${host} ${path}`);
        }
        refused(await post(CALL, { Host: host }), 403, "CROSS_SITE", host);
      }
    });

    it("refuses another Origin", async () => {
      for (const origin of ORIGINS) {
        refused(await post(CALL, { Origin: origin }), 403, "CROSS_SITE", origin);
        refused(await post(CALL, { Origin: origin, "Sec-Fetch-Site": undefined }), 403, "CROSS_SITE", `${origin} of an old browser`);
      }
      refused(await post(CALL, { Origin: undefined, "Sec-Fetch-Site": undefined }), 403, "CROSS_SITE", "neither header");
    });

    it("refuses another site that sends the cookie", async () => {
      for (const site of ["cross-site", "same-site", "none", "SAME-ORIGIN", "same-origin, cross-site"]) {
        refused(await post(CALL, { "Sec-Fetch-Site": site }), 403, "CROSS_SITE", site);
      }
      for (const site of ["cross-site", "same-site"]) {
        for (const path of [SESSION, EVENTS]) {
          refused(await ask(path, { headers: { Cookie: session.cookie, "Sec-Fetch-Site": site } }), 403, "CROSS_SITE", `${site} ${path}`);
        }
      }
    });

    it("refuses a change without the session's CSRF header", async () => {
      for (const csrf of [undefined, "", "0", session.csrf.slice(1), `${session.csrf} `.repeat(2), session.csrf.toUpperCase().toLowerCase() + "x"]) {
        refused(await post(CALL, { "X-Curator-CSRF": csrf }), 403, "CSRF", String(csrf));
        refused(await post("/auth/logout", { "X-Curator-CSRF": csrf }, "{}"), 403, "CSRF", String(csrf));
      }
    });

    it("refuses what is no JSON, as forms of other sites send it", async () => {
      for (const type of ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x", "", undefined, "application/jsonp"]) {
        refused(await post(CALL, { "Content-Type": type }), 415, "NOT_JSON", String(type));
        refused(await post("/auth/login", { "Content-Type": type }, '{"name": "ana"}'), 415, "NOT_JSON", String(type));
      }
    });

    it("refuses other methods than POST for calls", async () => {
      for (const method of ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
        const body = method === "GET" ? undefined : "{}";
        refused(await ask(CALL, { method, headers: usual, body }), 405, "METHOD", method);
      }
      refused(await ask("/auth/logout", { method: "PUT", headers: usual, body: "{}" }), 405, "METHOD", "logout");
    });

    it("refuses a call, events and a logout without a session, with one that is unknown, and with one that is over", async () => {
      const other = await sessionOf(world, (person) => signIn(world, person));
      const ended = await post("/auth/logout", { Cookie: other.cookie, "X-Curator-CSRF": other.csrf }, "{}");
      assert.equal(ended.status, 200);
      assert.match(String(ended.headers["set-cookie"]), /Max-Age=0/);
      const unknown = `${cookieName}=${"A".repeat(43)}`;
      for (const cookie of [undefined, unknown, other.cookie]) {
        for (const csrf of [session.csrf, other.csrf]) {
          refused(await post(CALL, { Cookie: cookie, "X-Curator-CSRF": csrf }), 401, "NO_SESSION", String(cookie));
        }
        refused(await ask(EVENTS, { headers: cookie ? { Cookie: cookie } : {} }), 401, "NO_SESSION", String(cookie));
        assert.equal((await ask(SESSION, { headers: cookie ? { Cookie: cookie } : {} })).json.signed_in, false);
      }
      await other.person.leave();
    });

    it("refuses one person's CSRF token in another's session", async () => {
      const other = await sessionOf(world, (person) => signIn(world, person));
      assert.notEqual(other.csrf, session.csrf);
      refused(await post(CALL, { "X-Curator-CSRF": other.csrf }), 403, "CSRF");
      await other.person.leave();
    });

    it("refuses methods that browsers have no use for", async () => {
      for (const method of ["OwnerService/QueryRecords", "DatasetService/ImportRecords", "OperationService/WatchOperation", "../session", "x"]) {
        const answer = await post(`/api/v1/${method}`, {});
        assert.ok([403, 404, 405, 501].includes(answer.status), `${method}: ${answer.status}`);
      }
    });

    it("has the same protecting headers on pages, files, calls, errors and events", async () => {
      const [asset] = /\/assets\/[^"]+\.js/.exec((await ask("/")).body);
      const answers = {
        page: await ask("/"), "another page": await ask("/datasets/x/history"), file: await ask(asset), "missing file": await ask("/assets/x.js"),
        session: await ask(SESSION), call: await post(CALL), refusal: await post(CALL, { "Sec-Fetch-Site": "cross-site" }),
        "other method": await ask("/", { method: "DELETE", headers: usual }),
        events: await head(world.url + EVENTS, { ca: world.certificates, headers: { Cookie: session.cookie } }),
      };
      for (const [what, { headers }] of Object.entries(answers)) {
        const policy = headers["content-security-policy"] ?? "";
        for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'",
          "form-action 'self'", "require-trusted-types-for 'script'"]) {
          assert.ok(policy.includes(part), `${what}: ${part} in "${policy}"`);
        }
        assert.ok(!/unsafe|\*|https?:/.test(policy), `${what}: ${policy}`);
        assert.equal(headers["x-content-type-options"], "nosniff", what);
        assert.equal(headers["referrer-policy"], "no-referrer", what);
        assert.equal(headers["cross-origin-opener-policy"], "same-origin", what);
        assert.equal(headers["cross-origin-resource-policy"], "same-origin", what);
        assert.equal(headers["strict-transport-security"] !== undefined, isSecure, what);
      }
      for (const what of ["session", "call", "refusal", "events"]) assert.match(answers[what].headers["cache-control"] ?? "", /no-store|no-cache/, what);
    });
  });
}

// What a page of another origin tries with the session of a reader who has the dashboard open.
async function attack(gate) {
  const outcomes = {};
  const attempt = async (name, work) => {
    try {
      outcomes[name] = await work();
    } catch (error) {
      outcomes[name] = `error: ${error.name}`;
    }
  };
  const body = JSON.stringify({ name: "mallory" });
  const load = (tag, attribute, path) => new Promise((resolve) => {
    const element = document.createElement(tag);
    element.onload = () => resolve("loaded");
    element.onerror = () => resolve("error: blocked");
    element[attribute] = gate + path;
    document.body.append(element);
  });
  const submit = (path, enctype) => new Promise((resolve) => {
    const frame = document.createElement("iframe");
    frame.name = `target${Math.random()}`;
    document.body.append(frame);
    const form = document.createElement("form");
    Object.assign(form, { method: "POST", action: gate + path, enctype, target: frame.name });
    const field = document.createElement("input");
    Object.assign(field, { name: '{"x": "', value: '"}' });
    form.append(field);
    document.body.append(form);
    frame.addEventListener("load", () => {
      let text;
      try {
        text = frame.contentDocument?.body?.innerText ?? "error: not readable";
      } catch (error) {
        text = `error: ${error.name}`;
      }
      resolve(text);
    });
    form.submit();
  });
  await attempt("reading the session", async () => (await fetch(`${gate}/api/v1/session`, { credentials: "include" })).text());
  await attempt("reading it without CORS", async () => (await fetch(`${gate}/api/v1/session`, { mode: "no-cors", credentials: "include" })).type);
  await attempt("a call as a page makes it", async () => (await fetch(`${gate}/api/v1/BudgetService/GetBudget`, {
    method: "POST", credentials: "include", headers: { "Content-Type": "application/json", "X-Curator-CSRF": "x" }, body: '{"dataset": "demo"}',
  })).text());
  await attempt("a call in plain text", async () => (await fetch(`${gate}/api/v1/BudgetService/GetBudget`, {
    method: "POST", credentials: "include", body: '{"dataset": "demo"}',
  })).text());
  await attempt("a login as somebody else", async () => (await fetch(`${gate}/auth/login`, { method: "POST", credentials: "include", body })).text());
  await attempt("a logout", async () => (await fetch(`${gate}/auth/logout`, { method: "POST", credentials: "include", mode: "no-cors", body: "{}" })).type);
  await attempt("events", () => new Promise((resolve) => {
    const source = new EventSource(`${gate}/api/v1/events?watch=demo:0`, { withCredentials: true });
    for (const type of ["state", "entry", "message"]) source.addEventListener(type, (event) => resolve(event.data));
    source.onerror = () => {
      source.close();
      resolve("error: no stream");
    };
  }));
  await attempt("a script", () => load("script", "src", "/api/v1/session"));
  await attempt("an image", () => load("img", "src", "/api/v1/session"));
  await attempt("a form that logs out", () => submit("/auth/logout", "text/plain"));
  await attempt("a form that logs in", () => submit("/auth/login", "application/x-www-form-urlencoded"));
  await attempt("a frame", () => new Promise((resolve) => {
    const frame = document.createElement("iframe");
    frame.addEventListener("load", () => {
      let text;
      try {
        text = frame.contentDocument ? frame.contentDocument.title : "error: not readable";
      } catch (error) {
        text = `error: ${error.name}`;
      }
      resolve(text);
    });
    frame.src = `${gate}/datasets/demo`;
    document.body.append(frame);
  }));
  return outcomes;
}

function attacksOf(name, host) {
  it(`gives ${name} nothing that the reader's session could`, async () => {
    const world = await development();
    const page = createServer((_, response) => response.setHeader("Content-Type", "text/html").end("<!doctype html><title>Elsewhere</title><body>"));
    await new Promise((resolve) => page.listen(0, "127.0.0.1", resolve));
    const eva = await Person.arrive(world.url);
    try {
      await eva.signInByName("eva", "/datasets/demo");
      const before = await world.as("olga").history("demo");
      const victim = eva.page;
      const hostile = await eva.newPage();
      await hostile.goto(`http://${host}:${page.address().port}/`);
      const outcomes = await hostile.evaluate(attack, world.url);
      for (const [what, outcome] of Object.entries(outcomes)) assert.match(outcome, /^error: /, `${what}: ${outcome}`);
      const framed = hostile.frames().map((frame) => frame.url()).filter((url) => url.startsWith(world.url));
      assert.deepEqual(framed, [], "no frame shows the dashboard");
      const session = await victim.evaluate(async () => (await fetch("/api/v1/session")).json());
      assert.equal(session.principal, "eva", "the reader is still signed in, as before");
      assert.equal((await eva.call("BudgetService/GetBudget", { dataset: "demo" })).status, 200);
      assert.deepEqual(await world.as("olga").history("demo"), before);
    } finally {
      await eva.leave();
      page.close();
    }
  });
}

export const suite = () => describe("keeps sessions", () => {
  suiteOf("in development mode", {
    start: development, cookieName: "curator-dev", isSecure: false, dataset: "demo",
    signIn: (_, person) => person.signInByName("eva"),
  });
  suiteOf("behind haproxy", {
    start: production, cookieName: "__Host-curator", isSecure: true, dataset: "census",
    signIn: (world, person) => world.logIn(person, "ana"),
  });
  // Another port of the same host gets the same cookies, by the rules of cookies: the gate alone keeps it out.
  attacksOf("a page of another port", "127.0.0.1");
  attacksOf("a page of another host", "localhost");
});
