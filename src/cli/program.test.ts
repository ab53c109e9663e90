import { DatabaseError } from 'pg';
import { describe, expect, test } from 'vitest';
import { runCommand } from './run-command.test-support.ts';

describe('a defect in a command (operations 3.1: exit code 70)', () => {
  const broken = {
    stdout: () => {
      throw new Error('something broke');
    },
  };

  test('says what broke and how to see where', async () => {
    const { exitCode, err } = await runCommand(['config', 'schema'], broken);
    expect(exitCode).toBe(70);
    expect(err).toMatch(
      /^latchkey: internal error: something broke \(.*--log-level debug shows where it happened\)\n$/,
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

test('what the database refuses for want of resources is no defect (exit code 69)', async () => {
  const refused = new DatabaseError('could not extend file "base/16384/2619": No space left on device', 0, 'error');
  refused.code = '53100';
  const stdout = () => {
    throw refused;
  };
  const { exitCode, err } = await runCommand(['config', 'schema'], { stdout });
  expect(exitCode).toBe(69);
  expect(err).toMatch(
    /could not extend file .*: No space left on device\. A disk of the server is full\. .*Try again\.\n$/,
  );
});

test.each([
  ['serve', '10 minutes'],
  ['database migrate', '-1'],
])('%s --migrate-timeout refuses %j as a usage error (exit code 2)', async (command, value) => {
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
  ['dump --json', ''],
])('`latchkey %s` says that there is no such command, and starts nothing (exit code 2)', async (words, hint) => {
  const { exitCode, err } = await runCommand(words.split(' '));
  expect(exitCode).toBe(2);
  const word = words.split(' ').find((one) => one !== 'serve');
  expect(err).toBe(
    `latchkey: unknown command '${word}'.${hint} Commands are serve, worker, doctor, config, database, keys, manage, jobs, import, backup, restore, templates, debug, activity; latchkey --help explains them.\n`,
  );
});

test.each([
  ['config chek', "latchkey: unknown command 'chek'\n(Did you mean check?)\n"],
  ['config generate --redirect-uri=https://a.example/', 'latchkey: --redirect-uri belongs to --client\n'],
])('`latchkey %s` is a usage error (exit code 2)', async (words, text) => {
  expect(await runCommand(words.split(' '))).toEqual({ exitCode: 2, out: '', err: text });
});
