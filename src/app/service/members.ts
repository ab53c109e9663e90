/**
 * The serving processes of one `serve`: starts them, restarts those that die, forwards orders to all of them, and waits
 * for their end.
 */
import cluster, { type Worker } from 'node:cluster';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ExitCode } from '#platform/base/errors.ts';
import type { Log } from '#platform/base/log.ts';
import { packageRoot } from '#platform/base/package-root.ts';
import type { BoundAddress } from '#platform/http/listen.ts';
import { MetricsExchange } from './gathered-metrics.ts';
import { isMessage, MEMBER_VARIABLE, type Order, type Report } from './member-messages.ts';

const PING_MS = 5_000;
/** Longer than the liveness probe accepts. */
const SILENT_MS = 60_000;
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
/** A process that lived this long did not fail because of its start. */
const STABLE_MS = 60_000;

interface Member {
  readonly slot: number;
  readonly worker: Worker;
  readonly startedAt: number;
  /** The process handles orders. */
  hasGreeted: boolean;
  isReady: boolean;
  heardAt: number;
}

export class Members {
  readonly #count: number;
  readonly #log: Log;
  readonly #members = new Map<number, Member>();
  readonly #changes = new EventEmitter();
  readonly #delays = new Map<number, number>();
  readonly #metrics = new MetricsExchange(() => this.#serving());
  /** All signals so far, for processes that do not handle orders yet. */
  readonly #signals: NodeJS.Signals[] = [];
  #hasFailed = false;
  #isKilled = false;
  #pinging: NodeJS.Timeout | undefined;

  /** @param descriptors passed to each of them under the same numbers */
  constructor(count: number, descriptors: readonly number[], log: Log) {
    this.#count = count;
    this.#log = log;
    cluster.setupPrimary({
      exec: join(packageRoot, 'dist/main.js'),
      args: process.argv.slice(2),
      stdio: inheritedStdio(descriptors),
    });
  }

