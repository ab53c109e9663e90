import type { PageDeps } from '#browser/browser.ts';
import { type ShownClient, shownClient } from '#browser/components/client.tsx';
import type { FormProblem } from '#browser/components/form.tsx';
import { refusalTitle } from '#browser/components/policy-refusal.tsx';
import { cleanName } from '#browser/components/text.tsx';
import { decidingAccount } from '#browser/deciding-account.ts';
import { isGrantBound } from '#browser/grants-cookie.ts';
import type { Translations } from '#browser/i18n/translations.ts';
import { decideDeviceCodeGrant } from '#domain/authorizations/decide-device-code-grant.ts';
import {
  type DeviceCodeGrant,
  type DeviceCodeGrantRow,
  type DeviceCodeGrantState,
  deviceCodeGrantColumns,
  deviceCodeGrantState,
  toDeviceCodeGrant,
} from '#domain/authorizations/device-code-grant.ts';
import { type Viewer, type ViewerRow, viewerColumns, viewerJoin } from '#domain/browser-sessions/viewer.ts';
import type { Client } from '#domain/clients/client.ts';
import { judgeGrant } from '#domain/policy/judge-grant.ts';
import {
  describeViolations,
  findViolations,
  mayAdminister,
  refusingSetting,
  type Violation,
} from '#domain/policy/violations.ts';
import { clientAdmits } from '#domain/records/liveness/clients.ts';
import {
  type OpenSessionsRow,
  openSessionsColumns,
  openSessionsJoin,
  toOpenSessions,
} from '#domain/records/session-limit.ts';
import { isRecent } from '#platform/base/clock.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { parseId, toUuid } from '#platform/base/ids.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, type Responded, redirect, responseFor } from '#platform/http/response.ts';
import { statement } from '#platform/postgres/statement.ts';
import { DEVICE_CODE_GRANT_TYPE } from '#protocol/oauth/client-metadata.ts';
import { commonHost } from '#protocol/oidc/sector.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import { DeviceForbiddenPage, DevicePage, DeviceResultPage, requestingDevice } from './device.page.tsx';

type ActiveViewer = Extract<Viewer, { readonly kind: 'active' }>;

/** A device that waits for the signed-in user. */
interface WaitingDevice {
  readonly ok: true;
  readonly grant: DeviceCodeGrant;
  readonly client: Client;
  readonly viewer: ActiveViewer;
  /** Why this user may not approve the device. */
  readonly violations: readonly Violation[];
}

type DeviceProblem = 'csrf_expired' | 'invalid_action' | 'required';

/** `GET /device/{device_code_id}`: asks for the decision, or shows it. */
export async function showDevice(deps: PageDeps, context: RequestContext): Promise<HttpResponse> {
  const opened = await openDevice(deps, context);
  if (!opened.ok) return opened.response;
  return await showDecision(deps, context, opened);
}

/** `POST /device/{device_code_id}`: the user's decision. */
export async function submitDevice(deps: PageDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await context.readForm();
  const isExpired = deps.csrf.check(context, form) === 'expired';
  const action = form.get('action');
  const opened = await openDevice(deps, context, action);
  if (!opened.ok) return opened.response;
  if (isExpired) return await showDecision(deps, context, opened, 'csrf_expired');
  if (action === 'consent') {
    if (opened.violations.length > 0) return await showDecision(deps, context, opened);
    if (form.get('confirm_device') === undefined) return await showDecision(deps, context, opened, 'required');
  } else if (action !== 'reject') {
    return await showDecision(deps, context, opened, 'invalid_action');
  }
  const { grant, client, viewer } = opened;
  const isDecided = await decideDeviceCodeGrant(deps.database, {
    id: grant.id,
    isConfirmed: action === 'consent',
    userId: viewer.user.id,
    browserSessionId: viewer.session.id,
    clientVersion: client.version,
    locale: deps.pages.language(context).language,
    address: context.clientAddress,
    userAgent: context.userAgent,
    now: deps.clock.now(),
  });
  // The grant, session, account or client changed after it was read. The page determines which.
  if (!isDecided) deps.clients.forget(client.id);
  return redirect(deps.urls.device(grant.id));
}

