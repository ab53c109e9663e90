import type { VNode } from 'preact';
import { LinkButton } from '#browser/components/buttons.tsx';
import { Heading } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { parsePostAuthAction } from '#protocol/post-auth-action.ts';
import { redirectSignedIn } from './redirect-signed-in.ts';
import { MAX_USERNAME_CHARACTERS, proposedUsername, showUnknownProvider } from './register-with-password.tsx';
import type { RegistrationDeps } from './step.ts';

/** `GET /register`: redirects to the form with a password, the only way to register so far. */
export async function showRegister(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const action = parsePostAuthAction(context.query, deps.protocolName);
  const elsewhere = await redirectSignedIn(deps, context, action);
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
  // A form that is too old gets the same redirect; the page behind it has a fresh one.
  deps.csrf.check(context, form);
  // Attributes the request; that page redirects someone who is signed in.
  await deps.viewers.read(context);
  const action = parsePostAuthAction(context.query, deps.protocolName);
  if (!deps.isRegistrationOpen) return redirect(deps.urls.login(action));
  // Providers are not built yet, so any name is unknown.
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

/** Tells that registration is closed. */
export function ClosedPage({ translations, loginPath }: { translations: Translations; loginPath: string }): VNode {
  return (
    <>
      <Heading title={translations.t('register.closed.title')} />
      <p>{translations.t('register.closed.text')}</p>
      <LinkButton kind="primary" href={loginPath}>
        {translations.t('register.closed.sign_in')}
      </LinkButton>
    </>
  );
}
