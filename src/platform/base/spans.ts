/**
 * How requests and jobs record traces (operations 5.7, 7.2). Code that waits for an external operation records a span
 * if its task has a trace:
 *
 *     task?.trace?.record({ name: label, kind: 'client', startedAt, attributes: { 'db.system.name': 'postgresql' } });
 *
 * Without an exporter tasks have no trace, and the only cost is this check. Names and attributes must not contain
 * anything on the secret list (security 3.8): no query string, header, body, SQL parameter or error message.
 */
export type SpanKind = 'internal' | 'server' | 'client' | 'consumer';
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

/** An operation that a task waited for, recorded when it ends. */
export interface CompletedSpan {
  readonly name: string;
  readonly kind: SpanKind;
  /** `performance.now()` at the start. The span ends when it is recorded. */
  readonly startedAt: number;
  readonly attributes: SpanAttributes;
  /** Short fixed identifier of the failure, for example a status or an error name. */
  readonly failure?: string | undefined;
  /** The id returned by the trace's `call`. Defaults to a new one. */
  readonly id?: string;
}

/** An outgoing call that is part of the trace. */
export interface TracedCall {
  /** Id of the call's span. */
  readonly id: string;
  /** Headers that propagate the trace to the other server. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A task's part of its trace: one span for the task, with a child span for each operation that it waited for. */
export interface TaskTrace {
  /** Passed to jobs that the task queues, and sent as `traceparent`. */
  readonly context: TraceContext;
  record(span: CompletedSpan): void;
  /** Starts a call to another server. */
  call(): TracedCall;
  /** Ends the task: records its span with this name, starting when the task started. */
  end(span: Pick<CompletedSpan, 'name' | 'attributes' | 'failure'>): void;
}

/** Position of work in a trace (W3C Trace Context). */
export interface TraceContext {
  /** 32 lowercase hexadecimal digits. */
  readonly traceId: string;
  /** 16 lowercase hexadecimal digits: the parent span. */
  readonly spanId: string;
  readonly isSampled: boolean;
}
