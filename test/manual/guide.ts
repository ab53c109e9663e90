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

/** The settings of the first block of a guide, or of a later one. */
export function settingsOf({ blocks }: Page, index = 0): Readonly<Record<string, unknown>> {
  const settings: Record<string, unknown> = parse(blocks('yaml')[index] ?? '');
  return settings;
}

/** The programs of a guide, in a folder of their own, as its reader saves and starts them. */
export class Guide {
  readonly #page: Page;
  readonly #folder: string;
  readonly #children = new Set<ChildProcess>();
  readonly #addresses: readonly (readonly [string, string])[];

  /** @param addresses what is another address here than on the page */
  constructor(path: string, addresses: Readonly<Record<string, string>> = {}) {
    this.#page = readPage(path);
    this.#addresses = Object.entries(addresses);
    // Below the package, so that the programs find their libraries.
    mkdirSync(join(packageRoot, '.latchkey'), { recursive: true });
    this.#folder = mkdtempSync(join(packageRoot, '.latchkey', 'guide-'));
    for (const block of this.#page.blocks('js')) {
      const [, name] = /^\/\/ ([\w-]+\.mjs)\n/.exec(block) ?? [];
      if (name !== undefined) this.save(name, block);
    }
  }

  /** Saves a program under this name, with the addresses of this test. */
  save(name: string, source: string): void {
    writeFileSync(join(this.#folder, name), this.#here(source));
  }

  /** What one of its programs saved. */
  saved(name: string): string {
    return readFileSync(join(this.#folder, name), 'utf8');
  }

  /** The program of that name as the page has it. */
  source(name: string): string {
    return this.#page.blocks('js').find((block) => block.startsWith(`// ${name}\n`)) ?? '';
  }

  /**
   * The same after a change that the page shows: each block without a name takes the place of what begins with the same
   * line, or comes first when it imports something.
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

  /** @param waits of the program; those that are quick take a hundredth of their time, time-outs of requests as well */
  start(name: string, args: readonly string[] = [], waits: 'quick' | 'as they are' = 'quick'): RunningProgram {
    const quick =
      'const wait = setTimeout; globalThis.setTimeout = (work, ms, ...more) => wait(work, ms / 100, ...more);';
    const options = waits === 'quick' ? ['--import', `data:text/javascript,${quick}`] : [];
    const child = spawn(process.execPath, [...options, name, ...args], {
      cwd: this.#folder,
      // No browser of this machine opens.
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

  /** What it has printed when it has ended. */
  async output(): Promise<string> {
    await this.#closed;
    return this.#output;
  }

  /** The first group of a pattern, as soon as it was printed. */
  async printed(pattern: RegExp): Promise<string> {
    return await this.#until(() => pattern.exec(this.#output)?.[1]);
  }

  /** Waits until it answers at an address. */
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

/** A person signs in at the address to which an app sent them, and answers the consent page. @returns where it leads */
export async function signInAt(
  service: TestService,
  address: string,
  answer: 'consent' | 'cancel' = 'consent',
): Promise<{ readonly location: string; readonly browser: Browser }> {
  const browser = new Browser({ listener: service.address });
  await browser.open(address);
  await browser.submit({ username: 'alice', password: PASSWORD });
  await browser.follow();
  // Nobody is asked twice for the same.
  if (browser.shown.location === undefined) await browser.submit({ action: answer }, { action: '/authorize' });
  return { location: browser.shown.location ?? '', browser };
}
