/** How requests and jobs join traces (operations 5.7). See `spans.ts` for what they record. */
import type { TraceContext } from './spans.ts';
import type { Task } from './tasks.ts';

export type ReceivedHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Whose traces a request may continue: those of trusted proxies, or those of every client. */
export type TraceParents = 'trusted_proxies' | 'everyone';

/** Assigns traces to new tasks. */
export interface Tracing {
  /** @param isTrusted whether the peer is a trusted proxy */
  beginRequest(task: Task, headers: ReceivedHeaders, isTrusted: boolean): void;
  /** @param queuedIn result of `tracePlaceOf` for the request or job that queued this job */
  beginJob(task: Task, queuedIn: string | undefined): void;
}

/** Used without an exporter: records and sends nothing, but log lines include the trace id that a request came with. */
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

/** Parses a W3C `traceparent`. Returns undefined if it is absent or invalid. */
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
 * Returns a task's position in its trace, to be stored with the jobs that it queues. The position is a `traceparent`,
 * or only the trace id if no spans are recorded. Returns undefined without a trace.
 */
export function tracePlaceOf({ trace, traceId }: Task): string | undefined {
  return trace === undefined ? traceId : traceparentOf(trace.context);
}

/** Returns the trace id of a position from `tracePlaceOf`. */
export function traceIdOf(place: string | undefined): string | undefined {
  return /^(?:00-)?([0-9a-f]{32})(?:-|$)/.exec(place ?? '')?.[1];
}
