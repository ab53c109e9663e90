import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from 'pg';
import { ExitError } from '#platform/base/errors.ts';
import type { Log } from '#platform/base/log.ts';
import { type ConnectOptions, connect } from './connect.ts';
import { describeTarget } from './connection-target.ts';
import { reasonOf } from './failures.ts';

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;

/**
 * Connects at the start of a command, when the server may still be starting too. The first failure is logged at once,
 * so that a wrong address is seen before the time is over.
 * @throws ExitError 69 when `timeoutSeconds` passed in vain
 */
export async function connectPatiently(options: ConnectOptions, timeoutSeconds: number, log: Log): Promise<Client> {
  const deadline = performance.now() + timeoutSeconds * 1000;
  const target = describeTarget(options.connection);
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    try {
      return await connect(options);
    } catch (error) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) {
        throw new ExitError(69, `cannot connect to ${target}: ${reasonOf(error)}${hint(error)}`, { cause: error });
      }
      if (pauseMs === FIRST_PAUSE_MS) {
        log.warn('db.lost', `cannot connect to ${target}; trying again for ${timeoutSeconds} s`, {
          reason: reasonOf(error),
        });
      }
      await pause(Math.min(pauseMs, leftMs));
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
    }
  }
}

function hint(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ECONNREFUSED':
    case 'ENOENT':
      return '. Is the server running, and are host and port right?';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return '. The host name cannot be resolved.';
    case '28P01':
    case '28000':
      return '. Check user, password and pg_hba.conf.';
    case '3D000':
      return '. Create the database, owned by this user, with encoding UTF8.';
    default:
      return '';
  }
}
