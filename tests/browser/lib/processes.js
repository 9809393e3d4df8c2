// Programs that a test starts. Each is killed when this process ends, however it ends.
import { execFile, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { createInterface } from "node:readline";

// Far longer than anything takes on an idle machine.
export const START_MS = 120_000;
const KEPT_LINES = 200;
// Below the ports that Linux gives to connections: while a server is down, a connection could get its port, even one that looks
// for this server.
const PORTS = [20_000, 32_768];

// Waits for what happens outside of a page, where no event says that it has happened.
export async function until(what, condition, { ms = 20_000, every = 20 } = {}) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`within ${ms} ms there was not: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, every));
  }
}

const givenPorts = new Set();

function canListen(port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.on("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

// Another one for each caller.
export async function freePort() {
  for (;;) {
    const port = randomInt(...PORTS);
    if (givenPorts.has(port)) continue;
    givenPorts.add(port);
    if (await canListen(port)) return port;
  }
}

// Whether a process of this group has not ended. Those of which nobody has taken the status have.
export function isRunning(group) {
  return readdirSync("/proc").some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const [state, , groupOfIt] = readFileSync(`/proc/${name}/stat`, "utf8").replace(/^.*\) /s, "").split(" ");
      return Number(groupOfIt) === group && state !== "Z";
    } catch {
      return false; // it has ended meanwhile
    }
  });
}

export class Program {
  #child;
  #lines = [];
  #listeners = new Set();
  #ended;

  // `path` of the program; what it writes is kept, a line each. `isKilled`: with this process, whatever ends it.
  constructor(path, args, { isKilled = true, ...options } = {}) {
    this.name = path.split("/").pop();
    const command = isKilled ? ["setpriv", "--pdeathsig", "KILL", path, ...args] : [path, ...args];
    this.#child = spawn(command[0], command.slice(1), { stdio: "pipe", ...options });
    // What fails in one of them is seen by those who wait for its lines.
    this.#child.on("error", (error) => this.#take(String(error)));
    this.#child.stdin.on("error", () => {});
    for (const stream of [this.#child.stdout, this.#child.stderr]) createInterface({ input: stream }).on("line", (line) => this.#take(line));
    this.#ended = new Promise((resolve) => this.#child.on("close", (status, signal) => {
      this.ending = signal ?? status;
      this.#take("");
      resolve(this.ending);
    }));
  }

  get pid() {
    return this.#child.pid;
  }

  get stdin() {
    return this.#child.stdin;
  }

  #take(line) {
    if (line !== "") this.#lines.push(line);
    this.#lines.splice(0, this.#lines.length - KEPT_LINES);
    for (const listener of this.#listeners) listener(line);
  }

  // The first line that is a JSON object for which `isIt` holds.
  document(isIt) {
    return new Promise((resolve, reject) => {
      const fail = (why) => {
        stop();
        reject(new Error(`${this.name} ${why}:\n${this.log()}`));
      };
      const take = (line) => {
        if (this.ending !== undefined) fail(`ended with ${this.ending}`);
        if (!line.startsWith("{")) return;
        const document = JSON.parse(line);
        if (!isIt(document)) return;
        stop();
        resolve(document);
      };
      const timer = setTimeout(() => fail("has not said what was waited for"), START_MS);
      const stop = () => {
        clearTimeout(timer);
        this.#listeners.delete(take);
      };
      this.#listeners.add(take);
      for (const line of [...this.#lines]) take(line);
    });
  }

  serving() {
    return this.document((document) => document.event === "serving");
  }

  log() {
    return this.#lines.join("\n");
  }

  // Resolves when it has ended.
  async kill(signal = "SIGKILL") {
    this.#child.kill(signal);
    return await this.#ended;
  }

  get ended() {
    return this.#ended;
  }
}

// Runs a program to its end. The output, or an error with `status` and what it wrote to standard error.
export function run(path, args, options = {}) {
  return new Promise((resolve, reject) => {
    execFile(path, args, { maxBuffer: 64 * 1024 * 1024, ...options }, (error, stdout, stderr) => {
      if (error) reject(Object.assign(new Error(`${path.split("/").pop()} ${args.join(" ")}: ${stderr}`), { status: error.code, stderr }));
      else resolve(stdout);
    });
  });
}
