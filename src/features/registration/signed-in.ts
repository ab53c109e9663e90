import { toUuid } from '#platform/base/ids.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import type { RegistrationDeps } from './deps.ts';
import { wantsNewAccount } from './queries.ts';

/**
 * Sends someone who is signed in on to where they wanted to go, unless that is an application which asked for a new
 * account; undefined for everybody who may register. A dead session counts as none (browser-flows 2.5).
 */
export async function passSignedIn(
  deps: RegistrationDeps,
  context: RequestContext,
  action: PostAuthAction | undefined,
): Promise<HttpResponse | undefined> {
  const viewer = await deps.viewers.read(context);
  if (viewer.kind !== 'active') return undefined;
  if (action?.kind === 'continue_authorization_grant') {
    const { database, clock } = deps;
    const row = await database.first(wantsNewAccount, {
      grantId: toUuid(action.id),
      userId: toUuid(viewer.user.id),
      now: new Date(clock.now()),
    });
    if (row?.is_wanted === true) return undefined;
  }
  return redirect(deps.urls.afterAuthentication(action));
}
