import { grantIsPending } from '#domain/records/liveness/authorizations.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import type { RegistrationDeps } from './step.ts';

/**
 * Reads whether a pending authorization request asks for a new account (`prompt=create`) that the user does not have
 * yet. An account older than the request was not created for it. Looks up primary keys.
 */
const isNewAccountRequested = statement<
  { is_wanted: boolean },
  { readonly grantId: string; readonly userId: string; readonly now: Date }
>(
  'registration.wants-new-account',
  `select exists (
     select from oauth2_authorization_grants pending
       join users u on u.id = :userId::uuid and u.created_at < pending.created_at
      where pending.id = :grantId::uuid and 'create' = any(pending.prompt)
        and ${grantIsPending('pending', ':now::timestamptz')}
   ) as is_wanted`,
);

/**
 * Redirects a signed-in user to the target of the continuation, unless a client asked for a new account. Returns
 * undefined for other visitors. A session that is not active counts as none (browser-flows 2.5).
 */
export async function redirectSignedIn(
  deps: RegistrationDeps,
  context: RequestContext,
  action: PostAuthAction | undefined,
): Promise<HttpResponse | undefined> {
  const viewer = await deps.viewers.read(context);
  if (viewer.kind !== 'active') return undefined;
  if (action?.kind === 'continue_authorization_grant') {
    const { database, clock } = deps;
    const row = await database.first(isNewAccountRequested, {
      grantId: toUuid(action.id),
      userId: toUuid(viewer.user.id),
      now: new Date(clock.now()),
    });
    if (row?.is_wanted === true) return undefined;
  }
  return redirect(deps.urls.afterAuthentication(action));
}
