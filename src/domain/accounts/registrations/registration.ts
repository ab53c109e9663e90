/**
 * Unfinished registrations, table `user_registrations`. A registration holds what the user has entered so far, and
 * becomes an account when it is complete. Until then it reserves nothing, not even the name.
 *
 * It is open until `completed_at` is set or it expires. It belongs to the browser that started it and holds its ID in a
 * cookie; the feature checks that.
 */
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import { FormParameters } from '#platform/http/form-parameters.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import { type PostAuthAction, parsePostAuthAction } from '#protocol/post-auth-action.ts';
import type { RegistrationId, UpstreamAuthorizationId, UpstreamProviderId } from '#vocabulary/ids.ts';

export interface Registration {
  readonly id: RegistrationId;
  readonly username: string;
  /** Whether the upstream provider determines the username. */
  readonly hasFixedUsername: boolean;
  /** Whether the upstream provider determines the email address. */
  readonly hasFixedEmail: boolean;
  /** The upstream sign-in that started the registration; undefined: it began with a password. */
  readonly upstream: { readonly id: UpstreamAuthorizationId; readonly providerId: UpstreamProviderId } | undefined;
  /** Undefined until the user has completed that step. */
  readonly displayName: string | undefined;
  /** Where the user continues afterwards. */
  readonly action: PostAuthAction | undefined;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly isCompleted: boolean;
}

/** What a registration method currently allows. */
export interface RegistrationMethod {
  readonly isOpen: boolean;
  /** Whether a registration token is required. */
  readonly isTokenRequired: boolean;
  /** Whether an email address is required. */
  readonly isEmailRequired: boolean;
}

/** Returns the method of a registration; upstream providers have different settings. */
export interface RegistrationMethods {
  of(registration: Pick<Registration, 'upstream'>): RegistrationMethod;
}

export type RegistrationState = 'open' | 'completed' | 'expired';

/**
 * @param ttlSeconds time limit for all steps together
 * @param now milliseconds since the epoch
 */
export function registrationState(
  registration: Pick<Registration, 'createdAt' | 'isCompleted'>,
  ttlSeconds: number,
  now: number,
): RegistrationState {
  if (registration.isCompleted) return 'completed';
  return now - registration.createdAt < ttlSeconds * 1000 ? 'open' : 'expired';
}

/** The columns that `registrationColumns` selects. */
export interface RegistrationRow {
  readonly id: string;
  readonly username: string;
  readonly has_fixed_username: boolean;
  readonly has_fixed_email: boolean;
  readonly upstream_authorization_id: string | null;
  readonly upstream_provider_id: string | null;
  readonly display_name: string | null;
  readonly post_auth_action: Readonly<Record<string, string>> | null;
  readonly created_at: number;
  readonly is_completed: boolean;
}

/** The columns that `toRegistration` reads, from the table without an alias. */
export const registrationColumns = `id, username, has_fixed_username, has_fixed_email, display_name, post_auth_action,
  ${ms('created_at')} as created_at, completed_at is not null as is_completed, upstream_authorization_id,
  (select a.provider_id from upstream_authorizations a where a.id = upstream_authorization_id) as upstream_provider_id`;

/** @param protocolName selects the actions of the chat protocol, see `parsePostAuthAction` */
export function toRegistration(row: RegistrationRow, protocolName: string): Registration {
  return {
    id: fromUuid<'registration'>(row.id),
    username: row.username,
    hasFixedUsername: row.has_fixed_username,
    hasFixedEmail: row.has_fixed_email,
    upstream: upstreamOf(row),
    displayName: row.display_name ?? undefined,
    action: parsePostAuthAction(FormParameters.of(row.post_auth_action ?? {}), protocolName),
    createdAt: row.created_at,
    isCompleted: row.is_completed,
  };
}

function upstreamOf(row: RegistrationRow): Registration['upstream'] {
  const { upstream_authorization_id: id, upstream_provider_id: providerId } = row;
  if (id === null || providerId === null) return undefined;
  return {
    id: fromUuid<'upstream-authorization'>(id),
    providerId: fromUuid<'upstream-provider'>(providerId),
  };
}

const findById = statement<RegistrationRow, { readonly id: string }>(
  'find-registration',
  `select ${registrationColumns} from user_registrations where id = :id::uuid`,
);

/** @param protocolName see `toRegistration` */
export async function findRegistration(
  queryable: Queryable,
  id: RegistrationId,
  protocolName: string,
): Promise<Registration | undefined> {
  const row = await queryable.first(findById, { id: toUuid(id) });
  return row === undefined ? undefined : toRegistration(row, protocolName);
}
