/** An import from Matrix Authentication Service, and the service that continues on the imported database. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { runCommand } from '#cli/run-command.test-support.ts';
import { Browser, type Page } from '#test/support/browser.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { type ServiceOptions, startService, type TestService } from '#test/support/service.ts';
import { createMasDatabase, type MasDatabase } from './mas-database.test-support.ts';

/** `000102…1f`, the key of MAS and of the service. */
export const ROOT = Buffer.from(Array.from({ length: 32 }, (_, index) => index));
export const HOMESERVER_SECRET = 'the-secret-that-the-homeserver-shares';

export type Settings = Readonly<Record<string, unknown>>;

export const SETTINGS = {
  protocol_name: 'matrix',
  homeserver: { kind: 'none', homeserver: 'old.example', secret: HOMESERVER_SECRET },
  passwords: { schemes: [{ version: 1, algorithm: 'argon2id' }] },
} as const satisfies Settings;

interface Found {
  readonly code: string;
  readonly message: string;
}

export interface Checked {
  readonly exitCode: number;
  readonly errors: readonly Found[];
  readonly warnings: readonly Found[];
}

/** A database of MAS and an empty one of Latchkey. */
export class Migration {
  readonly mas: MasDatabase;
  readonly #directory = mkdtempSync(join(tmpdir(), 'latchkey-mas-import-'));
  #target: TestDatabase;
  #services: TestService[] = [];
  #settings: Settings = SETTINGS;

  private constructor(mas: MasDatabase, target: TestDatabase) {
    this.mas = mas;
    this.#target = target;
  }

  static async create(): Promise<Migration> {
    // Each service of a file listens for signals.
    process.setMaxListeners(100);
    return new Migration(await createMasDatabase(), await createTestDatabase());
  }

  get target(): TestDatabase {
    return this.#target;
  }

  /** Empties both databases, and sets what the settings are different from the default. */
  async restart(changes: Settings = {}): Promise<void> {
    await this.#stopServices();
    await this.mas.clear();
    await this.#target.drop();
    this.#target = await createTestDatabase();
    this.#settings = { ...SETTINGS, ...changes };
  }

  /** Runs `import mas`. */
  async run(command: 'check' | 'migrate', options: readonly string[] = [], changes: Settings = {}) {
    const file = join(this.#directory, 'latchkey.yaml');
    const settings = {
      secrets: { encryption: ROOT.toString('hex') },
      database: { uri: this.#target.connectionString },
      logging: { output: join(this.#directory, 'log') },
      ...this.#settings,
      ...changes,
    };
    writeFileSync(file, stringify(settings), { mode: 0o600 });
    const source =
      options.includes('--mas-database-uri') || options.includes('--mas-config')
        ? []
        : ['--mas-database-uri', this.mas.uri];
    return await this.command(['import', 'mas', command, ...source, ...options]);
  }

  /** Writes a configuration of MAS for its database. Undefined removes a section. @returns the path */
  masConfig(document: Settings): string {
    const file = join(this.#directory, 'mas.yaml');
    const all = { database: { uri: this.mas.uri }, ...document };
    writeFileSync(file, stringify(all, { keepUndefined: false }), { mode: 0o600 });
    return file;
  }

  /** Runs a command with the configuration of the last import. */
  async command(words: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    const file = join(this.#directory, 'latchkey.yaml');
    return await runCommand([...words, '-c', file], { workingDirectory: this.#directory, environment });
  }

  async check(options: readonly string[] = [], changes: Settings = {}): Promise<Checked> {
    const { exitCode, out, err } = await this.run('check', ['--json', ...options], changes);
    if (out === '') throw new Error(`exit ${exitCode}: ${err}`);
    const { errors, warnings }: Omit<Checked, 'exitCode'> = JSON.parse(out);
    return { exitCode, errors, warnings };
  }

  /** @returns the number of copied rows by kind. @throws if the import fails */
  async migrate(options: readonly string[] = []): Promise<Readonly<Record<string, number>>> {
    const { exitCode, out, err } = await this.run('migrate', ['--json', ...options]);
    if (exitCode !== 0) throw new Error(`exit ${exitCode}: ${out}${err}`);
    const { entities }: { entities: readonly { readonly entity: string; readonly done: number }[] } = JSON.parse(out);
    return Object.fromEntries(entities.map(({ entity, done }) => [entity, done]));
  }

  /** Imports, and starts the service on the result. */
  async serve(options: ServiceOptions = {}, changes: Settings = {}): Promise<MigratedService> {
    await this.migrate();
    return await this.start(options, changes);
  }

  async start(options: ServiceOptions = {}, changes: Settings = {}): Promise<MigratedService> {
    const settings = { ...this.#settings, ...changes };
    const service = await startService(settings, { on: { database: this.#target, root: ROOT }, ...options });
    this.#services.push(service);
    return new MigratedService(service);
  }

  async stop(): Promise<void> {
    await this.#stopServices();
    await this.#target.drop();
    await this.mas.drop();
    rmSync(this.#directory, { recursive: true });
  }

  async #stopServices(): Promise<void> {
    for (const service of this.#services.splice(0)) await service.stop();
  }
}

/** Requests to the service that are alike in many tests. */
export class MigratedService {
  readonly service: TestService;

  constructor(service: TestService) {
    this.service = service;
  }

  browser(): Browser {
    return new Browser({ listener: this.service.address, publicBase: this.service.publicBase });
  }

  /** @returns the page after the sign-in form was sent; status 303 if the user is signed in */
  async signIn(username: string, password: string, browser = this.browser()): Promise<Page> {
    await browser.get('/login');
    return await browser.submit({ username, password });
  }

  async canSignIn(username: string, password: string): Promise<boolean> {
    return (await this.signIn(username, password)).status === 303;
  }

  /** Introspects as the homeserver. */
  async introspect(token: string): Promise<Readonly<Record<string, unknown>>> {
    const response = await fetch(`${this.service.address}/oauth2/introspect`, {
      method: 'POST',
      headers: { authorization: `Bearer ${HOMESERVER_SECRET}`, 'x-mas-supports-device-id': '1' },
      body: new URLSearchParams({ token }),
    });
    if (response.status !== 200) throw new Error(`introspection gave ${response.status}`);
    const body: Record<string, unknown> = await response.json();
    return body;
  }

  async isActive(token: string): Promise<boolean> {
    return (await this.introspect(token))['active'] === true;
  }

  async token(fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) {
    const response = await fetch(`${this.service.address}/oauth2/token`, {
      method: 'POST',
      headers,
      body: new URLSearchParams(fields),
    });
    const body: Record<string, unknown> = await response.json();
    return { status: response.status, body };
  }

  async refresh(token: string, clientId: string) {
    return await this.token({ grant_type: 'refresh_token', refresh_token: token, client_id: clientId });
  }
}