/**
 * Reads the grant with one statement, and determines whether the signed-in user may decide about it: the steps of oauth
 * 10.3 in their order. Sets the viewer as the request's requester.
 * @throws LatchkeyError `device_code_not_found`, `device_code_used`, `expired_token`
 */
async function openDevice(
  deps: PageDeps,
  context: RequestContext,
  decision?: string,
): Promise<WaitingDevice | Responded> {
  const { database, clients, clock, keyRing, urls, viewers } = deps;
  const id = parseId<'device-code-grant'>(context.params['device_code_id'] ?? '');
  const cookie = viewers.cookie(context);
  const now = clock.now();
  const row = await database.first(readDevice, {
    grantId: id === undefined ? null : toUuid(id),
    browserSessionId: cookie === undefined ? null : toUuid(cookie.id),
    countedSince: deps.sessionLimit.countedSince(now),
    now: new Date(now),
  });
  const viewer = await viewers.accept(context, row);
  const restartPath = urls.link();
  // The URL alone is not enough: an attacker could send it to a user, who would never have entered the code (S-117).
  if (row === undefined || row.grant_id === null || id === undefined || !isGrantBound(context, id, now)) {
    throw new LatchkeyError('device_code_not_found', { restartPath });
  }
  const grant = toDeviceCodeGrant(row, keyRing);
  const action = continuation(grant);
  if (viewer.kind === 'anonymous') return responseFor(redirect(urls.login(action)));
  if (viewer.kind !== 'active') return responseFor(deps.interstitials.answer(context, viewer, { action }));
  const state = deviceCodeGrantState(grant, now);
  if (state === 'expired') throw new LatchkeyError('expired_token', { restartPath });
  const client = await clients.find(grant.clientId);
  if (client === undefined) throw new LatchkeyError('device_code_not_found', { restartPath });
  if (state !== 'pending') {
    if (grant.browserSessionId !== viewer.session.id) throw new LatchkeyError('device_code_used', { restartPath });
    return responseFor(
      context.method === 'POST' ? redirect(urls.device(grant.id)) : showResult(deps, context, state, client),
    );
  }
  const asksForAdmin = grant.scope.some((scope) => deps.scopeRules.isAdmin(scope));
  // Denying a device does not require reauthentication.
  const isGiving = asksForAdmin && mayAdminister(viewer.user, deps) && decision !== 'reject';
  if (isGiving && isTooOld(deps, viewer, now)) return responseFor(redirect(urls.reauth(action)));
  const openSessions = toOpenSessions(row);
  const { user } = viewer;
  const { scope } = grant;
  const sessionCount = deps.sessionLimit.isCounting ? openSessions.count : undefined;
  const refusals = await judgeGrant(
    deps,
    { user, client, scope, grantType: DEVICE_CODE_GRANT_TYPE, sessionCount },
    context,
  );
  const violations = findViolations({ user, isAdmitted: row.is_admitted, scope, refusals, openSessions }, deps);
  return { ok: true, grant, client, viewer, violations };
}

/** Security R-32. */
function isTooOld({ config }: PageDeps, { session }: ActiveViewer, now: number): boolean {
  const { reauthMaxAgeSeconds } = config.account;
  return reauthMaxAgeSeconds !== undefined && !isRecent(session.authenticatedAt, reauthMaxAgeSeconds * 1000, now);
}

/**
 * Reads the grant, the signed-in user, and whether the client admits the user. Returns a row even without the grant. All
 * lookups use primary keys.
 */
