import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { type MailTemplates, type MailValues, renderMailTemplate } from '#config/mail-template.ts';
import type { Colors, SCHEMES } from '#vocabulary/theme.ts';
import type { Translations } from '../i18n/translations.ts';
import { inert, isolated, type MailPart, type MailText } from './mail-text.ts';

/** What all emails share: sender and look. */
export interface MailFrame {
  readonly serviceName: string;
  /** The public base URL. */
  readonly address: string;
  /** Plain text. */
  readonly imprint: string | undefined;
  /** The colors of the pages. */
  readonly colors: Readonly<Record<(typeof SCHEMES)[number], Colors>>;
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
      .map((part) => renderToString(<Part part={part} styles={stylesOf(frame.colors.light)} />))
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
const MONOSPACE = 'font-family:ui-monospace,Menlo,Consolas,monospace';

/**
 * Every element has its own colors, because many programs drop style sheets. The style sheet is for programs with a
 * dark scheme. Both schemes set text and background together, so that no program can change only one of them.
 */
function stylesOf(colors: Colors) {
  const { ground, surface, sunken, text, muted, line, accent } = colors;
  return {
    body: `margin:0;padding:0;background-color:${ground};color:${text};${FONT};font-size:16px;line-height:1.5`,
    page: 'max-width:30em;margin:0 auto;padding:24px 16px',
    card: `background-color:${surface};color:${text};border:1px solid ${line};border-radius:14px;padding:24px 24px 8px`,
    name: `margin:0 0 16px;text-align:center;font-weight:600;color:${text}`,
    heading: `margin:0 0 16px;font-size:24px;line-height:1.3;font-weight:600;color:${text}`,
    text: `margin:0 0 16px;color:${text};overflow-wrap:anywhere`,
    code: `margin:0 0 16px;padding:16px;border-radius:8px;background-color:${sunken};color:${text};text-align:center;${MONOSPACE};font-size:28px;line-height:1.4;font-weight:600;letter-spacing:6px`,
    button: `display:block;padding:12px 20px;border-radius:8px;background-color:${accent};color:${colors['on-accent']};text-align:center;font-weight:600;text-decoration:none`,
    address: `margin:0 0 16px;font-size:14px;color:${muted};overflow-wrap:anywhere`,
    label: `padding:8px 16px;text-align:start;vertical-align:top;white-space:nowrap;font-weight:400;color:${muted}`,
    // On both sides, because not every program supports logical properties.
    value: `padding:8px 16px;vertical-align:top;color:${text};overflow-wrap:anywhere`,
    facts: `width:100%;margin:0 0 16px;border-radius:8px;background-color:${sunken};color:${text};border-collapse:collapse;font-size:15px`,
    footer: `margin:16px 0 0;text-align:center;font-size:14px;color:${muted};overflow-wrap:anywhere`,
  } as const;
}

type Styles = ReturnType<typeof stylesOf>;

function darkStyles(colors: Colors): string {
  const backgrounds = (under: string) =>
    [
      `${under}.ground{background-color:${colors.ground}!important}`,
      `${under}.card{background-color:${colors.surface}!important;border-color:${colors.line}!important}`,
      `${under}.sunken{background-color:${colors.sunken}!important}`,
      `${under}.button{background-color:${colors.accent}!important}`,
    ].join('\n');
  const texts = (under: string) =>
    [
      `${under}.ground,${under}.card,${under}.sunken,${under}.strong{color:${colors.text}!important}`,
      `${under}.muted{color:${colors.muted}!important}`,
      `${under}.button{color:${colors['on-accent']}!important}`,
    ].join('\n');
  // Outlook marks what it darkens by attributes in place of the media query.
  return `:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (prefers-color-scheme:dark){
${backgrounds('')}
${texts('')}
}
${backgrounds('[data-ogsb] ')}
${texts('[data-ogsc] ')}`;
}

function renderHtml(frame: MailFrame, translations: Translations, mail: MailText): string {
  const { subject, heading, parts } = mail;
  const { language, direction } = translations;
  const styles = stylesOf(frame.colors.light);
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
        <style>{darkStyles(frame.colors.dark)}</style>
      </head>
      <body class="ground" style={styles.body}>
        {/* biome-ignore lint/a11y/useSemanticElements: programs for mails drop elements that they do not know */}
        <div class="ground" role="main" style={styles.page} lang={language} dir={direction}>
          <p class="strong" style={styles.name}>
            <bdi>{frame.serviceName}</bdi>
          </p>
          <div class="card" style={styles.card}>
            <h1 class="strong" style={styles.heading}>
              {heading}
            </h1>
            {parts.map((part) => (
              <Part part={part} styles={styles} />
            ))}
          </div>
          {footerLines(frame, translations, mail).map((line) => (
            <p class="muted" style={styles.footer}>
              {line}
            </p>
          ))}
        </div>
      </body>
    </html>
  );
  return `<!doctype html>\n${renderToString(document)}\n`;
}

function Part({ part, styles }: { part: MailPart; styles: Styles }): VNode {
  switch (part.kind) {
    case 'text':
      return (
        <p class="strong" style={styles.text}>
          {part.text}
        </p>
      );
    case 'code':
      return (
        <p class="sunken" style={styles.code}>
          <bdi dir="ltr">{part.code}</bdi>
        </p>
      );
    case 'link':
      return <Link label={part.label} href={part.href} styles={styles} />;
    case 'facts':
      return (
        <table class="sunken" style={styles.facts}>
          {part.facts.map(([label, value]) => (
            <tr>
              <th class="muted" style={styles.label} scope="row">
                {label}
              </th>
              <td class="strong" style={styles.value}>
                <bdi>{value}</bdi>
              </td>
            </tr>
          ))}
        </table>
      );
  }
}

/** Also shows the URL, for users who want to check where a button leads. */
function Link({ label, href, styles }: { label: string; href: string; styles: Styles }): VNode {
  return (
    <>
      <p style={styles.text}>
        <a class="button" href={href} style={styles.button}>
          {label}
        </a>
      </p>
      <p class="muted" style={styles.address}>
        <bdi dir="ltr">{href}</bdi>
      </p>
    </>
  );
}
