import type { VNode } from 'preact';
import { type Client, clientName } from '#domain/clients/client.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import type { Translations } from '../i18n/translations.ts';
import { Button } from './buttons.tsx';
import { AccountCard, Fact } from './decision.tsx';
import { ActionFields, Form } from './form.tsx';
import { ClientName, Heading, Notice } from './text.tsx';

/** What a person is shown of a client that they decide about. */
export interface ShownClient {
  /** Its own name, or its id. */
  readonly name: string;
  /** Host of its home page. */
  readonly host: string | undefined;
  /** Where its logo is, on this origin. */
  readonly logoPath?: string | undefined;
  /** Set up by the people who run the service. */
  readonly isVerified: boolean;
  /** Its privacy policy and terms of service; an address that is not https is left out. */
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
    name: clientName(client, language) ?? client.id,
    host: clientUri !== undefined && URL.canParse(clientUri) ? new URL(clientUri).host : undefined,
    logoPath: clientLogoPath(client),
    isVerified: client.isStatic,
    policyUri: client.policyUri,
    tosUri: client.tosUri,
  };
}

/** Above the heading that names it. It is loaded apart from the page, which does not wait for it. */
export function ClientLogo({ client }: { client: ShownClient }): VNode | null {
  return client.logoPath === undefined ? null : <img class="client-logo" src={client.logoPath} alt="" />;
}

/** Its website and its own rules, as far as it has them. */
export function ClientFacts({ translations, client }: { translations: Translations; client: ShownClient }): VNode {
  return (
    <>
      {client.host !== undefined && (
        <Fact name={translations.t('consent.website')}>
          <bdi>{client.host}</bdi>
        </Fact>
      )}
      <ClientRules translations={translations} client={client} />
    </>
  );
}

/** Says whether anybody here knows the client (security R-20). */
export function ClientTrust({ translations, client }: { translations: Translations; client: ShownClient }): VNode {
  if (client.isVerified) return <p class="meta">{translations.t('consent.verified')}</p>;
  return <Notice kind="warning">{translations.t('consent.unverified')}</Notice>;
}

/** Says which scopes of the client this account may not give. */
export function RefusedScopes({
  translations,
  client,
  scopes,
}: {
  translations: Translations;
  client: ShownClient;
  scopes: readonly string[];
}): VNode {
  return (
    <>
      <Heading title={translations.t('problem.refused.title')} />
      <div data-error-code="access_denied">
        <p>{translations.rich('consent.forbidden', { client: <ClientName name={client.name} /> })}</p>
        <ul class="items">
          {scopes.map((scope) => (
            <li>
              <code>{scope}</code>
            </li>
          ))}
        </ul>
      </div>
    </>
  );
}

/** Links to what the client itself says it does with data. In a new tab: the decision stays open. */
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
  if (address === undefined || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  return url.protocol === 'https:' ? url.href : undefined;
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
