/** The command, as these tests start it. */
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export const PATIENCE_MS = Number(process.env["PATIENCE_MS"] ?? 60_000); // that a loaded machine may take for anything
export const ROOT = process.env["TELLTALE_ROOT"] ?? "..";
export const TELLTALE = process.env["TELLTALE"] ?? join(ROOT, "build/bin/telltale");

export const MLP = join(ROOT, "examples/traces/mlp_sync.json.gz");
export const RESNET = join(ROOT, "examples/traces/resnet50_train.json.gz");
export const CHAIN = join(ROOT, "examples/traces/elementwise_chain.json.gz"); // has all that can be recorded
export const SMALL = join(ROOT, "examples/traces/small_train.json.gz");

/** What the command prints. */
export function telltale(...words: string[]): string {
  return execFileSync(TELLTALE, words, { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });
}

/** What it says as JSON. */
export function answer(...words: string[]): unknown {
  return JSON.parse(telltale(...words, "--json"));
}

export async function firstLine(process: ChildProcess): Promise<string> {
  assert(process.stdout);
  for await (const line of createInterface({ input: process.stdout })) return line;
  return "";
}

export class Server {
  private constructor(readonly process: ChildProcess, readonly address: string) {}

  static async start(...words: string[]): Promise<Server> {
    const process = spawn(TELLTALE, ["view", ...words, "--no-browser"], { stdio: ["ignore", "pipe", "ignore"] });
    const address = await firstLine(process);
    assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]{64}$/);
    return new Server(process, address);
  }

  get origin(): string {
    return new URL(this.address).origin;
  }

  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill(signal);
    await ended;
  }
}

/** A folder that is gone after the tests, and files in it. */
export class Folder {
  readonly path = mkdtempSync(join(tmpdir(), "telltale-page-"));

  file(name: string, content = ""): string {
    const path = join(this.path, name);
    writeFileSync(path, content);
    return path;
  }

  remove(): void {
    rmSync(this.path, { recursive: true });
  }
}
