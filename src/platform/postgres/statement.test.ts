import { describe, expect, test } from 'vitest';
import { parameterValues, statement } from './statement.ts';

describe('statement', () => {
  test.each([
    ['select id from users where id = $1', true],
    ['\n  WITH found AS (SELECT 1) SELECT count(*) FROM found', true],
    ['select updated_at, inserted from things', true],
    ['insert into users (id) values ($1)', false],
    ['with gone as (delete from users where id = $1 returning id) select id from gone', false],
    ['select id from users for update', false],
    ['select 1 into temporary copy', false],
    ['update users set locale = $1', false],
  ])('%j: repeatable after a lost connection: %s', (text, isReadOnly) => {
    expect(statement(`test.${text}`, text).isReadOnly).toBe(isReadOnly);
  });

  test("names with long labels differ by text, within PostgreSQL's limit of 63 bytes", () => {
    const label = 'test.'.padEnd(80, 'x');
    const first = statement(`${label}1`, 'select 1');
    const second = statement(`${label}2`, 'select 2');
    expect(first.name).not.toBe(second.name);
    expect(first.name).toHaveLength(63);
  });

  test('numbers parameters by first use, and leaves casts and other colons unchanged', () => {
    const made = statement<unknown, { id: string; now: Date }>(
      'test.named',
      `select '12:30', 'urn:chat:x', '{"a": 1}'::jsonb from users where created_at < :now::timestamptz and id = :id::uuid or :now is null`,
    );
    expect(made.text).toBe(
      `select '12:30', 'urn:chat:x', '{"a": 1}'::jsonb from users where created_at < $1::timestamptz and id = $2::uuid or $1 is null`,
    );
    const now = new Date(0);
    expect(parameterValues(made, { id: 'x', now })).toEqual([now, 'x']);
  });

  test('throws when one of its parameters has no value', () => {
    const made = statement<unknown, { id: string }>('test.missing', 'select :id::text');
    expect(() => parameterValues(made, { other: 'x' })).toThrow(/test\.missing.*:id/);
  });

  test('rejects one label for two texts', () => {
    statement('test.twice', 'select 1');
    expect(() => statement('test.twice', 'select 2')).toThrow(/test\.twice/);
  });
});
