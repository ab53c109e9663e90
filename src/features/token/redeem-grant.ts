/** What authorization codes and device codes share: a user has approved a grant, and its code opens a session. */
import { deviceName } from '#browser/device-name.ts';
import type { ApprovedGrantRow, PresentedGrantRow } from '#domain/authorizations/approved-grant.ts';
import type { Client } from '#domain/clients/client.ts';
import { isClientCurrent } from '#domain/clients/is-client-current.ts';
import { prepareRedemption, type RedeemingDevice, type Redemption } from '#domain/oauth-sessions/open-session.ts';
import { bindingKey, type ProofKey } from '#domain/oauth-sessions/proof-key.ts';
import type { Redeeming, RedeemOutcome } from '#domain/oauth-sessions/redeem.ts';
import type { JudgedGrant } from '#domain/policy/judge-grant.ts';
import { userFacts } from '#domain/records/user-facts.ts';
import { fromUuid } from '#platform/base/ids.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import type { GrantType } from '#protocol/oauth/client-metadata.ts';
import type { UserClaimName } from '#protocol/oidc/user-claims.ts';
import { issuedAccessToken, signIdToken, type TokenDeps, tokenResponse, tokenTarget } from './grant.ts';

/** 256 bits in base64url. Anything else is not a code, and takes no query. */
const CODE = /^[A-Za-z0-9_-]{43}$/;

export function isCode(text: string): boolean {
  return CODE.test(text);
}

/**
 * Returns whether the cached record of the client is current. Asks the database only if no grant was found. Text that
 * is not a code needs no answer.
 */
export async function isCurrentAt(
  { database }: TokenDeps,
  client: Client,
  row: Pick<PresentedGrantRow, 'client_admits'> | undefined,
  code: string,
): Promise<boolean> {
  if (row !== undefined) return row.client_admits !== null;
  return !isCode(code) || (await isClientCurrent(database, client));
}

/** Returns the input for the operator's rules when a user's grant is redeemed. */
export function grantOfUser(
  row: Pick<ApprovedGrantRow, 'can_request_admin' | 'scope' | 'user_id' | 'username'>,
  client: Client,
  grantType: GrantType,
): JudgedGrant {
  const { username, can_request_admin: canRequestAdmin, scope } = row;
  return { user: { id: fromUuid<'user'>(row.user_id), username, canRequestAdmin }, client, scope, grantType };
}

/** What a redemption issues. */
interface Issued<Row extends ApprovedGrantRow> {
  readonly redemption: Redemption<Row>;
  readonly accessToken: string;
  readonly idToken: string | undefined;
}

/** A grant that passed its checks. */
interface PassedGrant<Row extends ApprovedGrantRow> {
  readonly row: Row;
  /** Resources named in the token request. */
  readonly resources: readonly string[];
  readonly provenKey: ProofKey | undefined;
  /** Milliseconds since the epoch. */
  readonly presentedAt: number;
  /** For the ID token, like the next two: claims that the client requested individually. */
  readonly namedClaims: readonly UserClaimName[];
  readonly nonce?: string | undefined;
  readonly code?: string | undefined;
  /** The operation for this kind of grant. */
  readonly redeem: (
    deps: TokenDeps,
    redeeming: Redeeming<Row, Issued<Row>>,
    settings: TokenDeps['settings'],
  ) => Promise<RedeemOutcome<Issued<Row>>>;
}

type Redeemed =
  | { readonly ok: true; readonly response: HttpResponse }
  | Extract<RedeemOutcome<never>, { readonly ok: false }>;

/** Opens a session for the grant, and returns its first tokens. */
export async function redeemGrant<Row extends ApprovedGrantRow>(
  deps: TokenDeps,
  context: RequestContext,
  client: Client,
  grant: PassedGrant<Row>,
): Promise<Redeemed> {
  const { settings } = deps;
  const { row, provenKey: proofKey } = grant;
  const key = bindingKey(deps.scopeRules, client, row.scope, proofKey);
  const target = tokenTarget(deps, client, row, grant.resources, key);
  const redeeming = {
    row,
    client,
    device: redeemingDevice(deps, context, client, row),
    presentedAt: grant.presentedAt,
    waiting: context,
    prepare: async (at: number) => {
      const redemption = prepareRedemption(row, client, target, settings, at);
      // Signed before anything is written, so that a failing key does not cost the client its code.
      const accessToken = await accessTokenOf(deps, client, redemption);
      const idToken = await idTokenOf(deps, client, redemption, accessToken, grant);
      await proofKey?.consume();
      return { redemption, accessToken, idToken };
    },
  };
  const outcome = await grant.redeem(deps, redeeming, settings);
  if (!outcome.ok) return outcome;
  const { accessToken, idToken, redemption } = outcome.prepared;
  deps.activity.recordOAuth2Session(redemption.sessionId, redemption.now, context.clientAddress, context.userAgent);
  deps.activity.counters.count('tokens_issued', client.id, redemption.now);
  const response = tokenResponse({
    accessToken,
    expiresAt: redemption.accessTokenExpiresAt,
    refreshToken: redemption.refreshToken,
    scope: target.scope,
    key,
    idToken,
    now: redemption.now,
  });
  return { ok: true, response };
}

/** Returns where a user's session begins, and the device that the granted scope names. */
function redeemingDevice(
  { scopeRules }: TokenDeps,
  { clientAddress, userAgent }: RequestContext,
  client: Client,
  { scope, locale }: ApprovedGrantRow,
): RedeemingDevice {
  const id = scopeRules.deviceIdOf(scope);
  const name = id === undefined ? undefined : deviceName(client, locale ?? 'en', userAgent);
  return { id, name, userAgent, address: clientAddress };
}

async function accessTokenOf(
  deps: TokenDeps,
  client: Client,
  { accessToken, accessTokenExpiresAt, now, row, target, userId }: Redemption<ApprovedGrantRow>,
): Promise<string> {
  return await issuedAccessToken(deps, client, {
    ...{ text: accessToken, userId, target, issuedAt: now, expiresAt: accessTokenExpiresAt },
    ...{ authenticatedAt: row.auth_time ?? undefined, acr: row.acr ?? undefined },
    groups: userFacts(row).groups,
  });
}

async function idTokenOf(
  deps: TokenDeps,
  client: Client,
  { row, userId, sessionId, target, now }: Redemption<ApprovedGrantRow>,
  accessToken: string,
  { namedClaims, nonce, code }: Pick<PassedGrant<ApprovedGrantRow>, 'code' | 'namedClaims' | 'nonce'>,
): Promise<string | undefined> {
  return await signIdToken(deps, client, {
    userId,
    user: userFacts(row),
    namedClaims,
    sessionId,
    scope: target.scope,
    authenticatedAt: row.auth_time ?? undefined,
    acr: row.acr ?? undefined,
    amr: row.amr,
    accessToken,
    nonce,
    code,
    now,
  });
}
