/** What the operator allows clients that register themselves (`policy.data.client_registration`). */

export const REGISTRATION_PRESETS = ['mcp'] as const;

export interface RegistrationSwitches {
  /** Addresses may have another host than `client_uri`. */
  readonly allowHostMismatch: boolean;
  /** Also http, loopback and IP addresses. */
  readonly allowInsecureUris: boolean;
  readonly allowMissingClientUri: boolean;
  /** Native clients may have any private-use scheme, with or without a host. */
  readonly allowPrivateUseSchemes: boolean;
  /** Turns on what a kind of client needs. */
  readonly preset?: (typeof REGISTRATION_PRESETS)[number] | undefined;
}

export interface RegistrationPolicy extends Omit<RegistrationSwitches, 'preset'> {
  /** Private-use schemes that native clients may have in any case. */
  readonly knownSchemes: ReadonlySet<string>;
  /** A client that names no `application_type` is native as soon as one redirect URI is for native clients only. */
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

/** Why metadata is refused, as the end of a sentence. */
export interface MetadataProblem {
  readonly text: string;
  /** What the operator would have to set. */
  readonly setting?: RegistrationSetting;
}

type RegistrationSetting =
  | 'allow_host_mismatch'
  | 'allow_insecure_uris'
  | 'allow_missing_client_uri'
  | 'allow_private_use_schemes'
  | 'preset';

/** For the developer, who can forward it to the operator. */
export function problemText({ text, setting }: MetadataProblem): string {
  if (setting === undefined) return text;
  const state = setting === 'preset' ? 'mcp' : 'on';
  return `${text}, unless ${settingName(setting)} is ${state}`;
}

/** Fields for the operator's log. */
export function problemDetails({ setting }: MetadataProblem): Readonly<Record<string, string>> {
  return setting === undefined ? {} : { refusal: 'policy', setting: settingName(setting) };
}

function settingName(setting: RegistrationSetting): string {
  return `policy.data.client_registration.${setting}`;
}
