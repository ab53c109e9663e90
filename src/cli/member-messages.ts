/** What the first process of a `serve` and the processes that serve for it tell each other (operations 1.7, 8.5). */
import type { BoundAddress } from '#platform/http/listen.ts';

/** Tells a process which of them it is, from 1. */
export const MEMBER_VARIABLE = 'LATCHKEY_SERVING_PROCESS';

/** From the first process: what a signal would be elsewhere, and whether the other lives. */
export type Order = { readonly kind: 'signal'; readonly signal: NodeJS.Signals } | { readonly kind: 'reload' | 'ping' };

/** To the first process. */
export type Report =
  | { readonly kind: 'ready'; readonly bound: readonly BoundAddress[] }
  /** `failed`: the former configuration stays in force there. */
  | { readonly kind: 'reloaded' | 'failed' | 'pong' };

const KINDS = new Set(['signal', 'reload', 'ping', 'ready', 'reloaded', 'failed', 'pong']);

/** Both are the same program, so a message of a known kind is whole; others are those of the runtime. */
export function isMessage(message: unknown): message is Order | Report {
  return typeof message === 'object' && message !== null && 'kind' in message && KINDS.has(String(message.kind));
}
