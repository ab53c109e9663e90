import type { AdminAction } from '#domain/audit/record-admin-action.ts';
import type { ClientRefusal } from '#domain/clients/client.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { parseId } from '#platform/base/ids.ts';
import type { JsonObject } from '#protocol/json-merge-patch.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import { visible } from './visible-text.ts';

/** Options for properties of a client. */
export interface PropertyFlags {
  readonly name?: string;
  readonly redirectUri?: readonly string[];
  readonly authMethod?: string;
  readonly scope?: string;
  readonly allowedGroup?: readonly string[];
  readonly set?: readonly string[];
}

/** Returns the properties in the notation of the configuration. @throws ExitError 2 */
export function propertiesFrom({
  name,
  redirectUri,
  authMethod,
  scope,
  allowedGroup,
  set = [],
}: PropertyFlags): JsonObject {
  return {
    ...(name !== undefined && { client_name: name }),
    ...(redirectUri !== undefined && { redirect_uris: redirectUri }),
    ...(authMethod !== undefined && { client_auth_method: authMethod }),
    ...(scope !== undefined && { scope }),
    ...(allowedGroup !== undefined && { allowed_groups: allowedGroup }),
    ...Object.fromEntries(set.map(assignment)),
  };
}

function assignment(text: string): readonly [string, unknown] {
  const [, key, value] = /^([a-z_]+)=(.*)$/s.exec(text) ?? [];
  if (key === undefined || value === undefined) {
    throw new ExitError(ExitCode.usage, `${visible(text)} is not KEY=VALUE, such as default_max_age=3600`);
  }
  return [key, jsonOrText(value)];
}

function jsonOrText(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** Returns the action of a command that changes a client. */
export function clientAction(operation: string, id: ClientId, changed?: readonly string[]): AdminAction {
  return { operation, target: { type: 'oauth2-client', id }, changed };
}

/** @throws ExitError 2 */
export function clientIdFrom(text: string): ClientId {
  const id = parseId<'client'>(text);
  if (id === undefined) throw new ExitError(ExitCode.usage, `${visible(text)} is not a client id`);
  return id;
}

/** Reports a rejected property. @param path of the value in the properties */
export function invalidProperty(path: readonly PropertyKey[], message: string): ExitError {
  const at = path.map(String).join('.');
  return new ExitError(ExitCode.failure, at === '' ? message : `${visible(at)}: ${message}`);
}

const REFUSALS = {
  unknown: 'client not found',
  static: 'the client is defined in the configuration; change its entry in clients there',
  builtin: 'the client belongs to the service itself',
  dynamic: 'the client registered itself, so only the client can change this',
  'no-secret': 'the client authenticates without a secret',
} as const;

export function refusedClient(reason: ClientRefusal | 'dynamic' | 'no-secret'): ExitError {
  return new ExitError(ExitCode.failure, REFUSALS[reason]);
}
