/**
 * Shared code of the OTLP exporters: JSON encoding of attributes, and delivery with retries.
 * @see https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 */
import { setTimeout as pause } from 'node:timers/promises';
import { describeError } from './log.ts';
import { outside } from './tasks.ts';

export type OtlpAttributes = Readonly<Record<string, string | number | undefined>>;

/** Identifies the exporting process. */
export interface OtlpSource {
  readonly version: string;
  /** `service.name` and other attributes of the process. */
  readonly resource: OtlpAttributes;
}

/**
 * Posts a document to a collector.
 * @returns the response status, and the delay that the collector asks for. Throws if the collector does not respond.
 */
export type PostDocument = (
  document: string,
  signal: AbortSignal,
) => Promise<{ readonly status: number; readonly retryAfterSeconds?: number | undefined }>;

const MAX_TRIES = 4;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
/** Status codes that allow a retry (OTLP, "Failures"). */
const RETRYABLE = new Set([408, 429, 502, 503, 504]);

/**
 * Sends a document, with retries while the collector asks for them or does not respond.
 * @param failed called with the reason for each failed attempt
 * @returns why the document was not accepted; undefined on success
 */
export async function deliver(
  send: (signal: AbortSignal) => ReturnType<PostDocument>,
  signal: AbortSignal,
  failed: (reason: string) => void = () => {},
): Promise<string | undefined> {
  for (let tries = 1; ; tries += 1) {
    let reason: string;
    let waitMs = FIRST_RETRY_MS * 2 ** (tries - 1);
    try {
      const { status, retryAfterSeconds } = await send(signal);
      if (status >= 200 && status < 300) return undefined;
      reason = `status ${status}`;
      if (!RETRYABLE.has(status)) return reason;
      if (retryAfterSeconds !== undefined) waitMs = Math.max(waitMs, retryAfterSeconds * 1000);
    } catch (error) {
      reason = describeError(error).message;
    }
    failed(reason);
    if (tries === MAX_TRIES || signal.aborted) return reason;
    await outside(pause(Math.min(waitMs, MAX_RETRY_MS), undefined, { signal, ref: false })).catch(() => {});
  }
}

export function encodeResource({ resource }: OtlpSource) {
  return { attributes: encodeAttributes(resource) };
}

export function encodeScope({ version }: OtlpSource) {
  return { name: 'latchkey', version };
}

export function encodeAttributes(attributes: OtlpAttributes) {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: encodeValue(value) }],
  );
}

function encodeValue(value: string | number) {
  if (typeof value === 'string') return { stringValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
