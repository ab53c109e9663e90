import { DatabaseError } from 'pg';
import { describe, expect, test } from 'vitest';
import { runCommand } from './run-command.test-support.ts';
import { SUGGESTED_COMMANDS } from './unknown-command.ts';

describe('a defect in a command (operations 3.1: exit code 70)', () => {
  const broken = {
    stdout: () => {
      throw new Error('something broke');
    },
  };

  test('reports what failed and how to see where', async () => {
    const { exitCode, err } = await runCommand(['config', 'schema'], broken);
    expect(exitCode).toBe(70);
    expect(err).toMatch(
      /^latchkey: internal error: something broke \(.*--log-level debug shows where it occurred\)\n$/,
    );
  });

  test.each([
    ['--log-level debug', ['--log-level', 'debug'], {}],
    ['LATCHKEY_LOG=debug', [], { LATCHKEY_LOG: 'debug' }],
    ['LATCHKEY_LOG with targets', [], { LATCHKEY_LOG: 'db=info,debug' }],
  ])('prints its stack with %s', async (_name, options, environment) => {
    const { exitCode, err } = await runCommand([...options, 'config', 'schema'], { ...broken, environment });
    expect(exitCode).toBe(70);
    expect(err).toMatch(/^latchkey: internal error: Error: something broke\n {4}at /);
  });
});

test('a database error due to lack of resources is not an internal error (exit code 69)', async () => {
  const refused = new DatabaseError('could not extend file "base/16384/2619": No space left on device', 0, 'error');
  refused.code = '53100';
  const stdout = () => {
    throw refused;
  };
  const { exitCode, err } = await runCommand(['config', 'schema'], { stdout });
  expect(exitCode).toBe(69);
  expect(err).toMatch(
    /could not extend file .*: No space left on device\. A disk of the database server is full\. .*Retry later\.\n$/,
  );
});

test.each([
  ['serve', '10 minutes'],
  ['database migrate', '-1'],
])('%s --migrate-timeout rejects %j as a usage error (exit code 2)', async (command, value) => {
  const { exitCode, err } = await runCommand([...command.split(' '), `--migrate-timeout=${value}`]);
  expect(exitCode).toBe(2);
  expect(err).toContain(`'${value}' is invalid. Expected seconds, or a number with ms, s, m, h or d.`);
});

test.each([
  ['serv', ' Did you mean: latchkey serve?'],
  ['doctr', ' Did you mean: latchkey doctor?'],
  ['create-user', ' Did you mean: latchkey manage register-user?'],
  ['add-client', ' Did you mean: latchkey config generate --client?'],
  ['serve extra', ''],
  ['list-users', ' Did you mean: latchkey manage list-users?'],
  ['dump --json', ' Did you mean: latchkey config dump?'],
  ['frobnicate', ''],
])('`latchkey %s` reports an unknown command and starts nothing (exit code 2)', async (words, hint) => {
  const { exitCode, err } = await runCommand(words.split(' '));
  expect(exitCode).toBe(2);
  const word = words.split(' ').find((one) => one !== 'serve');
  expect(err).toBe(
    `latchkey: unknown command '${word}'.${hint} Commands: serve, worker, doctor, config, database, keys, manage, jobs, import, backup, restore, templates, debug, activity. See latchkey --help.\n`,
  );
});

test.each([
  ['config chek', 'config check'],
  ['config validate', 'config check'],
  ['config show', 'config dump'],
  ['config migrate', 'database migrate'],
  ['database dump', 'backup'],
  ['jobs status', 'jobs list'],
  ['manage create-user --admin', 'manage register-user'],
  ['manage add_client', 'config generate --client'],
  ['manage delete-user amira', 'manage lock-user --deactivate'],
  ['manage list', 'manage list-users'],
  ['manage check', 'doctor'],
  ['manage frobnicate', undefined],
])('`latchkey %s` suggests the subcommand %s (exit code 2)', async (words, meant) => {
  const { exitCode, out, err } = await runCommand(words.split(' '));
  expect([exitCode, out]).toEqual([2, '']);
  const [group, word] = words.split(' ');
  const hint = meant === undefined ? '' : ` Did you mean: latchkey ${meant}?`;
  const start = `latchkey: unknown command '${word}' of ${group}.${hint} Commands of ${group}: `;
  expect(err.slice(0, start.length)).toBe(start);
  expect(err.endsWith(`. See latchkey ${group} --help.\n`)).toBe(true);
});

test.each(SUGGESTED_COMMANDS)('the suggested command `latchkey %s` exists', async (command) => {
  const words = command.split(' ');
  const { exitCode, out } = await runCommand([...words, '--help']);
  expect(exitCode).toBe(0);
  const [name, options] = [words.filter((word) => !word.startsWith('-')), words.filter((word) => word.startsWith('-'))];
  expect(out).toMatch(new RegExp(`^Usage: latchkey ${name[0]}(?:\\|\\w+)? ${name[1] ?? '\\['}`));
  for (const option of options) expect(out).toContain(option);
});

test('an option of another command is a usage error (exit code 2)', async () => {
  const { exitCode, err } = await runCommand(['config', 'generate', '--redirect-uri=https://a.example/']);
  expect([exitCode, err]).toEqual([2, 'latchkey: --redirect-uri requires --client\n']);
});
