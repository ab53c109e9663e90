import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { beforeAll, describe, expect, test } from 'vitest';
import { bundleWorker } from '#test/support/worker-entry.ts';
import type { Strength } from './estimate-strength.ts';
import { StrengthEstimator } from './strength-estimator.ts';

let script = '';

beforeAll(async () => {
  const entry = fileURLToPath(new URL('./strength-estimator.browser.ts', import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [entry],
    write: false,
    bundle: true,
    minify: true,
    format: 'iife',
    platform: 'browser',
    logLevel: 'silent',
  });
  script = outputFiles[0]?.text ?? '';
});

/** Runs the script in a global scope that contains only what every browser's workers have. */
function estimates(
  passwords: readonly string[],
  account: { readonly username: string; readonly email: string; readonly serviceName: string },
): Strength[] {
  const responses: Strength[] = [];
  const self: { onmessage?: (event: unknown) => void; postMessage: (response: Strength) => void } = {
    postMessage: (response) => responses.push({ ...response }),
  };
  runInNewContext(script, { self });
  for (const password of passwords) self.onmessage?.({ data: { password, ...account } });
  return responses;
}

const PASSWORDS = [
  'password',
  'BASEBALL',
  'florentina.b',
  'Klabauterdienst',
  'klabauter florentina',
  'qwertzuiop123',
  'vortex-Lampion 71 pergola',
  `${'ab'.repeat(40)}!`,
];

describe('the estimator in the browser', () => {
  test('estimates every password as the server does (browser-flows 5.7)', async () => {
    const estimator = new StrengthEstimator(await bundleWorker(new URL('./strength.worker.ts', import.meta.url)));
    try {
      const words = ['florentina.b', 'Klabauter Dienst', 'Klabauter', 'Dienst'];
      const expected: Strength[] = [];
      for (const password of PASSWORDS)
        expected.push(await estimator.estimate(password, words, { address: '192.0.2.1' }));
      const account = { username: 'florentina.b', email: '', serviceName: 'Klabauter Dienst' };
      expect(estimates(PASSWORDS, account)).toEqual(expected);
      expect(new Set(expected.map(({ score }) => score)).size).toBeGreaterThan(1);
      expect(expected.some(({ isCommon }) => isCommon)).toBe(true);
    } finally {
      await estimator.close();
    }
  });

  test('counts words of the email address as known', () => {
    const account = { username: 'amira', email: '', serviceName: 'Latchkey' };
    const [without] = estimates(['zwiebelkrautner'], account);
    const [withAddress] = estimates(['zwiebelkrautner'], { ...account, email: 'zwiebelkrautner@mail.example' });
    expect(withAddress?.score).toBeLessThan(without?.score ?? 0);
  });

  test('stays below 1 MiB compressed, including all dictionaries', () => {
    expect(gzipSync(script).length).toBeLessThan(1024 * 1024);
  });
});
