import { generateKeyPairSync, randomBytes, randomInt } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createLocalJWKSet, jwtVerify } from 'jose';
import pg from 'pg';
import { stringify } from 'yaml';
import { freePort } from '../../../test/support/free-port.js';
import { stopProcess, untilHealthy } from '../../../test/support/program.js';
import { say } from '../../browser/checks.js';
import { loadTypeScript } from '../../browser/load-typescript.js';
import { CLIENT_ID, CLIENT_SECRET, PASSWORD, USERNAME } from '../../cluster/load.js';
import { DATABASE_USER, databaseSettings, Instances, requireNone, requireRight, startDatabase } from '../instances.js';
import { Journal } from '../load/journal.js';
import { Moment } from '../load/moment.js';
import { Requests } from '../load/requests.js';
import { signIn } from '../load/sign-ins.js';

const { startUpstreamPeer } = await loadTypeScript('test/support/upstream-peer.ts');
const { selfSigned } = await loadTypeScript('test/support/self-signed.ts');

const ROOT_KEY = 'c'.repeat(64);
const PROVIDER_SECRET = 'the-secret-at-the-provider';
const OTHER_CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T2W';
const PROVIDER = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const PASSING_PROVIDER = '01HZX7T3Q8V3M5N6P7R8S9T0AC';
const OUTCOME = /configuration reloaded|reload failed: the previous configuration/g;
/** Timeout of a reload on a busy machine. */
const OUTCOME_MS = 30_000;
/** Far longer than a reload takes. */
const QUIET_MS = 1_000;
const POLL_MS = 10;
/** Interval of checks of the same kind. */
const WATCH_MS = 100;
/** Allows for database connections, whose number varies. */
const MAX_MORE_SOCKETS = 20;
const MAX_MORE_MIB = 40;

export const fault = {
  id: 'F-25',
  title: 'reloads of good and of bad configurations under load',
  async run({ checks, folder, isShort }) {
    const database = await startDatabase(folder);
    const instances = new Instances(folder);
    const peer = await startUpstreamPeer();
    const service = new Reloaded(instances, folder, database, peer);
    try {
      for (let count = 0; count < 2; count += 1) await service.add();
      const load = await instances.load();
      const watch = new Watch(service, peer);
      load.start();
      await load.untilAtWork();
      // Lazily created resources exist by now.
      const before = service.instances.map(openFiles);
      watch.start();

      const rounds = isShort ? 1 : 10;
      for (let round = 1; round <= rounds; round += 1) {
        await checks.that(`F-25: round ${round}: every setting of a good file is in force, in each instance`, () =>
          service.reload(),
        );
        await checks.that(
          `F-25: round ${round}: ID tokens are good for the key sets of before and after a rotation`,
          () => rotateKeys(service),
        );
        await service.refuseAll((name, work) =>
          checks.that(`F-25: round ${round}: ${name}: nothing has changed`, work),
        );
        await checks.that(`F-25: round ${round}: files that are written while signals come are taken whole`, () =>
          service.storm(isShort ? 1_000 : 10_000),
        );
      }
      await watch.stop();
      await load.stop();
      await checks.that('F-25: no request failed, none was answered 503, everything acknowledged is so', async () => {
        if (load.counts.unavailable > 0) throw new Error(JSON.stringify(load.unavailable));
        await requireRight(instances, load);
        say(`the slowest took ${Math.round(load.slowestMs)} ms: ${load.slowest}`);
      });
      await checks.that('F-25: pages were of one configuration each, sign-ins at the provider went through', () => {
        say(`${watch.pages} pages and ${watch.signIns} sign-ins at the provider looked at`);
        requireNone(watch.faults);
        if (watch.pages === 0 || watch.signIns === 0) throw new Error('nothing was looked at');
      });
      await checks.that('F-25: a database that is away is no reason to change half', () =>
        service.refuseWithoutDatabase(),
      );
      await checks.that('F-25: the counter tells what became of each, and the log shows no secret', async () => {
        for (const instance of service.instances) await requireCounted(instance);
        requireNone(service.instances.flatMap(({ log }) => service.secrets.filter((secret) => log.includes(secret))));
      });
      await checks.that('F-25: as many files are open as before', async () => {
        if (!isShort) await service.reloadOften(100);
        requireNone(service.instances.flatMap((instance, index) => leaks(before[index], openFiles(instance))));
      });
      await checks.that('F-25: signals during a start and a stop neither end it nor are lost', () => service.restart());
    } finally {
      await instances.stop();
      await peer.stop();
      await database.remove();
    }
  },
};

