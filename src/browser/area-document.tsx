import type { VNode } from 'preact';
import type { HttpResponse } from '#platform/http/response.ts';
import type { AssetName } from './asset-files.ts';
import type { Browser } from './browser.ts';
import { LanguageMenu } from './components/language-menu.tsx';
import type { Translations } from './i18n/translations.ts';
import { Favicon, renderDocument, type Site } from './layout.tsx';
import { contentSecurityPolicy } from './page-headers.ts';
import { PAGE_HEADERS } from './pages.ts';

/** The files of an application that runs in the browser, below the pages of the service. */
export interface AreaFiles {
  readonly site: Site;
  /**
   * Returns the integrity value of a published file by either of its names, or undefined if the build has no such file.
   */
  readonly integrityOf: (name: string) => string | undefined;
  /** Published names of the scripts that the main script needs to start. */
  readonly imports: readonly string[];
  /** Returns the URL path of a file by its published name. */
  readonly publishedPath: (name: string) => string;
  /** Languages that the area can be shown in. */
  readonly languages: readonly string[];
}

export function areaFiles(
  { assets, languages, site, urls }: Pick<Browser, 'assets' | 'languages' | 'site' | 'urls'>,
  script: AssetName,
): AreaFiles {
  return {
    site,
    integrityOf: (name) => assets.find(name)?.integrity,
    imports: assets.importsOf(script),
    publishedPath: (name) => urls.path(`assets/${name}`),
    languages,
  };
}

interface AreaDocument {
  readonly files: AreaFiles;
  readonly translations: Translations;
  readonly title: string;
  readonly script: AssetName;
  readonly stylesheet: AssetName;
  readonly catalog: AssetName;
  /** Sources that its pages may show in frames. */
  readonly frames: readonly string[];
  readonly pageClass: string;
  readonly content: VNode;
  /** The URL contains a secret that links to other languages would lose. */
  readonly isInOneLanguage?: boolean;
}

/**
 * Renders the document that loads an area's script. Its settings are attributes of its content, because inline scripts
 * are not allowed.
 */
export function renderAreaDocument(area: AreaDocument): HttpResponse {
  const { content, files, frames, pageClass, translations } = area;
  // Relative to the path that the script shows at that time.
  const links = files.languages.map((language) => ({ language, href: `?ui_locales=${language}` }));
  const hasMenu = links.length > 1 && area.isInOneLanguage !== true;
  return {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-language': translations.language,
      'content-security-policy': contentSecurityPolicy({}, { frames }),
      ...PAGE_HEADERS,
    },
    body: renderDocument(
      { site: files.site, translations },
      {
        head: <Head {...area} />,
        content,
        ...(hasMenu && { footer: <LanguageMenu translations={translations} links={links} /> }),
        pageClass,
      },
    ),
  };
}

function Head({ files, translations, title, script, stylesheet, catalog }: AreaDocument): VNode {
  const { site, integrityOf, imports, publishedPath } = files;
  return (
    <head>
      <meta charset="utf-8" />
      <title>{translations.t('page.title', { step: title, service: site.serviceName })}</title>
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex" />
      <meta name="application-name" content={site.serviceName} />
      <Favicon site={site} />
      <Stylesheet files={files} name={stylesheet} />
      {site.brand?.stylesheet !== undefined && <Stylesheet files={files} name={site.brand.stylesheet.name} />}
      <script type="module" src={site.assetPath(script)} integrity={integrityOf(script)} />
      {imports.map((name) => (
        <link rel="modulepreload" href={publishedPath(name)} integrity={integrityOf(name)} />
      ))}
      {/* The script fetches the catalog in this mode. With a different mode it would be loaded twice. */}
      <link rel="preload" as="fetch" type="application/json" href={site.assetPath(catalog)} crossorigin="anonymous" />
    </head>
  );
}

function Stylesheet({ files: { site, integrityOf }, name }: { files: AreaFiles; name: AssetName }): VNode {
  return <link rel="stylesheet" href={site.assetPath(name)} integrity={integrityOf(name)} />;
}
