import type { Protection } from './protection.ts';

const ACTIVITY = 'src/cli/activity.test.ts';

/** What `latchkey activity` prints from a log with attacker-controlled content. */
export const ACTIVITY_REPORT: readonly Protection[] = [
  {
    name: 'activity-table-controls',
    what: 'log content cannot send control characters to the terminal',
    attack: 75,
    removals: [
      {
        text: "return PLAIN.test(text) ? text : escapeText(text).replace(/\\p{C}/gu, '\\ufffd');",
        instead: 'return text;',
      },
    ],
    test: ACTIVITY,
    testName: 'prints no control or invisible characters',
  },
  {
    name: 'activity-formulas',
    what: 'log content cannot become a formula in a spreadsheet',
    attack: 75,
    removals: [{ text: "FORMULA.test(text) ? `'${text}` : text", instead: 'text' }],
    test: ACTIVITY,
    testName: 'no spreadsheet cell is a formula: it is prefixed with an apostrophe',
  },
  {
    name: 'activity-whole-lines',
    what: 'only complete log lines are parsed, not text embedded in other lines',
    attack: 75,
    removals: [{ text: 'return `^${head} ${fixed(', instead: 'return `${head} ${fixed(' }],
    test: ACTIVITY,
    testName: 'text with something before it',
  },
  {
    name: 'activity-names-of-operations',
    what: 'invented operation names do not fill the memory',
    attack: 75,
    removals: [
      { text: 'this.#byName.has(name) || this.#byName.size < this.#maxNames ? name : FURTHER', instead: 'name' },
    ],
    test: ACTIVITY,
    testName: '--summary keeps a thousand operation names of a client that invents them',
  },
];
