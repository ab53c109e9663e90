import type { SampleValues } from '#config/reference/sample.ts';
import { randomAlphanumeric } from '#platform/base/random.ts';
import { carryProvider } from './carried-provider.ts';
import type { SynapseConfiguration } from './synapse-files.ts';
import { isRegistrationOpen, otherSignInsOf, providersOf, type SynapseSettings } from './synapse-settings.ts';

/** Settings converted from a Synapse configuration (operations 3.3). */
export interface CarriedSettings {
  readonly values: SampleValues;
  /** One sentence for each omitted setting and each manual step. */
  readonly warnings: readonly string[];
}

/** @param now milliseconds since the epoch */
export function carrySettings({ settings, readFile }: SynapseConfiguration, now: number): CarriedSettings {
  const providers = providersOf(settings).map((provider) => carryProvider(provider, now, readFile));
  const entries = providers.flatMap(({ entry }) => entry ?? []);
  const captcha = captchaOf(settings, readFile);
  const values: SampleValues = {
    // Synapse clients know its paths and scopes by this name.
    protocol_name: 'matrix',
    homeserver: {
      kind: 'synapse',
      homeserver: settings.server_name,
      ...(settings.public_baseurl && { endpoint: settings.public_baseurl }),
      secret: randomAlphanumeric(32),
    },
    passwords: passwordsOf(settings),
    account: accountOf(settings),
    ...(captcha !== undefined && { captcha }),
    ...(entries.length > 0 && { upstream_oauth2: { providers: entries } }),
  };
  return { values, warnings: [...providers.flatMap(({ warnings }) => warnings), ...leftOut(settings, captcha)] };
}

function passwordsOf({ password_config: passwords, bcrypt_rounds: cost }: SynapseSettings) {
  const isDelegated = passwords?.enabled === undefined || passwords.enabled === null;
  return {
    ...(isDelegated ? {} : { enabled: passwords.enabled !== false }),
    schemes: [
      {
        version: 1,
        algorithm: 'bcrypt',
        ...(typeof cost === 'number' && cost >= 4 && cost <= 31 && { cost }),
        unicode_normalization: true,
        ...(passwords?.pepper && { secret: passwords.pepper }),
      },
      { version: 2, algorithm: 'argon2id' },
    ],
  };
}

function accountOf(settings: SynapseSettings) {
  const { enable_3pid_changes: emails, enable_set_displayname: names, registration_requires_token: token } = settings;
  return {
    ...(typeof emails === 'boolean' && { email_change_allowed: emails }),
    ...(typeof names === 'boolean' && { displayname_change_allowed: names }),
    password_registration_enabled: isRegistrationOpen(settings),
    ...(token === true && { password_registration_token_required: true }),
  };
}

/** Converts the CAPTCHA of Synapse's registration; undefined if a key is missing. */
function captchaOf(
  settings: SynapseSettings,
  readFile: SynapseConfiguration['readFile'],
): { service: string; site_key: string; secret_key: string } | undefined {
  const { enable_registration_captcha: isOn, recaptcha_public_key: site_key, recaptcha_private_key: key } = settings;
  const { recaptcha_private_key_path: path } = settings;
  if (isOn !== true || !site_key) return undefined;
  const secret_key = key || (path ? readFile(path).trim() : undefined);
  return secret_key ? { service: 'recaptcha_v2', site_key, secret_key } : undefined;
}

function leftOut(settings: SynapseSettings, captcha: object | undefined): string[] {
  const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== false;
  const others: readonly (readonly [boolean, string])[] = [
    [!isSet(settings.public_baseurl), 'public_baseurl is not set in Synapse: set homeserver.endpoint'],
    [
      settings.password_config?.enabled === 'only_for_reauth',
      'password_config.enabled is only_for_reauth in Synapse: users can sign in with passwords here',
    ],
    [
      settings.password_config?.localdb_enabled === false,
      'password_config.localdb_enabled is not carried over: passwords remain usable here',
    ],
    [
      captcha === undefined && isSet(settings.enable_registration_captcha),
      'the reCAPTCHA keys are not carried over because one of them is missing: see captcha',
    ],
    [
      (settings.registrations_require_3pid ?? []).length > 0,
      'registrations_require_3pid is not carried over: see account.password_registration_email_required',
    ],
    [isSet(settings.user_consent), 'user_consent is not carried over: set branding.tos_uri to your terms of service'],
    [settings.allow_guest_access === true, 'allow_guest_access is not carried over: guests are not supported'],
    [settings.login_via_existing_session?.enabled === true, 'login_via_existing_session is not carried over'],
    [isSet(settings.session_lifetime), 'session_lifetime is not carried over: sessions have no fixed lifetime'],
    [isSet(settings.email), 'email is not carried over: set the mail server in the section email'],
  ];
  return [
    ...others.filter(([applies]) => applies).map(([, warning]) => warning),
    ...otherSignInsOf(settings).map((name) => `sign-in by ${name} is not carried over`),
    'http.public_base and database.uri have default values: set them to the URL and the database of this service',
  ];
}
