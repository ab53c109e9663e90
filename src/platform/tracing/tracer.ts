/**
 * Records traces of requests and jobs if an exporter is configured: one span for the task, with a child span for each
 * operation that it waits for. A job belongs to the trace of the request that queued it (operations 7.2).
 */
import type { Clock } from '#platform/base/clock.ts';
import { randomBytes } from '#platform/base/random.ts';
import type {
  CompletedSpan,
  SpanAttributes,
  SpanKind,
  TaskTrace,
  TraceContext,
  TracedCall,
} from '#platform/base/spans.ts';
import type { Task } from '#platform/base/tasks.ts';
import {
  parseTraceparent,
  type ReceivedHeaders,
  type TraceParents,
  type Tracing,
  traceIdOf,
} from '#platform/base/tracing.ts';
import { type Carried, NOTHING_RECEIVED, Propagation, type Propagator } from './propagation.ts';

/** A completed span, ready for export. */
export interface Span {
  readonly traceId: string;
  readonly id: string;
  readonly parentId: string | undefined;
  /** The span that caused this one. */
  readonly link: TraceContext | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  /** Microseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: SpanAttributes;
  readonly failure: string | undefined;
}

export interface SpanSink {
  add(span: Span): void;
}

export interface TracerOptions {
  readonly clock: Clock;
  readonly propagators: readonly Propagator[];
  /** Fraction of the traces started here that are recorded. Continued traces follow the caller's decision. */
  readonly sampleRate: number;
  readonly parents: TraceParents;
  readonly sink: SpanSink;
}

/** Sampling uses the last 56 bits of the trace id, which are random according to W3C Trace Context 2. */
const RANDOM_DIGITS = 14;
const MAX_DRIFT_MS = 5;

export class Tracer implements Tracing {
  readonly propagation: Propagation;
  readonly #options: TracerOptions;
  #offsetMs = 0;

  constructor(options: TracerOptions) {
    this.#options = options;
    this.propagation = new Propagation(options.propagators);
  }

  beginRequest(task: Task, headers: ReceivedHeaders, isTrusted: boolean): void {
    // Otherwise any client could control sampling and forward arbitrary data to providers.
    const isAccepted = isTrusted || this.#options.parents === 'everyone';
    const { parent, carried } = isAccepted ? this.propagation.read(headers) : NOTHING_RECEIVED;
    this.#begin(task, parent?.traceId, new Origin('server', parent, undefined, carried));
  }

  beginJob(task: Task, queuedIn: string | undefined): void {
    const parent = parseTraceparent(queuedIn);
    this.#begin(task, traceIdOf(queuedIn), new Origin('consumer', parent, parent, {}));
  }

  /** @param endedAt like `startedAt`, in terms of `performance.now()` */
  record(span: Omit<Span, 'startedAt' | 'endedAt'>, startedAt: number, endedAt: number): void {
    const wall = this.#options.clock.now();
    if (Math.abs(endedAt + this.#offsetMs - wall) > MAX_DRIFT_MS) this.#offsetMs = wall - endedAt;
    const micros = (time: number): number => Math.round((time + this.#offsetMs) * 1000);
    this.#options.sink.add({ ...span, startedAt: micros(startedAt), endedAt: micros(endedAt) });
  }

  #begin(task: Task, knownTraceId: string | undefined, origin: Origin): void {
    const traceId = knownTraceId ?? randomBytes(16).toString('hex');
    const isSampled = origin.parent?.isSampled ?? this.#samples(traceId);
    task.traceId = traceId;
    task.trace = new RecordedTrace(this, task, { traceId, spanId: newSpanId(), isSampled }, origin);
  }

  #samples(traceId: string): boolean {
    const share = Number.parseInt(traceId.slice(-RANDOM_DIGITS), 16) / 16 ** RANDOM_DIGITS;
    return share >= 1 - this.#options.sampleRate;
  }
}

/** Where a task's trace comes from. */
class Origin {
  readonly kind: SpanKind;
  readonly parent: TraceContext | undefined;
  readonly link: TraceContext | undefined;
  readonly carried: Carried;

  constructor(kind: SpanKind, parent: TraceContext | undefined, link: TraceContext | undefined, carried: Carried) {
    this.kind = kind;
    this.parent = parent;
    this.link = link;
    this.carried = carried;
  }
}

class RecordedTrace implements TaskTrace {
  readonly context: TraceContext;
  readonly #tracer: Tracer;
  readonly #task: Task;
  readonly #origin: Origin;

  constructor(tracer: Tracer, task: Task, context: TraceContext, origin: Origin) {
    this.context = context;
    this.#tracer = tracer;
    this.#task = task;
    this.#origin = origin;
  }

  record({ name, kind, startedAt, attributes, failure, id = newSpanId() }: CompletedSpan): void {
    const { traceId, spanId: parentId, isSampled } = this.context;
    if (!isSampled) return;
    const span = { traceId, id, parentId, link: undefined, name, kind, attributes, failure };
    this.#tracer.record(span, startedAt, performance.now());
  }

  call(): TracedCall {
    const id = newSpanId();
    return {
      id,
      headers: this.#tracer.propagation.headersOf({ ...this.context, spanId: id }, this.#origin.carried),
    };
  }

  end({ name, attributes, failure }: Pick<CompletedSpan, 'name' | 'attributes' | 'failure'>): void {
    const { traceId, spanId: id, isSampled } = this.context;
    if (!isSampled) return;
    const { kind, link, parent } = this.#origin;
    const span = { traceId, id, parentId: parent?.spanId, link, name, kind, attributes, failure };
    this.#tracer.record(span, this.#task.startedAt, performance.now());
  }
}

function newSpanId(): string {
  return randomBytes(8).toString('hex');
}
