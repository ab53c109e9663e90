import type { VNode } from 'preact';
import type { Browser, PageDeps } from '#browser/browser.ts';
import { LinkButton } from '#browser/components/buttons.tsx';
import type { LanguageLink } from '#browser/components/language-menu.tsx';
import { Heading } from '#browser/components/text.tsx';
import type { MessageKey, Translations } from '#browser/i18n/translations.ts';
import { isRecoveryOpen } from '#domain/account-changes/is-recovery-open.ts';
import type { StartRecoveryDeps } from '#domain/account-changes/start-recovery.ts';
import type { Core } from '#domain/core.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';

/** Core and browser, and the settings of the recovery operations. */
export type RecoveryDeps = PageDeps &
  StartRecoveryDeps & {
    readonly ticketTtlSeconds: number;
    readonly sessionTtlSeconds: number;
  };

export function recoveryDeps(core: Core, browser: Browser): RecoveryDeps {
  const { account, rateLimiting } = core.config;
  return {
    ...core,
    ...browser,
    recoveryLimits: rateLimiting.accountRecovery,
    ticketTtlSeconds: account.recoveryTicketTtlSeconds,
    sessionTtlSeconds: account.recoverySessionTtlSeconds,
  };
}

/** Returns what replaces the pages of `/recover`: a redirect for signed-in users, or the page for disabled recovery. */
export async function respondElsewhere(deps: RecoveryDeps, context: RequestContext): Promise<HttpResponse | undefined> {
  if (!isRecoveryOpen(deps.config)) return showClosed(deps, context);
  const viewer = await deps.viewers.read(context);
  return viewer.kind === 'active' ? redirect(deps.urls.index()) : undefined;
}

/** Says that recovery is disabled. */
export function showClosed(deps: RecoveryDeps, context: RequestContext): HttpResponse {
  return showMessage(deps, context, {
    title: 'recover.closed.title',
    text: 'recover.closed.text',
    link: { text: 'recover.sign_in_link', href: deps.urls.login() },
  });
}

export interface RecoveryMessage {
  readonly title: MessageKey;
  readonly text: MessageKey;
  readonly link: { readonly text: MessageKey; readonly href: string };
  readonly languageLinks?: readonly LanguageLink[];
  readonly headers?: HttpResponse['headers'];
}

/** Returns 200 with a page that has a message and a link. */
export function showMessage(
  { pages }: Pick<RecoveryDeps, 'pages'>,
  context: RequestContext,
  message: RecoveryMessage,
): HttpResponse {
  const translations = pages.language(context);
  return pages.answer({
    title: translations.t(message.title),
    translations,
    ...(message.languageLinks !== undefined && { languageLinks: message.languageLinks }),
    ...(message.headers !== undefined && { headers: message.headers }),
    content: <MessagePage translations={translations} message={message} />,
  });
}

export function MessagePage({
  translations,
  message,
}: {
  translations: Translations;
  message: Pick<RecoveryMessage, 'title' | 'text' | 'link'>;
}): VNode {
  return (
    <>
      <Heading title={translations.t(message.title)} />
      <p>{translations.t(message.text)}</p>
      <LinkButton kind="primary" href={message.link.href}>
        {translations.t(message.link.text)}
      </LinkButton>
    </>
  );
}
