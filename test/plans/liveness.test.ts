import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url));

/**
 * The rules, the modules of one-time values and leases, which have one statement each, and an import, which follows the
 * rules of the other server.
 */
const OWNERS =
  /^domain\/records\/liveness\/|^domain\/import\/mas\/|^domain\/limits\/replayed-values\.ts$|^domain\/homeserver\/user-lease\.ts$/;

const TIME = '(?:disabled|locked|deactivated|finished|revoked|consumed|fulfilled|exchanged|cancelled)_at';
/** A state in a select list (`x is not null as is_x`) is a fact, not a rule. */
const CONDITIONS = [
  new RegExp(`\\b${TIME}\\s+is\\s+null\\b`, 'gi'),
  new RegExp(`\\b${TIME}\\s+is\\s+not\\s+null\\b(?!\\s+as\\s)`, 'gi'),
  /\bexpires_at\s*[<>]=?\s*:now\b/gi,
];

/** Returns conditions on a row's state that are written out instead of imported from `records`. */
function writtenOut(text: string): string[] {
  return CONDITIONS.flatMap((condition) => text.match(condition) ?? []);
}

test('every liveness rule is only written in `records`', () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.test|\.test-support)\.tsx?$/.test(file),
  );
  const found = files
    .filter((file) => !OWNERS.test(file))
    .flatMap((file) => writtenOut(readFileSync(join(SOURCE, file), 'utf8')).map((copy) => `${file}: ${copy}`));
  expect(found).toEqual([]);
  expect(files.filter((file) => file.startsWith('domain/records/liveness/')).length).toBeGreaterThan(4);
});

describe('the search itself', () => {
  test.each([
    ['a state', 'select id from users u where u.locked_at is null', ['locked_at is null']],
    [
      'a state over two lines, and its opposite',
      'where finished_at\n  IS NULL and not (c.disabled_at is not null)',
      ['finished_at\n  IS NULL', 'disabled_at is not null'],
    ],
    ['an expiry', 'where t.expires_at > :now::timestamptz', ['expires_at > :now']],
  ])('finds %s', (_what, text, expected) => {
    expect(writtenOut(text)).toEqual(expected);
  });

  test('accepts a selected state, and other conditions on times', () => {
    expect(writtenOut('select s.finished_at is not null as is_finished where t.expires_at < :expiredBefore')).toEqual(
      [],
    );
  });
});
