import type { Config } from '#config/config.ts';
import type { Client } from '#domain/clients/client.ts';
import type { Core } from '#domain/core.ts';
import { areaCatalogs } from './area-catalogs.ts';
import { type AssetFiles, assetPaths } from './asset-files.ts';
import { type Brand, brandOf } from './brand.ts';
import { Csrf } from './csrf.ts';
import { loadTranslations } from './i18n/load-translations.ts';
import type { TranslationCatalog } from './i18n/translations.ts';
import { Interstitials } from './interstitials.tsx';
import type { Site } from './layout.tsx';
import { Notices } from './notices.tsx';
import { Pages } from './pages.ts';
import { Urls } from './urls.ts';
import { Viewers } from './viewer.ts';

/** What all pages and forms share. */
export interface Browser {
  readonly urls: Urls;
  readonly site: Site;
  readonly pages: Pages;
  readonly csrf: Csrf;
  readonly viewers: Viewers;
  readonly interstitials: Interstitials;
  readonly notices: Notices;
  /** Installed languages, from which `ui_locales` selects. */
  readonly languages: readonly string[];
  /** Files of the build and the operator's brand, and message catalogs with the operator's texts. */
  readonly assets: AssetFiles;
  readonly brand: Brand;
  /** Returns the path of a client's logo. Undefined if it has none, or if logos are not shown. */
  readonly clientLogoPath: (client: Client) => string | undefined;
}

/** Core and browser in one object, as functions of features with pages expect it. */
export type PageDeps = Core & Browser;

/** @param builtAssets files of the build; the operator's files are added here */
export function createBrowser(core: Core, builtAssets: AssetFiles): Browser {
  const { config, database, clock, activity, log } = core;
  const urls = new Urls(config.http.publicBase);
  const catalog = loadTranslations(config.templates.translations);
  const brand = brandOf(config.branding);
  const assets = ownAssets(config, builtAssets, brand, catalog);
  const site = siteOf(config, urls, brand, assets.publishedNames);
  const pages = new Pages({
    site,
    catalog,
    defaultLanguage: config.i18n.defaultLanguage,
    formActions: formActionsOf(core),
  });
  const csrf = new Csrf({ urls, clock, log });
  return {
    urls,
    site,
    pages,
    csrf,
    viewers: new Viewers({
      ...{ database, clock, activity, pages, keyRing: core.keyRing },
      limits: { idleSeconds: config.retention.unusedBrowserSessionsSeconds },
    }),
    notices: new Notices({ keyRing: core.keyRing, clock }),
    interstitials: new Interstitials({ pages, csrf, urls }),
    languages: catalog.languages,
    assets,
    brand,
    clientLogoPath: ({ id, logoUri }) =>
      logoUri === undefined || config.account.clientLogos === 'initials' ? undefined : urls.clientLogo(id),
  };
}

/** Returns the files of the build, with the brand's files and the operator's texts. */
export function ownAssets(
  { templates }: Pick<Config, 'templates'>,
  builtAssets: AssetFiles,
  brand: Brand,
  catalog: TranslationCatalog,
): AssetFiles {
  return builtAssets.with([
    ...Object.values(brand).filter((file) => file !== undefined),
    ...areaCatalogs(catalog, builtAssets, Object.keys(templates.translations)),
  ]);
}

/** @param publishedNames published names by plain names; a missing name is used unchanged */
export function siteOf(
  { branding, templates }: Pick<Config, 'branding' | 'templates'>,
  urls: Urls,
  brand: Brand,
  publishedNames: Readonly<Record<string, string>>,
): Site {
  const { serviceName, policyUri, tosUri, imprint } = branding;
  return {
    serviceName,
    brand,
    template: templates.page,
    policyUri,
    tosUri,
    imprint,
    indexPath: urls.index(),
    ...assetPaths(urls.basePath, publishedNames),
  };
}

/**
 * If there is only one sign-in method, the sign-in page redirects to that provider at once. Any form can lead to the
 * sign-in page after its session has ended. Browsers check `form-action` against the whole redirect chain.
 */
function formActionsOf({ config, upstream }: Core): readonly string[] {
  if (config.passwords.enabled || upstream.providers.only === undefined) return [];
  const { authorizationEndpoint, issuer } = upstream.providers.only;
  return [authorizationEndpoint ?? issuer].filter((address) => address !== undefined);
}
