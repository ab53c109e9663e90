import type { ClientId } from '#platform/base/ids.ts';
import type { Secret } from '#platform/base/secret.ts';

export const CLIENT_AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'none'] as const;
export type ClientAuthMethod = (typeof CLIENT_AUTH_METHODS)[number];

/** An OAuth client (application), as cached from its row. */
export interface Client {
  readonly id: ClientId;
  /** Raised by every change; statements that act on the word of a cached client compare it. */
  readonly version: number;
  /** Defined by the operator's configuration, and so shown as verified. */
  readonly isStatic: boolean;
  readonly authMethod: ClientAuthMethod;
  /** Present for the secret methods. */
  readonly secret: Secret | undefined;
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
  /** Maximum scopes; undefined: no restriction. */
  readonly scope: readonly string[] | undefined;
  /** Localised names by language tag, the untagged one under `""`. */
  readonly name: Readonly<Record<string, string>>;
  readonly clientUri: string | undefined;
  readonly policyUri: string | undefined;
  readonly tosUri: string | undefined;
  /** The consent page may be skipped. */
  readonly isFirstParty: boolean;
  /** Seconds; used when a request has no `max_age`. */
  readonly defaultMaxAge: number | undefined;
  readonly requiresAuthTime: boolean;
  /** Its ID tokens carry the claims of the scopes `profile` and `email`, too. */
  readonly hasIdTokenClaims: boolean;
  /** Its secret is accepted only in the place that `authMethod` names, header or form. */
  readonly hasStrictAuthMethod: boolean;
  /** Algorithm of its ID tokens. */
  readonly idTokenSignedResponseAlg: string;
}
