import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { packageRoot } from '#platform/base/package-root.ts';
import { Browser } from '../support/browser.ts';
import { freePort } from '../support/free-port.js';
import { startService, type TestService } from '../support/service.ts';
import { readPage } from './pages.ts';

const readme = readPage('README.md');
const PASSWORD = 'correct horse battery staple';

/** The README's first sign-in as written, except for its two ports. */
describe('README: the first sign-in', () => {
  let service: TestService;
  let app: string;

  beforeAll(async () => {
    app = `localhost:${await freePort()}`;
    const [yaml = ''] = readme.blocks('yaml');
    const { clients }: { clients: unknown } = parse(yaml.replaceAll('localhost:3000', app));
    service = await startService({ clients });
    await service.registerUser('alice', PASSWORD);
    // A user without remembered consent.
    await service.registerUser('bob', PASSWORD);
  });

  afterAll(async () => {
    await service.stop();
  });

  function here(text: string): string {
    return text
      .replaceAll('http://localhost:8080', service.address)
      .replaceAll('localhost:3000', app)
      .replaceAll('listen(3000)', `listen(${app.split(':')[1] ?? ''})`);
  }

  test('with curl, in any shell, ends with the signed-in user', async () => {
    const script = readme.blocks('sh').find((block) => block.includes('/oauth2/userinfo')) ?? '';
    const run = await runToEnd('sh', ['-c', here(script)]);
    const claims: object = JSON.parse(run.output);
    expect(claims).toMatchObject({ username: 'alice', preferred_username: 'alice' });
    const promised = readme.codes.find((code) => code.startsWith('{"sub"')) ?? '';
    expect(Object.keys(claims)).toEqual([...promised.matchAll(/"(\w+)":/g)].map(([, name]) => name));
  });

  test('with openid-client greets the user by name', async () => {
    const [source = ''] = readme.blocks('js');
    // Inside the package, so that the app finds the library.
    mkdirSync(join(packageRoot, '.latchkey'), { recursive: true });
    const folder = mkdtempSync(join(packageRoot, '.latchkey', 'readme-'));
    writeFileSync(join(folder, 'app.mjs'), here(source));
    const child = spawn(process.execPath, ['app.mjs'], { cwd: folder, stdio: 'inherit' });
    try {
      const browser = new Browser({ listener: service.address });
      await browser.open(await redirectOf(child, `http://${app}/`));
      await browser.submit({ username: 'bob', password: PASSWORD });
      await browser.follow();
      await browser.submit({ action: 'consent' }, { action: '/authorize' });
      const greeting = await fetch(browser.page.location ?? '');
      expect(await greeting.text()).toBe('Hello bob\n');
    } finally {
      child.kill();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

async function runToEnd(program: string, args: readonly string[]): Promise<{ output: string }> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  await new Promise((resolve) => child.once('close', resolve));
  return { output };
}

/** Waits until the app listens, and returns its redirect for a browser. */
async function redirectOf(child: ChildProcess, address: string): Promise<string> {
  for (;;) {
    const response = await fetch(address, { redirect: 'manual' }).catch(() => undefined);
    if (response !== undefined) return response.headers.get('location') ?? '';
    if (child.exitCode !== null) throw new Error(`the app ended with ${child.exitCode}`);
  }
}
