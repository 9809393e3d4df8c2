// A server and a gate in development mode, with the demonstration's population and what an analyst has asked of it.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Cli } from "./curator.js";
import { BUILD, ROOT, scratchFolder } from "./places.js";
import { freePort, Program, run } from "./processes.js";

const PEOPLE = "2000";

function zcdp(epsilon) {
  return ["--rule", "zcdp", "--epsilon", epsilon, "--delta", "1e-9"];
}

export class Development {
  folder = scratchFolder();

  // `options`: more of curatord.
  static async start(options = []) {
    const development = new Development();
    development.options = options;
    development.address = `127.0.0.1:${await freePort()}`;
    development.gatePort = await freePort();
    await development.startServer();
    await development.startGate();
    return development;
  }

  async startServer() {
    const options = [`--listen=${this.address}`, `--ledger=sqlite:${this.folder}/ledger.db`, `--data-dir=${this.folder}/data`, "--dev", ...this.options];
    this.server = new Program(join(BUILD, "server/curatord"), options);
    await this.server.serving();
  }

  // Always at the same address, as browsers remember it.
  async startGate() {
    const options = ["--dev", "--server", this.address, "--listen", `127.0.0.1:${this.gatePort}`, "--metrics-listen", "127.0.0.1:0"];
    this.gate = new Program(join(BUILD, "client/curator-gate"), options);
    const { url, metrics_address } = await this.gate.serving();
    this.url = url;
    this.metrics = metrics_address;
  }

  as(principal) {
    return new Cli(["--server", this.address, "--as", principal]);
  }

  // A sealed dataset of the owner olga with the analyst ana: of the demonstration's people.
  async makeDataset(name, { rule = zcdp("2"), seed = "1", people = PEOPLE } = {}) {
    const table = join(this.folder, `${name}.csv`);
    await run(join(BUILD, "deploy/demo-data"), ["--out", table, "--people", people, "--seed", seed]);
    await this.#seal(name, join(ROOT, "deploy/demo-schema.json"), table, rule);
  }

  // The same of a test's own records: lines of CSV.
  async makeTable(name, schema, records) {
    const described = await this.file(`${name}.json`, JSON.stringify(schema));
    await this.#seal(name, described, await this.file(`${name}.csv`, records), zcdp("50"));
  }

  async #seal(name, schema, table, rule) {
    const olga = this.as("olga");
    await olga.text("dataset", "create", name, "--schema", schema, ...rule);
    await olga.text("dataset", "import", name, table);
    await olga.text("dataset", "seal", name);
    await olga.text("dataset", "grant", name, "ana");
  }

  // The demonstration's dataset with answers, a refusal, a synthetic population, a proposal and a request. eva may ask it, too, and
  // never did.
  async makeDemo() {
    await this.makeDataset("demo");
    const [olga, ana] = [this.as("olga"), this.as("ana")];
    this.receipts = join(this.folder, "receipts.jsonl");
    const answer = async (...args) => (await ana.json("workload", "answer", "demo", ...args, "--out", join(this.folder, "answer.csv"))).release_id;
    this.releases = {
      oneWay: await answer("--marginals", "1", "--rho", "0.002", "--receipt", this.receipts),
      twoWay: await answer("--marginals", "2", "--attributes", "sex,education,income", "--rho", "0.002"),
      queries: await answer("--where", "age in [18,37] and occupation = professional", "--by", "education", "--prefixes", "income", "--rho", "0.001"),
      statistics: await answer("--count", "--mean", "household_size", "--by", "sex,education", "--rho", "0.001"),
    };
    await ana.status("workload", "answer", "demo", "--marginals", "2", "--rho", "9");
    await ana.text("synth", "run", "demo", "--method", "mwem", "--rho", "0.002", "--set", "rounds=3", "--out", join(this.folder, "synthetic.csv"));
    await olga.text("account", "limit", "propose", "demo", "--epsilon", "2.5", "--reason", "a second study");
    await ana.text("account", "limit", "request", "demo", "--epsilon", "3", "--reason", "the thesis needs more");
    await olga.text("dataset", "grant", "demo", "eva");
    this.releases.synthesis = (await ana.json("release", "list", "demo")).releases.find(({ kind }) => kind === "synthesis").release_id;
  }

  async file(name, content) {
    const path = join(this.folder, name);
    await writeFile(path, content);
    return path;
  }

  async stop() {
    await Promise.all([this.gate?.kill(), this.server?.kill()]);
  }
}
