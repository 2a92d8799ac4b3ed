// Compiles and runs the examples of README.md against the server of the demo, on Node.js. It knows
// the package by its name, as a reader does, so `npm run build` has to come first.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const FOLDER = `${ROOT}out/readme`;
const BLOCK = /^```(ts|text)(?: (\S+))?\n([\s\S]*?)^```$/gm;
const MOST_LINES = 6;

/** A block of TypeScript with the output that the page shows after it. */
interface Example {
  readonly file: string;
  readonly code: string;
  readonly output: string | undefined;
}

/** Returns the examples of a page in order. */
function examples(page: string): Example[] {
  const blocks = [...page.matchAll(BLOCK)];
  return blocks.flatMap(([, language, name, code = ""], index) => {
    const next = blocks[index + 1];
    const output = next?.[1] === "text" ? next[3] : undefined;
    return language === "ts" ? [{ file: name ?? `example${index}.ts`, code, output }] : [];
  });
}

/** Returns a pattern of an output, in which `…` stands for any text within a line. */
function pattern(output: string): RegExp {
  const parts = output.split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".+")}$`);
}

test("the examples compile strictly, run, and print what the page shows", async () => {
  const found = examples(readFileSync(`${ROOT}README.md`, "utf8"));
  assert.ok(found.filter(({ output }) => output !== undefined).length >= 5);
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  for (const { file, code } of found) {
    writeFileSync(`${FOLDER}/${file}`, code);
  }
  const compilerOptions = { types: ["node"], noUnusedLocals: false, rootDir: ".", outDir: "." };
  const config = {
    extends: "../../tsconfig.json",
    compilerOptions,
    include: ["*.ts"],
    exclude: [],
  };
  writeFileSync(`${FOLDER}/tsconfig.json`, JSON.stringify(config));
  const compiler = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  await run(process.execPath, [compiler, "--project", FOLDER]).catch((error: unknown) => {
    assert.fail(String((error as { stdout?: string }).stdout));
  });
  for (const { file, code, output } of found) {
    if (output === undefined) {
      continue;
    }
    const lines = code.split("\n").filter((line) => line !== "" && !line.startsWith("import "));
    assert.ok(lines.length <= MOST_LINES, `${file} has ${lines.length} lines`);
    const { stdout } = await run(process.execPath, [`${FOLDER}/${file.replace(/ts$/, "js")}`]);
    assert.match(stdout, pattern(output), file);
  }
});
