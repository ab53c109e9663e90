/**
 * Notifies the service manager (sd_notify(3)) of start, reload and stop, and sends watchdog messages. Node.js has no
 * Unix datagram sockets, so `systemd-notify` sends them, which is part of every systemd; docs/decisions has the
 * reasons.
 */
import { spawn } from 'node:child_process';
import type { Log } from '#platform/base/log.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const PROGRAM = 'systemd-notify';
const MICROSECONDS_PER_MS = 1000;
const NANOSECONDS_PER_MICROSECOND = 1000n;

export class ServiceManager {
  readonly #environment: Environment;
  readonly #log: Log;
  #sending: Promise<void> = Promise.resolve();
  #watchdog: NodeJS.Timeout | undefined;
  #hasFailed = false;

  /** @param environment of the process; without `NOTIFY_SOCKET` no notifications are sent */
  constructor(environment: Environment, log: Log) {
    this.#environment = environment;
    this.#log = log;
  }

  /** @param isHealthy called before each watchdog message */
  ready(isHealthy: () => boolean): void {
    void this.#tell('READY=1');
    const intervalMs = this.#watchdogMs();
    if (intervalMs === undefined) return;
    this.#watchdog = setInterval(() => {
      if (isHealthy()) void this.#tell('WATCHDOG=1');
    }, intervalMs).unref();
  }

  reloading(): void {
    const now = process.hrtime.bigint() / NANOSECONDS_PER_MICROSECOND;
    void this.#tell('RELOADING=1', `MONOTONIC_USEC=${now}`);
  }

  reloaded(): void {
    void this.#tell('READY=1');
  }

  /** Watchdog messages continue during the shutdown. */
  async stopping(): Promise<void> {
    await this.#tell('STOPPING=1');
  }

  close(): void {
    clearInterval(this.#watchdog);
  }

  /** Half of the watchdog timeout; undefined if there is no watchdog for this process. */
  #watchdogMs(): number | undefined {
    const { WATCHDOG_PID: pid, WATCHDOG_USEC: text } = this.#environment;
    if (text === undefined || (pid !== undefined && pid !== '' && pid !== String(process.pid))) return undefined;
    const milliseconds = Number(text) / MICROSECONDS_PER_MS / 2;
    return milliseconds >= 1 ? milliseconds : undefined;
  }

  /** Sends in call order. Never fails. */
  #tell(...state: readonly string[]): Promise<void> {
    if ((this.#environment['NOTIFY_SOCKET'] ?? '') === '') return Promise.resolve();
    this.#sending = this.#sending.then(() => this.#send(state));
    return this.#sending;
  }

  #send(state: readonly string[]): Promise<void> {
    return new Promise((resolve) => {
      const child = spawn(PROGRAM, state, { env: this.#environment, stdio: 'ignore' });
      child.once('error', (error) => this.#report(error.message, resolve));
      child.once('exit', (code, signal) => {
        if (code === 0) resolve();
        else this.#report(`${PROGRAM} exited with ${code ?? signal}`, resolve);
      });
    });
  }

  /** Reports only the first failure; others would have the same reason. */
  #report(reason: string, done: () => void): void {
    if (!this.#hasFailed) this.#log.warn('service_manager', 'service manager notification failed', { reason });
    this.#hasFailed = true;
    done();
  }
}
