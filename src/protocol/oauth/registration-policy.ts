/** What the operator allows for dynamically registered clients (`policy.data.client_registration`). */

export const REGISTRATION_PRESETS = ['mcp'] as const;

export interface RegistrationSwitches {
  /** URIs and `client_uri` may have different hosts. */
  readonly allowHostMismatch: boolean;
  /** Allows http, loopback and IP addresses too. */
  readonly allowInsecureUris: boolean;
  readonly allowMissingClientUri: boolean;
  /** Native clients may use any private-use scheme, with or without a host. */
  readonly allowPrivateUseSchemes: boolean;
  /** Enables what a kind of client needs. */
  readonly preset?: (typeof REGISTRATION_PRESETS)[number] | undefined;
}

export interface RegistrationPolicy extends Omit<RegistrationSwitches, 'preset'> {
  /** Private-use schemes that native clients may always use. */
  readonly knownSchemes: ReadonlySet<string>;
  /** A client without `application_type` is native if at least one redirect URI is for native clients only. */
  readonly isNativeByOneUri: boolean;
}

/** Schemes of editors and assistants that act as MCP clients. */
const MCP_SCHEMES: ReadonlySet<string> = new Set([
  ...['claude', 'code-oss', 'com.raycast', 'cursor', 'goose', 'jetbrains', 'kiro', 'lmstudio', 'raycast', 'trae'],
  ...['vscode', 'vscode-insiders', 'vscodium', 'warp', 'windsurf', 'windsurf-next', 'zed'],
]);
const NO_SCHEMES: ReadonlySet<string> = new Set();

export function registrationPolicy({ preset, ...switches }: RegistrationSwitches): RegistrationPolicy {
  if (preset === undefined) return { ...switches, knownSchemes: NO_SCHEMES, isNativeByOneUri: false };
  return {
    ...switches,
    allowHostMismatch: true,
    allowMissingClientUri: true,
    knownSchemes: MCP_SCHEMES,
    isNativeByOneUri: true,
  };
}

/** Why metadata is rejected, as the end of a sentence. */
export interface MetadataProblem {
  readonly text: string;
  /** The setting that would allow it. */
  readonly setting?: RegistrationSetting;
}

type RegistrationSetting =
  | 'allow_host_mismatch'
  | 'allow_insecure_uris'
  | 'allow_missing_client_uri'
  | 'allow_private_use_schemes'
  | 'preset';

/** Returns a message for the developer, who can forward it to the operator. */
export function problemText({ text, setting }: MetadataProblem): string {
  if (setting === undefined) return text;
  const state = setting === 'preset' ? 'mcp' : 'on';
  return `${text}, unless ${settingName(setting)} is ${state}`;
}

/** Returns fields for the operator's log. */
export function problemDetails({ setting }: MetadataProblem): Readonly<Record<string, string>> {
  return setting === undefined ? {} : { refusal: 'policy', setting: settingName(setting) };
}

function settingName(setting: RegistrationSetting): string {
  return `policy.data.client_registration.${setting}`;
}
