import type { VNode } from 'preact';
import { Button } from '#browser/components/buttons.tsx';
import { AccountCard, Fact } from '#browser/components/decision.tsx';
import { ActionFields, ErrorSummary, Form, HiddenFields } from '#browser/components/form.tsx';
import { ScopeList } from '#browser/components/scope-list.tsx';
import { ClientName, Heading, Notice } from '#browser/components/text.tsx';
import type { FormProblem } from '#browser/form-problems.ts';
import type { Translations } from '#browser/translations.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';

/** Whom a person decides about. */
export interface AskingClient {
  /** Its own name, or its id. */
  readonly name: string;
  /** Host of its home page. */
  readonly host: string | undefined;
  /** Host, or scheme, that the answer goes to. */
  readonly redirectTarget: string;
  /** Set up by the people who run the service. */
  readonly isVerified: boolean;
  /** Its privacy policy and terms of service; an address that is not https is left out. */
  readonly policyUri?: string | undefined;
  readonly tosUri?: string | undefined;
}

/** The account that decides, and the form that switches to another one. */
export interface DecidingAccount {
  readonly displayName: string | undefined;
  readonly identifier: string;
  readonly logoutPath: string;
  readonly action: PostAuthAction;
}

export interface DecisionForm {
  readonly path: string;
  readonly csrf: string;
  readonly grantId: string;
}

interface ConsentPageProps {
  readonly translations: Translations;
  readonly client: AskingClient;
  readonly scopes: readonly string[];
  readonly account: DecidingAccount;
  readonly form: DecisionForm;
  readonly problems: readonly FormProblem[];
}

/** Asks whether a client may have what it wants, showing who it is and where the answer goes (security R-20). */
export function ConsentPage({ translations, client, scopes, account, form, problems }: ConsentPageProps): VNode {
  return (
    <>
      <Heading title={translations.rich('consent.title', { client: <ClientName name={client.name} /> })}>
        {translations.rich('consent.redirect', { target: <bdi class="name">{client.redirectTarget}</bdi> })}
      </Heading>
      <ErrorSummary translations={translations} problems={problems} />
      {client.host !== undefined && (
        <Fact name={translations.t('consent.website')}>
          <bdi>{client.host}</bdi>
        </Fact>
      )}
      <ClientRules translations={translations} client={client} />
      <Account translations={translations} account={account} csrf={form.csrf} />
      <h2>{translations.t('consent.permissions')}</h2>
      <ScopeList translations={translations} scopes={scopes} />
      {client.isVerified ? (
        <p class="meta">{translations.t('consent.verified')}</p>
      ) : (
        <Notice kind="warning">{translations.t('consent.unverified')}</Notice>
      )}
      <Form action={form.path} csrf={form.csrf}>
        <HiddenFields fields={[['grant_id', form.grantId]]} />
        <div class="buttons">
          <Button name="action" value="consent">
            {translations.t('consent.continue')}
          </Button>
          <Button kind="secondary" name="action" value="cancel">
            {translations.t('consent.cancel')}
          </Button>
        </div>
      </Form>
    </>
  );
}

/** Links to what the client itself says it does with data. In a new tab: the decision stays open. */
function ClientRules({ translations, client }: { translations: Translations; client: AskingClient }): VNode | null {
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

/** Says that this account may not give what is asked for, and offers to switch accounts or to cancel. */
export function ForbiddenPage({
  translations,
  client,
  scopes,
  account,
  form,
}: Omit<ConsentPageProps, 'problems'>): VNode {
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
      <Account translations={translations} account={account} csrf={form.csrf} />
      <Form action={form.path} csrf={form.csrf}>
        <HiddenFields fields={[['grant_id', form.grantId]]} />
        <Button name="action" value="cancel">
          {translations.t('consent.cancel')}
        </Button>
      </Form>
    </>
  );
}

/** Says that the client expects another account, and offers to switch to it. */
export function OtherAccountPage({
  translations,
  client,
  wanted,
  account,
  form,
}: Omit<ConsentPageProps, 'problems' | 'scopes'> & {
  /** Undefined: the account is gone. */
  readonly wanted: string | undefined;
}): VNode {
  const name = <ClientName name={client.name} />;
  return (
    <>
      <Heading title={translations.t('consent.other_account.title')}>
        {wanted === undefined
          ? translations.rich('consent.other_account.gone', { client: name })
          : translations.rich('consent.other_account.text', {
              client: name,
              account: <bdi class="name">{wanted}</bdi>,
            })}
      </Heading>
      <Account translations={translations} account={account} csrf={form.csrf} />
      <Form action={form.path} csrf={form.csrf}>
        <HiddenFields fields={[['grant_id', form.grantId]]} />
        <Button kind="secondary" name="action" value="cancel">
          {translations.t('consent.cancel')}
        </Button>
      </Form>
    </>
  );
}

function Account({
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
