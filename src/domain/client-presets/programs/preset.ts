/**
 * Settings for a well-known program: the client that it needs, and what to enter in the program (administration A-11).
 * Templates contain variables in braces, such as `{url}`. `{url%}` is the same value percent-encoded. Texts are
 * Markdown without links.
 */

export const PRESET_CATEGORIES = [
  'proxy',
  'infrastructure',
  'monitoring',
  'code',
  'files',
  'documents',
  'media',
  'chat',
  'community',
  'passwords',
  'home',
  'ai',
  'data',
  'library',
] as const;

export type PresetCategory = (typeof PRESET_CATEGORIES)[number];

/** The program's own base URL, without a trailing slash. It is the only variable of a client's properties. */
export const URL_VARIABLE = 'url';

/** Variables of the steps, in addition to `url`. */
export const STEP_VARIABLES = [
  'issuer',
  'discovery',
  'authorize',
  'token',
  'userinfo',
  'keys',
  'logout',
  'client_id',
  'client_secret',
] as const;

export type StepVariable = (typeof STEP_VARIABLES)[number];

/** Properties in the notation of `clients` in the configuration. The values are templates. */
export interface PresetClient {
  readonly client_auth_method: 'client_secret_basic' | 'client_secret_post' | 'none';
  readonly application_type?: 'web' | 'native';
  readonly redirect_uris: readonly string[];
  readonly post_logout_redirect_uris?: readonly string[];
  readonly backchannel_logout_uri?: string;
  /** Default: `authorization_code` and `refresh_token`. */
  readonly grant_types?: readonly string[];
}

export type PresetStep =
  | { readonly kind: 'text'; readonly text: string }
  /** Fields of a form. */
  | { readonly kind: 'fields'; readonly fields: readonly PresetField[] }
  /** A part of a configuration file, or environment variables. */
  | { readonly kind: 'file'; readonly name: string; readonly language: string; readonly content: string }
  | { readonly kind: 'command'; readonly content: string };

export interface PresetField {
  readonly label: string;
  readonly value: string;
}

export interface PresetNote {
  readonly topic: string;
  readonly text: string;
}

/** How the settings were checked. */
export type PresetCheck =
  /** The program, or its OpenID Connect library, signs users in in the tests of this repository. */
  | {
      readonly how: 'tested';
      readonly with: 'program' | 'library';
      readonly name: string;
      readonly version: string;
      /** Path of the test below the repository. */
      readonly test: string;
    }
  | { readonly how: 'documentation'; readonly url: string /** Date as `YYYY-MM-DD`. */; readonly on: string };

export interface Preset {
  /** Names the preset in the API, in commands and in the manual. */
  readonly slug: string;
  readonly name: string;
  readonly category: PresetCategory;
  /** Undefined if the settings do not depend on the program's URL. */
  readonly url: { readonly example: string; readonly note?: string } | undefined;
  readonly client: PresetClient;
  /** The program registers a client like this one itself (RFC 7591), so administrators need not create one. */
  readonly registersItself?: true;
  /** All scopes that the program may request. */
  readonly scopes: readonly string[];
  /** What the program does with the claim `groups`; undefined if it does not use it. */
  readonly groups: string | undefined;
  readonly steps: readonly PresetStep[];
  readonly signOut: {
    /** Whether signing out of the program also signs users out of this service. */
    readonly fromProgram: string;
    /** Whether signing out of this service also signs users out of the program. */
    readonly fromService: string;
  };
  readonly notes: readonly PresetNote[];
  readonly checked: PresetCheck;
}
