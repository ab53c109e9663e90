import type { Protection } from './protection.ts';

const ACTIVITY = 'src/cli/activity.test.ts';

/** What `latchkey activity` prints from a log with attacker-controlled content. */
export const ACTIVITY_REPORT: readonly Protection[] = [
  {
    name: 'activity-table-controls',
    what: 'no character of a log steers the terminal on which activity is shown',
    attack: 75,
    removals: [
      {
        text: "return PLAIN.test(text) ? text : escapeText(text).replace(/\\p{C}/gu, '\\ufffd');",
        instead: 'return text;',
      },
    ],
    test: ACTIVITY,
    testName: 'no control or invisible character reaches who reads',
  },
  {
    name: 'activity-formulas',
    what: 'no text of a log is a formula in the spreadsheet that activity is opened with',
    attack: 75,
    removals: [{ text: "FORMULA.test(text) ? `'${text}` : text", instead: 'text' }],
    test: ACTIVITY,
    testName: 'no cell of a spreadsheet is a formula',
  },
  {
    name: 'activity-whole-lines',
    what: 'only a whole line of the layout is evidence: text inside another line is not',
    attack: 75,
    removals: [{ text: 'new RegExp(\n  `^(${TIME}) +', instead: 'new RegExp(\n  `(${TIME}) +' }],
    test: ACTIVITY,
    testName: 'text with something before it',
  },
  {
    name: 'activity-names-of-operations',
    what: 'made-up names of operations do not fill the memory of who counts them',
    attack: 75,
    removals: [
      { text: 'this.#byName.has(name) || this.#byName.size < this.#maxNames ? name : FURTHER', instead: 'name' },
    ],
    test: ACTIVITY,
    testName: 'a caller who makes up names of operations keeps a thousand of them',
  },
];
