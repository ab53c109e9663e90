/**
 * Entry of a worker thread: estimates how hard passwords are to guess. Loading the dictionaries takes 60 MB and an
 * estimate up to a second of processor time, so neither belongs into the main thread.
 */
import { parentPort } from 'node:worker_threads';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary as commonDictionary } from '@zxcvbn-ts/language-common';
import { dictionary as englishDictionary } from '@zxcvbn-ts/language-en';
import type { StrengthAnswer, StrengthQuestion } from './strength-messages.ts';

const COMMONEST = 10_000;

// Sorted by how often they are used.
const commonest = new Set(commonDictionary['passwords-common'].slice(0, COMMONEST));
const zxcvbn = new ZxcvbnFactory({
  dictionary: { ...commonDictionary, ...englishDictionary },
  graphs: adjacencyGraphs,
});

parentPort?.on('message', (question: StrengthQuestion) => {
  const { id, password, estimated, knownWords } = question;
  const answer: StrengthAnswer = {
    id,
    score: zxcvbn.check(estimated, [...knownWords]).score,
    isCommon: commonest.has(password) || commonest.has(password.toLowerCase()),
  };
  parentPort?.postMessage(answer);
});
