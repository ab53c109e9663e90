/**
 * Reads traces from incoming requests and propagates them to outgoing calls: W3C Trace Context, W3C Baggage and the
 * Jaeger header.
 */
import type { TraceContext } from '#platform/base/spans.ts';
import { parseTraceparent, type ReceivedHeaders, traceparentOf } from '#platform/base/tracing.ts';

export const PROPAGATORS = ['tracecontext', 'baggage', 'jaeger'] as const;
export type Propagator = (typeof PROPAGATORS)[number];

/** Values forwarded to outgoing calls as received. */
export interface Carried {
  readonly tracestate?: string;
  readonly baggage?: string;
}

export interface Received {
  readonly parent: TraceContext | undefined;
  readonly carried: Carried;
}

export const NOTHING_RECEIVED: Received = { parent: undefined, carried: {} };
const MAX_STATE_CHARACTERS = 512;
const MAX_BAGGAGE_CHARACTERS = 8192;
const PRINTABLE = /^[\x20-\x7e]+$/;
/** Trace id, span id, parent span id (deprecated and ignored) and flags. */
const UBER_TRACE_ID = /^([0-9a-f]{1,32}):([0-9a-f]{1,16}):[0-9a-f]{1,16}:([0-9a-f]{1,2})$/i;

export class Propagation {
  readonly #propagators: ReadonlySet<Propagator>;

  constructor(propagators: readonly Propagator[]) {
    this.#propagators = new Set(propagators);
  }

  read(headers: ReceivedHeaders): Received {
    const { traceparent, tracestate, baggage: received, 'uber-trace-id': uberTraceId } = headers;
    if (traceparent === undefined && received === undefined && uberTraceId === undefined) return NOTHING_RECEIVED;
    const w3c = this.#propagators.has('tracecontext') ? parseTraceparent(traceparent) : undefined;
    const parent = w3c ?? (this.#propagators.has('jaeger') ? parseUberTraceId(uberTraceId) : undefined);
    const state = w3c === undefined ? undefined : printable(tracestate, MAX_STATE_CHARACTERS);
    const baggage = this.#propagators.has('baggage') ? printable(received, MAX_BAGGAGE_CHARACTERS) : undefined;
    return {
      parent,
      carried: { ...(state !== undefined && { tracestate: state }), ...(baggage !== undefined && { baggage }) },
    };
  }

  /** Returns the headers that propagate a span to another server. */
  headersOf(context: TraceContext, carried: Carried): Record<string, string> {
    const { traceId, spanId, isSampled } = context;
    return {
      ...(this.#propagators.has('tracecontext') && { traceparent: traceparentOf(context) }),
      ...(this.#propagators.has('jaeger') && { 'uber-trace-id': `${traceId}:${spanId}:0:${isSampled ? 1 : 0}` }),
      ...carried,
    };
  }
}

function printable(text: string | string[] | undefined, maximum: number): string | undefined {
  return typeof text === 'string' && text.length <= maximum && PRINTABLE.test(text) ? text : undefined;
}

function parseUberTraceId(text: string | string[] | undefined): TraceContext | undefined {
  const match = typeof text === 'string' ? UBER_TRACE_ID.exec(text.replaceAll(/%3a/gi, ':')) : null;
  const [, traceId, spanId, flags] = match ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  const sampled = (Number.parseInt(flags, 16) & 1) === 1 ? '01' : '00';
  // Jaeger omits leading zeros.
  const context = `00-${traceId.padStart(32, '0')}-${spanId.padStart(16, '0')}-${sampled}`;
  return parseTraceparent(context.toLowerCase());
}
