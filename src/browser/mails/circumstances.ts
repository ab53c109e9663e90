import type { Translations } from '../i18n/translations.ts';
import { describeUserAgent } from '../user-agent.ts';
import { inert, type MailPart } from './mail-text.ts';

export type Fact = readonly [label: string, value: string];

/** Returns when, with what and from where. @param further additional facts for the same table */
export function circumstances(
  translations: Translations,
  {
    at,
    address,
    userAgent,
  }: { readonly at: Date; readonly address: string | undefined; readonly userAgent: string | undefined },
  further: readonly Fact[] = [],
): MailPart {
  const { language } = translations;
  const { model, program, system } = describeUserAgent(userAgent);
  const browser = [model, program, system]
    .filter((part) => part !== undefined)
    .map(inert)
    .join(', ');
  const time = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'long', timeZone: 'UTC' }).format(at);
  return {
    kind: 'facts',
    facts: [
      [translations.t('mail.fact.time'), time],
      ...(browser === '' ? [] : [[translations.t('mail.fact.browser'), browser] as const]),
      ...(address === undefined ? [] : [[translations.t('mail.fact.address'), address] as const]),
      ...further,
    ],
  };
}
