import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { prepareDataDirectory } from './data-directory.ts';
import { hasEncryptionKey } from './generated-secrets.ts';

let parent: string;
let dataDir: string;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'latchkey-data-'));
  dataDir = join(parent, 'data');
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const prepare = (changes: Partial<Parameters<typeof prepareDataDirectory>[0]> = {}) =>
  prepareDataDirectory({
    dataDir,
    isTraversable: false,
    needsEncryptionKey: true,
    needsSigningKeys: true,
    version: '1.2.3',
    ...changes,
  });

const mode = (path: string): string => (statSync(join(dataDir, path)).mode & 0o777).toString(8);

describe('data directory: first start (operations 2.2)', () => {
  test('creates the directory, the root key and three PKCS#8 signing keys, private to this account', async () => {
    const prepared = await prepare();
    expect(readFileSync(join(dataDir, 'encryption.key'), 'utf8')).toBe(`${prepared.encryptionKey}\n`);
    expect(prepared.encryptionKey).toMatch(/^[0-9a-f]{64}$/);
    expect(prepared.keysDir).toBe(join(dataDir, 'keys'));
    const keys = readdirSync(join(dataDir, 'keys')).sort();
    expect(keys).toEqual(['ec-p256.pem', 'ed25519.pem', 'rsa-2048.pem']);
    const kinds = keys.map((name) => {
      const pem = readFileSync(join(dataDir, 'keys', name), 'utf8');
      expect(pem).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
      const key = createPrivateKey(pem);
      return key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyDetails?.modulusLength ?? key.asymmetricKeyType;
    });
    expect(kinds).toEqual(['prime256v1', 'ed25519', 2048]);
    expect([mode('.'), mode('keys'), mode('encryption.key'), mode('keys/rsa-2048.pem'), mode('VERSION')]).toEqual([
      '700',
      '700',
      '600',
      '600',
      '600',
    ]);
    expect(prepared.warnings).toEqual([]);
  });

  test('on request lets the account of the embedded server traverse it, without listing', async () => {
    const { warnings } = await prepare({ isTraversable: true });
    expect(mode('.')).toBe('711');
    expect(warnings).toEqual([]);
  });

  test('creates no secret that another source sets', async () => {
    const prepared = await prepare({ needsEncryptionKey: false, needsSigningKeys: false });
    expect(readdirSync(dataDir)).toEqual(['VERSION']);
    expect([prepared.encryptionKey, prepared.keysDir]).toEqual([undefined, undefined]);
    expect(await hasEncryptionKey(dataDir)).toBe(false);
  });

  test('leaves one key for all racing processes, and no temporary file', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => prepare()));
    expect(new Set(all.map((prepared) => prepared.encryptionKey)).size).toBe(1);
    expect(readdirSync(dataDir).sort()).toEqual(['VERSION', 'encryption.key', 'keys']);
    expect(readdirSync(join(dataDir, 'keys'))).toHaveLength(3);
  });
});

describe('data directory: later starts', () => {
  test('keep every key, add a missing one, and record the version that wrote last', async () => {
    const first = await prepare();
    const rsa = readFileSync(join(dataDir, 'keys/rsa-2048.pem'), 'utf8');
    rmSync(join(dataDir, 'keys/ed25519.pem'));
    const second = await prepare({ version: '1.3.0' });
    expect(second.encryptionKey).toBe(first.encryptionKey);
    expect(readFileSync(join(dataDir, 'keys/rsa-2048.pem'), 'utf8')).toBe(rsa);
    expect(existsSync(join(dataDir, 'keys/ed25519.pem'))).toBe(true);
    expect(readFileSync(join(dataDir, 'VERSION'), 'utf8')).toBe('1.3.0\n');
    expect(await hasEncryptionKey(dataDir)).toBe(true);
  });

  test('keep keys of other types, as created by earlier versions', async () => {
    await prepare();
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    writeFileSync(join(dataDir, 'keys/ec-k256.pem'), pem, { mode: 0o600 });
    await prepare();
    expect(readdirSync(join(dataDir, 'keys')).sort()).toEqual([
      'ec-k256.pem',
      'ec-p256.pem',
      'ed25519.pem',
      'rsa-2048.pem',
    ]);
    expect(readFileSync(join(dataDir, 'keys/ec-k256.pem'), 'utf8')).toBe(pem);
  });

  test('reject a damaged root key instead of replacing it', async () => {
    await prepare();
    writeFileSync(join(dataDir, 'encryption.key'), 'abc\n');
    await expect(prepare()).rejects.toMatchObject({ exitCode: 78 });
    expect(readFileSync(join(dataDir, 'encryption.key'), 'utf8')).toBe('abc\n');
  });
});

