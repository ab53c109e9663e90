/** Checks mail and sign-in providers (operations 3.8). Sends no email. */
import type { Config } from '#config/config.ts';
import { findProviderStates } from '#domain/upstream/find-provider-states.ts';
import { lastErrorOf } from '#domain/upstream/provider-errors.ts';
import { discoveryAddress } from '#domain/upstream/provider-metadata.ts';
import { asksForIdToken, type UpstreamProvider } from '#domain/upstream/upstream-providers.ts';
import { systemClock } from '#platform/base/clock.ts';
import { openTransport } from '#platform/mail/open-transport.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { type ProviderMetadata, readProviderMetadata } from '#protocol/oidc/provider-metadata.ts';
import type { Ask } from './ask.ts';
import { type Finding, fail, ok, skip, warn } from './finding.ts';

const MAIL_LIMIT_MS = 30_000;

export async function checkMail(
  { account, email, passwords }: Pick<Config, 'account' | 'email' | 'passwords'>,
  limitMs = MAIL_LIMIT_MS,
): Promise<Finding> {
  const name = 'email';
  const transport = openTransport(email.transport, systemClock);
  if (transport === undefined) {
    const isNeeded =
      passwords.enabled &&
      (account.passwordRecoveryEnabled ||
        (account.passwordRegistrationEnabled && account.passwordRegistrationEmailRequired));
    if (!isNeeded) return skip(name, 'no emails are sent: email.transport is "blackhole"');
    return warn(
      name,
      'no emails are sent, but account recovery or registration requires them',
      'Set email.transport (docs/guides/mail.md), or disable the features that require email',
    );
  }
  const reason = await transport.test(AbortSignal.timeout(limitMs));
  if (reason === undefined) return ok(name, `the mail transport accepts emails (${email.transport.kind})`);
  return fail(
    name,
    `the mail transport does not accept emails: ${reason}`,
    'Emails wait in the queue. docs/guides/mail.md explains each reason',
  );
}

export async function checkProviders(
  { providers }: Pick<Config['upstreamOauth2'], 'providers'>,
  ask: Ask,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const provider of providers.filter(({ isEnabled }) => isEnabled))
    findings.push(await checkProvider(provider, ask));
  return findings;
}

async function checkProvider(provider: UpstreamProvider, ask: Ask): Promise<Finding> {
  const name = `upstream.${provider.id}` as const;
  const hint =
    'Users cannot sign in with this provider. Compare its entry in upstream_oauth2.providers with its documentation';
  const discovered: Discovered =
    provider.discoveryMode === 'disabled' ? { ok: true, metadata: provider } : await discover(provider, ask);
  if (!discovered.ok) return fail(name, `${provider.name}: ${discovered.problem}`, hint);
  if (!asksForIdToken(provider)) return ok(name, `${provider.name} is reachable`);
  const { jwksUri } = discovered.metadata;
  if (jwksUri === undefined) return fail(name, `${provider.name} does not publish keys`, hint);
  const requested = await ask(new URL(jwksUri));
  if (!requested.ok) return fail(name, `its keys at ${jwksUri}: ${requested.reason}`, hint);
  const keys = requested.members?.get('keys');
  if (requested.status !== 200 || !Array.isArray(keys) || keys.length === 0)
    return fail(name, `no keys at ${jwksUri} (${requested.status})`, hint);
  return ok(name, `${provider.name} is reachable and has ${keys.length} keys`);
}

type Discovered =
  | { readonly ok: true; readonly metadata: Pick<ProviderMetadata, 'jwksUri'> }
  | { readonly ok: false; readonly problem: string };

async function discover(provider: UpstreamProvider, ask: Ask): Promise<Discovered> {
  const address = discoveryAddress(provider);
  const requested = await ask(new URL(address));
  if (!requested.ok) return { ok: false, problem: `${address}: ${requested.reason}` };
  if (requested.status !== 200) return { ok: false, problem: `${address} responds ${requested.status}` };
  const document = requested.members === undefined ? undefined : Object.fromEntries(requested.members);
  const outcome = readProviderMetadata(document, provider, { isStrict: provider.discoveryMode === 'oidc' });
  return outcome.ok ? outcome : { ok: false, problem: `${address} cannot be used: ${outcome.problem}` };
}

/** Checks sign-in providers by what the service noted when it used them, without a request. */
export async function checkProviderStates(
  { providers }: Pick<Config['upstreamOauth2'], 'providers'>,
  database: Queryable,
  now: number,
): Promise<readonly Finding[]> {
  const enabled = providers.filter(({ isEnabled }) => isEnabled);
  if (enabled.length === 0) return [];
  const times = await findProviderStates(
    database,
    enabled.map(({ id }) => id),
  );
  return enabled.map(({ id, name: shown }) => {
    const name = `upstream.${id}` as const;
    const known = times.get(id);
    const error = known === undefined ? undefined : lastErrorOf(known, now);
    if (error?.isCurrent === true) return fail(name, `${shown}: ${error.message}`, error.remedy);
    const isUsed =
      known !== undefined && (known.metadata_fetched_at ?? known.keys_fetched_at ?? known.last_success_at) !== null;
    return isUsed ? ok(name, `${shown} works`) : skip(name, `${shown} has not been used yet`);
  });
}
