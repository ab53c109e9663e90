import { connect } from './connect.ts';
import { Connection } from './connection.ts';
import type { ConnectionSetOptions } from './connection-set.ts';
import {
  type ConnectionSource,
  ExclusiveConnections,
  SharedConnections,
  type SourceOptions,
} from './connection-source.ts';
import { LossReports } from './loss-reports.ts';
import { type CompleteOptions, sharedCount } from './options.ts';
import { prepareSession, type SessionSettings } from './session-settings.ts';
import type { WaitingGauge } from './waiting-line.ts';

export interface Sources {
  /** Where single statements go; the exclusive ones when the bound leaves none to share. */
  readonly singles: ConnectionSource;
  readonly exclusives: ConnectionSource;
}

/** What a server that keeps its statement time-out may be late by, before its connection counts as dead. */
const SILENCE_MARGIN_MS = 3_000;

/** A bound that every statement exceeds. */
const EVERY_STATEMENT = -1;

/** The two kinds of connections of one process, within the bound of both together. None is opened yet. */
export function openSources(options: CompleteOptions, gauge: WaitingGauge): Sources {
  const losses = new LossReports(options.log);
  const sourceOptions = (max: number, settings: SessionSettings): SourceOptions => ({
    max,
    min: Math.min(options.minConnections, max),
    idleTimeoutMs: milliseconds(options.idleTimeoutSeconds),
    maxLifetimeMs: milliseconds(options.maxLifetimeSeconds),
    silenceMs: options.statementTimeoutSeconds * 1000 + SILENCE_MARGIN_MS,
    losses,
    limits: { maxWaiters: options.maxWaiters, timeoutMs: options.acquireTimeoutSeconds * 1000 },
    gauge,
    open: (ended) => openConnection(options, settings, ended),
  });
  const shared = sharedCount(options.maxConnections);
  const exclusives = new ExclusiveConnections(
    sourceOptions(options.maxConnections - shared, exclusiveSettings(options)),
  );
  if (shared === 0) return { singles: exclusives, exclusives };
  return { singles: new SharedConnections(sourceOptions(shared, sharedSettings(options))), exclusives };
}

/** A lock holds up everything behind the statement that waits for it, so the wait is short. */
export function sharedSettings(options: CompleteOptions): SessionSettings {
  return { statementTimeoutMs: options.statementTimeoutSeconds * 1000, lockTimeoutMs: 1_000 };
}

export function exclusiveSettings(options: CompleteOptions): SessionSettings {
  return { statementTimeoutMs: options.statementTimeoutSeconds * 1000, lockTimeoutMs: 3_000 };
}

async function openConnection(
  options: CompleteOptions,
  settings: SessionSettings,
  ended: Parameters<ConnectionSetOptions['open']>[0],
): Promise<Connection> {
  const client = await connect({ ...options, isPipelined: true });
  try {
    if (options.pooler !== 'transaction') await prepareSession(client, settings);
  } catch (error) {
    client.connection.stream.destroy();
    throw error;
  }
  const { log } = options;
  const slowMs = options.slowStatementSeconds * 1000;
  const slow = (label: string, elapsedMs: number): void => {
    const isSlow = elapsedMs > slowMs;
    if (isSlow) log.warn('db.slow', `statement ${label} was slow`, { milliseconds: Math.round(elapsedMs) });
    else log.trace?.('db.statement', `statement ${label} was answered`, { milliseconds: Number(elapsedMs.toFixed(1)) });
  };
  return new Connection(client, { ended, slow }, log.trace === undefined ? slowMs : EVERY_STATEMENT);
}

function milliseconds(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1000;
}