describe('data directory: modes', () => {
  test('readable by others: a warning with path and mode', async () => {
    await prepare();
    chmodSync(dataDir, 0o755);
    chmodSync(join(dataDir, 'keys/rsa-2048.pem'), 0o640);
    const { warnings } = await prepare();
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toContain(`${dataDir} has mode 0755: every system user can read it`);
    expect(warnings[1]).toContain('keys/rsa-2048.pem has mode 0640');
  });

  test.each(['.', 'encryption.key', 'keys', 'keys/ec-p256.pem'])('%s writable by others: exit 78', async (path) => {
    await prepare();
    chmodSync(join(dataDir, path), 0o702);
    await expect(prepare()).rejects.toMatchObject({ exitCode: 78, message: expect.stringContaining('0702') });
  });

  test('a file in place of the directory: exit 77 with its name', async () => {
    writeFileSync(dataDir, '');
    await expect(prepare()).rejects.toMatchObject({ exitCode: 77, message: expect.stringContaining(dataDir) });
  });

  test('a missing parent is created', async () => {
    mkdirSync(dataDir);
    await prepare({ dataDir: join(dataDir, 'deeper/still') });
    expect(existsSync(join(dataDir, 'deeper/still/encryption.key'))).toBe(true);
  });
});

describe('data directory: start as root (security S-184)', () => {
  const isRoot = process.getuid?.() === 0;
  const account = { uid: 0, groups: [0] };
  /** Unless they run as root, the tests own every file. */
  const giveAway = (path: string): void => {
    if (isRoot) chownSync(join(dataDir, path), 65_534, 65_534);
  };

  test.each(['.', 'encryption.key', 'keys', 'keys/rsa-2048.pem'])(
    '%s owned by another user, who may have planted it: exit 78 with instructions, and it is not used',
    async (path) => {
      await prepare();
      giveAway(path);
      const error = await prepare({ account }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ exitCode: 78 });
      expect(String(error)).toMatch(
        /belongs to user \d+, who can change it, but this process runs as root: run chown root/,
      );
      expect(String(error)).toContain(join(dataDir, path === '.' ? '' : path).replace(/\/$/, ''));
    },
  );

  test('a planted root key in a directory first created by another user is rejected before anything is written', async () => {
    mkdirSync(join(dataDir, 'keys'), { recursive: true });
    writeFileSync(join(dataDir, 'encryption.key'), `${'ab'.repeat(32)}\n`, { mode: 0o600 });
    for (const path of ['.', 'keys', 'encryption.key']) giveAway(path);
    await expect(prepare({ account })).rejects.toMatchObject({ exitCode: 78 });
    expect(readdirSync(dataDir).sort()).toEqual(['encryption.key', 'keys']);
  });

  test.runIf(isRoot)('a foreign group with write permission: exit 78; with read permission: a warning', async () => {
    await prepare();
    chownSync(dataDir, 0, 65_534);
    chmodSync(dataDir, 0o770);
    await expect(prepare()).rejects.toMatchObject({
      exitCode: 78,
      message: expect.stringContaining('members of group 65534 can write to it'),
    });
    chmodSync(dataDir, 0o750);
    expect((await prepare()).warnings).toEqual([
      `${dataDir} has mode 0750: members of group 65534 have access to it; run chmod g-rw on it`,
    ]);
  });

  test.runIf(isRoot)('a dedicated account can use what root owns, as is common for volumes', async () => {
    await prepare();
    expect((await prepare({ account: { uid: 1000, groups: [0] } })).warnings).toEqual([]);
  });
});