/**
 * Ways to make a file invalid that changes everything else. Each receives the settings, and may undo external changes.
 */
const BAD = [
  { name: 'a syntax error', text: (settings) => `${JSON.stringify(settings)}\n}` },
  { name: 'an unknown key', change: (settings) => ({ ...settings, brnading: {} }) },
  {
    name: 'a value of another type',
    change: (settings) => ({ ...settings, limits: { ...settings.limits, max_in_flight: 'many' } }),
  },
  { name: 'a provider without an address', change: (settings) => withProvider(settings, { issuer: 'nowhere' }) },
  {
    name: 'a provider with an unknown claim template',
    change: (settings) =>
      withProvider(settings, { claims_imports: { localpart: { action: 'require', template: '{{' } } }),
  },
  {
    name: 'a key that is none',
    change: (settings) => ({ ...settings, secrets: { ...settings.secrets, keys: [{ key: 'none' }] } }),
  },
  {
    name: 'a certificate of another key',
    change: (settings, { paths }) => withCertificate(settings, paths('other').key),
  },
  {
    name: 'a module with an error',
    change: (settings, { put }) => ({
      ...settings,
      policy: { ...settings.policy, module: put('rules.mjs', 'export const') },
    }),
  },
  {
    name: 'a text with an unknown value',
    change: (settings, { put }) => {
      put('texts/en.json', '{"login.title": "{name}"}');
      return { ...settings, templates: { translations_path: put('texts/.', undefined) } };
    },
  },
  { name: 'an empty file', text: () => '' },
  {
    name: 'a file that is cut off',
    text: (settings) => {
      const whole = JSON.stringify(settings);
      return whole.slice(0, randomInt(1, whole.length));
    },
  },
  { name: 'a file that is missing', text: () => undefined },
  {
    name: 'a secret whose file is missing',
    change: (settings) => withOtherClient(settings, { client_secret_file: '/nonexistent/secret' }),
  },
  { name: 'a database that refuses a part at the end', change: (settings) => settings, isRefusedByDatabase: true },
];

/** Keys whose value includes the number. */
const NAMED = ['clients[1].client_secret', 'upstream_oauth2.providers', 'branding.imprint', 'limits.max_in_flight'];

/** Instances whose settings contain a number that is visible from outside in several settings. */
class Reloaded {
  instances = [];
  /** Must never be logged or displayed. */
  secrets = [CLIENT_SECRET, PROVIDER_SECRET, ROOT_KEY];
  #all;
  #folder;
  #database;
  #peer;
  #number = 1;
  /** Number in effect on both instances. */
  #current = 1;
  #settings = new Map();

