import type { VNode } from 'preact';
import type { Browser, PageDeps } from '#browser/browser.ts';
import { LinkButton } from '#browser/components/buttons.tsx';
import { Heading } from '#browser/components/text.tsx';
import type { MessageKey, Translations } from '#browser/i18n/translations.ts';
import type { LanguageLink } from '#browser/layout.tsx';
import type { Core } from '#domain/core.ts';
import type { StartRecoveryDeps } from '#domain/recoveries/start-recovery.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';

/** Core and browser, and the settings of the operations of a recovery. */
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

/**
 * What stands in for the pages of `/recover`: someone who is signed in needs none of them, and while recovery is
 * switched off they say so.
 */
export async function answerElsewhere(deps: RecoveryDeps, context: RequestContext): Promise<HttpResponse | undefined> {
  if (!deps.isRecoveryOpen) return showClosed(deps, context);
  const viewer = await deps.viewers.read(context);
  return viewer.kind === 'active' ? redirect(deps.urls.index()) : undefined;
}

/** Recovery is switched off. */
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

/** 200 with a page that says one thing and leads on. */
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
