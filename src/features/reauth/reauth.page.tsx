import type { VNode } from 'preact';
import { Button } from '#browser/components/buttons.tsx';
import { AccountCard } from '#browser/components/decision.tsx';
import { PasswordField } from '#browser/components/fields.tsx';
import type { FormProblem } from '#browser/components/form.tsx';
import { ActionFields, ErrorSummary, Form, HiddenFields } from '#browser/components/form.tsx';
import { PasskeyForm, type ShownPasskey } from '#browser/components/passkey-form.tsx';
import { ProviderButtons, type ShownProvider } from '#browser/components/provider-buttons.tsx';
import { Heading } from '#browser/components/text.tsx';
import type { MessageKey, Translations } from '#browser/i18n/translations.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';

export interface ReauthPageProps {
  readonly translations: Translations;
  readonly csrf: string;
  readonly username: string;
  readonly displayName: string | undefined;
  readonly action: PostAuthAction | undefined;
  readonly logoutPath: string;
  /** Target of the password form. Undefined if the account has no password. */
  readonly passwordPath: string | undefined;
  /** Undefined if the account has no passkey. */
  readonly passkey: ShownPasskey | undefined;
  /** Upstream providers that the account is linked to. */
  readonly providers: readonly ShownProvider[];
  /** The form that cancels the pending authorization request or denies the pending device. */
  readonly cancel: CancelForm | undefined;
  readonly problems: readonly FormProblem[];
}

export interface CancelForm {
  readonly path: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** Value of the button `action`. */
  readonly value: string;
}

/** Asks the signed-in user to authenticate again. */
export function ReauthPage(props: ReauthPageProps): VNode {
  const { translations, csrf, cancel, passkey, passwordPath, providers } = props;
  const hasMethod = passwordPath !== undefined || passkey !== undefined || providers.length > 0;
  const lead = translations.t(leadOf(props));
  return (
    <>
      <Heading title={translations.t('reauth.title')}>{lead}</Heading>
      <ErrorSummary translations={translations} problems={props.problems} />
      <AccountCard displayName={props.displayName} identifier={props.username}>
        {hasMethod && (
          <Form action={props.logoutPath} csrf={csrf} isInline>
            <ActionFields action={props.action} />
            <Button kind="quiet">{translations.t('session.other_account')}</Button>
          </Form>
        )}
      </AccountCard>
      {!hasMethod && (
        <Form action={props.logoutPath} csrf={csrf}>
          <ActionFields action={props.action} />
          <Button>{translations.t('index.sign_out')}</Button>
        </Form>
      )}
      {passwordPath !== undefined && (
        <Form action={passwordPath} csrf={csrf}>
          {/* Password managers use the name to select the entry. */}
          <input type="text" name="username" value={props.username} autocomplete="username" hidden readOnly />
          <PasswordField
            name="password"
            label={translations.t('login.password')}
            autocomplete="current-password"
            isFirst
            translations={translations}
            problems={props.problems}
          />
          <Button>{translations.t('reauth.button')}</Button>
        </Form>
      )}
      {passwordPath !== undefined && providers.length > 0 && <p class="or">{translations.t('upstream.or')}</p>}
      {passkey !== undefined && (
        <>
          <PasskeyForm translations={translations} passkey={passkey} fields={[['method', 'passkey']]} />
          {passwordPath === undefined && providers.length === 0 && (
            <p data-passkey-missing>{translations.t('passkey.no_script')}</p>
          )}
        </>
      )}
      <ProviderButtons translations={translations} providers={providers} />
      {cancel !== undefined && (
        <Form action={cancel.path} csrf={csrf}>
          <HiddenFields fields={cancel.fields} />
          <Button kind="quiet" name="action" value={cancel.value}>
            {translations.t('consent.cancel')}
          </Button>
        </Form>
      )}
    </>
  );
}

function leadOf({ passkey, passwordPath, providers }: ReauthPageProps): MessageKey {
  if (passwordPath !== undefined) return 'reauth.text';
  return providers.length > 0 || passkey !== undefined ? 'reauth.text_upstream' : 'reauth.no_method';
}
