/**
 * What the service runs with: the configuration tree after all sources were merged, checked and completed with
 * defaults. Names mirror the keys of the file in camel case, with the unit in the name; paths are absolute.
 *
 * Every room may import these types; values of this room are for the command line and the composition only.
 */
import type { Cidr } from '#platform/base/cidr.ts';
import type { ClientId } from '#platform/base/ids.ts';
import type { Secret } from '#platform/base/secret.ts';
import type { HttpLimits, HttpOptions } from '#platform/http/http-options.ts';
import type { LogOptions } from '#platform/log/log-options.ts';
import type { PasswordScheme } from '#platform/password-hash/schemes.ts';
import type { PageTemplate } from './page-template.ts';
import type { SigningAlgorithmName } from './sections/signing-algorithms.ts';

export interface Config {
  readonly dataDir: string;
  /** Used in path segments (`_chat`), scopes (`urn:chat:`) and actions (`org.chat.`). */
  readonly protocolName: string;
  readonly http: HttpConfig;
  readonly database: DatabaseConfig;
  readonly secrets: SecretsConfig;
  readonly clients: readonly StaticClientConfig[];
  readonly homeserver: HomeserverConfig;
  readonly passwords: PasswordsConfig;
  readonly account: AccountConfig;
  readonly rateLimiting: RateLimitingConfig;
  readonly oauth: OAuthConfig;
  readonly policy: PolicyConfig;
  readonly branding: BrandingConfig;
  /** In place of bundled ones. */
  readonly templates: { readonly page: PageTemplate | undefined };
  readonly index: { readonly redirect: string | undefined };
  readonly i18n: { readonly defaultLanguage: string };
  readonly logging: LogOptions;
  readonly retention: RetentionConfig;
  readonly limits: LimitsConfig;
  readonly experimental: { readonly accessTokenTtlSeconds: number };
}

export interface HttpConfig extends HttpOptions {
  /** Absolute, with a trailing slash; the only source of absolute URLs. */
  readonly publicBase: string;
  /** `http.issuer`, else `http.public_base`, letter by letter as it was typed: with or without a final slash. */
  readonly issuer: string;
}

export interface DatabaseConfig {
  readonly server: EmbeddedDatabaseConfig | PostgresConfig;
  /** Direct connection for migrations; undefined: the same as `server`. */
  readonly migrationServer: PostgresConfig | undefined;
  readonly maxConnections: number;
  readonly minConnections: number;
  readonly connectTimeoutSeconds: number;
  readonly acquireTimeoutSeconds: number;
  /** Undefined: idle connections stay open. */
  readonly idleTimeoutSeconds: number | undefined;
  /** Undefined: connections live as long as the process. */
  readonly maxLifetimeSeconds: number | undefined;
  readonly statementTimeoutSeconds: number;
  readonly slowStatementSeconds: number;
  readonly pooler: 'none' | 'session' | 'transaction';
}

export interface EmbeddedDatabaseConfig {
  readonly kind: 'embedded';
  /** Of the cluster; undefined: `db` below the data directory. */
  readonly directory: string | undefined;
  /** Account that the server runs under when the service is root. */
  readonly user: string | undefined;
  /** Where `initdb` and `postgres` are looked for when no bundled binary fits. */
  readonly binDir: string | undefined;
}

export type SslMode = 'disable' | 'allow' | 'prefer' | 'require' | 'verify-ca' | 'verify-full';

export interface PostgresConfig {
  readonly kind: 'postgres';
  /** Host name or address, or the directory of a Unix socket (begins with a slash). */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: Secret | undefined;
  readonly database: string;
  readonly sslMode: SslMode;
  /** PEM; undefined: the system's store. */
  readonly sslCa: Secret | undefined;
  /** PEM, present together with `sslKey`. */
  readonly sslCertificate: Secret | undefined;
  readonly sslKey: Secret | undefined;
}

export interface SecretsConfig {
  /** 64 hexadecimal characters; undefined: no source sets it, so that the data directory's is used. */
  readonly encryption: Secret | undefined;
  readonly encryptionPrevious: readonly Secret[];
  /** Inline keys first, then those of the directory; empty: no source sets any. */
  readonly keys: readonly SigningKeyConfig[];
}

export interface SigningKeyConfig {
  /** How messages name the entry: `secrets.keys[0]` or a file's path. */
  readonly name: string;
  readonly kid: string | undefined;
  /** Undefined: the usual one of the kind of key. */
  readonly alg: SigningAlgorithmName | undefined;
  /** PEM text, or DER bytes in base64, as `encoding` says. */
  readonly key: Secret;
  readonly encoding: 'utf8' | 'base64';
  readonly password: Secret | undefined;
  readonly useForSigning: boolean;
}

export type StaticClientAuthMethod = 'none' | 'client_secret_basic' | 'client_secret_post';
export type StaticClientGrantType = 'authorization_code' | 'refresh_token' | 'client_credentials';

