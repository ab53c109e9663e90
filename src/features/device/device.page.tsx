import type { VNode } from 'preact';
import { Button } from '#browser/components/buttons.tsx';
import {
  ClientFacts,
  ClientTrust,
  type DecidingAccount,
  DecidingAccountCard,
  type ShownClient,
} from '#browser/components/client.tsx';
import { Fact } from '#browser/components/decision.tsx';
import { CheckField } from '#browser/components/fields.tsx';
import type { FormProblem } from '#browser/components/form.tsx';
import { ErrorSummary, Form } from '#browser/components/form.tsx';
import { type Help, PolicyRefusal } from '#browser/components/policy-refusal.tsx';
import { ScopeList } from '#browser/components/scope-list.tsx';
import { ClientName, cleanName, Heading, Notice } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import { describeUserAgent } from '#browser/user-agent.ts';
import type { DeviceCodeGrant } from '#domain/authorizations/device-code-grant.ts';
import type { Violation } from '#domain/policy/violations.ts';
import { formatUserCode } from '#protocol/oauth/user-code.ts';

/** What is known about the requesting device. The user compares it with the actual device (security S-116). */
export interface RequestingDevice {
  /** As displayed by the device. */
  readonly userCode: string;
  /** Model, program and system. Empty if the device does not report them. */
  readonly description: string;
  readonly address: string | undefined;
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
  /** Whole minutes since then. */
  readonly minutesAgo: number;
}

export function requestingDevice(
  grant: Pick<DeviceCodeGrant, 'userCode' | 'userAgent' | 'address' | 'createdAt'>,
  now: number,
): RequestingDevice {
  const { model, program, system } = describeUserAgent(grant.userAgent);
  return {
    userCode: formatUserCode(grant.userCode),
    description: [model, program, system].filter((part) => part !== undefined).join(', '),
    address: grant.address,
    askedAt: grant.createdAt,
    minutesAgo: Math.max(0, Math.floor((now - grant.createdAt) / 60_000)),
  };
}

interface DevicePageProps {
  readonly translations: Translations;
  readonly client: ShownClient;
  readonly device: RequestingDevice;
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  readonly account: DecidingAccount;
  readonly form: { readonly path: string; readonly csrf: string };
  readonly problems: readonly FormProblem[];
}

/** Asks whether a device may sign in to the account. Shows every detail that could expose an attacker's request. */
export function DevicePage(props: DevicePageProps): VNode {
  const { translations, client, device, form, problems } = props;
  return (
    <>
      <Heading title={translations.rich('device.title', { client: <ClientName name={client.name} /> })}>
        {translations.t('device.compare')}
      </Heading>
      <ErrorSummary translations={translations} problems={problems} />
      <p class="user-code">
        <code>{device.userCode}</code>
      </p>
      <Notice kind="warning">{translations.t('device.warning')}</Notice>
      <DeviceFacts translations={translations} device={device} />
      <ClientFacts translations={translations} client={client} withoutHost={translations.t('device.no_website')} />
      <DecidingAccountCard translations={translations} account={props.account} csrf={form.csrf} />
      <h2>{translations.t('consent.permissions')}</h2>
      <ScopeList translations={translations} scopes={props.scopes} resources={props.resources} />
      <ClientTrust translations={translations} client={client} />
      <Form action={form.path} csrf={form.csrf}>
        <CheckField
          name="confirm_device"
          label={translations.t('device.confirm')}
          isChecked={false}
          problems={problems}
        />
        <div class="buttons">
          <Button name="action" value="consent">
            {translations.t('device.allow')}
          </Button>
          <Button kind="secondary" name="action" value="reject">
            {translations.t('device.reject')}
          </Button>
        </div>
      </Form>
    </>
  );
}

function DeviceFacts({ translations, device }: { translations: Translations; device: RequestingDevice }): VNode {
  const description = cleanName(device.description);
  const requested = new Date(device.askedAt);
  return (
    <>
      <Fact name={translations.t('device.device')}>
        {description === '' ? translations.t('device.unknown') : <bdi>{description}</bdi>}
      </Fact>
      <Fact name={translations.t('device.address')}>
        {device.address === undefined ? translations.t('device.unknown') : <bdi>{device.address}</bdi>}
      </Fact>
      <Fact name={translations.t('device.asked')}>
        <time dateTime={requested.toISOString()}>
          {translations.t('device.asked_ago', { minutes: device.minutesAgo, time: clockTime(requested) })}
        </time>
      </Fact>
    </>
  );
}

/** The user's time zone is unknown, so the time is shown in UTC and labeled. */
function clockTime(time: Date): string {
  return `${time.toISOString().slice(11, 16)} UTC`;
}

/** Explains why this user may not approve the device's request. */
export function DeviceForbiddenPage({
  translations,
  client,
  violations,
  account,
  form,
  help,
  retryPath,
  sessionsPath,
}: Pick<DevicePageProps, 'translations' | 'client' | 'account' | 'form'> & {
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
        <Button kind="secondary" name="action" value="reject">
          {translations.t('device.reject')}
        </Button>
      </Form>
    </>
  );
}

/** Shows the decision. The user continues on the device. */
export function DeviceResultPage({
  translations,
  isGranted,
  clientName,
}: {
  translations: Translations;
  isGranted: boolean;
  clientName: string;
}): VNode {
  const client = <ClientName name={clientName} />;
  return isGranted ? (
    <>
      <Heading title={translations.t('device.granted.title')} />
      <p>{translations.rich('device.granted.text', { client })}</p>
    </>
  ) : (
    <>
      <Heading title={translations.t('device.rejected.title')} />
      <p>{translations.rich('device.rejected.text', { client })}</p>
    </>
  );
}
