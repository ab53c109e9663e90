/** Sends a body part by part, as fast as the client reads it. */
import { performance } from 'node:perf_hooks';
import { outside } from '#platform/base/tasks.ts';
import type { Exchange } from './exchange.ts';
import type { OutgoingResponse } from './message.ts';

export type BodyParts = AsyncIterator<string>;

/** `aborted`: the client is gone. `timeout`: the client did not read all of it in time. */
type StreamOutcome = 'complete' | 'aborted' | 'timeout';

/** A client that takes less than this in 30 seconds counts as one that does not read (`Connection.resetIfStuck`). */
const SLICE_BYTES = 32 * 1024;
/** Maximum duration of a response. A slow reader cannot occupy a connection and a reserved request for longer. */
const MAX_DURATION_MS = 600_000;

/** Reads a part only after the client has taken the previous one, so that memory holds one part. */
export async function sendParts(
  exchange: Exchange,
  parts: BodyParts,
  first: IteratorResult<string>,
): Promise<StreamOutcome> {
  const { response } = exchange;
  const slices = new SliceWriter(response);
  exchange.deadline = performance.now() + MAX_DURATION_MS;
  for (let part = first; part.done !== true; part = await parts.next()) {
    const bytes = Buffer.from(part.value);
    for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
      if (exchange.isAborted || response.closed) return 'aborted';
      if (performance.now() > exchange.deadline) return 'timeout';
      const slice = bytes.subarray(from, from + SLICE_BYTES);
      exchange.sentBytes += slice.length;
      await slices.write(slice);
    }
  }
  if (exchange.isAborted || response.closed) return 'aborted';
  response.end();
  return 'complete';
}

class SliceWriter {
  readonly #response: OutgoingResponse;
  #onTaken = (): void => {};

  constructor(response: OutgoingResponse) {
    this.#response = response;
    // Node does not call back for what was not written because the client had ended the connection.
    response.once('close', () => this.#onTaken());
  }

  /** Resolves when the client can take the next slice, or is gone. */
  write(slice: Buffer): Promise<void> {
    return outside(
      new Promise((resolve) => {
        this.#onTaken = resolve;
        this.#response.write(slice, resolve);
      }),
    );
  }
}
