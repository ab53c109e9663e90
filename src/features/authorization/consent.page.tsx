import type { VNode } from 'preact';
import { Button } from '#browser/components/buttons.tsx';
import {
  ClientFacts,
  ClientTrust,
  type DecidingAccount,
  DecidingAccountCard,
  type ShownClient,
} from '#browser/components/client.tsx';
import type { FormProblem } from '#browser/components/form.tsx';
import { ErrorSummary, Form, HiddenFields } from '#browser/components/form.tsx';
import { type Help, PolicyRefusal } from '#browser/components/policy-refusal.tsx';
import { ScopeList } from '#browser/components/scope-list.tsx';
import { ClientName, Heading } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import type { Violation } from '#domain/policy/violations.ts';

/** The client that asks for consent. */
export interface AskingClient extends ShownClient {
  /** Host or scheme that receives the response. */
  readonly redirectTarget: string;
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
  readonly resources: readonly string[];
  readonly account: DecidingAccount;
  readonly form: DecisionForm;
  readonly problems: readonly FormProblem[];
}

/** Asks the user to allow a client's request. Shows who the client is and where the response goes (security R-20). */
export function ConsentPage(props: ConsentPageProps): VNode {
  const { translations, client, account, form, problems } = props;
  return (
    <>
      <Heading title={translations.rich('consent.title', { client: <ClientName name={client.name} /> })}>
        {translations.rich('consent.redirect', { target: <bdi class="name">{client.redirectTarget}</bdi> })}
      </Heading>
      <ErrorSummary translations={translations} problems={problems} />
      <ClientFacts translations={translations} client={client} />
      <DecidingAccountCard translations={translations} account={account} csrf={form.csrf} />
      <h2>{translations.t('consent.permissions')}</h2>
      <ScopeList translations={translations} scopes={props.scopes} resources={props.resources} />
      <ClientTrust translations={translations} client={client} />
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

/** Explains why this user may not grant the request, and offers to switch accounts or to cancel. */
export function ForbiddenPage({
  translations,
  client,
  violations,
  account,
  form,
  help,
  retryPath,
  sessionsPath,
}: Pick<ConsentPageProps, 'translations' | 'client' | 'account' | 'form'> & {
  readonly violations: readonly Violation[];
  readonly help: Help;
  readonly retryPath: string;
  readonly sessionsPath: string;
}): VNode {
  return (
    <>
      <PolicyRefusal
        translations={translations}
        client={client}
        violations={violations}
        help={help}
        retryPath={retryPath}
        sessionsPath={sessionsPath}
      />
      <DecidingAccountCard translations={translations} account={account} csrf={form.csrf} />
      <Form action={form.path} csrf={form.csrf}>
        <HiddenFields fields={[['grant_id', form.grantId]]} />
        <Button kind="secondary" name="action" value="cancel">
          {translations.t('consent.cancel')}
        </Button>
      </Form>
    </>
  );
}

/** `unnamed`: the client knows the account by a pairwise subject, which does not identify the account. */
export type WantedAccount =
  | { readonly kind: 'named'; readonly identifier: string }
  | { readonly kind: 'gone' }
  | { readonly kind: 'unnamed' };

/** Explains that the client expects a different account, and offers to switch to it. */
export function OtherAccountPage({
  translations,
  client,
  wanted,
  account,
  form,
}: Omit<ConsentPageProps, 'problems' | 'resources' | 'scopes'> & {
  readonly wanted: WantedAccount;
}): VNode {
  const name = <ClientName name={client.name} />;
  return (
    <>
      <Heading title={translations.t('consent.other_account.title')}>
        {wanted.kind === 'named'
          ? translations.rich('consent.other_account.text', {
              client: name,
              account: <bdi class="name">{wanted.identifier}</bdi>,
            })
          : translations.rich(`consent.other_account.${wanted.kind}`, { client: name })}
      </Heading>
      <DecidingAccountCard translations={translations} account={account} csrf={form.csrf} />
      <Form action={form.path} csrf={form.csrf}>
        <HiddenFields fields={[['grant_id', form.grantId]]} />
        <Button kind="secondary" name="action" value="cancel">
          {translations.t('consent.cancel')}
        </Button>
      </Form>
    </>
  );
}
