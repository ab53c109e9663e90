/**
 * Entry of a worker thread: estimates how hard passwords are to guess. Loading the dictionaries takes 60 MB and an
 * estimate up to seconds of processor time, so neither belongs into the main thread.
 */
import { parentPort } from 'node:worker_threads';
import { estimateStrength } from './estimate-strength.ts';
import type { StrengthQuestion, StrengthReply } from './strength-messages.ts';

function send(reply: StrengthReply): void {
  parentPort?.postMessage(reply);
}

parentPort?.on('message', ({ password, knownWords, maxCharacters }: StrengthQuestion) => {
  send('begun');
  send(estimateStrength(password, knownWords, maxCharacters));
});
