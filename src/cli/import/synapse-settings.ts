/** The relevant part of a Synapse configuration, parsed like Synapse does. */
import { z } from 'zod';
import { ExitCode, ExitError } from '#platform/base/errors.ts';

const text = z.string();
const port = z.union([z.number(), z.string()]);
const flag = z.boolean();
/** Synapse also accepts these flags as words. */
const wordyFlag = z.union([
  flag,
  z.enum(['true', 'yes', 'on', '1', 'y', 't']).transform(() => true),
  z.string().transform(() => false),
]);
/** A setting whose presence alone matters. */
const anything = z.unknown();

const provider = z.object({
  idp_id: text.default('oidc'),
  idp_name: text.nullish(),
  idp_icon: text.nullish(),
  idp_brand: text.nullish(),
  discover: flag.default(true),
  issuer: text,
  client_id: text,
  client_secret: text.nullish(),
  client_secret_path: text.nullish(),
  client_secret_jwt_key: anything.optional(),
  client_auth_method: text.nullish(),
  pkce_method: text.nullish(),
  id_token_signing_alg_values_supported: z.array(text).nullish(),
  scopes: z.array(text).nullish(),
  authorization_endpoint: text.nullish(),
  token_endpoint: text.nullish(),
  userinfo_endpoint: text.nullish(),
  jwks_uri: text.nullish(),
  backchannel_logout_enabled: flag.nullish(),
  skip_verification: flag.nullish(),
  user_profile_method: text.nullish(),
  allow_existing_users: flag.nullish(),
  enable_registration: flag.nullish(),
  attribute_requirements: z.array(anything).nullish(),
  additional_authorization_parameters: z.record(text, text).nullish(),
  passthrough_authorization_parameters: z.array(text).nullish(),
  user_mapping_provider: z.object({ module: text.nullish(), config: z.record(text, anything).nullish() }).nullish(),
});

const database = z.object({
  name: text.default('sqlite3'),
  data_stores: z.array(text).nullish(),
  args: z
    .object({
      user: text.nullish(),
      password: text.nullish(),
      dbname: text.nullish(),
      database: text.nullish(),
      host: text.nullish(),
      port: port.nullish(),
      sslmode: text.nullish(),
      sslrootcert: text.nullish(),
      sslcert: text.nullish(),
      sslkey: text.nullish(),
    })
    .nullish(),
});

export type SynapseDatabase = Readonly<z.output<typeof database>>;

const isEnabled = z.object({ enabled: flag.nullish() }).nullish();

const settings = z.object({
  server_name: text,
  public_baseurl: text.nullish(),
  database: database.nullish(),
  databases: z.record(text, database).nullish(),
  database_path: text.nullish(),
  password_config: z
    .object({ enabled: anything.optional(), localdb_enabled: flag.nullish(), pepper: text.nullish() })
    .nullish(),
  bcrypt_rounds: z.number().int().nullish(),
  password_providers: z.array(anything).nullish(),
  modules: z.array(z.object({ module: text })).nullish(),
  allow_guest_access: flag.nullish(),
  enable_3pid_changes: flag.nullish(),
  login_via_existing_session: isEnabled,
  enable_registration: wordyFlag.nullish(),
  disable_registration: wordyFlag.nullish(),
  registration_requires_token: flag.nullish(),
  registrations_require_3pid: z.array(text).nullish(),
  user_consent: anything.optional(),
  enable_registration_captcha: flag.nullish(),
  recaptcha_public_key: text.nullish(),
  recaptcha_private_key: text.nullish(),
  recaptcha_private_key_path: text.nullish(),
  enable_set_displayname: flag.nullish(),
  oidc_providers: z.array(provider).nullish(),
  oidc_config: z
    .union([provider.extend({ enabled: z.literal(true) }), z.object({ enabled: z.literal(false).nullish() })])
    .nullish(),
  cas_config: isEnabled,
  saml2_config: z.object({ enabled: flag.nullish(), sp_config: anything.optional() }).nullish(),
  jwt_config: isEnabled,
  email: anything.optional(),
  session_lifetime: anything.optional(),
});

export type SynapseSettings = Readonly<z.output<typeof settings>>;

/** @throws ExitError 1 with every setting whose type Synapse would not accept */
export function parseSynapseSettings(values: Readonly<Record<string, unknown>>): SynapseSettings {
  const parsed = settings.safeParse(values);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new ExitError(ExitCode.failure, `the configuration of Synapse is not valid:\n  ${problems.join('\n  ')}`);
}

/** Returns the providers in use, with their names in Synapse's database. */
export function providersOf({ oidc_providers: listed, oidc_config: single }: SynapseSettings) {
  const alone = single !== null && single !== undefined && 'issuer' in single ? [single] : [];
  return [...(listed ?? []), ...alone].map((one) => ({ ...one, name: providerName(one.idp_id) }));
}

function providerName(idpId: string): string {
  return idpId === 'oidc' ? idpId : `oidc-${idpId}`;
}

/** Returns the common names of sign-in methods without a counterpart here. */
export function otherSignInsOf(settings: SynapseSettings): string[] {
  const modules = (settings.modules ?? []).map(({ module }) => module).filter((name) => /ldap|auth/i.test(name));
  return [
    ...(settings.cas_config?.enabled === true ? ['CAS (cas_config)'] : []),
    ...(hasSaml(settings) ? ['SAML (saml2_config)'] : []),
    ...(settings.jwt_config?.enabled === true ? ['JWT (jwt_config)'] : []),
    ...((settings.password_providers ?? []).length > 0 ? ['password_providers, such as LDAP'] : []),
    ...modules.map((name) => `the module ${name}`),
  ];
}

function hasSaml({ saml2_config: saml }: SynapseSettings): boolean {
  return saml?.enabled ?? (saml?.sp_config !== undefined && saml.sp_config !== null);
}

/** Returns true if users can register. */
export function isRegistrationOpen({ enable_registration: enabled, disable_registration: disabled }: SynapseSettings) {
  return disabled === null || disabled === undefined ? enabled === true : !disabled;
}
