/**
 * Entry of a worker thread: estimates how hard passwords are to guess. Loading the dictionaries takes 60 MB and an
 * estimate up to seconds of processor time, so neither belongs into the main thread.
 */
import { parentPort } from 'node:worker_threads';
import { estimateStrength, type Strength } from './estimate-strength.ts';

/** What the main thread asks a strength worker, one question at a time. */
export interface StrengthQuestion {
  readonly password: string;
  /** Words that are easy to guess for whoever knows the account. */
  readonly knownWords: readonly string[];
  /** How much of the password is judged; undefined: as much as is usual. */
  readonly maxCharacters: number | undefined;
}

/** What the worker sends: that it has taken the question up, then the answer. */
export type StrengthReply = 'begun' | Strength;

function send(reply: StrengthReply): void {
  parentPort?.postMessage(reply);
}

parentPort?.on('message', ({ password, knownWords, maxCharacters }: StrengthQuestion) => {
  send('begun');
  send(estimateStrength(password, knownWords, maxCharacters));
});
