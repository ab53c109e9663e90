import { createPrivateKey } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { prepareDataDirectory } from '#app/data-directory/data-directory.ts';
import { workingDirectory } from '#config/fixture.test-support.ts';
import { runCommand } from './run-command.test-support.ts';

const HOUR = 3600;
let directory: string;
let keysDir: string;
/** Data directory after the first start, copied for every test. */
let made: string;

beforeAll(async () => {
  made = mkdtempSync(join(tmpdir(), 'latchkey-keys-'));
  directory = made;
  await prepare();
});
afterAll(() => rmSync(made, { recursive: true, force: true }));
beforeEach(() => {
  directory = workingDirectory();
  keysDir = join(directory, 'data/keys');
  cpSync(join(made, 'data'), join(directory, 'data'), { recursive: true });
});

/** Generates the secrets as a start does. */
async function prepare(): Promise<void> {
  const needs = { needsEncryptionKey: true, needsSigningKeys: true };
  await prepareDataDirectory({ dataDir: join(directory, 'data'), isTraversable: false, version: '1.2.3', ...needs });
}

async function run(...argv: string[]) {
  return await runCommand(argv, { workingDirectory: directory });
}

interface ListedJson {
  readonly kid: string;
  readonly type: string;
  readonly alg: string;
  readonly source: string;
  readonly state: string;
  readonly age_seconds: number | null;
}

async function list(): Promise<readonly ListedJson[]> {
  const { out } = await run('--json', 'keys', 'list');
  const { keys }: { keys: readonly ListedJson[] } = JSON.parse(out);
  return keys;
}

/** Returns the state of the key in each key file. */
async function states(): Promise<Record<string, string>> {
  return Object.fromEntries((await list()).map(({ source, state }) => [source.slice(keysDir.length + 1), state]));
}

async function kidOf(file: string): Promise<string | undefined> {
  return (await list()).find(({ source }) => source === join(keysDir, file))?.kid;
}

function makeOlder(file: string, seconds: number): void {
  const path = join(keysDir, file);
  const time = statSync(path).mtimeMs / 1000 - seconds;
  utimesSync(path, time, time);
}

function configure(yaml: string): void {
  writeFileSync(join(directory, 'latchkey.yaml'), yaml, { mode: 0o600 });
}

describe('keys list', () => {
  test('lists each key with type, source, state and age, and nothing of its private part', async () => {
    makeOlder('ed25519.pem', 50 * HOUR);
    const { exitCode, out } = await run('keys', 'list');
    expect(exitCode).toBe(0);
    const [head, ...lines] = out.trimEnd().split('\n');
    expect(head).toMatch(/^KID +TYPE +ALG +STATE +AGE +SOURCE$/);
    expect(lines.map((line) => line.replace(/^[\w-]{43} +/, '').replaceAll(/ +/g, ' '))).toEqual([
      `p256 ES256 signing 0m ${keysDir}/ec-p256.pem`,
      `ed25519 EdDSA signing 2d ${keysDir}/ed25519.pem`,
      `rsa2048 RS256 signing 0m ${keysDir}/rsa-2048.pem`,
    ]);
    const secrets = readdirSync(keysDir).map((name) => readFileSync(join(keysDir, name), 'utf8').split('\n')[1] ?? '');
    for (const secret of secrets) expect(out).not.toContain(secret);
  });

  test('lists inline keys first, with their state but without an age', async () => {
    const key = (await run('keys', 'generate', 'rsa3072')).out;
    const next = (await run('keys', 'generate', 'rsa2048')).out;
    configure(
      `secrets: ${JSON.stringify({
        keys: [
          { key: next, use_for_signing: false },
          { key, kid: 'mine' },
        ],
        keys_dir: 'data/keys',
      })}\n`,
    );
    const [first, second, ...others] = await list();
    expect(first).toMatchObject({ source: 'secrets.keys[0]', state: 'published', age_seconds: null });
    expect(second).toMatchObject({ kid: 'mine', type: 'rsa3072', alg: 'RS256', state: 'signing', age_seconds: null });
    expect(others.map(({ alg, state }) => `${alg} ${state}`)).toEqual([
      'ES256 signing',
      'EdDSA signing',
      'RS256 published',
    ]);
  });

  test('before the first start there are none: exit code 1, and none is created', async () => {
    renameSync(join(directory, 'data'), join(directory, 'elsewhere'));
    expect(await run('keys', 'list')).toMatchObject({
      exitCode: 1,
      err: expect.stringMatching(/no signing keys yet: the first start creates them in \S+\/data\/keys\n$/),
    });
    expect(existsSync(join(directory, 'data'))).toBe(false);
  });

  test('an unreadable key: exit code 78 with its name', async () => {
    writeFileSync(join(keysDir, 'broken.pem'), 'nonsense', { mode: 0o600 });
    const { exitCode, err } = await run('keys', 'list');
    expect(exitCode).toBe(78);
    expect(err).toMatch(/broken\.pem: not a private key/);
    expect(err).not.toContain('nonsense');
  });
});

