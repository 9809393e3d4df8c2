// The command line, as one principal at one server.
import { join } from "node:path";
import { BUILD } from "./places.js";
import { run } from "./processes.js";

export class Cli {
  // `options`: of the server and of who calls.
  constructor(options) {
    this.options = options;
  }

  text(...args) {
    return run(join(BUILD, "client/curator"), [...this.options, ...args]);
  }

  async json(...args) {
    return JSON.parse(await this.text("--output", "json", ...args));
  }

  // The exit status of a command that is refused.
  async status(...args) {
    try {
      await this.text(...args);
      return 0;
    } catch (error) {
      if (typeof error.status !== "number") throw error;
      return error.status;
    }
  }

  async history(dataset) {
    return (await this.json("ledger", "show", dataset)).entries;
  }

  // What is spent of the dataset's own account, an exact decimal.
  async spent(dataset) {
    const { accounts } = await this.json("budget", "show", dataset);
    return accounts.find(({ account }) => account === `dataset/${dataset}`).spent;
  }
}
