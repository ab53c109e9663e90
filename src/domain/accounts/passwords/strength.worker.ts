/**
 * Entry of a worker thread that estimates password strength. The dictionaries take 60 MB and an estimate up to seconds
 * of CPU time, so neither belongs in the main thread.
 */
import { parentPort } from 'node:worker_threads';
import { estimateStrength, type Strength } from './estimate-strength.ts';

/** A request from the main thread, one at a time. */
export interface StrengthRequest {
  readonly password: string;
  /** Words that are easy to guess for an attacker who knows the account. */
  readonly knownWords: readonly string[];
  /** Number of characters to estimate; undefined: the default of `estimateStrength`. */
  readonly maxCharacters: number | undefined;
}

/** Messages of the worker: first that the estimate has started, then its result. */
export type StrengthReply = 'begun' | Strength;

function send(reply: StrengthReply): void {
  parentPort?.postMessage(reply);
}

parentPort?.on('message', ({ password, knownWords, maxCharacters }: StrengthRequest) => {
  send('begun');
  send(estimateStrength(password, knownWords, maxCharacters));
});
