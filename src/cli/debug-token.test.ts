import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { newToken } from '#protocol/oauth/token-format.ts';
import { runCommand } from './run-command.test-support.ts';

test.each([
  ['mat', 'access token'],
  ['mar', 'refresh token'],
  ['mct', 'access token of a chat client'],
  ['mcr', 'refresh token of a chat client'],
  ['mpt', 'personal token'],
  ['mgt', 'registration access token of a client'],
] as const)('debug token: identifies %s with a valid checksum, and does not print the token', async (prefix, kind) => {
  const token = newToken(prefix);
  const { exitCode, out, err } = await runCommand(['debug', 'token', token]);
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
  expect(out).toBe(`kind: ${kind}\nchecksum: valid\nexpiry: in the database\n`);
});

test('debug token: a mistyped token has a wrong checksum, exit 1, and is not printed', async () => {
  const token = newToken('mat');
  const mistyped = `${token.slice(0, 10)}${token[10] === 'a' ? 'b' : 'a'}${token.slice(11)}`;
  const { exitCode, out } = await runCommand(['--json', 'debug', 'token', mistyped]);
  expect(exitCode).toBe(1);
  expect(JSON.parse(out)).toEqual({ kind: 'access token', checksum: 'wrong', expiry: 'unknown' });
});

test('debug token: recognizes JWTs and homeserver tokens; other text is unknown with exit 1', async () => {
  const kindOf = async (token: string) => {
    const { exitCode, out } = await runCommand(['--json', 'debug', 'token', token]);
    return [exitCode, JSON.parse(out).kind];
  };
  expect(await kindOf('syt_YWxpY2U_abcdefghijklmnopqrst_0A1b2C')).toEqual([0, 'access token issued by a homeserver']);
  expect(await kindOf(`${Buffer.from('{"alg":"ES256"}').toString('base64url')}.e30.c2ln`)).toEqual([0, 'JWT']);
  expect(await kindOf('W10.e30.c2ln')).toEqual([1, 'unknown']);
  expect(await kindOf('constructor')).toEqual([1, 'unknown']);
});

test('debug token: - reads the token from stdin, so that it is not in the process list', async () => {
  const stdin = Readable.from([`${newToken('mar')}\n`]);
  const { exitCode, out } = await runCommand(['debug', 'token', '-'], { stdin });
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: expect.stringContaining('kind: refresh token\n') });
});
