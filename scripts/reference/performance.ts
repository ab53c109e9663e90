/** Generates the figures of `docs/performance.md` from the newest whole run of the benchmark. */
import { summaryOf } from '../../bench/summary.js';
import { table } from './markdown.ts';

/** @param runs whole runs, oldest first */
export function performanceFigures(runs: readonly object[]): string {
  const newest = runs.at(-1);
  if (newest === undefined) throw new Error('bench/results has no whole run');
  const { source, requests, operation } = summaryOf(newest);
  const tables = [requests, operation].map(([head = [], ...rows]) => table(head, rows));
  return [source, ...tables].join('\n\n');
}
