import type { VNode } from 'preact';
import { type Client, clientName } from '#domain/clients/client.ts';
import { parseUrl } from '#platform/base/url.ts';
import { clientIdHost } from '#protocol/oauth/client-id-url.ts';
import { isLoopbackRedirectUri } from '#protocol/oauth/redirect-uris.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import type { Translations } from '../i18n/translations.ts';
import { Button } from './buttons.tsx';
import { AccountCard, Fact } from './decision.tsx';
import { ActionFields, Form } from './form.tsx';
import { cleanName, Notice } from './text.tsx';

/** What users see of a client that they decide about. */
export interface ShownClient {
  /** The client's name, or else its ID. */
  readonly name: string;
  /** Host of its home page. */
  readonly host: string | undefined;
  /** Host that published the client's metadata document. Undefined if the client registered itself. */
  readonly publisher?: string | undefined;
  /** Every response goes to the user's own device, where any program can claim to be this client. */
  readonly isLocal?: boolean;
  /** Path of its logo on this origin. */
  readonly logoPath?: string | undefined;
  /** Configured by the operator. */
  readonly isVerified: boolean;
  /** Its privacy policy and terms of service. URLs other than https are omitted. */
  readonly policyUri?: string | undefined;
  readonly tosUri?: string | undefined;
}

export function shownClient(
  client: Client,
  language: string,
  { clientLogoPath }: { readonly clientLogoPath: (client: Client) => string | undefined },
): ShownClient {
  const { clientUri } = client;
  return {
    name: visibleName(clientName(client, language)) ?? client.identifier,
    host: clientUri === undefined ? undefined : parseUrl(clientUri)?.host,
    publisher: client.document === undefined ? undefined : clientIdHost(client.document.url),
    isLocal: client.redirectUris.length > 0 && client.redirectUris.every(isLoopbackRedirectUri),
    logoPath: clientLogoPath(client),
    isVerified: client.isVouchedFor,
    policyUri: client.policyUri,
    tosUri: client.tosUri,
  };
}

/** Returns undefined if nothing of the name would be visible. */
function visibleName(name: string | undefined): string | undefined {
  return name === undefined || cleanName(name) === '' ? undefined : name;
}

/**
 * The client's website, privacy policy and terms, if it has them.
 * @param withoutHost text to show if the website is unknown; by default nothing is shown
 */
export function ClientFacts({
  translations,
  client,
  withoutHost,
}: {
  translations: Translations;
  client: ShownClient;
  withoutHost?: string;
}): VNode {
  const { publisher } = client;
  const without = publisher === undefined ? withoutHost : undefined;
  const host = client.host === undefined || client.host === publisher ? without : <bdi>{client.host}</bdi>;
  return (
    <>
      {publisher !== undefined && (
        <Fact name={translations.t('consent.publisher')}>
          <bdi class="name">{publisher}</bdi>
        </Fact>
      )}
      {host !== undefined && <Fact name={translations.t('consent.website')}>{host}</Fact>}
      <ClientRules translations={translations} client={client} />
    </>
  );
}

/** Says whether the client is verified or known (security R-20). */
export function ClientTrust({ translations, client }: { translations: Translations; client: ShownClient }): VNode {
  if (client.isVerified) return <p class="meta">{translations.t('consent.verified')}</p>;
  const { publisher } = client;
  if (publisher === undefined) return <Notice kind="warning">{translations.t('consent.unverified')}</Notice>;
  return (
    <>
      <Notice kind="warning">
        {translations.rich('consent.published', { host: <bdi class="name">{publisher}</bdi> })}
      </Notice>
      {client.isLocal === true && (
        <Notice kind="warning">
          {translations.rich('consent.loopback', { host: <bdi class="name">{publisher}</bdi> })}
        </Notice>
      )}
    </>
  );
}

/** Links to the client's own statements about data. They open in a new tab, so that the decision stays open. */
function ClientRules({ translations, client }: { translations: Translations; client: ShownClient }): VNode | null {
  const policyUri = httpsAddress(client.policyUri);
  const tosUri = httpsAddress(client.tosUri);
  if (policyUri === undefined && tosUri === undefined) return null;
  return (
    <Fact name={translations.t('consent.rules')}>
      <span class="links">
        {policyUri !== undefined && (
          <a href={policyUri} target="_blank" rel="noopener noreferrer">
            {translations.t('footer.privacy')}
          </a>
        )}
        {tosUri !== undefined && (
          <a href={tosUri} target="_blank" rel="noopener noreferrer">
            {translations.t('footer.terms')}
          </a>
        )}
      </span>
    </Fact>
  );
}

function httpsAddress(address: string | undefined): string | undefined {
  const url = address === undefined ? undefined : parseUrl(address);
  return url?.protocol === 'https:' ? url.href : undefined;
}

/** The account that decides, and the form that switches to another one. */
export interface DecidingAccount {
  readonly displayName: string | undefined;
  readonly identifier: string;
  readonly logoutPath: string;
  readonly action: PostAuthAction;
}

export function DecidingAccountCard({
  translations,
  account,
  csrf,
}: {
  translations: Translations;
  account: DecidingAccount;
  csrf: string;
}): VNode {
  return (
    <AccountCard displayName={account.displayName} identifier={account.identifier}>
      <Form action={account.logoutPath} csrf={csrf} isInline>
        <ActionFields action={account.action} />
        <Button kind="quiet">{translations.t('session.other_account')}</Button>
      </Form>
    </AccountCard>
  );
}
