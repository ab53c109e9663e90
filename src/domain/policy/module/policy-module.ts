/**
 * The operator's policy module: an ES module set by `policy.module` (operations 1.18). It runs with all permissions of
 * the server, so it is only loaded from a configured path, before the first request.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { systemReason } from '#platform/base/system-errors.ts';
import { outside } from '#platform/base/tasks.ts';
import { inTime } from './in-time.ts';

/** Rules that a module may export, by export name. Each replaces the built-in one. */
export const POLICY_RULES = [
  'register',
  'email',
  'password',
  'clientRegistration',
  'authorizationGrant',
  'compatLogin',
] as const;

export type PolicyRule = (typeof POLICY_RULES)[number];

/** An exported function. Its result is validated. */
type Rule = (input: unknown, data: unknown) => unknown;

export type PolicyModule = Readonly<Partial<Record<PolicyRule, Rule>>>;

const LOAD_DEADLINE_MS = 10_000;

/**
 * Loads the rules of a module. A changed file is reloaded, but modules that it imports stay the same until the process
 * restarts.
 * @throws Error that describes why it cannot be used, without the path
 */
export async function loadPolicyModule(path: string): Promise<PolicyModule> {
  const digest = createHash('sha256')
    .update(await readModule(path))
    .digest('hex');
  // Imports are cached by URL, so changed content needs a different URL.
  const address = pathToFileURL(path);
  address.searchParams.set('content', digest.slice(0, 16));
  const exported = new Map(Object.entries(await importInTime(address.href)));
  const module: Partial<Record<PolicyRule, Rule>> = {};
  for (const [name, value] of exported) {
    const rule = POLICY_RULES.find((known) => known === name);
    if (rule === undefined) throw new Error(`unknown export "${name}"; the rules are ${POLICY_RULES.join(', ')}`);
    if (!isRule(value)) throw new Error(`export "${name}" is not a function`);
    module[rule] = value;
  }
  if (exported.size === 0) throw new Error(`no rule is exported; the rules are ${POLICY_RULES.join(', ')}`);
  return module;
}

async function readModule(path: string): Promise<Buffer> {
  try {
    return await outside(readFile(path));
  } catch (error) {
    throw new Error(`cannot be read: ${systemReason(error)}`);
  }
}

/** A module may have a top-level await. */
async function importInTime(address: string): Promise<object> {
  try {
    const loaded = await inTime<unknown>(import(address), LOAD_DEADLINE_MS, 'timed out after 10 s');
    return typeof loaded === 'object' && loaded !== null ? loaded : {};
  } catch (error) {
    throw new Error(`cannot be loaded: ${firstLine(error)}`);
  }
}

function isRule(value: unknown): value is Rule {
  return typeof value === 'function';
}

/** Accepts any value, because anything can be thrown. */
export function firstLine(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return (text.split('\n')[0] ?? '').slice(0, 300);
}
