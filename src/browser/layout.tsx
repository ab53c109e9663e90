import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import {
  BUNDLED_PAGE_TEMPLATE,
  type PageTemplate,
  parsePageTemplate,
  renderPageTemplate,
} from '#config/page-template.ts';
import type { AssetPaths } from './asset-files.ts';
import type { Brand } from './brand.ts';
import type { CaptchaWidget } from './captcha.ts';
import { Icon } from './components/icon.tsx';
import { type LanguageLink, LanguageMenu } from './components/language-menu.tsx';
import { Parties, type ShownParty, type ShownService } from './components/parties.tsx';
import type { Translations } from './i18n/translations.ts';

/** What all pages of the service share: the operator's name, links and the published files. */
export interface Site extends AssetPaths {
  readonly serviceName: string;
  /** Path of the index page. */
  readonly indexPath: string;
  readonly policyUri?: string | undefined;
  readonly tosUri?: string | undefined;
  /** Plain text. */
  readonly imprint?: string | undefined;
  readonly brand?: Brand | undefined;
  /** Replaces the bundled template. */
  readonly template?: PageTemplate | undefined;
}

const WIDTHS = { flow: 'page', broad: 'page page-broad' } as const;

/** Everything about a page except its content. */
export interface PageFrame {
  readonly site: Site;
  readonly translations: Translations;
  /** The step, the first part of the document's title. */
  readonly title: string;
  /** 28 rem for every page of a flow, so that the brand keeps its place; 62 rem for working pages. */
  readonly width?: keyof typeof WIDTHS | undefined;
  /** The app that the page is about, shown next to the service. */
  readonly client?: ShownParty | undefined;
  /** The form was rejected, which the document's title says. */
  readonly isRejected?: boolean | undefined;
  /** The page has a new password, whose strength is shown. */
  readonly hasNewPassword?: boolean | undefined;
  /** The page accepts a passkey. */
  readonly hasPasskey?: boolean | undefined;
  /** The page creates a passkey. */
  readonly hasNewPasskey?: boolean | undefined;
  /** The CAPTCHA of the page's form, whose script comes from the CAPTCHA service. */
  readonly captcha?: Pick<CaptchaWidget, 'scriptUrl'> | undefined;
  /** Links to this page in other languages. Only for pages that read `ui_locales`. */
  readonly languageLinks?: readonly LanguageLink[] | undefined;
}

const bundledTemplate = parsePageTemplate(BUNDLED_PAGE_TEMPLATE).template;

/** Renders the complete document. `content` is the content of the card, and contains the only `h1`. */
export function renderPage(frame: PageFrame, content: VNode): string {
  return renderDocument(frame, {
    head: <Head frame={frame} />,
    content: (
      <main class="card">
        {frame.client !== undefined && <Parties service={shownService(frame.site)} client={frame.client} />}
        {content}
      </main>
    ),
    footer: <Footer frame={frame} />,
    pageClass: WIDTHS[frame.width ?? 'flow'],
  });
}

function shownService(site: Site): ShownService {
  const icon = site.brand?.icon;
  return {
    name: site.serviceName,
    iconPath: icon === undefined ? undefined : site.assetPath(icon.name),
    hasLogo: site.brand?.logo !== undefined,
  };
}

/** Renders the parts of a document within the operator's template, if there is one. */
export function renderDocument(
  { site, translations }: Pick<PageFrame, 'site' | 'translations'>,
  parts: { readonly head: VNode; readonly content: VNode; readonly footer?: VNode; readonly pageClass: string },
): string {
  const body = renderPageTemplate(site.template ?? bundledTemplate, {
    brand: renderToString(<BrandLink site={site} />),
    content: renderToString(parts.content),
    footer: parts.footer === undefined ? '' : renderToString(parts.footer),
    index_path: site.indexPath,
    language: translations.language,
    page_class: parts.pageClass,
    service_name: site.serviceName,
  });
  const { language, direction } = translations;
  const head = renderToString(parts.head);
  return `<!doctype html>\n<html lang="${language}" dir="${direction}">${head}<body>${body}</body></html>\n`;
}

function Head({ frame }: { frame: PageFrame }): VNode {
  const { site, translations } = frame;
  const title = translations.t('page.title', { step: frame.title, service: site.serviceName });
  return (
    <head>
      <meta charset="utf-8" />
      <title>{frame.isRejected === true ? translations.t('page.title_error', { title }) : title}</title>
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex" />
      <Favicon site={site} />
      <link rel="stylesheet" href={site.assetPath('pages.css')} />
      {site.brand?.stylesheet !== undefined && (
        <link rel="stylesheet" href={site.assetPath(site.brand.stylesheet.name)} />
      )}
      <script src={site.assetPath('pages.js')} defer />
      {frame.hasNewPassword === true && (
        <script src={site.assetPath('strength.js')} data-estimator={site.assetPath('strength-estimator.js')} defer />
      )}
      {frame.hasPasskey === true && <script src={site.assetPath('passkey.js')} defer />}
      {frame.hasNewPasskey === true && <script src={site.assetPath('add-passkey.js')} defer />}
      {/* After this service's own script, which prepares the element and detects loading errors. */}
      {frame.captcha !== undefined && <script src={frame.captcha.scriptUrl} data-captcha-script defer />}
    </head>
  );
}

/** The link to the index page: the operator's logo, or the name next to the bundled logo. */
function BrandLink({ site }: { site: Site }): VNode {
  return (
    <a href={site.indexPath}>
      <ServiceName site={site} />
    </a>
  );
}

/** The operator's icon, or the bundled one. */
export function Favicon({ site }: { site: Site }): VNode {
  const name = site.brand?.icon?.name ?? 'favicon.svg';
  const type = name.endsWith('.png') ? 'image/png' : 'image/svg+xml';
  return <link rel="icon" type={type} href={site.assetPath(name)} />;
}

function ServiceName({ site }: { site: Site }): VNode {
  const { logo, darkLogo } = site.brand ?? {};
  if (logo === undefined) {
    return (
      <>
        <Icon name="key" />
        <bdi>{site.serviceName}</bdi>
      </>
    );
  }
  return (
    <picture>
      {darkLogo !== undefined && <source srcset={site.assetPath(darkLogo.name)} media="(prefers-color-scheme: dark)" />}
      <img class="logo" src={site.assetPath(logo.name)} alt={site.serviceName} />
    </picture>
  );
}

function Footer({ frame }: { frame: PageFrame }): VNode | null {
  const { site, translations, languageLinks = [] } = frame;
  const hasLanguages = languageLinks.length > 1;
  if (!hasLanguages && [site.policyUri, site.tosUri, site.imprint].every((part) => part === undefined)) return null;
  return (
    <footer class="foot">
      {site.policyUri !== undefined && (
        <a href={site.policyUri} rel="noreferrer">
          {translations.t('footer.privacy')}
        </a>
      )}
      {site.tosUri !== undefined && (
        <a href={site.tosUri} rel="noreferrer">
          {translations.t('footer.terms')}
        </a>
      )}
      {hasLanguages && <LanguageMenu translations={translations} links={languageLinks} />}
      {site.imprint !== undefined && (
        <p class="imprint" dir="auto">
          {site.imprint}
        </p>
      )}
    </footer>
  );
}