export interface StaticClientConfig {
  readonly clientId: ClientId;
  readonly clientAuthMethod: StaticClientAuthMethod;
  /** Present for the secret methods, absent for `none`. */
  readonly clientSecret: Secret | undefined;
  readonly redirectUris: readonly string[];
  readonly clientName: string | undefined;
  readonly clientUri: string | undefined;
  readonly policyUri: string | undefined;
  readonly tosUri: string | undefined;
  readonly grantTypes: readonly StaticClientGrantType[];
  /** Maximum scopes; undefined: no restriction. */
  readonly scope: readonly string[] | undefined;
  readonly firstParty: boolean;
  readonly defaultMaxAgeSeconds: number | undefined;
  readonly requireAuthTime: boolean;
  readonly idTokenClaims: boolean;
  readonly strictAuthMethod: boolean;
  readonly idTokenSignedResponseAlg: string;
}

export interface HomeserverConfig {
  readonly kind: 'none';
  /** Server name of user identifiers, `host[:port]`. */
  readonly homeserver: string;
  readonly secret: Secret | undefined;
}

export interface PasswordsConfig {
  readonly enabled: boolean;
  /** zxcvbn score, 0 to 4. */
  readonly minimumComplexity: number;
  /** In characters. */
  readonly minimumLength: number;
  /** In bytes of UTF-8. */
  readonly maximumLength: number;
  /** Newest version first: that one hashes new passwords. */
  readonly schemes: readonly PasswordScheme[];
}

export interface AccountConfig {
  readonly loginWithEmailAllowed: boolean;
  /** Undefined: sensitive actions never ask for a fresh authentication. */
  readonly reauthMaxAgeSeconds: number | undefined;
  /** No effect while passwords are switched off. */
  readonly passwordRegistrationEnabled: boolean;
  readonly registrationTtlSeconds: number;
}

/** A token bucket: `burst` at once, refilled at `perSecond`. */
export interface Limiter {
  readonly burst: number;
  readonly perSecond: number;
}

export interface RateLimitingConfig {
  readonly login: {
    readonly perIp: Limiter;
    readonly perAccount: Limiter;
    readonly perKnownBrowser: Limiter;
  };
  readonly registration: Limiter;
  readonly registrationCheck: Limiter;
  readonly clientAuthentication: { readonly perClient: Limiter };
}

export interface OAuthConfig {
  readonly authorizationCodeTtlSeconds: number;
  readonly authorizationGrantTtlSeconds: number;
  readonly idTokenTtlSeconds: number;
  readonly refreshGraceSeconds: number;
  /** Undefined: sessions have no absolute end. */
  readonly sessionMaxLifetimeSeconds: number | undefined;
  readonly rememberConsent: boolean;
  readonly introspectionCallers: 'confidential' | 'static' | 'own';
  readonly serviceDocumentation: string | undefined;
}

export interface PolicyConfig {
  readonly data: {
    /** User names that may ask for the admin scope. */
    readonly adminUsers: readonly string[];
    readonly adminClients: readonly ClientId[];
    readonly registration: {
      /** Empty: every name. */
      readonly allowedUsernames: TextMatcher;
      readonly bannedUsernames: TextMatcher;
    };
    /** Who may not register. */
    readonly requester: {
      readonly bannedIps: readonly Cidr[];
      readonly bannedUserAgents: TextMatcher;
    };
  };
}

/** Fits a text that is, starts with, ends with or holds one of these texts, or one of the expressions, in any case. */
export interface TextMatcher {
  readonly literals: readonly string[];
  readonly prefixes: readonly string[];
  readonly suffixes: readonly string[];
  readonly substrings: readonly string[];
  /** As RE2 has them. */
  readonly regexes: readonly string[];
}

export interface BrandingConfig {
  readonly serviceName: string;
  readonly policyUri: string | undefined;
  readonly tosUri: string | undefined;
  readonly imprint: string | undefined;
  readonly loginMessage: string | undefined;
  readonly showTechnicalInfo: boolean;
  readonly logo: PictureConfig | undefined;
  /** In place of `logo` on dark pages. */
  readonly logoDark: PictureConfig | undefined;
  readonly favicon: PictureConfig | undefined;
  /** `#rrggbb` in lower case, readable on every background of its theme. */
  readonly accentColor: string | undefined;
  readonly accentColorDark: string | undefined;
}

export interface PictureConfig {
  readonly format: 'svg' | 'png';
  readonly content: Buffer;
}

/** How long rows are kept after they are over (operations 6.4). */
export interface RetentionConfig {
  readonly revokedTokensSeconds: number;
  readonly expiredTokensSeconds: number;
  readonly finishedSessionsSeconds: number;
  readonly inactiveIpsSeconds: number;
  /** Longer than an authorization request or its code can be good. */
  readonly pendingFlowsSeconds: number;
  readonly registrationsSeconds: number;
  /** `account.activity_retention`. */
  readonly activitySeconds: number;
}

export interface LimitsConfig extends HttpLimits {
  readonly passwordHashConcurrency: number;
  readonly passwordHashQueue: number;
  readonly maxDbWaiters: number;
}
