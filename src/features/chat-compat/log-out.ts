import { logOut } from '#domain/compat-sessions/log-out.ts';
import type { Core } from '#domain/core.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, json } from '#platform/http/response.ts';
import { parseBearer } from '#protocol/oauth/presented-credentials.ts';
import { membersOf, optionalFlag } from './json-members.ts';

/** Keeps the sessions of OAuth clients. Clients send the parameter under this name. */
const ONLY_COMPAT = 'io.element.only_compat_is_fine';

/** Signs the client out (chat-compat 6.1). A body is ignored. */
export async function logOutHere(core: Core, context: RequestContext): Promise<HttpResponse> {
  return await signOut(core, context, presentedToken(context), 'own');
}

/** Signs out all of the user's clients (chat-compat 6.2). Browsers stay signed in. */
export async function logOutEverywhere(core: Core, context: RequestContext): Promise<HttpResponse> {
  const token = presentedToken(context);
  const body = hasBody(context) ? membersOf(await context.readJson()) : new Map<string, unknown>();
  const isOnlyCompat = optionalFlag(body, ONLY_COMPAT);
  if (!isOnlyCompat && core.config.compat.logoutAll === 'compat_only') {
    throw new LatchkeyError('not_found', {
      description: `${ONLY_COMPAT} has to be true: only sessions of chat clients are ended here`,
    });
  }
  return await signOut(core, context, token, isOnlyCompat ? 'compat' : 'all');
}

function presentedToken(context: RequestContext): string {
  const credentials = parseBearer(context.headers.authorization);
  if (credentials.kind === 'token') return credentials.token;
  if (credentials.kind === 'absent' || credentials.text.trim() === '') throw new LatchkeyError('missing_token');
  throw unknownToken(false);
}

function hasBody({ headers }: RequestContext): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

async function signOut(
  core: Core,
  context: RequestContext,
  token: string,
  which: 'own' | 'compat' | 'all',
): Promise<HttpResponse> {
  const { clientAddress: address, userAgent } = context;
  const { clientApi: clientApiScopes } = core.scopeRules;
  const now = core.clock.now();
  const outcome = await logOut(core.database, {
    token,
    which,
    clientApiScopes,
    now,
    address,
    userAgent,
    syncsDevices: core.homeserver.isConnected,
  });
  if (!outcome.ok) throw unknownToken(outcome.reason === 'stale');
  const { user, session } = outcome;
  context.setRequester({ kind: 'user', id: user.id, username: user.username });
  if (session.kind === 'compat') core.activity.recordCompatSession(session.id, now, address, userAgent);
  else core.activity.recordOAuth2Session(session.id, now, address, userAgent);
  return json(200, {});
}

/** @param isSoft the client may continue with its refresh token, or by signing in on the same device */
function unknownToken(isSoft: boolean): LatchkeyError {
  return new LatchkeyError('unknown_token', { members: { soft_logout: isSoft } });
}
