import type { VNode } from 'preact';
import type { AssetName } from '#browser/asset-files.ts';
import type { Translations } from '#browser/i18n/translations.ts';
import { Favicon, renderDocument, type Site } from '#browser/layout.tsx';
import { contentSecurityPolicy } from '#browser/page-headers.ts';
import { PAGE_HEADERS } from '#browser/pages.ts';
import type { HttpResponse } from '#platform/http/response.ts';

/** What the area's page is built from. It is the same for every user. */
export interface AreaParts {
  readonly site: Site;
  /**
   * Returns the integrity value of a published file by either of its names, or undefined if the build has no such file.
   */
  readonly integrityOf: (name: string) => string | undefined;
  /** Published names of the scripts that the main script needs to start. */
  readonly imports: readonly string[];
  /** Returns the URL path of a file by its published name. */
  readonly publishedPath: (name: string) => string;
  readonly protocolName: string;
  readonly version: string;
  /** The homeserver stores cross-signing keys, which a user may need to reset. */
  readonly hasCrossSigning: boolean;
  /** Password recovery by email always signs applications out. */
  readonly recoveryEndsApplications: boolean;
  /** In characters. */
  readonly minimumPasswordLength: number;
  /** Lifetime of an emailed code. */
  readonly codeMinutes: number;
  /** Path prefix of client logos, before the client ID. Undefined if logos are not shown. */
  readonly clientLogosPath: string | undefined;
  /** Whether the area shows the operator's plan management page in a frame. */
  readonly hasPlanManagement: boolean;
  /** Sources that the area's pages may show in frames. */
  readonly frames: readonly string[];
  /** Paths below the origin. */
  readonly rootPath: string;
  readonly graphqlPath: string;
  readonly loginPath: string;
  readonly logoutPath: string;
}

interface Props {
  readonly parts: AreaParts;
  readonly translations: Translations;
}

/**
 * Renders the document that loads the area's script. Its settings are attributes, because inline scripts are not
 * allowed.
 */
export function renderArea(parts: AreaParts, translations: Translations): HttpResponse {
  const { site } = parts;
  return {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-language': translations.language,
      'content-security-policy': contentSecurityPolicy({}, { frames: parts.frames }),
      ...PAGE_HEADERS,
    },
    body: renderDocument(
      { site, translations },
      {
        head: <Head {...{ parts, translations }} />,
        content: <Content {...{ parts, translations }} />,
        pageClass: 'page page-area',
      },
    ),
  };
}

function Head({ parts, translations }: Props): VNode {
  const { site, integrityOf, imports, publishedPath } = parts;
  const step = translations.t('account_area.title');
  const catalog: AssetName = `account-${translations.language}.json`;
  return (
    <head>
      <meta charset="utf-8" />
      <title>{translations.t('page.title', { step, service: site.serviceName })}</title>
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex" />
      <meta name="application-name" content={site.serviceName} />
      <Favicon site={site} />
      <Stylesheet parts={parts} name="account.css" />
      {site.brand?.stylesheet !== undefined && <Stylesheet parts={parts} name={site.brand.stylesheet.name} />}
      <script type="module" src={site.assetPath('account.js')} integrity={integrityOf('account.js')} />
      {imports.map((name) => (
        <link rel="modulepreload" href={publishedPath(name)} integrity={integrityOf(name)} />
      ))}
      {/* The script fetches the catalog in this mode. With a different mode it would be loaded twice. */}
      <link rel="preload" as="fetch" type="application/json" href={site.assetPath(catalog)} crossorigin="anonymous" />
    </head>
  );
}

function Stylesheet({ parts: { site, integrityOf }, name }: { parts: AreaParts; name: AssetName }): VNode {
  return <link rel="stylesheet" href={site.assetPath(name)} integrity={integrityOf(name)} />;
}

function Content({ parts, translations }: Props): VNode {
  return (
    <>
      <noscript>
        <main class="card">
          <h1>{translations.t('account_area.title')}</h1>
          <p>{translations.t('account_area.no_script')}</p>
          <p>
            <a href={parts.logoutPath}>{translations.t('index.sign_out')}</a>
          </p>
          <p>
            <a href={parts.loginPath}>{translations.t('index.sign_in')}</a>
          </p>
        </main>
      </noscript>
      <div
        id="root"
        data-root={parts.rootPath}
        data-graphql-endpoint={parts.graphqlPath}
        data-protocol={parts.protocolName}
        data-version={parts.version}
        data-cross-signing={String(parts.hasCrossSigning)}
        data-strength-estimator={parts.site.assetPath('strength-estimator.js')}
        data-minimum-password-length={parts.minimumPasswordLength}
        data-code-minutes={String(parts.codeMinutes)}
        data-client-logos={parts.clientLogosPath}
        data-plan-management={parts.hasPlanManagement ? 'true' : undefined}
        data-recovery-ends-applications={String(parts.recoveryEndsApplications)}
      />
    </>
  );
}
