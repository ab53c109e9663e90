/** What the service sends to Sentry, which a third party runs. */
import type { Protection } from './protection.ts';

const TEST = 'test/telemetry/sentry.test.ts';
const RUNNING = 'test/telemetry/running-service.test.ts';
const SCRUBBED = 'no body, query, header, cookie, path or folder';

export const SENTRY: readonly Protection[] = [
  {
    name: 'sentry-quoted',
    what: 'nothing that a message quotes goes to Sentry',
    attack: 164,
    removals: [{ text: `.replace(/"(?:[^"\\\\]|\\\\.)*"?|\`[^\`]*\`?|'(?:[^'\\\\]|\\\\.)*'/gs, '"…"')` }],
    test: TEST,
    testName: SCRUBBED,
  },
  {
    name: 'sentry-addresses',
    what: 'no e-mail address goes to Sentry',
    attack: 164,
    removals: [{ text: ".replace(/\\S+@\\S+/g, '…')" }],
    test: RUNNING,
    testName: 'reaches Sentry before the process ends',
    isBuilt: true,
  },
  {
    name: 'sentry-long-words',
    what: 'nothing as long as a token goes to Sentry',
    attack: 164,
    removals: [{ text: ".replace(/[\\w+/=.-]{24,}/g, '…')" }],
    test: TEST,
    testName: SCRUBBED,
  },
  {
    name: 'sentry-folders',
    what: 'no folder of the machine goes to Sentry',
    attack: 164,
    removals: [
      {
        text: 'return file.startsWith(packageRoot) ? `app://${file.slice(packageRoot.length)}`',
        instead: 'return file.startsWith(packageRoot) ? file',
      },
    ],
    test: TEST,
    testName: SCRUBBED,
  },
  {
    name: 'sentry-storm',
    what: 'errors without end cost a hundred reports a minute',
    attack: 164,
    removals: [
      {
        text: 'return this.#counted[kind] > MAX_PER_MINUTE || this.#waiting.length >= MAX_UNSENT;',
        instead: 'return this.#counted[kind] > MAX_PER_MINUTE * MAX_UNSENT;',
      },
    ],
    test: TEST,
    testName: 'a storm of errors costs 100 reports',
  },
  {
    name: 'sentry-last-word',
    what: 'an error that ends the process is reported before',
    attack: 164,
    removals: [{ text: "failureReports?.report(error, { name: 'process', isFatal: true });" }],
    test: RUNNING,
    testName: 'reaches Sentry before the process ends',
    isBuilt: true,
  },
];
