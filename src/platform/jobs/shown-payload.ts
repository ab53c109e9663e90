const SECRET_KEY = /password|token|secret|code/i;
const REDACTED = '<redacted>';

/** What a job was given, without what might be a secret (operations 3.6). No job of this version holds one. */
export function shownPayload(payload: unknown): unknown {
  if (Array.isArray(payload)) return payload.map(shownPayload);
  if (typeof payload !== 'object' || payload === null) return payload;
  return Object.fromEntries(
    Object.entries(payload).map(([key, value]) => [key, SECRET_KEY.test(key) ? REDACTED : shownPayload(value)]),
  );
}