  /**
   * Starts the first process, and the others once it serves, so that a common problem is reported only once.
   * @returns the bound addresses, or the exit code of a process that failed to start; after a signal, no further
   * process is started
   */
  async start(): Promise<readonly BoundAddress[] | number> {
    if (this.#isStopping) return ExitCode.ok;
    const first = await this.#untilReady(this.#fork(1));
    if (typeof first === 'number') return first;
    if (this.#isStopping) return ExitCode.ok;
    const others = Array.from({ length: this.#count - 1 }, (_, index) => this.#fork(index + 2));
    for (const outcome of await Promise.all(others.map((member) => this.#untilReady(member))))
      if (typeof outcome === 'number') return outcome;
    this.#pinging = setInterval(() => this.#ping(), PING_MS).unref();
    return first;
  }

  /** True if all are serving, and each has responded recently. */
  get areHealthy(): boolean {
    const now = performance.now();
    const healthy = [...this.#members.values()].filter(({ heardAt, isReady }) => isReady && now - heardAt < SILENT_MS);
    return healthy.length === this.#count;
  }

  signal(signal: NodeJS.Signals): void {
    this.#signals.push(signal);
    for (const member of this.#members.values()) if (member.hasGreeted) send(member, { kind: 'signal', signal });
  }

  /**
   * Reloads the configuration in each process.
   * @returns the number of processes that failed
   */
  async reload(): Promise<number> {
    const ready = [...this.#members.values()].filter(({ isReady }) => isReady);
    // A starting process may have read the former configuration, so it reloads once it serves.
    for (const member of this.#members.values())
      if (!member.isReady && member.hasGreeted) send(member, { kind: 'reload' });
    const outcomes = ready.map(
      ({ worker }) =>
        new Promise<boolean>((resolve) => {
          const end = (isDone: boolean): void => {
            worker.off('message', listen);
            worker.off('exit', fail);
            resolve(isDone);
          };
          const fail = (): void => end(false);
          const listen = (message: unknown): void => {
            if (!isMessage(message)) return;
            if (message.kind === 'reloaded' || message.kind === 'failed') end(message.kind === 'reloaded');
          };
          worker.on('message', listen);
          // Its replacement reads the new configuration.
          worker.on('exit', fail);
          worker.send({ kind: 'reload' } satisfies Order);
        }),
    );
    return (await Promise.all(outcomes)).filter((isDone) => !isDone).length;
  }

  /**
   * Waits for all processes to end, and kills the rest after the timeout.
   * @returns whether all ended cleanly
   */
  async ended(timeoutMs: number): Promise<boolean> {
    clearInterval(this.#pinging);
    const limit = setTimeout(() => this.kill(), timeoutMs);
    while (this.#members.size > 0) await once(this.#changes, 'exit');
    clearTimeout(limit);
    return !this.#hasFailed;
  }

  /** Kills all processes without replacing them. */
  kill(): void {
    this.#isKilled = true;
    for (const { worker } of this.#members.values()) worker.process.kill('SIGKILL');
  }

  get #isStopping(): boolean {
    return this.#signals.length > 0 || this.#isKilled;
  }

  #ping(): void {
    const now = performance.now();
    for (const { heardAt, isReady, worker } of this.#members.values()) {
      if (!isReady || now - heardAt < SILENT_MS) continue;
      this.#log.error('process.silent', 'serving process is unresponsive and was killed', {
        pid: worker.process.pid,
      });
      worker.process.kill('SIGKILL');
    }
    for (const member of this.#members.values()) send(member, { kind: 'ping' });
  }

  #fork(slot: number): Member {
    const now = performance.now();
    const worker = cluster.fork({ [MEMBER_VARIABLE]: String(slot) });
    const member: Member = { slot, worker, startedAt: now, hasGreeted: false, isReady: false, heardAt: now };
    this.#members.set(worker.id, member);
    this.#metrics.listenTo(worker);
    worker.on('message', (message: unknown) => {
      member.heardAt = performance.now();
      if (!isMessage(message)) return;
      if (message.kind === 'ready') member.isReady = true;
      else if (message.kind === 'hello') this.#greet(member);
    });
    worker.on('exit', (code: number | null, signal: string | null) => this.#onExit(member, code, signal));
    return member;
  }

  #greet(member: Member): void {
    member.hasGreeted = true;
    for (const signal of this.#signals) send(member, { kind: 'signal', signal });
  }

  *#serving(): Iterable<Worker> {
    for (const { isReady, worker } of this.#members.values()) if (isReady) yield worker;
  }

  async #untilReady({ worker }: Member): Promise<readonly BoundAddress[] | number> {
    return await new Promise((resolve) => {
      worker.on('message', (message: Report) => {
        if (isMessage(message) && message.kind === 'ready') resolve(message.bound);
      });
      worker.once('exit', (code: number | null) => resolve(code === null || code === 0 ? ExitCode.failure : code));
    });
  }

  #onExit(member: Member, code: number | null, signal: string | null): void {
    this.#members.delete(member.worker.id);
    if (this.#isStopping) this.#hasFailed ||= code !== 0;
    // A process that never served is handled by `start`, or has been retried already.
    else if (member.isReady || this.#pinging !== undefined) void this.#replace(member, code, signal);
    this.#changes.emit('exit');
  }

  async #replace({ slot, startedAt, worker }: Member, code: number | null, signal: string | null): Promise<void> {
    const isStable = performance.now() - startedAt > STABLE_MS;
    const delay = isStable ? 0 : (this.#delays.get(slot) ?? 0);
    this.#delays.set(slot, Math.min(MAX_DELAY_MS, delay === 0 ? FIRST_DELAY_MS : delay * 2));
    this.#log.error('process.died', 'serving process exited; starting a replacement', {
      pid: worker.process.pid,
      exit_code: code ?? undefined,
      signal: signal ?? undefined,
      after_seconds: delay / 1000,
    });
    if (delay > 0) await pause(delay, undefined, { ref: false });
    if (this.#isStopping) return;
    const next = this.#fork(slot);
    if (typeof (await this.#untilReady(next)) === 'number') return;
    this.#log.info('process.started', 'replacement serving process started', {
      pid: next.worker.process.pid,
    });
  }
}

function send({ worker }: Member, order: Order): void {
  if (worker.isConnected()) worker.send(order);
}

/** The IPC channel comes after the descriptors, so that they keep their numbers. */
function inheritedStdio(descriptors: readonly number[]): (number | 'ignore' | 'inherit' | 'ipc')[] {
  const stdio: (number | 'ignore' | 'inherit')[] = ['inherit', 'inherit', 'inherit'];
  for (let number = stdio.length; number <= Math.max(...descriptors); number += 1) {
    stdio.push(descriptors.includes(number) ? number : 'ignore');
  }
  return [...stdio, 'ipc'];
}
