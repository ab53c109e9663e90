import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { type MailTemplates, type MailValues, renderMailTemplate } from '#config/mail-template.ts';
import type { Translations } from '../i18n/translations.ts';
import { inert, isolated, type MailPart, type MailText } from './mail-text.ts';

/** What all emails share: sender and look. */
export interface MailFrame {
  readonly serviceName: string;
  /** The public base URL. */
  readonly address: string;
  /** Plain text. */
  readonly imprint: string | undefined;
  /** `#rrggbb`. Undefined for the bundled pages' color. */
  readonly accent: { readonly light: string | undefined; readonly dark: string | undefined };
  /** The operator's templates. */
  readonly templates: MailTemplates;
}

export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** @param username of the account that the email is about, if any */
export function renderMail(
  frame: MailFrame,
  translations: Translations,
  mail: MailText,
  username: string | undefined,
): RenderedMail {
  const own = frame.templates[mail.name] ?? {};
  const values = valuesOf(frame, translations, mail, username);
  const { subject, txt, html } = own;
  return {
    subject: subject === undefined ? mail.subject : renderMailTemplate(subject, 'subject', values),
    text: txt === undefined ? renderText(frame, translations, mail) : renderMailTemplate(txt, 'txt', values),
    html:
      html === undefined
        ? renderHtml(frame, translations, mail)
        : renderMailTemplate(html, 'html', htmlValues(frame, mail, values)),
  };
}

/** Values that the operator's templates may use. */
function valuesOf(
  { serviceName, address, imprint = '' }: MailFrame,
  { language, direction }: Translations,
  { subject, heading, parts }: MailText,
  username = '',
): MailValues {
  const of = <Kind extends MailPart['kind']>(kind: Kind) =>
    parts.filter((part): part is Extract<MailPart, { readonly kind: Kind }> => part.kind === kind);
  const [link] = of('link');
  return {
    ...{ address, imprint, language, direction, subject, heading },
    username: inert(username),
    service_name: serviceName,
    code: of('code')[0]?.code ?? '',
    link: link?.href ?? '',
    link_label: link?.label ?? '',
    details: of('facts').map(textOfPart).join('\n\n'),
    paragraphs: of('text').map(textOfPart).join('\n\n'),
  };
}

function htmlValues(frame: MailFrame, { parts }: MailText, values: MailValues): MailValues {
  const markup = (kind: MailPart['kind']) =>
    parts
      .filter((part) => part.kind === kind)
      .map((part) => renderToString(<Part part={part} accent={frame.accent.light ?? ACCENT.light} />))
      .join('\n');
  return { ...values, details: markup('facts'), paragraphs: markup('text') };
}

function footerLines(
  { serviceName, imprint }: MailFrame,
  translations: Translations,
  { isUnknownRecipient }: MailText,
): string[] {
  const reason = isUnknownRecipient === true ? 'mail.footer_entered' : 'mail.footer';
  const sender = translations.t(reason, { service: isolated(serviceName) });
  return imprint === undefined ? [sender] : [sender, imprint];
}

function renderText(frame: MailFrame, translations: Translations, mail: MailText): string {
  const { heading, parts } = mail;
  const footer = [...footerLines(frame, translations, mail), frame.address];
  return `${[heading, ...parts.map(textOfPart), `-- \n${footer.join('\n')}`].join('\n\n')}\n`;
}

function textOfPart(part: MailPart): string {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'code':
      return `    ${part.code}`;
    case 'link':
      return `${part.label}:\n${part.href}`;
    case 'facts':
      return part.facts.map(([label, value]) => `${label}: ${isolated(value)}`).join('\n');
  }
}

const FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif";
const ACCENT = { light: '#0a6a5a', dark: '#52cdb4' } as const;
const ON_ACCENT = { light: '#ffffff', dark: '#0e1413' } as const;

/**
 * Every element has its own colors, because many programs drop style sheets. The style sheet is for programs with a
 * dark theme. Both themes set text and background together, so that no program can change only one of them.
 */
