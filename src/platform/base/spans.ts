/**
 * How requests and jobs belong to traces (operations 5.7, 7.2). Code that waits for something from outside records a
 * span of its task when there is a trace:
 *
 *     task?.trace?.record({ name: label, kind: 'client', startedAt, attributes: { 'db.system.name': 'postgresql' } });
 *
 * Without an exporter no task has a trace, and all that costs is that one look. Nothing of the secret list (security
 * 3.8) may be in a name or an attribute: no query string, header, body, SQL parameter or text of an error.
 */
export type SpanKind = 'internal' | 'server' | 'client' | 'consumer';
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

/** Something that a task waited for, recorded when it is over. */
export interface CompletedSpan {
  readonly name: string;
  readonly kind: SpanKind;
  /** `performance.now()` at its beginning; it ends when it is recorded. */
  readonly startedAt: number;
  readonly attributes: SpanAttributes;
  /** A short fixed word for what went wrong, for example a status or the name of an error. */
  readonly failure?: string | undefined;
  /** As `call` of the trace gave it; a new one unless given. */
  readonly id?: string;
}

/** An outgoing call that is part of the trace. */
export interface TracedCall {
  /** Of its span. */
  readonly id: string;
  /** What tells the other side of it. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What a task adds to its trace: a span of its own, and below that one for each thing it waited for. */
export interface TaskTrace {
  /** For a job that the task queues, and as `traceparent`. */
  readonly context: TraceContext;
  record(span: CompletedSpan): void;
  /** Begins a call to another server. */
  call(): TracedCall;
  /** The task is over: records its own span, which has this name and began with it. */
  end(span: Pick<CompletedSpan, 'name' | 'attributes' | 'failure'>): void;
}

/** Where work belongs in a trace (W3C Trace Context). */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits. */
  readonly traceId: string;
  /** 16 of them: the span that the work is for. */
  readonly spanId: string;
  readonly isSampled: boolean;
}
