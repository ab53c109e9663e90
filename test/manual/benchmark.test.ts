import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { plotOf } from '../../bench/plot.js';
import { readWholeRuns } from '../../bench/stored.js';
import { performanceFigures } from '../../scripts/reference/performance.ts';

const runs = readWholeRuns(join(import.meta.dirname, '../..'));
const [oldest = {}] = runs;

describe('a newer run', () => {
  const newer = { ...oldest, name: '2100-01-02T0304-abcdefabcdef', measuredAt: '2100-01-02T03:04:05.678Z' };

  test('is drawn after the others and fills the tables', () => {
    expect(plotOf([...runs, newer])).toContain(`>${runs.length + 1}: 2100-01-02 03:04, `);
    const figures = performanceFigures([...runs, newer]);
    expect(figures).toContain('](../bench/results/2100-01-02T0304-abcdefabcdef.md)');
    expect(figures).toContain('| memory after start, ');
  });

  test('may lack figures', () => {
    const short = { ...newer, starts: undefined, memory: undefined, hashing: undefined, overload: undefined };
    expect(performanceFigures([short])).toContain('| token introspection | 1 | ');
    expect(performanceFigures([short])).not.toContain('| memory after');
    expect(plotOf([short])).not.toMatch(/NaN|undefined|Infinity/);
  });
});

test('the plot runs no script and follows the color scheme', () => {
  const plot = plotOf(runs);
  expect(plot).not.toMatch(/<script|\son\w+=|href|url\(|NaN|undefined|Infinity/);
  expect(plot).toContain('@media (prefers-color-scheme: dark)');
});
