/** What the first process of a `serve` and the processes that serve for it tell each other (operations 1.7, 8.5). */
import type { BoundAddress } from '#platform/http/listen.ts';
import type { MetricValues } from '#platform/metrics/registry.ts';

/** Tells a process which of them it is, from 1. */
export const MEMBER_VARIABLE = 'LATCHKEY_SERVING_PROCESS';

/** From the first process: what a signal would be elsewhere, whether the other lives, and what it has counted. */
export type Order =
  | { readonly kind: 'signal'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'reload' | 'ping' }
  | { readonly kind: 'count'; readonly question: number }
  /** Answers `counts-wanted`. */
  | { readonly kind: 'all-counts'; readonly question: number; readonly processes: readonly MetricValues[] };

/** To the first process. */
export type Report =
  /** Orders are heard from now on; what was sent before is lost. */
  | { readonly kind: 'hello' }
  | { readonly kind: 'ready'; readonly bound: readonly BoundAddress[] }
  /** `failed`: the former configuration stays in force there. */
  | { readonly kind: 'reloaded' | 'failed' | 'pong' }
  /** Asks for the metrics of all processes. */
  | { readonly kind: 'counts-wanted'; readonly question: number }
  /** Answers `count`. */
  | { readonly kind: 'counts'; readonly question: number; readonly values: MetricValues };

const KINDS = new Set([
  ...['signal', 'reload', 'ping', 'count', 'all-counts'],
  ...['hello', 'ready', 'reloaded', 'failed', 'pong', 'counts-wanted', 'counts'],
]);

/** Both are the same program, so a message of a known kind is whole; others are those of the runtime. */
export function isMessage(message: unknown): message is Order | Report {
  return typeof message === 'object' && message !== null && 'kind' in message && KINDS.has(String(message.kind));
}