const readDevice = statement<
  ViewerRow & OpenSessionsRow & { readonly is_admitted: boolean } & (DeviceCodeGrantRow | { readonly grant_id: null }),
  {
    readonly grantId: string | null;
    readonly browserSessionId: string | null;
    readonly countedSince: Date | null;
    readonly now: Date;
  }
>(
  'device.page',
  `select ${deviceCodeGrantColumns('asked')}, ${viewerColumns}, ${openSessionsColumns},
          ${clientAdmits('client', 'viewer_user')} as is_admitted
     from (select 1) as one
     left join oauth2_device_code_grants asked on asked.id = :grantId::uuid
     left join oauth2_clients client on client.id = asked.client_id
     ${viewerJoin(':browserSessionId::uuid')}
     ${openSessionsJoin('viewer_user.id', ':countedSince::timestamptz', ':now::timestamptz')}`,
);

function continuation(grant: DeviceCodeGrant): PostAuthAction {
  return { kind: 'continue_device_code_grant', id: grant.id };
}

async function showDecision(
  deps: PageDeps,
  context: RequestContext,
  waiting: WaitingDevice,
  problem?: DeviceProblem,
): Promise<HttpResponse> {
  const { grant, viewer, violations } = waiting;
  const translations = deps.pages.language(context);
  const client = askingClient(deps, waiting.client, translations.language);
  const form = { path: deps.urls.device(grant.id), csrf: deps.csrf.field(context) };
  const account = await decidingAccount(deps, viewer.user, continuation(grant));
  if (violations.length > 0) {
    deps.log.info('auth.refused', 'device authorization refused', {
      code: 'access_denied',
      description: describeViolations(violations),
      setting: refusingSetting(violations),
      client: waiting.client.identifier,
      user: viewer.user.id,
    });
    return deps.pages.answer({
      status: 403,
      title: refusalTitle(translations, client, violations),
      translations,
      content: (
        <DeviceForbiddenPage
          {...{ translations, client, account, form, violations }}
          help={deps.config.branding}
          retryPath={deps.urls.device(grant.id)}
          sessionsPath={deps.urls.account('sessions')}
        />
      ),
    });
  }
  return deps.pages.answer({
    title: translations.t('device.title', { client: cleanName(client.name) }),
    translations,
    client,
    isRejected: problem !== undefined,
    content: (
      <DevicePage
        {...{ translations, client, account, form }}
        device={requestingDevice(grant, deps.clock.now())}
        scopes={grant.scope}
        resources={deps.resourceRules.shown(grant.resources)}
        problems={problem === undefined ? [] : [deviceProblem(translations, problem)]}
      />
    ),
  });
}

/**
 * No redirect shows the user who the client is. A client without a home page is therefore shown with the host that all
 * its redirect URIs share (oauth 10.3, security S-56).
 */
function askingClient(deps: PageDeps, client: Client, language: string): ShownClient {
  const shown = shownClient(client, language, deps);
  return { ...shown, host: shown.host ?? commonHost(client.redirectUris) };
}

function showResult(
  deps: PageDeps,
  context: RequestContext,
  state: Exclude<DeviceCodeGrantState, 'pending' | 'expired'>,
  client: Client,
): HttpResponse {
  const translations = deps.pages.language(context);
  const isGranted = state !== 'rejected';
  return deps.pages.answer({
    title: translations.t(isGranted ? 'device.granted.title' : 'device.rejected.title'),
    translations,
    content: (
      <DeviceResultPage
        translations={translations}
        isGranted={isGranted}
        clientName={shownClient(client, translations.language, deps).name}
      />
    ),
  });
}

/** Returns the problem as text, with the codes of browser-flows 9.2. */
export function deviceProblem(translations: Translations, code: DeviceProblem): FormProblem {
  switch (code) {
    case 'csrf_expired':
      return { code, message: translations.t('form.csrf_expired') };
    case 'invalid_action':
      return { code, message: translations.t('form.invalid_action') };
    case 'required':
      return { code, field: 'confirm_device', message: translations.t('device.confirm_required') };
  }
}
