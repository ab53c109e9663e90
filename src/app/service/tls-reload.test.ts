import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { load, workingDirectory } from '#config/fixture.test-support.ts';
import { leafOf } from '#platform/http/tls-pair.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { selfSigned } from '#test/support/self-signed.ts';
import { TlsReload } from './tls-reload.ts';

const FIRST = selfSigned(['auth.example']);

/** A listener with certificate files, and the certificates that the server was given. */
function running() {
  const directory = workingDirectory({ 'c.pem': FIRST.cert, 'k.pem': FIRST.key });
  const names = `certificate_file: ${directory}/c.pem, key_file: ${directory}/k.pem`;
  const loaded = load({
    files: { 'latchkey.yaml': `http: {listeners: [{resources: [human], binds: [{port: 8443}], tls: {${names}}}]}` },
  });
  const log = new RecordingLog();
  const shown: string[] = [];
  const server = {
    reloadTls: (listeners: typeof loaded.config.http.listeners) => {
      for (const { tls } of listeners) if (tls !== undefined) shown.push(leafOf(tls.certificate).fingerprint256);
    },
  };
  const reload = new TlsReload({ loaded, server, clock: new FakeClock(), log });
  let writes = 0;
  const put = (name: 'c.pem' | 'k.pem', content: string): void => {
    const path = join(directory, name);
    writeFileSync(path, content, { mode: 0o600 });
    // Gives every write a different timestamp.
    writes += 1;
    utimesSync(path, writes, writes);
  };
  return { reload, log, shown, put };
}

describe('certificate files at run time (operations 1.7.3)', () => {
  test('are reloaded once they have changed, not at every check', () => {
    const { log, put, reload, shown } = running();
    reload.rereadFiles();
    expect(shown).toEqual([]);
    const next = selfSigned(['auth.example']);
    put('k.pem', next.key);
    put('c.pem', next.cert);
    reload.rereadFiles();
    reload.rereadFiles();
    expect(shown).toHaveLength(1);
    expect(log.written).toEqual([expect.stringMatching(/INFO reload listener certificates reloaded/)]);
  });

  test('that are broken or half replaced keep the former pair, with one ERROR line until complete', () => {
    const { log, put, reload, shown } = running();
    const next = selfSigned(['auth.example']);
    put('c.pem', next.cert);
    reload.rereadFiles();
    reload.rereadFiles();
    expect(shown).toEqual([]);
    expect(log.written).toEqual([expect.stringMatching(/ERROR reload .*previous ones remain in use.*does not match/)]);
    expect(log.written.join()).not.toContain(next.key.split('\n')[1]);
    put('k.pem', next.key);
    reload.rereadFiles();
    expect(shown).toHaveLength(1);
    expect(log.lines.map(({ level }) => level)).toEqual(['error', 'info']);
  });

  test('that have expired are used, with a warning', () => {
    const { log, put, reload, shown } = running();
    const expired = selfSigned(['auth.example'], { to: '20210101000000Z' });
    put('k.pem', expired.key);
    put('c.pem', expired.cert);
    reload.rereadFiles();
    expect(shown).toHaveLength(1);
    expect(log.written.at(-1)).toMatch(/WARN reload the certificate of listener 0 expired on Jan {2}1/);
  });
});
