/**
 * Questions to the server. Answers are kept until the trace is read again, so that going back asks nothing. An answer
 * that is not ready (503) is asked for again until it is, or until the question is no longer of interest.
 */
import { SharedAnswers } from "./shared_answers";

export type Parameters = Readonly<Record<string, string | number | null | undefined>>; // null and "" are left out

/** The server's own sentence about why there is no answer. */
export class Refusal extends Error {
  constructor(readonly status: number, sentence: string) {
    super(sentence);
  }
}

/** Nothing answers: the server has ended. */
export class ServerGone extends Error {}

const KEPT_ANSWERS = 100;
const ASK_AGAIN_MS = 300;
const answers = new SharedAnswers(KEPT_ANSWERS);

export function addressOf(path: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") query.append(name, String(value));
  }
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** Was the question given up by who asked it? */
export function isGivenUp(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** What to tell the user about something that failed: as a sentence, where the server's words are part of one. */
export function sentenceOf(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  return words.charAt(0).toUpperCase() + words.slice(1) + (/[.!?:]$/.test(words) ? "" : ".");
}

/** An answer in JSON, as protocol.ts describes it. */
export async function ask<Answer>(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<Answer> {
  const address = addressOf(path, parameters);
  const fetched = async (until: AbortSignal): Promise<unknown> => (await answered(address, until)).json();
  return (await answers.get(address, fetched, signal)) as Answer;
}

/** An answer in bytes. Not kept here. */
export async function askBytes(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<ArrayBuffer> {
  return (await answered(addressOf(path, parameters), signal)).arrayBuffer();
}

/** An answer as a file to save. */
export async function askFile(path: string, parameters: Parameters = {}): Promise<Blob> {
  return (await answered(addressOf(path, parameters), undefined)).blob();
}

/** As `ask`, but neither kept nor asked again. */
export async function askNow<Answer>(path: string): Promise<Answer> {
  return (await (await answeredOnce(path, undefined)).json()) as Answer;
}

/** The trace was read again: no earlier answer holds. */
export function forgetAnswers(): void {
  answers.forget();
}

async function answered(address: string, signal: AbortSignal | undefined): Promise<Response> {
  for (;;) {
    try {
      return await answeredOnce(address, signal);
    } catch (error) {
      if (!(error instanceof Refusal && error.status === 503)) throw error;
    }
    await pause(ASK_AGAIN_MS);
    signal?.throwIfAborted();
  }
}

async function answeredOnce(address: string, signal: AbortSignal | undefined): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address, { cache: "no-store", ...(signal && { signal }) });
  } catch (error) {
    if (isGivenUp(error)) throw error;
    throw new ServerGone("The server does not answer.");
  }
  if (response.ok) return response;
  throw new Refusal(response.status, await sentenceIn(response));
}

async function sentenceIn(response: Response): Promise<string> {
  try {
    const { error } = (await response.json()) as { error?: string };
    if (error !== undefined) return error;
  } catch {
    // not an answer of ours
  }
  return `The server refused this (${String(response.status)}).`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
