/** How requests and jobs come to belong to traces (operations 5.7); `spans.ts` says what they record there. */
import type { TraceContext } from './spans.ts';
import type { Task } from './tasks.ts';

export type ReceivedHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Whose trace a request may continue: of proxies that are trusted, or of every client. */
export type TraceParents = 'trusted_proxies' | 'everyone';

/** Gives tasks that begin their trace. */
export interface Tracing {
  /** @param isTrusted the peer is a trusted proxy */
  beginRequest(task: Task, headers: ReceivedHeaders, isTrusted: boolean): void;
  /** @param queuedIn what `tracePlaceOf` said of the request or job that queued it */
  beginJob(task: Task, queuedIn: string | undefined): void;
}

/** No exporter: nothing is recorded or sent, but lines of the log name the trace that a request came with. */
export class ReceivedTraces implements Tracing {
  readonly #readsTraceparent: boolean;
  readonly #parents: TraceParents;

  constructor(readsTraceparent: boolean, parents: TraceParents = 'trusted_proxies') {
    this.#readsTraceparent = readsTraceparent;
    this.#parents = parents;
  }

  beginRequest(task: Task, headers: ReceivedHeaders, isTrusted: boolean): void {
    const { traceparent } = headers;
    if (traceparent === undefined || !this.#readsTraceparent) return;
    if (isTrusted || this.#parents === 'everyone') task.traceId = parseTraceparent(traceparent)?.traceId;
  }

  beginJob(task: Task, queuedIn: string | undefined): void {
    task.traceId = traceIdOf(queuedIn);
  }
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** What a W3C `traceparent` says; undefined when it is absent or invalid. */
export function parseTraceparent(text: string | string[] | undefined): TraceContext | undefined {
  const match = typeof text === 'string' ? TRACEPARENT.exec(text) : null;
  const [, traceId, spanId, flags] = match ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function traceparentOf({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/**
 * Where a task stands in its trace, to be stored with a job that it queues: a `traceparent`, or the id of the trace alone
 * where nobody records it; undefined without one.
 */
export function tracePlaceOf({ trace, traceId }: Task): string | undefined {
  return trace === undefined ? traceId : traceparentOf(trace.context);
}

/** The trace of such a place. */
export function traceIdOf(place: string | undefined): string | undefined {
  return /^(?:00-)?([0-9a-f]{32})(?:-|$)/.exec(place ?? '')?.[1];
}
