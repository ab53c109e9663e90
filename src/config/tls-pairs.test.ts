import { generateKeyPairSync } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { selfSigned } from '#test/support/self-signed.ts';
import { load, problemsOf, workingDirectory } from './fixture.test-support.ts';

const [PAIR, OTHER] = [selfSigned(['auth.example']), selfSigned(['other.example'])];
const LISTENER = 'http: {listeners: [{resources: [human], binds: [{port: 8443}], tls: {';
const IN_FILES = `${LISTENER}certificate_file: c.pem, key_file: k.pem}}]}\n`;

describe('the certificate of a listener (operations 1.7.3)', () => {
  test('is read with its key from PEM or DER, and changes the default of http.public_base to https', () => {
    const yaml = IN_FILES;
    const pem = load({ files: { 'latchkey.yaml': yaml, 'c.pem': PAIR.cert + OTHER.cert, 'k.pem': PAIR.key } });
    expect(pem.config.http.publicBase).toBe('https://localhost:8443/');
    expect(pem.config.http.listeners[0]?.tls?.minVersion).toBe('TLSv1.2');
    const der = Buffer.from(PAIR.key.replace(/-----.*-----|\n/g, ''), 'base64');
    expect(
      load({ files: { 'latchkey.yaml': yaml, 'c.pem': PAIR.cert, 'k.pem': der } }).config.http.listeners,
    ).toHaveLength(1);
  });

  test.each([
    ['another key', PAIR.cert, OTHER.key, 'key: does not match the first certificate of the chain'],
    ['the chain in another order', OTHER.cert + PAIR.cert, PAIR.key, 'key: does not match the first'],
    ['no certificate', PAIR.key, PAIR.key, 'certificate: not a PEM certificate chain'],
    ['a damaged one', PAIR.cert.replace('MI', 'AA'), PAIR.key, 'certificate: not a PEM certificate chain'],
    ['no key', PAIR.cert, PAIR.cert, 'key: not a private key that can be read'],
  ])('%s is rejected with its position, and is not shown', (_what, cert, key, problem) => {
    const found = problemsOf({ files: { 'latchkey.yaml': IN_FILES, 'c.pem': cert, 'k.pem': key } });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`http.listeners[0].tls.${problem}`);
    expect(found[0]).toMatch(/\(latchkey\.yaml:1:\d+\)$/);
    for (const line of key.split('\n').slice(1, 3)) expect(found[0]).not.toContain(line);
  });

  test('an encrypted key requires its password, and an unencrypted one allows none', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const encrypted = privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'hush' });
    const problems = (key: string | Buffer, more: string) => {
      const yaml = `${LISTENER}certificate_file: c.pem, key_file: k.pem${more}}}]}\n`;
      return problemsOf({ files: { 'latchkey.yaml': yaml, 'c.pem': PAIR.cert, 'k.pem': key, pw: 'hush\n' } }).join();
    };
    expect(problems(encrypted, '')).toContain('an encrypted key needs its password');
    expect(problems(encrypted, ', password: wrong')).toContain('or the password is wrong');
    // The next problem.
    expect(problems(encrypted, ', password_file: pw')).toContain('does not match');
    expect(problems(PAIR.key, ', password: hush')).toContain('password: the key is not encrypted');
  });

  test('half a pair, and a setting specified twice, are rejected', () => {
    const certificate = JSON.stringify(PAIR.cert);
    expect(
      problemsOf({ files: { 'a.yaml': `${LISTENER}certificate: ${certificate}}}]}` }, named: ['a.yaml'] }),
    ).toEqual([expect.stringContaining('http.listeners[0].tls: needs "key" or "key_file"')]);
    const files = { 'a.yaml': `${LISTENER}key_file: k}}]}`, k: PAIR.key };
    expect(problemsOf({ files, named: ['a.yaml'] })).toEqual([
      expect.stringContaining('http.listeners[0].tls: needs "certificate" or "certificate_file"'),
    ]);
  });

  test('a world-readable certificate causes no warning, a world-readable key does', () => {
    const directory = workingDirectory({ 'c.pem': PAIR.cert, 'k.pem': PAIR.key });
    for (const name of ['c.pem', 'k.pem']) chmodSync(join(directory, name), 0o644);
    const names = `certificate_file: ${directory}/c.pem, key_file: ${directory}/k.pem`;
    const { warnings } = load({ files: { 'latchkey.yaml': `${LISTENER}${names}}}]}` } });
    expect(warnings).toEqual([expect.stringMatching(/tls\.key_file: .*k\.pem has mode 0644/)]);
  });
});
