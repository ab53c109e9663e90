import { newId } from '#platform/base/ids.ts';
import { compileTemplate, TemplateSyntaxError } from '#platform/templates/template.ts';
import { isProtectedAddress } from '#protocol/oidc/provider-metadata.ts';
import type { providersOf } from './synapse-settings.ts';

type SynapseProvider = ReturnType<typeof providersOf>[number];

/** An entry of `upstream_oauth2.providers`, and what it omits of the Synapse provider. */
export interface CarriedProvider {
  /** Undefined: the operator has to write it. */
  readonly entry: Readonly<Record<string, unknown>> | undefined;
  readonly warnings: readonly string[];
}

/** Mapping providers that ship with Synapse. */
const USUAL_MAPPING = /^synapse\.handlers\.oidc(_handler)?\.JinjaOidcMappingProvider$/;
const BRAND = /^[a-z][a-z0-9_-]{0,31}$/;
const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post'];

/**
 * @param now milliseconds since the epoch
 * @param readFile reads a file that a setting names
 */
export function carryProvider(
  provider: SynapseProvider,
  now: number,
  readFile: (path: string) => string,
): CarriedProvider {
  const warnings: string[] = [];
  const leaveOut = (what: string): void => {
    warnings.push(`provider ${provider.name}: ${what}`);
  };
  if (provider.client_secret_jwt_key !== undefined) {
    leaveOut(
      'client_secret_jwt_key is not carried over. Configure the provider by hand, with sign_in_with_apple for Apple',
    );
    return { entry: undefined, warnings };
  }
  const secret =
    provider.client_secret ?? (provider.client_secret_path ? readFile(provider.client_secret_path).trim() : undefined);
  const method = provider.client_auth_method ?? (secret === undefined ? 'none' : 'client_secret_basic');
  if (!AUTH_METHODS.includes(method) || (method !== 'none' && secret === undefined)) {
    leaveOut(`client_auth_method ${method} is not carried over. Configure the provider by hand`);
    return { entry: undefined, warnings };
  }
  const scope = (provider.scopes ?? ['openid']).join(' ');
  const entry = defined({
    id: newId<'upstream-provider'>(now),
    synapse_idp_id: provider.name,
    human_name: provider.idp_name,
    brand_name: BRAND.test(provider.idp_brand ?? '') ? provider.idp_brand : undefined,
    issuer: provider.issuer,
    client_id: provider.client_id,
    client_secret: method === 'none' ? undefined : secret,
    token_endpoint_auth_method: method,
    id_token_signed_response_alg: provider.id_token_signing_alg_values_supported?.[0],
    scope,
    discovery_mode: discoveryMode(provider),
    pkce_method: provider.pkce_method,
    fetch_userinfo: fetchesUserinfo(provider) || undefined,
    authorization_endpoint: provider.authorization_endpoint,
    token_endpoint: provider.token_endpoint,
    userinfo_endpoint: provider.userinfo_endpoint,
    jwks_uri: provider.jwks_uri,
    on_backchannel_logout: provider.backchannel_logout_enabled === true ? 'logout_all' : undefined,
    registration_enabled: provider.enable_registration === false ? false : undefined,
    additional_authorization_parameters: parametersOf(provider, leaveOut),
    claims_imports: claimsOf(provider, leaveOut),
  });
  leaveOut(`register its redirect URI at the provider: <public_base>/upstream/callback/${entry['id']}`);
  if (provider.idp_icon) leaveOut('idp_icon is not carried over');
  if (provider.idp_brand && entry['brand_name'] === undefined)
    leaveOut(`idp_brand ${provider.idp_brand} is not carried over`);
  if ((provider.attribute_requirements ?? []).length > 0) {
    leaveOut('attribute_requirements are not carried over: all users of the provider can sign in');
  }
  if ((provider.id_token_signing_alg_values_supported ?? []).length > 1) {
    leaveOut(
      `only ${entry['id_token_signed_response_alg']} is carried over from id_token_signing_alg_values_supported`,
    );
  }
  return { entry, warnings };
}

function discoveryMode(provider: SynapseProvider): string | undefined {
  if (!provider.discover) return 'disabled';
  return provider.skip_verification === true || !isProtectedAddress(provider.issuer) ? 'insecure' : undefined;
}

function fetchesUserinfo({ user_profile_method: method, scopes }: SynapseProvider): boolean {
  return method === 'userinfo_endpoint' || !(scopes ?? ['openid']).includes('openid');
}

function parametersOf(provider: SynapseProvider, leaveOut: (what: string) => void) {
  const fixed = Object.entries(provider.additional_authorization_parameters ?? {});
  const usable = fixed.filter(([, value]) => !/[{][{%#]/.test(value));
  if (usable.length < fixed.length)
    leaveOut('additional_authorization_parameters that look like templates are not carried over');
  const passed = (provider.passthrough_authorization_parameters ?? []).map((name) => [name, `{{ params.${name} }}`]);
  const all = [...usable, ...passed];
  return all.length === 0 ? undefined : Object.fromEntries(all);
}

/** Converts the attribute mapping. Templates of Synapse follow the same rules here. */
function claimsOf(provider: SynapseProvider, leaveOut: (what: string) => void) {
  const { module, config } = provider.user_mapping_provider ?? {};
  if (module && !USUAL_MAPPING.test(module)) {
    leaveOut(`user_mapping_provider ${module} is not carried over: see claims_imports`);
    return undefined;
  }
  const template = (name: string): string | undefined => {
    const source = config?.[name];
    if (typeof source !== 'string' || source === '') return undefined;
    if (isTemplate(source)) return source;
    leaveOut(`${name} is not carried over: its template is not supported`);
    return undefined;
  };
  const claim = config?.['subject_claim'];
  const subject = template('subject_template') ?? (typeof claim === 'string' ? templateOfClaim(claim) : undefined);
  const localpart = template('localpart_template');
  const isConfirmed = config?.['confirm_localpart'] === true;
  const [displayname, email] = [template('display_name_template'), template('email_template')];
  for (const name of ['picture_template', 'picture_claim', 'extra_attributes']) {
    if (config?.[name] !== undefined && config[name] !== null) leaveOut(`${name} is not carried over`);
  }
  if (provider.allow_existing_users === true && localpart === undefined) {
    leaveOut('allow_existing_users is not carried over: users link their accounts while signed in to both');
  }
  if (provider.allow_existing_users === true && localpart !== undefined && !isConfirmed) {
    leaveOut(
      'as with allow_existing_users, a user of the provider gets the account with the same name (localpart.on_conflict)',
    );
  }
  const conflict = provider.allow_existing_users === true && !isConfirmed ? { on_conflict: 'add' } : {};
  return defined({
    subject: subject && { template: subject },
    localpart: localpart && {
      action: isConfirmed ? 'suggest' : 'require',
      template: localpart,
      ...(isConfirmed ? {} : conflict),
    },
    displayname: displayname && { action: 'suggest', template: displayname },
    email: email && { action: 'suggest', template: email },
  });
}

function templateOfClaim(claim: string): string | undefined {
  return claim === 'sub' || !/^[A-Za-z_]\w*$/.test(claim) ? undefined : `{{ user.${claim} }}`;
}

function isTemplate(source: string): boolean {
  try {
    compileTemplate(source, { variables: ['user', 'extra_callback_parameters'] });
    return true;
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return false;
    throw error;
  }
}

/** Removes undefined members. */
function defined(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
}
