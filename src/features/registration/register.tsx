import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { parsePostAuthAction } from '#protocol/post-auth-action.ts';
import { ClosedPage } from './closed.page.tsx';
import type { RegistrationDeps } from './deps.ts';
import { MAX_USERNAME_CHARACTERS, proposedUsername } from './proposed-username.ts';
import { showUnknownProvider } from './register-with-password.tsx';
import { passSignedIn } from './signed-in.ts';

/** `GET /register`: leads to the one way that there is to register. */
export async function showRegister(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const action = parsePostAuthAction(context.query, deps.protocolName);
  const elsewhere = await passSignedIn(deps, context, action);
  if (elsewhere !== undefined) return elsewhere;
  // Also remembers the language that this address asks for.
  const translations = deps.pages.language(context);
  if (deps.isRegistrationOpen) return redirect(withUsername(deps, action, proposedUsername(deps, context)));
  return deps.pages.answer({
    title: translations.t('register.closed.title'),
    translations,
    languageLinks: deps.pages.languageLinks((language) => deps.urls.register(action, [['ui_locales', language]])),
    content: <ClosedPage translations={translations} loginPath={deps.urls.login(action)} />,
  });
}

/** `POST /register`: the same from a form in which a username may have been typed. */
export async function submitRegister(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await context.readForm();
  // A form that is too old leads to the same page, which has a fresh one.
  deps.csrf.check(context, form);
  // For the log; someone who is signed in is sent on by that page.
  await deps.viewers.read(context);
  const action = parsePostAuthAction(context.query, deps.protocolName);
  if (!deps.isRegistrationOpen) return redirect(deps.urls.login(action));
  // No provider is built in yet, so whatever is named does not exist.
  if ((form.get('provider') ?? '') !== '') return await showUnknownProvider(deps, context, form.get('username'));
  return redirect(withUsername(deps, action, form.get('username')));
}

function withUsername(
  deps: RegistrationDeps,
  action: ReturnType<typeof parsePostAuthAction>,
  username: string | undefined,
): string {
  const isSent = username !== undefined && username.length <= MAX_USERNAME_CHARACTERS;
  return deps.urls.registerWithPassword(action, isSent ? [['username', username]] : []);
}
