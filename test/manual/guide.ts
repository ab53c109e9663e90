import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '#platform/base/package-root.ts';
import { Browser } from '../support/browser.ts';
import { stopProcess } from '../support/program.js';
import type { TestService } from '../support/service.ts';
import { type Page, readPage } from './pages.ts';

export const PASSWORD = 'correct horse battery staple';

/** Returns the settings in the first block of a guide, or in a later one. */
export function settingsOf({ blocks }: Page, index = 0): Readonly<Record<string, unknown>> {
  const settings: Record<string, unknown> = parse(blocks('yaml')[index] ?? '');
  return settings;
}

/** The programs of a guide in a separate folder, saved and started as a reader does. */
export class Guide {
  readonly #page: Page;
  readonly #folder: string;
  readonly #children = new Set<ChildProcess>();
  readonly #addresses: readonly (readonly [string, string])[];

  /** @param addresses replacements for addresses on the page */
  constructor(path: string, addresses: Readonly<Record<string, string>> = {}) {
    this.#page = readPage(path);
    this.#addresses = Object.entries(addresses);
    // Inside the package, so that the programs find their libraries.
    mkdirSync(join(packageRoot, '.latchkey'), { recursive: true });
    this.#folder = mkdtempSync(join(packageRoot, '.latchkey', 'guide-'));
    for (const block of this.#page.blocks('js')) {
      const [, name] = /^\/\/ ([\w-]+\.mjs)\n/.exec(block) ?? [];
      if (name !== undefined) this.save(name, block);
    }
  }

  /** Saves a program under this name, with this test's addresses. */
  save(name: string, source: string): void {
    writeFileSync(join(this.#folder, name), this.#here(source));
  }

  /** Returns a file that one of the programs saved. */
  saved(name: string): string {
    return readFileSync(join(this.#folder, name), 'utf8');
  }

  /** Returns the program with this name from the page. */
  source(name: string): string {
    return this.#page.blocks('js').find((block) => block.startsWith(`// ${name}\n`)) ?? '';
  }

  /**
   * Returns the program after the changes that the page describes. Each unnamed block replaces the code that starts
   * with the same line. Imports are added at the start.
   */
  changedSource(name: string): string {
    let source = this.source(name);
    for (const block of this.#page.blocks('js').filter((one) => !one.startsWith('// '))) {
      const [head = ''] = block.split('\n', 1);
      const start = source.indexOf(head);
      const end = source.indexOf('\n);\n', start) + '\n);\n'.length;
      if (head.startsWith('import ')) source = block + source;
      else if (start === -1) throw new Error(`nothing in ${name} begins with ${head}`);
      else source = source.slice(0, start) + block + source.slice(end);
    }
    return source;
  }

  /** @param waits `quick` divides all timers of the program by 100, including request timeouts */
  start(name: string, args: readonly string[] = [], waits: 'quick' | 'as they are' = 'quick'): RunningProgram {
    const quick =
      'const wait = setTimeout; globalThis.setTimeout = (work, ms, ...more) => wait(work, ms / 100, ...more);';
    const options = waits === 'quick' ? ['--import', `data:text/javascript,${quick}`] : [];
    const child = spawn(process.execPath, [...options, name, ...args], {
      cwd: this.#folder,
      // Prevents the program from opening a browser.
      env: { ...process.env, PATH: this.#folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#children.add(child);
    return new RunningProgram(child);
  }

  async end(): Promise<void> {
    await Promise.all([...this.#children].map((child) => stopProcess(child)));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #here(text: string): string {
    return this.#addresses.reduce((all, [there, here]) => all.replaceAll(there, here), text);
  }
}

export class RunningProgram {
  readonly #closed: Promise<void>;
  #output = '';
  #hasEnded = false;

  constructor(child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
      });
    }
    this.#closed = new Promise((resolve) =>
      child.once('close', () => {
        this.#hasEnded = true;
        resolve();
      }),
    );
  }

  /** Returns the output after the program has exited. */
  async output(): Promise<string> {
    await this.#closed;
    return this.#output;
  }

  /** Returns the first group of a pattern once the output matches it. */
  async printed(pattern: RegExp): Promise<string> {
    return await this.#until(() => pattern.exec(this.#output)?.[1]);
  }

  /** Waits until the program responds at a URL. */
  async listens(address: string): Promise<void> {
    await this.#until(() =>
      fetch(address, { redirect: 'manual' }).then(
        () => address,
        () => undefined,
      ),
    );
  }

  async #until(find: () => string | undefined | Promise<string | undefined>): Promise<string> {
    for (;;) {
      const found = await find();
      if (found !== undefined) return found;
      if (this.#hasEnded) throw new Error(`the program ended: ${this.#output}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** Signs a user in at the app's authorization URL and answers the consent page. @returns the redirect URL */
export async function signInAt(
  service: TestService,
  address: string,
  response: 'consent' | 'cancel' = 'consent',
): Promise<{ readonly location: string; readonly browser: Browser }> {
  const browser = new Browser({ listener: service.address });
  await browser.open(address);
  await browser.submit({ username: 'alice', password: PASSWORD });
  await browser.follow();
  // The service does not ask twice for the same consent.
  if (browser.page.location === undefined) await browser.submit({ action: response }, { action: '/authorize' });
  return { location: browser.page.location ?? '', browser };
}
