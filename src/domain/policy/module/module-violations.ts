/** Results of the policy module's rules. They come from the operator's code and are validated. */

/** A reason of the policy module to reject a request. */
export interface ModuleViolation {
  readonly code: string;
  /** Message for users and developers, written by the module. Always displayed as plain text. */
  readonly msg: string;
  /** The form field or client metadata member that it concerns. */
  readonly field?: string | undefined;
  /** The redirect URI that the client must not have. */
  readonly redirect?: string | undefined;
}

/** Used if a rule returns no result or an invalid one. */
export const POLICY_ERROR: ModuleViolation = {
  code: 'policy_error',
  msg: 'The policy could not be evaluated. Please try again later.',
};

const MAX_VIOLATIONS = 20;
const MAX_TEXT = 500;
const CODE = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const FIELD = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;
const MEMBERS = new Set(['code', 'msg', 'field', 'redirect']);

/** @throws Error that describes what is wrong with the result */
export function readViolations(response: unknown): readonly ModuleViolation[] {
  if (!Array.isArray(response)) throw new Error(`the result must be a list of violations, but is ${kindOf(response)}`);
  if (response.length > MAX_VIOLATIONS) throw new Error(`the result has more than ${MAX_VIOLATIONS} violations`);
  return response.map((violation: unknown, index) => readViolation(violation, `violation ${index + 1}`));
}

function readViolation(violation: unknown, place: string): ModuleViolation {
  if (typeof violation !== 'object' || violation === null || Array.isArray(violation)) {
    throw new Error(`${place} must be an object, but is ${kindOf(violation)}`);
  }
  const members: ReadonlyMap<string, unknown> = new Map(Object.entries(violation));
  for (const name of members.keys()) {
    if (!MEMBERS.has(name)) throw new Error(`${place} has the unknown property ${JSON.stringify(name.slice(0, 64))}`);
  }
  const code = textOf(members, 'code', place);
  if (code === undefined || !CODE.test(code)) {
    throw new Error(`${place}: "code" must be 1 to 64 letters, digits, ".", "_" or "-"`);
  }
  const msg = textOf(members, 'msg', place);
  if (msg === undefined || msg.trim() === '') throw new Error(`${place} has no "msg"`);
  const field = textOf(members, 'field', place);
  if (field !== undefined && !FIELD.test(field)) throw new Error(`${place}: "field" is not a valid field name`);
  return { code, msg, field, redirect: textOf(members, 'redirect', place) };
}

function textOf(members: ReadonlyMap<string, unknown>, name: string, place: string): string | undefined {
  const value = members.get(name);
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw new Error(`${place}: "${name}" must be a string, but is ${kindOf(value)}`);
  if (value.length > MAX_TEXT) throw new Error(`${place}: "${name}" is longer than ${MAX_TEXT} characters`);
  return value;
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  return Array.isArray(value) ? 'a list' : `of type ${typeof value}`;
}
