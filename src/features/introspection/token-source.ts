/** What the sources of tokens share: OAuth clients, chat clients and personal tokens, one file each. */
import type { Client } from '#domain/clients/client.ts';
import type { Core } from '#domain/core.ts';
import type { TokenSettings } from '#domain/oauth-sessions/token-settings.ts';
import type { Database } from '#platform/postgres/database.ts';
import type { TokenOrigin } from '#protocol/oauth/token-format.ts';
import type { ClientId } from '#vocabulary/ids.ts';

export interface IntrospectionDeps extends Core {
  readonly settings: TokenSettings;
}

/** The caller: the homeserver or a client. */
export interface Caller {
  /** Undefined: the homeserver. */
  readonly client: Client | undefined;
  /** Returns whether the caller may introspect a token of this client. */
  readonly maySee: (owner: ClientId) => boolean;
  /** The caller may see tokens of every client. */
  readonly maySeeAll: boolean;
  /** The caller reads `device_id`, and needs no scope that names the device. */
  readonly knowsDevices: boolean;
}

/** A token that may exist, judging by its format. */
export interface PresentedToken extends TokenOrigin {
  readonly tokenHash: Buffer;
  readonly isJwt: boolean;
}

/** The state of a token, and its owner if the caller may know it. */
export interface Introspection {
  readonly body: object;
  readonly owner: ClientId | undefined;
}

export const INACTIVE: Introspection = { body: { active: false }, owner: undefined };

/** Looks up a token, records its use and describes it to its caller. */
export type IntrospectSource = (
  deps: IntrospectionDeps,
  database: Database,
  presented: PresentedToken,
  caller: Caller,
) => Promise<Introspection | 'client-changed'>;
