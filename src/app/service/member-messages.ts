/** Messages between the first process of a `serve` and its serving processes (operations 1.7, 8.5). */
import type { BoundAddress } from '#platform/http/listen.ts';
import type { MetricValues } from '#platform/metrics/registry.ts';

/** Number of a serving process, from 1. */
export const MEMBER_VARIABLE = 'LATCHKEY_SERVING_PROCESS';

/** From the first process: signals, reloads, pings and requests for counts. */
export type Order =
  | { readonly kind: 'signal'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'reload' | 'ping' }
  | { readonly kind: 'count'; readonly question: number }
  /** Response to `counts-wanted`. */
  | { readonly kind: 'all-counts'; readonly question: number; readonly processes: readonly MetricValues[] };

/** To the first process. */
export type Report =
  /** The process handles orders from now on. Earlier ones are lost. */
  | { readonly kind: 'hello' }
  | { readonly kind: 'ready'; readonly bound: readonly BoundAddress[] }
  /** `failed`: the process keeps its former configuration. */
  | { readonly kind: 'reloaded' | 'failed' | 'pong' }
  /** Requests the metrics of all processes. */
  | { readonly kind: 'counts-wanted'; readonly question: number }
  /** Response to `count`. */
  | { readonly kind: 'counts'; readonly question: number; readonly values: MetricValues };

const KINDS = new Set([
  ...['signal', 'reload', 'ping', 'count', 'all-counts'],
  ...['hello', 'ready', 'reloaded', 'failed', 'pong', 'counts-wanted', 'counts'],
]);

/**
 * Both sides run the same program, so a message of a known kind is complete. Other messages are internal to Node.js.
 */
export function isMessage(message: unknown): message is Order | Report {
  return typeof message === 'object' && message !== null && 'kind' in message && KINDS.has(String(message.kind));
}
