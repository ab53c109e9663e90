/**
 * `latchkey keys rotate-encryption`: generates a new root key and re-encrypts all stored values with it (operations
 * 3.12). Each step waits until all processes have completed the previous one, so that none meets a value that it cannot
 * decrypt. The next call continues an interrupted rotation.
 */
import { setTimeout as pause } from 'node:timers/promises';
import {
  promoteNextRootKey,
  publishNextRootKey,
  type RootKeys,
  readRootKeys,
  rootKeyPaths,
  rootKeyReplacedAt,
} from '#app/data-directory/root-key-files.ts';
import { type Foundation, openFoundation } from '#app/service/foundation.ts';
import { useRootKeys } from '#app/service/root-key-reload.ts';
import type { Config } from '#config/config.ts';
import {
  parseProgress,
  queueReencryption,
  REENCRYPT_QUEUE,
  type ReencryptionProgress,
  reencryptFieldsQueue,
} from '#domain/keys/reencrypt-fields.ts';
import { processesThatLack } from '#domain/keys/root-keys-in-use.ts';
import { isCurrentRootEnough, noteRootKey, rootKeyChecks } from '#domain/keys/server-state.ts';
import { systemClock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { ReceivedTraces } from '#platform/base/tracing.ts';
import { jobs } from '#platform/jobs/job-listing.ts';
import { JobWorker } from '#platform/jobs/worker.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';

/** Time until a dead process no longer counts as alive, plus one read of the files. */
const WAIT_MS = 150_000;
const POLL_MS = 250;
const PROGRESS_MS = 2_000;
/** A call this soon after a finished rotation is a repetition by a script that did not see the result. */
const REPEAT_MS = 24 * 3_600_000;
/** Maximum lifetime of a cookie in the browser (operations 3.12). */
const COOKIES_DAYS = 30;

/** @throws ExitError 1 with instructions if the key is in the configuration; 75 if a process does not follow */
export async function rotateRootKey(
  configuration: CommandOptions,
  { force }: { readonly force: boolean },
  io: CommandIo,
): Promise<void> {
  const foundation = await openFoundation({ ...configuration, isQuiet: true }, io, {
    shouldMigrate: true,
    needsSigningKeys: false,
  });
  try {
    const rotation = new RootKeyRotation(foundation, configuration.isJson, io);
    await io.signals.race(rotation.run(force));
  } finally {
    await foundation.close();
  }
}

/** Counts of stored values; null if another process did the last part and logged them. */
type Counts = { readonly [Name in 'examined' | 'resealed' | 'unreadable']: number | null };

const NO_COUNTS: Counts = { examined: null, resealed: null, unreadable: null };

class RootKeyRotation {
  readonly #foundation: Foundation;
  readonly #isJson: boolean;
  readonly #io: CommandIo;

  constructor(foundation: Foundation, isJson: boolean, io: CommandIo) {
    this.#foundation = foundation;
    this.#isJson = isJson;
    this.#io = io;
  }

  async run(isForced: boolean): Promise<void> {
    const { config, database, hasGeneratedRoot, keyRing } = this.#foundation;
    if (hasGeneratedRoot && !isForced && (await this.#isJustDone(config))) return this.#report('unchanged', NO_COUNTS);
    if (hasGeneratedRoot) await this.#replaceKey(config);
    else if (await isCurrentRootEnough(database, keyRing)) throw new ExitError(ExitCode.failure, ADVICE);
    this.#tell('waiting until all processes encrypt with the new key');
    await this.#untilAllHave(keyRing, 'sealing');
    const progress = await this.#reencrypt();
    this.#report('done', progress);
  }

  async #isJustDone({ dataDir }: Config): Promise<boolean> {
    const { database, keyRing } = this.#foundation;
    const replacedAt = rootKeyReplacedAt(dataDir);
    if (replacedAt === undefined || systemClock.now() - replacedAt > REPEAT_MS) return false;
    return this.#readKeys(dataDir).next === undefined && (await isCurrentRootEnough(database, keyRing));
  }

  /** Rotates until the new key is the one that encrypts. */
  async #replaceKey({ dataDir }: Config): Promise<void> {
    const { database, keyRing } = this.#foundation;
    let keys = this.#readKeys(dataDir);
    if (keys.next === undefined) {
      // A rotation that only lacks re-encryption is completed first.
      if (!(await isCurrentRootEnough(database, keyRing))) return;
      await publishNextRootKey(dataDir);
      keys = this.#readKeys(dataDir);
    }
    const { next } = keys;
    if (next === undefined) return;
    const [nextCheck = Buffer.alloc(0)] = rootKeyChecks(keyRing.with(Buffer.from(next, 'hex')));
    this.#tell('waiting until all processes can decrypt with the new key');
    await this.#untilAll(nextCheck, 'opening');
    await noteRootKey(database, nextCheck);
    await promoteNextRootKey(dataDir, keys);
    useRootKeys(keyRing, this.#readKeys(dataDir), this.#foundation.config.secrets.encryptionPrevious);
  }

  #readKeys(dataDir: string): RootKeys {
    const keys = readRootKeys(dataDir);
    if (keys === undefined) throw new ExitError(ExitCode.failure, `${rootKeyPaths(dataDir).current} does not exist`);
    return keys;
  }

  async #untilAllHave(keyRing: Foundation['keyRing'], use: 'opening' | 'sealing'): Promise<void> {
    const [check = Buffer.alloc(0)] = rootKeyChecks(keyRing);
    await this.#untilAll(check, use);
  }

  async #untilAll(check: Buffer, use: 'opening' | 'sealing'): Promise<void> {
    const deadline = performance.now() + WAIT_MS;
    for (;;) {
      const missing = await processesThatLack(this.#foundation.database, check, use, systemClock.now());
      if (missing.length === 0) return;
      if (performance.now() > deadline) {
        throw new ExitError(
          ExitCode.tempFail,
          `these processes do not have the new root key: ${missing.join(' ')}. On other machines, copy the files ` +
            'encryption*.key and encryption.previous to their data directories, then rerun this command',
        );
      }
      await pause(POLL_MS);
    }
  }

  /** Works alongside running processes, and also if there are none. */
  async #reencrypt(): Promise<Counts> {
    const { config, database, keyRing, openLog } = this.#foundation;
    const shared = { database, clock: systemClock, log: openLog.log };
    let counts = NO_COUNTS;
    const onFinished = (progress: ReencryptionProgress): void => {
      counts = progress;
    };
    await queueReencryption(shared);
    const worker = new JobWorker({
      ...{ ...shared, queues: [reencryptFieldsQueue({ ...shared, keyRing, onFinished })], concurrency: 1 },
      ...{ maxRetries: config.jobs.maxRetries, pollIntervalSeconds: 1, tracing: new ReceivedTraces(true) },
    });
    worker.start();
    try {
      await this.#untilDone();
      return counts;
    } finally {
      await worker.stop(PROGRESS_MS);
    }
  }

  async #untilDone(): Promise<void> {
    const { database, keyRing } = this.#foundation;
    let toldAt = performance.now();
    for (;;) {
      const filters = { now: new Date(systemClock.now()), queue: REENCRYPT_QUEUE, status: undefined };
      const { items } = await jobs.page(database, filters, {
        size: 100,
        isFromEnd: false,
        after: undefined,
        before: undefined,
      });
      const job = items.find(({ status }) => status !== 'dead');
      if (job === undefined) {
        if (await isCurrentRootEnough(database, keyRing)) return;
        const reason = items[0]?.failed_reason ?? 'the root key was replaced by another rotation';
        throw new ExitError(
          ExitCode.failure,
          `not all values are encrypted with the new key: ${reason}. Rerun this command`,
        );
      }
      if (performance.now() - toldAt > PROGRESS_MS) {
        toldAt = performance.now();
        const progress = parseProgress(job.payload);
        this.#tell(`${progress.examined} stored values examined, ${progress.resealed} re-encrypted`);
      }
      await pause(POLL_MS);
    }
  }

  #tell(text: string): void {
    if (!this.#isJson) this.#io.stderr(`${text}\n`);
  }

  #report(status: 'done' | 'unchanged', { examined, resealed, unreadable }: Counts): void {
    const { config, hasGeneratedRoot } = this.#foundation;
    const since = (status === 'unchanged' ? rootKeyReplacedAt(config.dataDir) : undefined) ?? systemClock.now();
    const until = new Date(since + COOKIES_DAYS * 86_400_000).toISOString().slice(0, 10);
    const source = hasGeneratedRoot ? rootKeyPaths(config.dataDir).previous : 'secrets.encryption_previous';
    if (this.#isJson) {
      const result = { status, examined, resealed, unreadable, former_keys: source, cookies_until: until };
      this.#io.stdout(`${JSON.stringify(result)}\n`);
      return;
    }
    if (status === 'unchanged') {
      this.#io.stdout(
        `Nothing to do: the root key was replaced within the last day. Use --force to replace it anyway. ${source} is not needed after ${until}\n`,
      );
      return;
    }
    if (unreadable !== null && unreadable > 0)
      this.#io.stderr(
        `latchkey: warning: ${unreadable} stored values cannot be decrypted with any key; they were left unchanged\n`,
      );
    this.#io.stdout(
      `All stored values are encrypted with the new root key. The previous key is in ${source}, to decrypt existing cookies. ` +
        `You can remove it there after ${until}.\n`,
    );
  }
}

const ADVICE = [
  'the root key is set in the configuration, which this command does not change. By hand, on every instance:',
  '1. generate a key: openssl rand -hex 32 > /path/to/new.key (mode 0600)',
  '2. add it to the previous keys and reload (SIGHUP):',
  '     secrets:',
  '       encryption_previous:',
  '         - file: /path/to/new.key',
  '3. when all instances have it, swap the two keys and restart:',
  '     secrets:',
  '       encryption_file: /path/to/new.key',
  '       encryption_previous:',
  '         - file: /path/to/former.key',
  '4. rerun this command: it re-encrypts the stored values and shows when you can remove the former key',
].join('\n');
