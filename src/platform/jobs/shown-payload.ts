const SECRET_KEY = /password|token|secret|code/i;
const REDACTED = '<redacted>';

/**
 * Returns a job's payload without values that may be secret (operations 3.6). No job of this version contains secrets.
 */
export function shownPayload(payload: unknown): unknown {
  if (Array.isArray(payload)) return payload.map(shownPayload);
  if (typeof payload !== 'object' || payload === null) return payload;
  return Object.fromEntries(
    Object.entries(payload).map(([key, value]) => [key, SECRET_KEY.test(key) ? REDACTED : shownPayload(value)]),
  );
}
