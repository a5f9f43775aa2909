import assert from "node:assert/strict";
import { test } from "node:test";
import { SharedAnswers } from "../src/shared_answers";

/** A server whose answers come when the test says so. */
class Server {
  readonly asked: string[] = [];
  readonly givenUp: string[] = [];
  private readonly waiting = new Map<string, { resolve: (answer: unknown) => void; reject: (error: Error) => void }>();

  fetch(address: string): (signal: AbortSignal) => Promise<unknown> {
    return (signal) => {
      this.asked.push(address);
      signal.addEventListener("abort", () => this.givenUp.push(address));
      return new Promise((resolve, reject) => this.waiting.set(address, { resolve, reject }));
    };
  }
  answer(address: string, answer: unknown): void {
    this.waiting.get(address)?.resolve(answer);
  }
  fail(address: string): void {
    this.waiting.get(address)?.reject(new Error("no"));
  }
}

test("who asks the same at the same time or later is answered by one question", async () => {
  const server = new Server();
  const answers = new SharedAnswers(10);
  const both = [answers.get("a", server.fetch("a")), answers.get("a", server.fetch("a"))];
  server.answer("a", 1);
  assert.deepEqual(await Promise.all(both), [1, 1]);
  assert.equal(await answers.get("a", server.fetch("a")), 1);
  assert.deepEqual(server.asked, ["a"]);
});

test("a question is given up when all who asked it have", async () => {
  const server = new Server();
  const answers = new SharedAnswers(10);
  const [one, two] = [new AbortController(), new AbortController()];
  const first = answers.get("a", server.fetch("a"), one.signal);
  const second = answers.get("a", server.fetch("a"), two.signal);
  one.abort();
  await assert.rejects(first, { name: "AbortError" });
  assert.deepEqual(server.givenUp, []);
  two.abort();
  await assert.rejects(second, { name: "AbortError" });
  assert.deepEqual(server.givenUp, ["a"]);
  await assert.rejects(answers.get("a", server.fetch("a"), one.signal), { name: "AbortError" });
  assert.deepEqual(server.asked, ["a"]);
});

test("a question that failed is asked again", async () => {
  const server = new Server();
  const answers = new SharedAnswers(10);
  const first = answers.get("a", server.fetch("a"));
  server.fail("a");
  await assert.rejects(first, { message: "no" });
  const second = answers.get("a", server.fetch("a"));
  server.answer("a", 2);
  assert.equal(await second, 2);
});

test("what was forgotten is asked again, also where the old answer was still on its way", async () => {
  const server = new Server();
  const answers = new SharedAnswers(10);
  const old = answers.get("a", server.fetch("a"));
  answers.forget();
  server.answer("a", "old");
  assert.equal(await old, "old");
  const fresh = answers.get("a", server.fetch("a"));
  server.answer("a", "new");
  assert.equal(await fresh, "new");
});

test("the answer goes first that nobody asked for the longest time", async () => {
  const server = new Server();
  const answers = new SharedAnswers(2);
  const ask = async (address: string): Promise<void> => {
    const answer = answers.get(address, server.fetch(address));
    server.answer(address, address);
    await answer;
  };
  for (const address of ["a", "b", "a", "c", "a", "b"]) await ask(address);
  assert.deepEqual(server.asked, ["a", "b", "c", "b"]);
});
