// Where things are.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
export const BUILD = resolve(process.env.CURATOR_BUILD ?? join(ROOT, "build/release"));
export const CHROMIUM = process.env.CURATOR_CHROMIUM ?? "/usr/bin/chromium";

const folders = [];
process.on("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));

// A folder that is removed when this process ends.
export function scratchFolder() {
  const folder = mkdtempSync(join(tmpdir(), "curator-browser-"));
  folders.push(folder);
  return folder;
}
