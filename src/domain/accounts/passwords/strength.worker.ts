/**
 * Entry of a worker thread: estimates how hard passwords are to guess. Loading the dictionaries takes 60 MB and an
 * estimate up to seconds of processor time, so neither belongs into the main thread.
 */
import { parentPort } from 'node:worker_threads';
import { estimateStrength, type Strength } from './estimate-strength.ts';

/** A request of the main thread, one at a time. */
export interface StrengthRequest {
  readonly password: string;
  /** Words that are easy to guess for someone who knows the account. */
  readonly knownWords: readonly string[];
  /** How much of the password is estimated; undefined: the default of `estimateStrength`. */
  readonly maxCharacters: number | undefined;
}

/** What the worker sends: that it has started, then the estimate. */
export type StrengthReply = 'begun' | Strength;

function send(reply: StrengthReply): void {
  parentPort?.postMessage(reply);
}

parentPort?.on('message', ({ password, knownWords, maxCharacters }: StrengthRequest) => {
  send('begun');
  send(estimateStrength(password, knownWords, maxCharacters));
});
