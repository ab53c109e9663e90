import { expect, test } from 'vitest';
import { systemClock } from '#platform/base/clock.ts';
import { LogWriter } from '#platform/log/log-writer.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { statement } from './statement.ts';

const echo = statement<{ echoed: string }, { readonly text: string }>(
  'trace-test-echo',
  'select :text::text as echoed',
);

test.each([
  ['trace', {}, 1],
  ['info', { db: 'trace' }, 1],
  ['debug', {}, 0],
] as const)(
  'level %s with targets %j logs each statement with its time %i times, never its parameters (operations 5.11)',
  async (level, targetLevels, times) => {
    const lines: string[] = [];
    const log = new LogWriter({
      level,
      targetLevels,
      format: 'text',
      padLevel: false,
      sink: { write: (text) => lines.push(text) },
      clock: systemClock,
      hasColor: false,
    });
    const made = await createTestDatabase({ log });
    await made.database.first(echo, { text: 'a parameter' });
    await made.drop();
    const traced = lines.filter((line) => line.includes('trace-test-echo'));
    expect(traced).toHaveLength(times);
    for (const line of traced) {
      expect(line).toMatch(/^\S+ TRACE db\.statement statement trace-test-echo completed milliseconds=[\d.]+\n$/);
    }
    expect(lines.join('')).not.toContain('a parameter');
  },
);
