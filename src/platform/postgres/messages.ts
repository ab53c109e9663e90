/** Messages of PostgreSQL's protocol (chapter "Message Formats") that are sent for every statement. */

/** Execute of the unnamed portal without a row limit, and Sync. */
const EXECUTE_AND_SYNC = Buffer.from('E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04', 'latin1');
const BIND = 'B'.charCodeAt(0);
const NULL_LENGTH = -1;
const BINARY = 1;
/** Message type and length, unnamed portal, end of the statement name, two parameter counts, one result format. */
const FIXED_BYTES = 1 + 4 + 1 + 1 + 2 + 2 + 2 + 2;
/** Format code and length of a parameter. */
const PARAMETER_BYTES = 2 + 4;

/**
 * Bind, Execute and Sync of a prepared statement in one buffer, so that they leave in one write.
 * @param name of the statement, in ASCII
 * @param values a buffer is sent in binary format
 */
export function executeMessage(name: string, values: readonly (string | Buffer | null)[]): Buffer {
  let size = FIXED_BYTES + name.length + values.length * PARAMETER_BYTES;
  const lengths: number[] = [];
  for (const value of values) {
    const length = value === null ? NULL_LENGTH : Buffer.byteLength(value);
    lengths.push(length);
    if (length > 0) size += length;
  }
  const message = Buffer.allocUnsafe(size + EXECUTE_AND_SYNC.length);
  message[0] = BIND;
  // The length does not count the message type.
  message.writeInt32BE(size - 1, 1);
  message[5] = 0;
  message.write(name, 6, 'latin1');
  let at = 6 + name.length;
  message[at] = 0;
  at = message.writeInt16BE(values.length, at + 1);
  for (const value of values) at = message.writeInt16BE(value instanceof Buffer ? BINARY : 0, at);
  at = message.writeInt16BE(values.length, at);
  for (const [index, value] of values.entries()) {
    at = message.writeInt32BE(lengths[index] ?? NULL_LENGTH, at);
    if (typeof value === 'string') at += message.write(value, at);
    else if (value !== null) at += value.copy(message, at);
  }
  // One format for all columns: text.
  at = message.writeInt16BE(1, at);
  at = message.writeInt16BE(0, at);
  EXECUTE_AND_SYNC.copy(message, at);
  return message;
}
