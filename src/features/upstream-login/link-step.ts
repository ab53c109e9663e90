import type { PageDeps } from '#browser/browser.ts';
import type { FormProblem } from '#browser/components/form.tsx';
import { commonRefusalProblem } from '#browser/form-problems.ts';
import type { Translations } from '#browser/i18n/translations.ts';
import { type UpstreamEntry, upstreamEntries } from '#browser/upstream-cookie.ts';
import type { Viewer } from '#domain/browser-sessions/viewer.ts';
import { type CompletedAuthorization, findCompleted } from '#domain/upstream/find-completed.ts';
import type { UpstreamProvider } from '#domain/upstream/upstream-providers.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { parseId } from '#platform/base/ids.ts';
import type { RequestContext } from '#platform/http/request-context.ts';

/** A sign-in that waits for its last step in this browser. */
export interface Step {
  readonly provider: UpstreamProvider;
  readonly entry: UpstreamEntry;
  readonly completed: CompletedAuthorization;
  readonly viewer: Viewer;
}

/** Opens the step. The error is the same for an unknown link, one of another browser, and an expired one. */
export async function openStep(
  deps: PageDeps,
  context: RequestContext,
  viewerRequest: Parameters<PageDeps['viewers']['accept']>[0],
): Promise<Step> {
  const linkId = parseId<'upstream-link'>(context.params['id'] ?? '');
  const entry =
    linkId === undefined
      ? undefined
      : upstreamEntries(context, deps.config.protocolName, deps.clock.now()).find((one) => one.linkId === linkId);
  const provider = deps.upstream.providers.find(entry?.providerId);
  if (linkId === undefined || entry === undefined || provider === undefined) throw notFound(deps);
  const cookie = deps.viewers.cookie(context);
  const { completed, viewerRow } = await findCompleted(deps, { id: entry.id, linkId, cookie });
  if (completed === undefined) throw notFound(deps);
  const viewer = await deps.viewers.accept(viewerRequest, viewerRow);
  return { provider, entry, completed, viewer };
}

/** Why a step's whole form was rejected. */
export type StepRefusal =
  | Parameters<typeof commonRefusalProblem>[1]
  | { readonly reason: 'homeserver-unavailable' | 'requester-banned' | 'state-changed' | 'too-many-links' };

export function stepProblem(translations: Translations, refusal: StepRefusal): FormProblem {
  switch (refusal.reason) {
    case 'homeserver-unavailable':
      return { code: 'homeserver_unavailable', message: translations.t('register.homeserver_unavailable') };
    case 'requester-banned':
      return { code: 'requester-banned', message: translations.t('register.requester_banned') };
    case 'state-changed':
      return { code: 'state_changed', message: translations.t('upstream.state_changed') };
    case 'too-many-links':
      return { code: 'too_many_links', message: translations.t('upstream.too_many_links') };
    default:
      return commonRefusalProblem(translations, refusal);
  }
}

/** Returns the origin of a request: address and user agent. */
export function addressAndAgent({ clientAddress: address, userAgent }: RequestContext) {
  return { address, userAgent };
}

function notFound({ urls }: PageDeps): LatchkeyError {
  return new LatchkeyError('upstream_link_not_found', { restartPath: urls.login() });
}

export function alreadyUsed({ urls }: PageDeps, { action }: UpstreamEntry): LatchkeyError {
  return new LatchkeyError('upstream_already_used', { restartPath: urls.login(action) });
}
