// Builds dist/, which is committed: the same sources and the same package-lock.json give the same bytes.
//
//   node build.mjs            dist/index.html, dist/assets/app-<hash>.js and .css, dist/LICENSES.txt
//   node build.mjs --tests    .tests/*.test.mjs, for node --test
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import esbuild from "esbuild";

const root = dirname(fileURLToPath(import.meta.url));
process.chdir(root);

const BUNDLED_PACKAGES = ["preact", "uplot"];
// Browsers with light-dark() of CSS.
const TARGET = ["chrome123", "firefox121", "safari17.5"];

function buildTests() {
  rmSync(".tests", { recursive: true, force: true });
  esbuild.buildSync({
    entryPoints: readdirSync("test").filter((name) => name.endsWith(".test.ts")).map((name) => join("test", name)),
    outdir: ".tests",
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node18",
    jsx: "automatic",
    jsxImportSource: "preact",
  });
}

function bundle(entry, extra) {
  const result = esbuild.buildSync({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    charset: "utf8",
    legalComments: "none",
    target: TARGET,
    outfile: "out",
    ...extra,
  });
  return result.outputFiles[0].contents;
}

function hashed(kind, contents) {
  const hash = createHash("sha256").update(contents).digest("hex").slice(0, 16);
  const name = `app-${hash}.${kind}`;
  writeFileSync(join("dist", "assets", name), contents);
  return name;
}

function licences() {
  const parts = ["The files in assets/ contain code of these packages.\n"];
  for (const name of BUNDLED_PACKAGES) {
    const { version } = JSON.parse(readFileSync(join("node_modules", name, "package.json"), "utf8"));
    const text = readFileSync(join("node_modules", name, "LICENSE"), "utf8").trim();
    parts.push(`---- ${name} ${version}\n\n${text}\n`);
  }
  return parts.join("\n");
}

function buildPage() {
  rmSync("dist", { recursive: true, force: true });
  mkdirSync("dist/assets", { recursive: true });
  const script = bundle("src/main.tsx", { format: "iife", jsx: "automatic", jsxImportSource: "preact" });
  const style = bundle("src/styles/main.css", {});
  const page = readFileSync("src/index.html", "utf8")
    .replace("/assets/app.js", `/assets/${hashed("js", script)}`)
    .replace("/assets/app.css", `/assets/${hashed("css", style)}`);
  writeFileSync("dist/index.html", page);
  writeFileSync("dist/LICENSES.txt", licences());
  const size = [script, style, Buffer.from(page)].reduce((sum, bytes) => sum + gzipSync(bytes).length, 0);
  console.log(`dist: ${(size / 1024).toFixed(1)} KiB compressed`);
}

if (process.argv.includes("--tests")) buildTests();
else buildPage();
