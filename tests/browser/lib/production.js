// An installation as in production: PostgreSQL, an identity provider, the server, haproxy with TLS, and the gate behind it.
import { readFileSync } from "node:fs";
import https from "node:https";
import { join } from "node:path";
import { Cli } from "./curator.js";
import { BUILD, ROOT } from "./places.js";
import { Program } from "./processes.js";

export class Production {
  static async start() {
    const production = new Production();
    production.installation = new Program("/usr/bin/python3", ["-B", join(ROOT, "tests/browser/installation.py")], {
      env: { ...process.env, CURATOR_BUILD: BUILD },
      // It ends what it has started when its input ends, as this process does.
      isKilled: false,
    });
    Object.assign(production, await production.installation.serving());
    production.url = production.address;
    production.certificates = readFileSync(production.authority);
    await production.startGate();
    return production;
  }

  async startGate() {
    this.gate = new Program(join(BUILD, "client/curator-gate"), ["--config", join(this.folder, "gate.json")]);
    await this.gate.serving();
  }

  as(principal) {
    return new Cli(this.people[principal]);
  }

  // What the identity provider is told by the test: that somebody has logged in so long ago.
  async hasLoggedIn(subject, secondsAgo) {
    const body = new URLSearchParams({ sub: subject, seconds_ago: String(secondsAgo) }).toString();
    await new Promise((resolve, reject) => {
      const options = { method: "POST", ca: this.certificates, headers: { "Content-Type": "application/x-www-form-urlencoded" } };
      https.request(`${this.issuer}/test/login`, options, (response) => response.resume().on("end", resolve))
        .on("error", reject).end(body);
    });
  }

  // In the browser of `person`, by the form of the identity provider unless it still knows them.
  async logIn(person, subject, path = "/") {
    const { page } = person;
    await person.go(path);
    await person.pressOn("a.button[href*='/auth/login']");
    await page.waitForSelector("input[name=username], .side .who");
    if (await page.$("input[name=username]")) {
      await page.type("input[name=username]", subject);
      await page.keyboard.press("Enter");
    }
    await person.sees(subject, ".side .who");
  }

  async stop() {
    await this.gate?.kill();
    this.installation.stdin.end();
    await this.installation.ended;
  }
}
