import type { Config } from '#config/config.ts';
import type { Finding } from '#domain/import/finding.ts';
import { IMPORTED_SCHEME_VERSION } from '#domain/import/synapse/users.ts';
import { pepperOf } from '#platform/password-hash/schemes.ts';
import { isRegistrationOpen, otherSignInsOf, providersOf, type SynapseSettings } from './synapse-settings.ts';

/** Protocol name of Synapse. */
const PROTOCOL_NAME = 'matrix';

const error = (code: string, message: string): Finding => ({ severity: 'error', code, message });
const warning = (code: string, message: string): Finding => ({ severity: 'warning', code, message });

/**
 * Returns findings in both configurations that prevent an import or need work afterwards.
 * @param hasPasswords whether any account in Synapse has a password
 */
export function findingsOfSettings(
  there: SynapseSettings,
  here: Pick<Config, 'protocolName' | 'homeserver' | 'passwords' | 'upstreamOauth2' | 'branding' | 'captcha'>,
  hasPasswords: boolean,
): readonly Finding[] {
  const { homeserver } = here.homeserver;
  return [
    ...(there.server_name === homeserver
      ? []
      : [
          error(
            'server_name_differs',
            `server_name of Synapse is "${there.server_name}", but homeserver.homeserver is "${homeserver}": they must be equal`,
          ),
        ]),
    ...connectionFindings(here),
    ...(hasPasswords ? passwordFindings(there, here.passwords) : []),
    ...refusedSettings(there),
    ...providerFindings(there, here.upstreamOauth2),
    ...laterWork(there, here),
  ];
}

function connectionFindings({ protocolName, homeserver }: Pick<Config, 'protocolName' | 'homeserver'>): Finding[] {
  const findings: Finding[] = [];
  if (protocolName !== PROTOCOL_NAME) {
    findings.push(
      warning(
        'protocol_name',
        `protocol_name is "${protocolName}", but clients of Synapse require "${PROTOCOL_NAME}". Change it and use a new database, since a database keeps its first protocol_name`,
      ),
    );
  }
  if (homeserver.kind === 'none') {
    findings.push(
      warning('homeserver_none', 'homeserver.kind is none: Synapse cannot use this service and gets no updates'),
    );
  }
  return findings;
}

function passwordFindings({ password_config: there }: SynapseSettings, here: Config['passwords']): Finding[] {
  const code = 'password_scheme';
  if (!here.enabled) {
    return [warning('passwords_off', 'passwords.enabled is false: users cannot sign in with their Synapse passwords')];
  }
  const advice = `add to passwords.schemes an entry { version: ${IMPORTED_SCHEME_VERSION}, algorithm: bcrypt, unicode_normalization: true }`;
  const scheme = here.schemes.find(({ version }) => version === IMPORTED_SCHEME_VERSION);
  if (scheme === undefined)
    return [error(code, `no password scheme has version ${IMPORTED_SCHEME_VERSION}: ${advice}`)];
  if (scheme.algorithm !== 'bcrypt') {
    return [error(code, `the password scheme of version ${IMPORTED_SCHEME_VERSION} is ${scheme.algorithm}: ${advice}`)];
  }
  const findings: Finding[] = [];
  if (!pepperOf(scheme).equals(Buffer.from(there?.pepper ?? ''))) {
    findings.push(
      error(
        'password_pepper',
        `the secret of the password scheme with version ${IMPORTED_SCHEME_VERSION} differs from password_config.pepper of Synapse`,
      ),
    );
  }
  if (!scheme.unicodeNormalization) {
    findings.push(
      error(
        'password_normalization',
        `the password scheme of version ${IMPORTED_SCHEME_VERSION} requires unicode_normalization: true, as in Synapse`,
      ),
    );
  }
  return findings;
}

/** Settings that cannot be kept, and need a decision before users notice. */
function refusedSettings(there: SynapseSettings): Finding[] {
  const findings: Finding[] = [];
  if (there.allow_guest_access === true) {
    findings.push(
      error(
        'guests_enabled',
        'allow_guest_access is on in Synapse: delegated authentication does not support guests, so disable it',
      ),
    );
  }
  if (there.enable_3pid_changes === true) {
    findings.push(
      error(
        'threepid_changes_enabled',
        'enable_3pid_changes is on in Synapse: email addresses are now changed here, so disable it',
      ),
    );
  }
  if (there.login_via_existing_session?.enabled === true) {
    findings.push(error('login_via_existing_session', 'login_via_existing_session is on in Synapse: disable it'));
  }
  return findings;
}

function providerFindings(there: SynapseSettings, { providers }: Config['upstreamOauth2']): Finding[] {
  const here = new Set(providers.map(({ synapseIdpId }) => synapseIdpId));
  return providersOf(there)
    .filter(({ name }) => !here.has(name))
    .map(({ name, issuer }) =>
      warning(
        'provider_to_map',
        `Synapse has the provider "${name}" (${issuer}), which is not configured here: add it to upstream_oauth2.providers with synapse_idp_id: ${name}`,
      ),
    );
}

/** Synapse settings without a counterpart here, or that stop working once Synapse delegates authentication. */
function laterWork(there: SynapseSettings, { branding, captcha }: Pick<Config, 'branding' | 'captcha'>): Finding[] {
  const findings = otherSignInsOf(there).map((name) =>
    warning('unsupported_sign_in', `Synapse signs users in with ${name}, which is not supported here`),
  );
  if (isRegistrationOpen(there)) {
    findings.push(
      warning(
        'registration_enabled',
        'enable_registration is on in Synapse: disable it there, and see account.password_registration_enabled',
      ),
    );
  }
  if (there.user_consent !== null && there.user_consent !== undefined) {
    findings.push(
      warning(
        'user_consent_enabled',
        'user_consent is set in Synapse, which does not start with it under delegated authentication: remove it',
      ),
    );
    if (branding.tosUri === undefined) {
      findings.push(
        warning('terms_missing', 'Synapse requires users to accept terms, but branding.tos_uri is not set'),
      );
    }
  }
  if (there.enable_registration_captcha === true) {
    const off = 'enable_registration_captcha is on in Synapse: disable it there';
    findings.push(
      captcha === undefined
        ? warning('captcha_missing', `${off}, and configure the section captcha`)
        : warning('registration_captcha_enabled', off),
    );
  }
  return findings;
}
