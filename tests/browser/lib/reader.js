// A reader without a browser: a session of the gate in development mode, its calls, and its stream of events.
import http from "node:http";
import { request } from "./http.js";

export class Reader {
  static async signIn(url, name) {
    const reader = new Reader();
    reader.url = url;
    reader.agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
    const answer = await request(`${url}/auth/login`, {
      method: "POST", headers: { "Content-Type": "application/json", "Origin": url, "Sec-Fetch-Site": "same-origin" }, body: JSON.stringify({ name }),
    });
    if (answer.status !== 200) throw new Error(`${name} cannot sign in: ${answer.body}`);
    reader.cookie = answer.headers["set-cookie"][0].split(";")[0];
    reader.csrf = answer.json.csrf;
    return reader;
  }

  call(method, body) {
    return request(`${this.url}/api/v1/${method}`, {
      method: "POST", agent: this.agent, body: JSON.stringify(body),
      headers: { "Content-Type": "application/json", "Origin": this.url, "Sec-Fetch-Site": "same-origin", "Cookie": this.cookie, "X-Curator-CSRF": this.csrf },
    });
  }

  // Resolves when the server is reached; `entries` grows from then on.
  follow(watch) {
    this.entries = [];
    return new Promise((resolve, reject) => {
      const sent = http.request(`${this.url}/api/v1/events?watch=${watch}`, { agent: false, headers: { Cookie: this.cookie } }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`events: ${response.statusCode}`));
        let text = "";
        response.setEncoding("utf8").on("error", () => {}).on("data", (part) => {
          const events = (text + part).split("\n\n");
          text = events.pop();
          for (const event of events) {
            if (event.includes('"state":"live"')) resolve();
            if (event.startsWith("event: entry")) this.entries.push(event);
          }
        });
      });
      sent.on("error", reject).end();
      this.leave = () => sent.destroy();
    });
  }
}
