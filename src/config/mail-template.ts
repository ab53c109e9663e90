/**
 * Mail templates that operators can provide (browser-flows 11): a subject, a text and an HTML part, each replaceable
 * separately.
 */
import {
  countOf,
  escapeHtml,
  parsePlaceholders,
  renderPlaceholders,
  type Template,
  type TemplateProblem,
} from './placeholders.ts';

export const MAIL_NAMES = [
  'account_deactivated',
  'account_locked',
  'address_in_use',
  'cross_signing_reset',
  'data_export',
  'email_added',
  'email_removed',
  'factor_changed',
  'failed_logins',
  'invitation',
  'new_signin',
  'password_changed',
  'recovery',
  'recovery_code_used',
  'recovery_no_password',
  'recovery_unknown',
  'upstream_linked',
  'upstream_unlinked',
  'verification',
] as const;
export type MailName = (typeof MAIL_NAMES)[number];

export const MAIL_PARTS = ['subject', 'txt', 'html'] as const;
export type MailPartName = (typeof MAIL_PARTS)[number];

/** Variables that the service renders: markup in the HTML part. */
const MARKUP = ['details', 'paragraphs'] as const;
const TEXTS = [
  'address',
  'code',
  'direction',
  'heading',
  'imprint',
  'language',
  'link',
  'link_label',
  'service_name',
  'subject',
  'username',
] as const;

export type MailVariable = (typeof MARKUP)[number] | (typeof TEXTS)[number];
export type MailValues = Readonly<Record<MailVariable, string>>;
export type MailTemplate = Template<MailVariable>;
/** Operator templates by mail and part, replacing the bundled parts. */
export type MailTemplates = Readonly<Partial<Record<MailName, Readonly<Partial<Record<MailPartName, MailTemplate>>>>>>;

/** Variables without which the user cannot continue. */
const NEEDED: Readonly<Partial<Record<MailName, MailVariable>>> = {
  invitation: 'link',
  recovery: 'link',
  verification: 'code',
};

/** Mail clients drop these elements, or third parties learn from them that the mail was opened. */
const REFUSED =
  /<(script|iframe|object|embed|form|link|base|img|video|audio|svg|picture)\b|\s(?:on[a-z]+|src|srcset|background)\s*=|url\s*\(|@import/gi;

export function parseMailTemplate(
  name: MailName,
  part: MailPartName,
  text: string,
): { readonly template: MailTemplate; readonly problems: readonly TemplateProblem[] } {
  const { template, problems } = parsePlaceholders<MailVariable>(text, [...MARKUP, ...TEXTS].toSorted());
  const needed = NEEDED[name];
  if (part !== 'subject' && needed !== undefined && countOf(template, needed) === 0)
    problems.push({ offset: 0, message: `must contain {{ ${needed} }}` });
  if (part === 'subject' && text.trim().includes('\n')) problems.push({ offset: 0, message: 'expected one line' });
  if (part === 'html') {
    for (const { index, 0: found } of text.matchAll(REFUSED))
      problems.push({
        offset: index,
        message: `${found.trim()} is not allowed in an email: it runs code or loads a resource`,
      });
  }
  return { template, problems };
}

/**
 * Renders one part of a mail.
 * @param values `details` and `paragraphs` are markup if the part is `html`
 */
export function renderMailTemplate(template: MailTemplate, part: MailPartName, values: MailValues): string {
  const rendered = renderPlaceholders(template, (variable) => {
    const isMarkup = MARKUP.some((name) => name === variable);
    return part !== 'html' || isMarkup ? values[variable] : escapeHtml(values[variable]);
  });
  return part === 'subject' ? rendered.trim() : rendered;
}
