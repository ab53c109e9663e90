/** What the service sends to Sentry, which a third party runs. */
import type { Protection } from './protection.ts';

const TEST = 'test/telemetry/sentry.test.ts';
const RUNNING = 'test/telemetry/running-service.test.ts';
const SCRUBBED = 'no body, query, header, cookie, path or local folder';

export const SENTRY: readonly Protection[] = [
  {
    name: 'sentry-quoted',
    what: 'quoted values in messages are not sent to Sentry',
    attack: 164,
    removals: [{ text: `.replace(/"(?:[^"\\\\]|\\\\.)*"?|\`[^\`]*\`?|'(?:[^'\\\\]|\\\\.)*'/gs, '"…"')` }],
    test: TEST,
    testName: SCRUBBED,
  },
  {
    name: 'sentry-addresses',
    what: 'email addresses are not sent to Sentry',
    attack: 164,
    removals: [{ text: ".replace(/\\S+@\\S+/g, '…')" }],
    test: RUNNING,
    testName: 'reaches Sentry before the process ends',
    isBuilt: true,
  },
  {
    name: 'sentry-long-words',
    what: 'strings as long as a token are not sent to Sentry',
    attack: 164,
    removals: [{ text: ".replace(/[\\w+/=.-]{24,}/g, '…')" }],
    test: TEST,
    testName: SCRUBBED,
  },
  {
    name: 'sentry-folders',
    what: 'local paths are not sent to Sentry',
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
    what: 'repeated errors send at most a hundred reports a minute',
    attack: 164,
    removals: [
      {
        text: 'return this.#counted[kind] > MAX_PER_MINUTE || this.#waiting.length >= MAX_UNSENT;',
        instead: 'return this.#counted[kind] > MAX_PER_MINUTE * MAX_UNSENT;',
      },
    ],
    test: TEST,
    testName: 'a storm of errors costs at most 100 reports',
  },
  {
    name: 'sentry-last-word',
    what: 'an error that ends the process is reported first',
    attack: 164,
    removals: [{ text: "failureReports?.report(error, { name: 'process', isFatal: true });" }],
    test: RUNNING,
    testName: 'reaches Sentry before the process ends',
    isBuilt: true,
  },
];