describe('keys generate', () => {
  test.each([
    ['rsa2048', { modulusLength: 2048 }],
    ['rsa3072', { modulusLength: 3072 }],
    ['rsa4096', { modulusLength: 4096 }],
    ['p256', { namedCurve: 'prime256v1' }],
    ['p384', { namedCurve: 'secp384r1' }],
    ['p521', { namedCurve: 'secp521r1' }],
    ['k256', { namedCurve: 'secp256k1' }],
    ['ed25519', {}],
  ])('%s: PKCS#8 in PEM', async (type, details) => {
    const { exitCode, out } = await run('keys', 'generate', type);
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    expect(createPrivateKey(out).asymmetricKeyDetails).toMatchObject(details);
  });

  test('writes a file of mode 0600 and never overwrites one (exit code 73)', async () => {
    const { exitCode, out } = await run('--json', 'keys', 'generate', 'p256', '-o', 'new.pem');
    expect(exitCode).toBe(0);
    const path = join(directory, 'new.pem');
    expect(JSON.parse(out)).toEqual({ type: 'p256', path });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const before = readFileSync(path, 'utf8');
    expect((await run('keys', 'generate', 'p256', '-o', 'new.pem')).exitCode).toBe(73);
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  test('an unknown type is a usage error that lists the known ones', async () => {
    const { exitCode, err } = await run('keys', 'generate', 'rsa1024');
    expect(exitCode).toBe(2);
    expect(err).toContain('one of rsa2048, rsa3072, rsa4096, p256, p384, p521, k256, ed25519');
  });
});

describe('keys rotate', () => {
  test('next, signing, old, retired: each step when it is due, and repeating a step changes nothing', async () => {
    const before = await kidOf('rsa-2048.pem');
    const begun = await run('--json', 'keys', 'rotate', '--type', 'rsa2048');
    expect(begun.exitCode).toBe(0);
    expect(JSON.parse(begun.out).steps).toEqual([
      { alg: 'RS256', step: 'published', file: join(keysDir, 'rsa-2048.next.pem'), next_step_at: expect.any(String) },
    ]);
    expect(await states()).toMatchObject({ 'rsa-2048.next.pem': 'published', 'rsa-2048.pem': 'signing' });
    expect(statSync(join(keysDir, 'rsa-2048.next.pem')).mode & 0o777).toBe(0o600);
    const next = await kidOf('rsa-2048.next.pem');

    expect(JSON.parse((await run('--json', 'keys', 'rotate', '--type', 'rsa2048')).out).steps[0].step).toBe('waiting');
    expect(await kidOf('rsa-2048.next.pem')).toBe(next);
    const early = await run('keys', 'rotate', '--type', 'rsa2048', '--promote');
    expect(early.exitCode).toBe(1);
    expect(early.err).toMatch(/too recently published to sign: not before 20\d\d-.*Z \(--force/);

    makeOlder('rsa-2048.next.pem', HOUR + 1);
    const promoted = await run('keys', 'rotate', '--type', 'rsa2048');
    expect(promoted.out).toMatch(
      /^RS256: \S+rsa-2048\.pem is now used for signing; the previous key stays published until 20/,
    );
    expect(promoted.out).toContain('Running processes apply the change within 30 seconds.');
    expect(await states()).toEqual({
      'ec-p256.pem': 'signing',
      'ed25519.pem': 'signing',
      'rsa-2048.old.pem': 'published',
      'rsa-2048.pem': 'signing',
    });
    expect([await kidOf('rsa-2048.pem'), await kidOf('rsa-2048.old.pem')]).toEqual([next, before]);

    // Neither the next rotation nor a repeated promotion begins before the old key is retired.
    expect((await run('keys', 'rotate', '--type', 'rsa2048')).out).toMatch(/rsa-2048\.old\.pem was replaced/);
    expect((await run('keys', 'rotate', '--type', 'rsa2048', '--promote')).exitCode).toBe(0);
    expect(await kidOf('rsa-2048.pem')).toBe(next);
    const tooEarly = await run('keys', 'rotate', '--retire');
    expect(tooEarly.exitCode).toBe(1);
    expect(tooEarly.err).toMatch(/rsa-2048\.old\.pem is still needed to verify tokens that it signed: not before 20/);

    makeOlder('rsa-2048.old.pem', 24 * HOUR + 1);
    expect((await run('keys', 'rotate', '--retire')).exitCode).toBe(0);
    expect(await states()).toEqual({ 'ec-p256.pem': 'signing', 'ed25519.pem': 'signing', 'rsa-2048.pem': 'signing' });
    expect(readdirSync(join(keysDir, 'retired'))).toEqual([expect.stringMatching(/^rsa-2048-20\d{6}T\d{6}Z\.pem$/)]);
    expect((await run('keys', 'rotate', '--retire')).exitCode).toBe(0);
  });

  test('without --type rotates every key of the directory', async () => {
    await run('keys', 'rotate');
    expect(Object.keys(await states())).toEqual([
      'ec-p256.next.pem',
      'ec-p256.pem',
      'ed25519.next.pem',
      'ed25519.pem',
      'rsa-2048.next.pem',
      'rsa-2048.pem',
    ]);
    const forced = await run('keys', 'rotate', '--promote', '--force');
    expect(forced.err).toMatch(/^latchkey: warning: waiting times are skipped/);
    expect(Object.keys(await states())).toEqual([
      'ec-p256.old.pem',
      'ec-p256.pem',
      'ed25519.old.pem',
      'ed25519.pem',
      'rsa-2048.old.pem',
      'rsa-2048.pem',
    ]);
    expect((await run('keys', 'rotate', '--retire', '--force')).exitCode).toBe(0);
    expect(Object.keys(await states())).toEqual(['ec-p256.pem', 'ed25519.pem', 'rsa-2048.pem']);
  });

  test('a larger key has its own name, and a start does not restore the smaller one', async () => {
    await run('keys', 'rotate', '--type', 'rsa3072');
    await run('keys', 'rotate', '--type', 'rsa3072', '--promote', '--force');
    await run('keys', 'rotate', '--retire', '--force');
    await prepare();
    expect(await states()).toEqual({ 'ec-p256.pem': 'signing', 'ed25519.pem': 'signing', 'rsa-3072.pem': 'signing' });
  });

  test('a key for an algorithm without a signing key', async () => {
    await run('keys', 'rotate', '--type', 'p384');
    expect(await states()).toMatchObject({ 'ec-p384.next.pem': 'published' });
    await run('keys', 'rotate', '--type', 'p384', '--promote', '--force');
    expect(await states()).toMatchObject({ 'ec-p384.pem': 'signing' });
  });

  test.each([
    ['before the old key was renamed', ['rsa-2048.next.pem', 'rsa-2048.new.pem']],
    ['before the new key was renamed', ['rsa-2048.next.pem', 'rsa-2048.new.pem', 'rsa-2048.pem', 'rsa-2048.old.pem']],
  ])('a promotion interrupted %s is completed by the next call', async (_when, renames) => {
    await run('keys', 'rotate', '--type', 'rsa2048');
    const next = await kidOf('rsa-2048.next.pem');
    for (let index = 0; index < renames.length; index += 2) {
      renameSync(join(keysDir, renames[index] ?? ''), join(keysDir, renames[index + 1] ?? ''));
    }
    expect(Object.values(await states()).filter((state) => state === 'signing')).toHaveLength(3);
    expect((await run('keys', 'rotate', '--type', 'rsa2048')).exitCode).toBe(0);
    expect(await kidOf('rsa-2048.pem')).toBe(next);
    expect(await states()).toMatchObject({ 'rsa-2048.old.pem': 'published', 'rsa-2048.pem': 'signing' });
  });

  test('keys of secrets.keys_dir rotate too, whatever their names', async () => {
    mkdirSync(join(directory, 'own'));
    await run('keys', 'generate', 'rsa2048', '-o', 'own/sign');
    configure('secrets: {keys_dir: own}\n');
    await run('keys', 'rotate');
    expect(readdirSync(join(directory, 'own'))).toEqual(['sign', 'sign.next.pem']);
    await run('keys', 'rotate', '--promote', '--force');
    expect(readdirSync(join(directory, 'own'))).toEqual(['sign.old', 'sign.pem']);
    expect((await list()).map(({ state }) => state)).toEqual(['published', 'signing']);
  });

  test('inline keys are left to the operator: exit code 1 with the lines to add', async () => {
    const key = (await run('keys', 'generate', 'rsa2048')).out;
    configure(`secrets: ${JSON.stringify({ keys: [{ key }] })}\n`);
    const { exitCode, err } = await run('keys', 'rotate');
    expect(exitCode).toBe(1);
    expect(err).toContain('secrets.keys[0] signs RS256 and is set in the configuration');
    expect(err).toContain('use_for_signing: false');
    expect(err).not.toContain(key.split('\n')[1]);
  });

  test.each([
    [['--promote', '--retire'], 'cannot be combined'],
    [['--publish-for', '19m'], 'at least 20m'],
    [['--publish-for', 'soon'], 'Expected seconds'],
    [['--type', 'dsa'], 'unknown key type "dsa"'],
  ])('%j is a usage error', async (flags, message) => {
    const { exitCode, err } = await run('keys', 'rotate', ...flags);
    expect(exitCode).toBe(2);
    expect(err).toContain(message);
  });

  test('--promote without a next key: exit code 1', async () => {
    expect(await run('keys', 'rotate', '--promote')).toMatchObject({ exitCode: 1 });
  });
});