const STYLES = {
  body: `margin:0;padding:0;background-color:#f4f6f5;color:#15201d;${FONT};font-size:16px;line-height:1.5`,
  page: 'max-width:34em;margin:0 auto;padding:24px 16px',
  card: 'background-color:#ffffff;color:#15201d;border:1px solid #d5dcd9;border-radius:12px;padding:24px 24px 8px',
  name: 'margin:0 0 16px;font-weight:600;color:#15201d',
  heading: 'margin:0 0 16px;font-size:22px;line-height:1.3;font-weight:600;color:#15201d',
  text: 'margin:0 0 16px;color:#15201d;overflow-wrap:anywhere',
  code: 'margin:0 0 16px;font-size:28px;line-height:1.4;font-weight:600;letter-spacing:4px;color:#15201d',
  address: 'margin:0 0 16px;font-size:14px;color:#566762;overflow-wrap:anywhere',
  label: 'padding:4px 0;text-align:start;vertical-align:top;white-space:nowrap;font-weight:400;color:#566762',
  // On both sides, because not every program supports logical properties.
  value: 'padding:4px 16px;vertical-align:top;color:#15201d;overflow-wrap:anywhere',
  facts: 'margin:0 0 16px;border-collapse:collapse',
  footer: 'margin:16px 0 0;font-size:14px;color:#566762;overflow-wrap:anywhere',
} as const;

function darkStyles(accent: string): string {
  return `:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (prefers-color-scheme:dark){
.ground{background-color:#0e1413!important;color:#e9f0ee!important}
.card{background-color:#161e1c!important;border-color:#2b3835!important;color:#e9f0ee!important}
.strong{color:#e9f0ee!important}
.muted{color:#9fb0ab!important}
.button{background-color:${accent}!important;color:${ON_ACCENT.dark}!important}
}`;
}

function renderHtml(frame: MailFrame, translations: Translations, mail: MailText): string {
  const { subject, heading, parts } = mail;
  const { language, direction } = translations;
  const document = (
    <html lang={language} dir={direction}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        {/* Stops programs from turning numbers, dates or addresses into links. */}
        <meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no" />
        <title>{subject}</title>
        <style>{darkStyles(frame.accent.dark ?? ACCENT.dark)}</style>
      </head>
      <body class="ground" style={STYLES.body}>
        {/* biome-ignore lint/a11y/useSemanticElements: programs for mails drop elements that they do not know */}
        <div class="ground" role="main" style={STYLES.page} lang={language} dir={direction}>
          <p class="strong" style={STYLES.name}>
            <bdi>{frame.serviceName}</bdi>
          </p>
          <div class="card" style={STYLES.card}>
            <h1 class="strong" style={STYLES.heading}>
              {heading}
            </h1>
            {parts.map((part) => (
              <Part part={part} accent={frame.accent.light ?? ACCENT.light} />
            ))}
          </div>
          {footerLines(frame, translations, mail).map((line) => (
            <p class="muted" style={STYLES.footer}>
              {line}
            </p>
          ))}
        </div>
      </body>
    </html>
  );
  return `<!doctype html>\n${renderToString(document)}\n`;
}

function Part({ part, accent }: { part: MailPart; accent: string }): VNode {
  switch (part.kind) {
    case 'text':
      return (
        <p class="strong" style={STYLES.text}>
          {part.text}
        </p>
      );
    case 'code':
      return (
        <p class="strong" style={STYLES.code}>
          <bdi dir="ltr">{part.code}</bdi>
        </p>
      );
    case 'link':
      return <Link label={part.label} href={part.href} accent={accent} />;
    case 'facts':
      return (
        <table style={STYLES.facts}>
          {part.facts.map(([label, value]) => (
            <tr>
              <th class="muted" style={STYLES.label} scope="row">
                {label}
              </th>
              <td class="strong" style={STYLES.value}>
                <bdi>{value}</bdi>
              </td>
            </tr>
          ))}
        </table>
      );
  }
}

/** Also shows the URL, for users who want to check where a button leads. */
function Link({ label, href, accent }: { label: string; href: string; accent: string }): VNode {
  const style = `display:inline-block;padding:12px 20px;border-radius:8px;background-color:${accent};color:${ON_ACCENT.light};font-weight:600;text-decoration:none`;
  return (
    <>
      <p style={STYLES.text}>
        <a class="button" href={href} style={style}>
          {label}
        </a>
      </p>
      <p class="muted" style={STYLES.address}>
        <bdi dir="ltr">{href}</bdi>
      </p>
    </>
  );
}
