/**
 * Entry of a worker thread: estimates how hard passwords are to guess. Loading the dictionaries takes 60 MB and an
 * estimate up to a second of processor time, so neither belongs into the main thread.
 */
import { parentPort } from 'node:worker_threads';
import { estimateStrength } from './estimate-strength.ts';
import type { StrengthAnswer, StrengthQuestion } from './strength-messages.ts';

parentPort?.on('message', ({ id, password, knownWords }: StrengthQuestion) => {
  const answer: StrengthAnswer = { id, ...estimateStrength(password, knownWords) };
  parentPort?.postMessage(answer);
});