  constructor(all, folder, database, peer) {
    [this.#all, this.#folder, this.#database, this.#peer] = [all, folder, database, peer];
    mkdirSync(join(folder, 'texts'));
    this.#makeKeys(join(folder, 'keys'));
    this.#prepare(1);
    this.#putCertificate('other');
  }

  get requests() {
    const bases = this.instances.map(({ base }) => base);
    return new Recording({ bases, publicBase: bases[0], moment: new Moment() });
  }

  async add() {
    const tlsPort = await freePort();
    const change = (settings) => {
      this.#settings.set(tlsPort, settings);
      return this.#settingsOf(tlsPort, 1);
    };
    const instance = await this.#all.add(databaseSettings(this.#database), { change });
    Object.assign(instance, { tlsPort, file: join(this.#folder, `instance-${instance.port}.json`) });
    this.instances.push(instance);
  }

  #makeKeys(directory) {
    mkdirSync(directory, { mode: 0o700 });
    const pairs = { 'rsa-2048.pem': ['rsa', { modulusLength: 2048 }], 'p256.pem': ['ec', { namedCurve: 'P-256' }] };
    for (const [name, [type, options]] of Object.entries(pairs)) {
      const key = generateKeyPairSync(type, options).privateKey.export({ type: 'pkcs8', format: 'pem' });
      this.secrets.push(key.split('\n')[1]);
      writeFileSync(join(directory, name), key, { mode: 0o600 });
    }
  }

  /** Creates the files that the settings with this number name. */
  #prepare(number) {
    const secret = randomBytes(24).toString('hex');
    this.secrets.push(secret);
    this.#put(`secret-${number}`, secret);
    this.#putCertificate(number);
  }

  #put = (name, content) => {
    const path = join(this.#folder, name);
    if (content !== undefined) writeFileSync(path, content, { mode: 0o600 });
    return path;
  };

  #putCertificate(name) {
    const { cert, key } = selfSigned(['localhost']);
    this.secrets.push(key.split('\n')[1]);
    const paths = this.#paths(name);
    writeFileSync(paths.certificate, cert);
    writeFileSync(paths.key, key, { mode: 0o600 });
  }

  #paths = (name) => ({
    certificate: join(this.#folder, `certificate-${name}`),
    key: join(this.#folder, `key-${name}`),
  });

  #settingsOf(tlsPort, number) {
    const settings = this.#settings.get(tlsPort);
    const { certificate, key } = this.#paths(number);
    const [listener] = settings.http.listeners;
    const isEven = number % 2 === 0;
    const plenty = { burst: 100_000 + number, per_second: 1_000 };
    const client = {
      ...{ client_id: OTHER_CLIENT, client_auth_method: 'client_secret_basic', client_name: `Other ${number}` },
      ...{
        redirect_uris: [`https://other.example/${number}`],
        client_secret_file: join(this.#folder, `secret-${number}`),
      },
    };
    const provider = {
      ...{ id: PROVIDER, human_name: `Pier ${number}`, issuer: this.#peer.issuer, client_id: 'latchkey' },
      ...{ client_secret: `${PROVIDER_SECRET}-${number}`, token_endpoint_auth_method: 'client_secret_basic' },
    };
    const passing = {
      ...provider,
      id: PASSING_PROVIDER,
      human_name: 'Ferry',
      client_secret: undefined,
      token_endpoint_auth_method: 'none',
    };
    return {
      ...settings,
      http: {
        ...settings.http,
        listeners: [
          { ...listener, resources: [...listener.resources, 'prometheus'] },
          {
            ...{ name: 'encrypted', resources: ['health'], binds: [{ address: `127.0.0.1:${tlsPort}` }] },
            tls: { certificate_file: certificate, key_file: key },
          },
        ],
      },
      telemetry: { metrics: { exporter: 'prometheus' } },
      secrets: { ...settings.secrets, keys_dir: join(this.#folder, 'keys') },
      clients: [...settings.clients, client],
      upstream_oauth2: { providers: [provider, ...(isEven ? [passing] : [])] },
      rate_limiting: {
        ...settings.rate_limiting,
        login: { per_ip: plenty, per_account: plenty, per_known_browser: plenty },
        upstream: { per_ip: plenty },
        // Each former secret is tried and rejected.
        client_authentication: { per_client: plenty },
      },
      limits: {
        ...{
          password_hash_concurrency: 1 + (number % 3),
          password_hash_queue: 200 + number,
          max_in_flight: 1_000 + number,
        },
        ...{ max_body: { form: isEven ? '8KiB' : '32KiB' }, keep_alive_timeout: `${60 + (number % 60)}s` },
      },
      logging: { level: 'info', format: isEven ? 'json' : 'text' },
      // Last, so that the first half of the file lacks them.
      branding: { service_name: `Service ${number}`, imprint: `Imprint ${number}` },
    };
  }

  /** Reloads new settings on each instance, one after the other. */
  async reload() {
    this.#number += 1;
    const number = this.#number;
    this.#prepare(number);
    await this.#each(async (instance) => {
      this.#write(instance, JSON.stringify(this.#settingsOf(instance.tlsPort, number)));
      const lines = await this.hangUp(instance);
      if (!lines.includes('configuration reloaded')) throw new Error(lines);
      const missing = NAMED.filter((key) => !lines.includes(key));
      if (missing.length > 0) throw new Error(`not named: ${missing.join(', ')}`);
    });
    const former = this.#current;
    this.#current = number;
    await this.#each((instance) => this.#requireInForce(instance, number, former));
  }

  async #each(work) {
    await Promise.all(this.instances.map(work));
  }

  /**
   * Tries all invalid files, distributed over the instances.
   * @param check receives a name and a function that may fail
   */
  async refuseAll(check) {
    const inFiles = BAD.filter(({ isRefusedByDatabase }) => isRefusedByDatabase !== true).values();
    await this.#each(async (instance) => {
      for (const bad of inFiles) await check(bad.name, () => this.#refuse(instance, bad));
    });
    for (const bad of BAD.filter(({ isRefusedByDatabase }) => isRefusedByDatabase === true))
      await check(bad.name, () => this.#refuse(this.instances[randomInt(this.instances.length)], bad));
  }

  /** Reloads one instance with an invalid file that changes everything else. */
  async #refuse(instance, { change, text, isRefusedByDatabase = false }) {
    this.#number += 1;
    const number = this.#number;
    this.#prepare(number);
    const tools = { put: this.#put, paths: this.#paths };
    const settings = this.#settingsOf(instance.tlsPort, number);
    const content = text === undefined ? JSON.stringify(change(settings, tools)) : text(settings);
    if (content === undefined) rmSync(instance.file);
    else this.#write(instance, content);
    if (isRefusedByDatabase) await this.#statement(REFUSING);
    const lines = await this.hangUp(instance);
    if (isRefusedByDatabase) await this.#statement('drop function refuse_providers cascade');
    if (!lines.includes('reload failed')) throw new Error(`it was taken: ${lines}`);
    await this.#requireInForce(instance, this.#current, number);
  }

  /**
   * @param number whose settings must all be in effect
   * @param other whose settings must not be in effect
   */
  async #requireInForce({ base, tlsPort }, number, other) {
    const page = await (await fetch(`${base}login`)).text();
    const numbers = numbersOn(page);
    if (numbers.some((shown) => shown !== number)) throw new Error(`shown are ${numbers}, not ${number}`);
    if (page.includes('Ferry') !== (number % 2 === 0)) throw new Error('the list of providers is another one');
    if (!(await this.#accepts(base, number))) throw new Error('the secret of the client is refused');
    if (await this.#accepts(base, other)) throw new Error('another secret of the client is accepted');
    const { status } = await fetch(`${base}oauth2/introspect`, {
      method: 'POST',
      body: new URLSearchParams({ token: 'x'.repeat(16_000) }),
    });
    if ((status === 413) !== (number % 2 === 0)) throw new Error(`a form of 16 KB was answered ${status}`);
    const shown = await shownCertificate(tlsPort);
    if (
      !readFileSync(this.#paths(number).certificate, 'utf8')
        .replace(/-----[^-]*-----|\s/g, '')
        .startsWith(shown)
    ) {
      throw new Error('another certificate is shown');
    }
  }

  async #accepts(base, number) {
    const secret = readFileSync(join(this.#folder, `secret-${number}`), 'utf8');
    const { status } = await fetch(`${base}oauth2/introspect`, {
      ...{ method: 'POST', body: new URLSearchParams({ token: 'none' }) },
      headers: { authorization: `Basic ${Buffer.from(`${OTHER_CLIENT}:${secret}`).toString('base64')}` },
    });
    return status === 200;
  }

  /** Writes files in place, slowly and in halves that are valid, and by renaming, while signals arrive. */
  async storm(durationMs) {
    const endsAt = performance.now() + durationMs;
    const signalling = this.instances.map(async (instance) => {
      while (performance.now() < endsAt) {
        for (let count = randomInt(1, 4); count > 0; count -= 1) instance.service.kill('SIGHUP');
        await pause(randomInt(20, 250));
      }
    });
    const writing = this.instances.map(async (instance) => {
      while (performance.now() < endsAt) {
        this.#number += 1;
        this.#prepare(this.#number);
        const text = stringify(this.#settingsOf(instance.tlsPort, this.#number));
        if (randomInt(2) === 0) await writeSlowly(instance, text);
        else this.#write(instance, text);
        await pause(randomInt(100, 700));
      }
    });
    await Promise.all([...signalling, ...writing]);
    await this.#each(untilQuiet);
    await this.reload();
  }

  async refuseWithoutDatabase() {
    await this.#database.stop();
    const [instance] = this.instances;
    this.#number += 1;
    this.#prepare(this.#number);
    this.#write(instance, JSON.stringify(this.#settingsOf(instance.tlsPort, this.#number)));
    const lines = await this.hangUp(instance);
    await this.#database.start();
    if (!lines.includes('reload failed')) throw new Error(`it was taken: ${lines}`);
    await untilHealthy(instance.service, instance.base);
    await this.#requireInForce(instance, this.#current, this.#number);
    await this.reload();
  }

  async reloadOften(count) {
    const used = async () => await Promise.all(this.instances.map(usedMemory));
    const before = await used();
    for (let done = 0; done < count; done += 1) await this.reload();
    const after = await used();
    say(`memory before and after ${count} reloads: ${before} and ${after} MiB`);
    if (after.some((mib, index) => mib > before[index] + MAX_MORE_MIB)) throw new Error('memory has grown');
  }

  /** The file changes after it was read at startup; the new content must be in effect once the instance serves. */
  async restart() {
    const [instance] = this.instances;
    this.#all.leave(instance);
    await stopProcess(instance.service);
    const starting = this.#all.start(instance);
    await untilHangUpIsHandled(instance.service);
    const ending = new AbortController();
    const signalling = this.#signal(instance, ending.signal);
    await starting;
    this.#number += 1;
    this.#prepare(this.#number);
    this.#write(instance, JSON.stringify(this.#settingsOf(instance.tlsPort, this.#number)));
    const code = await this.#untilInForce(instance, this.#number).then(() => stopProcess(instance.service));
    ending.abort();
    await signalling;
    this.#all.leave(instance);
    if (code !== 0) throw new Error(`it ended with ${code}`);
  }

  async #signal(instance, signal) {
    while (!signal.aborted && instance.service.exitCode === null) {
      instance.service.kill('SIGHUP');
      await pause(50);
    }
  }

  async #untilInForce({ base }, number) {
    const deadline = performance.now() + OUTCOME_MS;
    while (performance.now() < deadline) {
      if (numbersOn(await (await fetch(`${base}login`)).text()).every((shown) => shown === number)) return;
      await pause(POLL_MS);
    }
    throw new Error('the last file is not in force');
  }

  #write({ file }, text) {
    writeFileSync(`${file}.next`, text, { mode: 0o600 });
    renameSync(`${file}.next`, file);
  }

  async #statement(text) {
    const client = new pg.Client({ ...this.#database, user: DATABASE_USER, database: 'postgres' });
    await client.connect();
    await client.query(text);
    await client.end();
  }

  /** @returns log lines since the signal, once they contain its outcome, which is logged exactly once */
  async hangUp(instance) {
    const before = instance.log.length;
    const told = outcomes(instance.log);
    if (told !== (instance.told ?? told)) throw new Error(`${told - instance.told} more outcomes than signals`);
    instance.service.kill('SIGHUP');
    const deadline = performance.now() + OUTCOME_MS;
    while (outcomes(instance.log) === told) {
      if (performance.now() > deadline) throw new Error(`no outcome: ${instance.log.slice(before).slice(-2_000)}`);
      await pause(POLL_MS);
    }
    instance.told = told + 1;
    return instance.log
      .slice(before)
      .split('\n')
      .filter((line) => !line.includes('http.server.response'))
      .join('\n');
  }
}

const REFUSING = `create function refuse_providers() returns trigger language plpgsql as
  $$ begin raise 'refused for the test'; end $$;
  create trigger refuse_providers before insert or update on upstream_providers
    execute function refuse_providers()`;

function withProvider(settings, change) {
  const [first, ...others] = settings.upstream_oauth2.providers;
  return { ...settings, upstream_oauth2: { providers: [{ ...first, ...change }, ...others] } };
}

function withOtherClient(settings, change) {
  const [first, other] = settings.clients;
  return { ...settings, clients: [first, { ...other, ...change }] };
}

function withCertificate(settings, keyFile) {
  const [plain, encrypted] = settings.http.listeners;
  const tls = { ...encrypted.tls, key_file: keyFile };
  return { ...settings, http: { ...settings.http, listeners: [plain, { ...encrypted, tls }] } };
}

/** Observes the service as a user while settings are replaced. */
class Watch {
  pages = 0;
  signIns = 0;
  faults = [];
  #service;
  #peer;
  #isOn = false;
  #working = [];

  constructor(service, peer) {
    [this.#service, this.#peer] = [service, peer];
  }

  start() {
    this.#isOn = true;
    const loops = [
      ...this.#service.instances.map(
        ({ base }) =>
          () =>
            this.#look(base),
      ),
      () => this.#signInAtPeer(),
    ];
    this.#working = loops.map((step) => this.#repeat(step));
  }

  async stop() {
    this.#isOn = false;
    await Promise.all(this.#working);
  }

  async #repeat(step) {
    while (this.#isOn) {
      await step().catch((error) => this.faults.push(String(error?.stack ?? error)));
      await pause(WATCH_MS);
    }
  }

  async #look(base) {
    const response = await fetch(`${base}login`);
    const text = await response.text();
    const numbers = numbersOn(text);
    this.pages += 1;
    if (response.status !== 200 || new Set(numbers).size !== 1) this.faults.push(`${response.status}: ${numbers}`);
  }

  async #signInAtPeer() {
    const { requests } = this.#service;
    const visitor = requests.visitor();
    const { location } = await visitor.get(`/upstream/authorize/${PROVIDER}`, [303]);
    await pause(randomInt(50));
    await visitor.get(this.#peer.signIn(location, { claims: { sub: randomBytes(8).toString('hex') } }), [303]);
    await visitor.follow();
    if (visitor.page.status !== 200) this.faults.push(`a sign-in at the provider ended in ${visitor.page.status}`);
    this.faults.push(...requests.faults);
    this.signIns += 1;
  }
}

/** Records ID tokens. */
class Recording extends Requests {
  idToken;

  async client(path, fields) {
    const answer = await super.client(path, fields);
    this.idToken = answer.id_token ?? this.idToken;
    return answer;
  }
}

/** Clients cache a key set: it must contain the keys of all tokens issued until the next step. */
async function rotateKeys(service) {
  const { requests } = service;
  const person = { username: USERNAME, password: PASSWORD, keepBrowser: () => undefined, sessions: [] };
  const states = [];
  const take = async () => {
    await signIn({ requests, journal: new Journal(), moment: new Moment() }, person);
    const keys = await (await fetch(`${service.instances[0].base}oauth2/keys.json`)).json();
    states.push({ token: requests.idToken, keys: createLocalJWKSet(keys), kids: keys.keys.map(({ kid }) => kid) });
  };
  await take();
  for (const step of [[], ['--promote'], ['--retire']]) {
    await service.instances[0].program.run(['keys', 'rotate', '--force', ...step]);
    const reloaded = await Promise.all(service.instances.map((instance) => service.hangUp(instance)));
    requireNone(reloaded.filter((lines) => !lines.includes('configuration reloaded')));
    await take();
    const [former, latter] = states.slice(-2);
    for (const { token } of [former, latter]) {
      for (const { keys } of [former, latter]) await jwtVerify(token, keys, { audience: CLIENT_ID });
    }
  }
  if (states.at(-1).kids.some((kid) => kid === states[0].kids[0])) throw new Error('the former key was not replaced');
}

/** Returns the configuration numbers in the parts of a page. */
function numbersOn(page) {
  return ['Service', 'Imprint', 'Pier'].map((part) => Number(new RegExp(`${part} (\\d+)`).exec(page)?.[1]));
}

function outcomes(text) {
  return text.match(OUTCOME)?.length ?? 0;
}

/** Waits for the outcome of the last of many signals. */
async function untilQuiet(instance) {
  for (let count = -1; outcomes(instance.log) !== count; ) {
    count = outcomes(instance.log);
    await pause(QUIET_MS);
  }
  instance.told = outcomes(instance.log);
}

/**
 * Simulates an editor that writes in place on a slow disk, with a signal in between. The first half is a valid file.
 */
async function writeSlowly({ file, service }, text) {
  const half = text.indexOf('\nlogging:') + 1;
  const descriptor = openSync(file, 'w', 0o600);
  writeSync(descriptor, text.slice(0, half));
  service.kill('SIGHUP');
  await pause(randomInt(50));
  writeSync(descriptor, text.slice(half));
  closeSync(descriptor);
}

async function shownCertificate(port) {
  return await new Promise((resolve, reject) => {
    const asked = get({ port, path: '/health?probe=live', rejectUnauthorized: false, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.socket.getPeerCertificate().raw.toString('base64'));
    });
    asked.on('error', reject);
  });
}

async function readMetrics({ base }) {
  return await (await fetch(`${base}metrics`)).text();
}

async function requireCounted(instance) {
  const metrics = await readMetrics(instance);
  const counted = (result) =>
    Number(
      new RegExp(`^latchkey_config_reloads_total\\{[^}]*result="${result}"[^}]*\\} (\\d+)`, 'm').exec(metrics)?.[1] ??
        0,
    );
  const told = (text) => instance.log.split(text).length - 1;
  const outcome = {
    success: told('configuration reloaded'),
    failure: told('reload failed: the previous'),
  };
  for (const [result, count] of Object.entries(outcome)) {
    if (counted(result) !== count) throw new Error(`${result}: ${count} lines, ${counted(result)} counted`);
  }
}

/** Returns the minimum of several samples, which is after a garbage collection. */
async function usedMemory(instance) {
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < 20; look += 1) {
    const [, pages] = readFileSync(`/proc/${instance.service.pid}/statm`, 'utf8').split(' ');
    least = Math.min(least, (Number(pages) * 4) / 1024);
    await pause(100);
  }
  return Math.round(least);
}

/** Counts file descriptors by kind. */
function openFiles({ service: { pid } }) {
  const counts = new Map();
  for (const name of readdirSync(`/proc/${pid}/fd`)) {
    try {
      const kind = readlinkSync(`/proc/${pid}/fd/${name}`).replace(/:\[\d+\]$/, '');
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    } catch {
      // Closed after it was listed.
    }
  }
  return counts;
}

function leaks(before, after) {
  return [...after].flatMap(([kind, count]) => {
    const more = count - (before.get(kind) ?? 0);
    return more > (kind === 'socket' ? MAX_MORE_SOCKETS : 0) ? [`${more} more of ${kind}`] : [];
  });
}

/** Before that, the signal would kill the process. */
async function untilHangUpIsHandled({ pid }) {
  for (;;) {
    const [, caught = '0'] = /^SigCgt:\s*([0-9a-f]+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    if ((BigInt(`0x${caught}`) & 1n) === 1n) return;
    await pause(POLL_MS);
  }
}
