/** Counts records per activity and outcome, and failures per requester. */

import { csvLine } from '#platform/log/csv.ts';
import { ACTIVITIES, OUTCOMES, type Outcome } from './classify.ts';
import { type Output, tableCell } from './output.ts';

/** Callers of `/graphql` choose operation names, so the number of activities is limited to bound memory. */
const MAX_ACTIVITIES = 1000;
const MAX_REQUESTERS = 100_000;
const FURTHER = '(others)';
const FAILURES: readonly Outcome[] = ['failure', 'refused', 'error'];

interface Count {
  readonly name: string | undefined;
  readonly outcome: Outcome;
  readonly count: number;
}

export function summaryOutput(format: 'table' | 'json' | 'csv'): Output {
  const activities = new Counts(MAX_ACTIVITIES);
  const failures = new Counts(MAX_REQUESTERS);
  let records = 0;
  let first: string | undefined;
  let last: string | undefined;
  return {
    add: ({ time, activity, outcome, requester }) => {
      records += 1;
      if (first === undefined || time < first) first = time;
      if (last === undefined || time > last) last = time;
      activities.add(activity, outcome);
      if (FAILURES.includes(outcome)) failures.add(requester, outcome);
      return '';
    },
    end: () => {
      const byActivity = activities.list(
        (one, other) => orderOf(one) - orderOf(other) || compare(one.name, other.name),
      );
      const byRequester = failures.list((one, other) => other.count - one.count || compare(one.name, other.name));
      if (format === 'csv') return csv(byActivity, byRequester);
      if (format === 'table') return `${table('ACTIVITY', byActivity)}\n${table('FAILURES OF', byRequester)}`;
      return `${JSON.stringify({
        records,
        first: first ?? null,
        last: last ?? null,
        activities: byActivity.map(({ name, outcome, count }) => ({ activity: name, outcome, count })),
        failures: byRequester.map(({ name, outcome, count }) => ({ requester: name ?? null, outcome, count })),
      })}\n`;
    },
  };
}

class Counts {
  readonly #byName = new Map<string | undefined, Map<Outcome, number>>();
  readonly #maxNames: number;

  constructor(maxNames: number) {
    this.#maxNames = maxNames;
  }

  add(name: string | undefined, outcome: Outcome): void {
    const key = this.#byName.has(name) || this.#byName.size < this.#maxNames ? name : FURTHER;
    const counts = this.#byName.get(key) ?? new Map<Outcome, number>();
    this.#byName.set(key, counts);
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  }

  list(order: (one: Count, other: Count) => number): readonly Count[] {
    const all = [...this.#byName].flatMap(([name, counts]) =>
      [...counts].map(([outcome, count]) => ({ name, outcome, count })),
    );
    return all.sort(
      (one, other) => order(one, other) || OUTCOMES.indexOf(one.outcome) - OUTCOMES.indexOf(other.outcome),
    );
  }
}

function orderOf({ name = '' }: Count): number {
  const order: readonly string[] = ACTIVITIES;
  const index = order.indexOf(name.split(':', 1)[0] ?? '');
  return index === -1 ? order.length : index;
}

function compare(one = '', other = ''): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function table(title: string, counts: readonly Count[]): string {
  const rows = [
    [title, 'OUTCOME', 'COUNT'],
    ...counts.map(({ name, outcome, count }) => [tableCell(name), outcome, String(count)]),
  ];
  const width = Math.max(...rows.map(([name = '']) => name.length));
  return rows
    .map(
      ([name = '', outcome = '', count = '']) => `${name.padEnd(width)}  ${outcome.padEnd(10)}  ${count.padStart(9)}\n`,
    )
    .join('');
}

/** One table in which `subject` is the type of `name`. */
function csv(activities: readonly Count[], failures: readonly Count[]): string {
  const lines = (subject: string, counts: readonly Count[]): string =>
    counts.map(({ name, outcome, count }) => csvLine([subject, name, outcome, count])).join('');
  return (
    csvLine(['subject', 'name', 'outcome', 'count']) + lines('activity', activities) + lines('requester', failures)
  );
}
