import { chatServerName } from '#browser/components/chat-server-name.ts';
import type { FormProblem } from '#browser/components/form.tsx';
import { destinationParty } from '#browser/components/parties.tsx';
import { invitationFields, readInvitation } from '#browser/invitation-fields.ts';
import { destinationFormActions, destinationName, findDestination } from '#domain/authorizations/destination.ts';
import type { UpstreamProvider } from '#domain/upstream/upstream-providers.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { type PostAuthAction, parsePostAuthAction } from '#protocol/post-auth-action.ts';
import { redirectSignedIn } from './redirect-signed-in.ts';
import { ChoicePage, ClosedPage } from './register.page.tsx';
import { MAX_USERNAME_CHARACTERS, proposedUsername } from './register-with-password.tsx';
import { refusalProblem } from './registration-problems.ts';
import type { RegistrationDeps } from './step.ts';

/** `GET /register`: shows the choice of methods, or redirects to the only available one (browser-flows 5.2). */
export async function showRegister(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const action = parsePostAuthAction(context.query, deps.protocolName);
  const elsewhere = await redirectSignedIn(deps, context, action);
  if (elsewhere !== undefined) return elsewhere;
  const username = proposedUsername(deps, context);
  const { password, providers } = deps.registrationMethods;
  const [provider, ...others] = providers;
  if (provider === undefined || (!password.isOpen && others.length === 0)) {
    // Also remembers the language in the URL.
    const translations = deps.pages.language(context);
    if (password.isOpen) return redirect(formPath(deps, context, action, username));
    if (provider !== undefined) return redirect(providerPath(deps, context, provider, action));
    return deps.pages.answer({
      title: translations.t('register.closed.title'),
      translations,
      languageLinks: deps.pages.languageLinks((language) => deps.urls.register(action, [['ui_locales', language]])),
      content: <ClosedPage translations={translations} loginPath={deps.urls.login(action)} />,
    });
  }
  return await showChoice(deps, context, action, username ?? '');
}

/** `POST /register`: continues with the chosen method. */
export async function submitRegister(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await context.readForm();
  // An expired form gets the same redirect. The page behind it has a new form.
  deps.csrf.check(context, form);
  const action = parsePostAuthAction(context.query, deps.protocolName);
  const username = form.get('username');
  const providerId = form.get('provider') ?? '';
  if (providerId !== '' && deps.registrationMethods.isAnyOpen) {
    const provider = deps.upstream.providers.find(providerId);
    if (provider === undefined) {
      const elsewhere = await redirectSignedIn(deps, context, action);
      return elsewhere ?? (await showChoice(deps, context, action, username ?? '', isUnknownProvider));
    }
    await deps.viewers.read(context);
    return redirect(providerPath(deps, context, provider, action));
  }
  // Sets the requester. The page behind the redirect redirects signed-in users.
  await deps.viewers.read(context);
  if (!deps.registrationMethods.password.isOpen) return redirect(deps.urls.login(action));
  return redirect(formPath(deps, context, action, username));
}

const isUnknownProvider = { reason: 'unknown-provider' } as const;

function formPath(
  deps: RegistrationDeps,
  context: RequestContext,
  action: PostAuthAction | undefined,
  username: string | undefined,
): string {
  const isSent = username !== undefined && username !== '' && username.length <= MAX_USERNAME_CHARACTERS;
  const fields = isSent ? [['username', username] as const] : [];
  return deps.urls.registerWithPassword(action, [...fields, ...invitationFields(readInvitation(context.query))]);
}

function providerPath(
  deps: RegistrationDeps,
  context: RequestContext,
  provider: UpstreamProvider,
  action: PostAuthAction | undefined,
): string {
  return deps.urls.upstreamAuthorize(provider.id, action, invitationFields(readInvitation(context.query)));
}

async function showChoice(
  deps: RegistrationDeps,
  context: RequestContext,
  action: PostAuthAction | undefined,
  username: string,
  refusal?: typeof isUnknownProvider,
): Promise<HttpResponse> {
  const { urls, pages, registrationMethods, namePolicy } = deps;
  const destination = await findDestination(deps, action);
  const translations = pages.language(context, destination?.uiLocales);
  const problems: readonly FormProblem[] = refusal === undefined ? [] : [refusalProblem(translations, refusal)];
  const invitation = invitationFields(readInvitation(context.query));
  return pages.answer({
    title: translations.t('register.title'),
    translations,
    client: destinationParty(deps, destination, translations.language),
    isRejected: problems.length > 0,
    formActions: destinationFormActions(destination),
    languageLinks:
      destination?.uiLocales === undefined
        ? pages.languageLinks((language) => urls.register(action, [...invitation, ['ui_locales', language]]))
        : [],
    content: (
      <ChoicePage
        translations={translations}
        clientName={destination === undefined ? undefined : destinationName(destination, translations.language)}
        problems={problems}
        form={
          registrationMethods.password.isOpen
            ? {
                path: urls.register(action, invitation),
                csrf: deps.csrf.field(context),
                username: username.length <= MAX_USERNAME_CHARACTERS ? username : '',
                serverName: chatServerName(namePolicy.serverName, deps.homeserver.isConnected),
              }
            : undefined
        }
        providers={registrationMethods.providers.map((provider) => ({
          name: provider.name,
          brand: provider.brandName,
          href: providerPath(deps, context, provider, action),
        }))}
        loginPath={urls.login(action)}
      />
    ),
  });
}
