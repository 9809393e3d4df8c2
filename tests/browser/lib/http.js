// Requests as any program can make them, with whatever headers.
import http from "node:http";
import https from "node:https";

// { status, headers, body, json }. A header that is undefined is not sent. `ca`: who signs the certificate of an https address.
export function request(address, { method = "GET", headers = {}, body, ca, agent = false } = {}) {
  return new Promise((resolve, reject) => {
    const { request: send } = address.startsWith("https:") ? https : http;
    const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
    // Whatever Host is sent, the certificate is that of the address.
    const servername = new URL(address).hostname;
    const sent = send(address, { method, headers: given, ca, servername, agent }, (response) => {
      const parts = [];
      response.on("data", (part) => parts.push(part));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(parts).toString();
        const isJson = response.headers["content-type"]?.startsWith("application/json");
        resolve({ status: response.statusCode, headers: response.headers, body: text, json: isJson ? JSON.parse(text) : undefined });
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

// The beginning of an answer that does not end: its status and headers.
export function head(address, options = {}) {
  return new Promise((resolve, reject) => {
    const { request: send } = address.startsWith("https:") ? https : http;
    const sent = send(address, { agent: false, ...options }, (response) => {
      resolve({ status: response.statusCode, headers: response.headers });
      response.destroy();
    });
    sent.on("error", reject);
    sent.end();
  });
}
